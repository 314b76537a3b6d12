//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Where an effective value comes from, lowest layer first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub enum Origin {
    /// Nobody set it.
    BuiltIn,
    /// The user's own file.
    User {
        /// The file.
        path: PathBuf,
        /// The line of the key, counted from 1.
        line: usize,
    },
    /// The file at the work tree's root.
    Project {
        /// The file.
        path: PathBuf,
        /// The line of the key, counted from 1.
        line: usize,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        variable: String,
    },
    /// An argument of the command.
    Flag {
        /// As the user typed it, `--sync`.
        flag: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::User { path, line } | Self::Project { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { flag } => f.write_str(flag),
        }
    }
}
