//! All that touches the repository.

#![allow(
    clippy::missing_panics_doc,
    reason = "an `expect` here states an invariant, not a condition for the caller"
)]

use std::io;
use std::path::{Path, PathBuf};

pub mod assemble;
pub mod attributes;
pub mod backend;
pub mod bundle;
pub mod cache;
mod capture;
mod clear_refs;
mod commit;
mod committed;
mod content;
mod controls;
mod convert;
mod delta;
pub mod diff;
mod encoding;
mod expand;
mod gone;
pub mod hash;
pub mod holdings;
mod ignore;
pub mod index;
mod known;
pub mod libgit2;
mod listing;
mod loose;
mod merge;
mod nested;
mod node;
pub mod open;
mod overrides;
pub mod pack;
mod pack_entry;
mod pack_index;
mod pack_keep;
mod packed;
mod packed_refs;
pub mod patch;
mod pattern;
pub mod pool;
pub mod reachable;
pub mod reference;
pub mod repack;
pub mod restore;
pub mod rules;
pub mod scan;
pub mod settings;
pub mod sidecar;
pub mod skip;
pub mod snapshot;
pub mod stamp;
pub mod timings;
pub mod tree;
mod trees;
mod twins;
pub mod verify;
pub mod walk;
mod wildmatch;
pub mod worktrees;

/// What can go wrong with a repository.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system said no.
    #[error("cannot {op} {}", path.display())]
    Io {
        /// What was tried.
        op: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something in the repository cannot be read as what it should be.
    #[error("damaged: {what}")]
    Damaged {
        /// What is damaged.
        what: String,
    },
    /// libgit2 said no.
    #[error("cannot {op}: {message}")]
    Git {
        /// What was tried.
        op: &'static str,
        /// libgit2's words.
        message: String,
    },
    /// The repository is one that go-team does not work in.
    #[error("{0}")]
    Refused(open::Refusal),
    /// A ref that should be new is there.
    #[error("the ref {name} exists already")]
    RefExists {
        /// The ref.
        name: String,
    },
    /// A ref is not what it was.
    #[error("the ref {name} points elsewhere than expected")]
    RefMoved {
        /// The ref.
        name: String,
    },
    /// A path is not as it was when it was looked at.
    #[error("{} changed in the meantime", path.display())]
    Touched {
        /// The path.
        path: PathBuf,
    },
    /// A git command holds a lock.
    #[error("{} is there: a git command is at work, or was killed", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// git's conversion of a file's content failed.
    #[error("cannot convert {}: {message}", path.display())]
    Convert {
        /// The file.
        path: PathBuf,
        /// Why not.
        message: String,
    },
    /// A file changed between being looked at and being read.
    #[error("{} changed while it was compared", path.display())]
    Moved {
        /// The file.
        path: PathBuf,
    },
    /// A content with the SHA-1 of another one.
    #[error("the content is part of a SHA-1 collision attack")]
    Collision,
}

impl Error {
    pub(crate) fn git(op: &'static str, error: &git2::Error) -> Self {
        Self::Git {
            op,
            message: error.message().to_owned(),
        }
    }
}

/// Makes a directory's entries durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), Error> {
    std::fs::File::open(dir)
        .and_then(|dir| dir.sync_all())
        .at("sync directory", dir)
}

/// Gives an I/O error its operation and path.
pub(crate) trait IoContext<T> {
    fn at(self, op: &'static str, path: impl AsRef<Path>) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> IoContext<T> for Result<T, E> {
    fn at(self, op: &'static str, path: impl AsRef<Path>) -> Result<T, Error> {
        self.map_err(|source| Error::Io {
            op,
            path: path.as_ref().to_owned(),
            source: source.into(),
        })
    }
}
