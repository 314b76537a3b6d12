//! Exports as files: written whole or not at all, read with nothing taken on trust.
//!
//! An archive is a gzip stream of a tar of plain files below one directory, named after the session. The list of contents
//! comes first, so that a reader knows each name, size and digest before it meets them; whatever else is found, or is
//! found in another order, makes the archive none of ours.

mod journal;
mod read;
mod session;
mod spool;
mod target;
mod write;

use std::io;

use crate::model::format::FormatError;

pub use read::ArchiveReader;
pub use session::{RecordFile, StagedSession};
pub use spool::{Part, Spool, SpoolWriter};
pub(super) use target::clean as clean_exports;
pub use target::{Destination, Target};
pub use write::{ArchiveWriter, Seal};

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is not compressed as exports are, or the compressed data is damaged.
    #[error("the compressed data is damaged, or it is no gzip file")]
    Gzip,
    /// It ends too early.
    #[error("it is cut short")]
    Truncated,
    /// The header of a member is damaged.
    #[error("the header of a member is damaged")]
    Header,
    /// A member that is no plain file.
    #[error("{name:?} is a {what}, and only plain files are allowed")]
    NotAFile {
        /// The name in the archive.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// A name that no member has.
    #[error("{name:?} is not a name that an export has")]
    BadName {
        /// The name in the archive.
        name: String,
    },
    /// Another member than the list says.
    #[error("{found:?} is where {expected:?} should be")]
    Unexpected {
        /// The name in the archive.
        found: String,
        /// The name in the list.
        expected: String,
    },
    /// A member that is not in the list.
    #[error("{name:?} is not in its list of contents")]
    Unlisted {
        /// The name in the archive.
        name: String,
    },
    /// A member of another size than the list says.
    #[error("{name} has {found} bytes, the list of contents says {listed}")]
    Size {
        /// The member.
        name: String,
        /// The size in the archive.
        found: u64,
        /// The size in the list.
        listed: u64,
    },
    /// A member of another content than the list says.
    #[error("{name} does not have the SHA-256 that the list of contents says")]
    Digest {
        /// The member.
        name: String,
    },
    /// A member larger than any can be.
    #[error("{name} is larger than {limit} bytes")]
    TooLarge {
        /// The member.
        name: String,
        /// The limit.
        limit: u64,
    },
    /// A member that cannot be read as what it should be.
    #[error("{name} is damaged")]
    Member {
        /// The member.
        name: String,
        /// In what way.
        source: FormatError,
    },
    /// Members that do not fit each other.
    #[error("{what}")]
    Mismatch {
        /// What does not fit what.
        what: String,
    },
    /// There is more after the end.
    #[error("there is more after its end")]
    TrailingData,
    /// The system refused.
    #[error("it cannot be read")]
    Io(#[source] io::Error),
}

impl ArchiveError {
    /// What the decoder says, told apart from what the disk says.
    fn of_io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Self::Gzip,
            _ => Self::Io(error),
        }
    }
}
