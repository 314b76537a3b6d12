//! What can be wrong with a layer of settings.

use std::io;
use std::path::PathBuf;

use crate::model::workflow::DefinitionError;

use super::{Kind, Origin};

/// A layer that cannot be used; nothing of it has taken effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file that is there but cannot be read as text.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is larger than any configuration.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The largest size that is read.
        limit: u64,
    },
    /// A file that is not TOML.
    #[error("{}:{line}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A key that no setting has.
    #[error("{at}: unknown key {key:?}{}", nearest.as_ref().map(|key| format!(", the nearest is {key:?}")).unwrap_or_default())]
    UnknownKey {
        /// Where it is.
        at: Origin,
        /// The key.
        key: String,
        /// The known key that is most like it, if any is.
        nearest: Option<String>,
    },
    /// A variable named like one of a section's that no setting has.
    #[error("unknown variable {variable}{}", nearest.as_ref().map(|key| format!(", the nearest is {key}")).unwrap_or_default())]
    UnknownVariable {
        /// The variable.
        variable: String,
        /// The variable that is most like it, if any is.
        nearest: Option<String>,
    },
    /// A value that its setting cannot take.
    #[error("{at}: {key} takes {expected}, not {found}")]
    WrongValue {
        /// Where it is.
        at: Origin,
        /// The key.
        key: String,
        /// What the setting takes.
        expected: Kind,
        /// What is there.
        found: String,
    },
    /// A project's file that points at somebody else's.
    #[error("{at}: {key} points out of the work tree: {}", path.display())]
    OutsideWorkTree {
        /// Where it is.
        at: Origin,
        /// The key.
        key: &'static str,
        /// What it points at.
        path: PathBuf,
    },
    /// A workflow that contradicts itself.
    #[error("{at}: workflow {name}: {source}")]
    Workflow {
        /// Where it is.
        at: Origin,
        /// Its name.
        name: String,
        /// What is wrong with it.
        source: DefinitionError,
    },
}
