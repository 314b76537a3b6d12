//! All that touches go-team's own files: where they are, how they are written so that they survive, who may write.
//!
//! [`Store`] moves bytes; what the bytes mean is [`crate::model`]'s. Functions called `stage_…` write a temporary file
//! and leave it to the caller when it takes its place, so that several can be made durable together and published in
//! the order that crash safety asks for; the directory is then synced once ([`Store::sync_session`]). Writers hold the
//! [`lock`]; readers need none, because every file changes by a rename.

pub mod archive;
mod aside;
mod current;
pub mod durable;
pub mod errors;
mod history;
mod journal;
pub mod layout;
mod life;
pub mod lock;
mod manifest;
mod platform;
mod records;
pub mod sessions;
mod size;
mod state;
mod together;

use std::io;
use std::path::{Path, PathBuf};

use crate::model::digest::Sha256Digest;
use crate::model::format::FormatError;

pub use durable::{Durability, IoError, Staged};
pub use errors::ErrorLine;
pub use layout::{Layout, WorktreeKey};
pub use lock::{Holder, Lock, LockError, Wait};
pub use manifest::Begun;
pub use platform::free_space;
pub use sessions::SessionItem;
pub use together::sync_files;

/// Why something cannot be loaded or stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is not there.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is there but not as it was written.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// In what way.
        source: FormatError,
    },
    /// The file was written by another version of the format.
    #[error("{} has format version {found}, which is not known", path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version, as JSON text.
        found: String,
    },
    /// The file is larger than anything that is written.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: usize,
    },
    /// The file says that it is another one.
    #[error("{} holds {found}", path.display())]
    Misplaced {
        /// The file.
        path: PathBuf,
        /// What it says it is.
        found: String,
    },
    /// The record is whole, but not the one that the manifest lists.
    #[error("{} has checksum {found}, the manifest lists {listed}", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
        /// The manifest's checksum.
        listed: Sha256Digest,
        /// The record's checksum.
        found: Sha256Digest,
    },
    /// The name of a file or directory is none that go-team gives.
    #[error("{} has no valid name", path.display())]
    BadName {
        /// The file or directory.
        path: PathBuf,
    },
    /// There is one already.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file or directory.
        path: PathBuf,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] IoError),
}

impl Error {
    /// Says in which way the content of `path` is wrong.
    fn damaged(path: &Path, source: FormatError) -> Self {
        let path = path.to_owned();
        match source {
            FormatError::UnknownVersion { found } => Self::NewerVersion { path, found },
            source => Self::Damaged { path, source },
        }
    }
}

/// go-team's files below one directory.
#[derive(Debug, Clone)]
pub struct Store {
    layout: Layout,
    durability: Durability,
}

impl Store {
    /// The store below `root`; nothing is touched yet.
    #[must_use]
    pub fn new(root: PathBuf, durability: Durability) -> Self {
        let layout = Layout::new(root);
        Self { layout, durability }
    }

    /// Where the files are.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How much is done for files to survive a power cut.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Makes the directories that everything else expects.
    ///
    /// # Errors
    /// When a directory cannot be made or synced.
    pub fn prepare(&self) -> Result<(), Error> {
        durable::create_dir_all(&self.layout.sessions(), self.durability)?;
        durable::create_dir_all(&self.layout.worktrees(), self.durability)?;
        Ok(())
    }

    /// Takes the lock that writers hold.
    ///
    /// # Errors
    /// When another process holds it for longer than `wait` allows, or the lock file cannot be used.
    pub fn lock(&self, wait: Wait, holder: &Holder) -> Result<Lock, LockError> {
        Lock::acquire(&self.layout.lock(), wait, holder)
    }

    fn stage(&self, target: &Path, bytes: &[u8]) -> Result<Staged, Error> {
        Ok(Staged::write(target, bytes, self.durability)?)
    }

    /// Writes a file for good: staged, published, its directory synced.
    fn write(&self, target: &Path, bytes: &[u8]) -> Result<(), Error> {
        Ok(durable::write(target, bytes, self.durability)?)
    }

    /// Reads and parses a file that must be there.
    fn read<T>(
        path: &Path,
        limit: usize,
        parse: impl FnOnce(&[u8]) -> Result<T, FormatError>,
    ) -> Result<T, Error> {
        let bytes = durable::read_limited(path, limit)?;
        let bytes = bytes.ok_or_else(|| Error::TooLarge {
            path: path.to_owned(),
            limit,
        });
        parse(&bytes?).map_err(|error| Error::damaged(path, error))
    }
}

/// `None` instead of an error about a file that is not there.
fn if_there<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the system says that there is no such file.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
