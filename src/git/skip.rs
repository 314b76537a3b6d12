//! Paths a checkpoint had to leave out, and why. They are always reported and never touched by a rollback.

use serde::{Deserialize, Serialize};

/// Why a path is not in a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Larger than `capture.max_file_mb`.
    TooLarge,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// It may not be read.
    Unreadable,
    /// It changed each time it was read.
    Unstable,
    /// A repository without a commit that could be recorded.
    NestedWithoutCommit,
    /// git refuses the name.
    InvalidName,
    /// git's conversion of the content failed.
    ConversionFailed,
    /// The content is part of a SHA-1 collision attack.
    Collision,
    /// A directory outside the sparse checkout.
    OutsideSparseCheckout,
}

impl SkipReason {
    /// The number in stored form.
    pub(super) const fn number(self) -> u8 {
        self as u8
    }

    pub(super) const fn from_number(number: u8) -> Option<Self> {
        const ALL: [SkipReason; 11] = [
            SkipReason::TooLarge,
            SkipReason::Fifo,
            SkipReason::Socket,
            SkipReason::Device,
            SkipReason::Unreadable,
            SkipReason::Unstable,
            SkipReason::NestedWithoutCommit,
            SkipReason::InvalidName,
            SkipReason::ConversionFailed,
            SkipReason::Collision,
            SkipReason::OutsideSparseCheckout,
        ];
        if (number as usize) < ALL.len() {
            Some(ALL[number as usize])
        } else {
            None
        }
    }

    /// The reason in words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "larger than capture.max_file_mb",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Unreadable => "not readable",
            Self::Unstable => "changed while it was read",
            Self::NestedWithoutCommit => "a nested repository without a commit",
            Self::InvalidName => "a name that git refuses",
            Self::ConversionFailed => "its git filter failed",
            Self::Collision => "part of a SHA-1 collision",
            Self::OutsideSparseCheckout => "outside the sparse checkout",
        }
    }
}
