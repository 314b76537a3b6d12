//! Checking what the repository holds: commits as checkpoints made them, objects read and hashed, packs by checksum.

pub mod commit;
pub mod deep;
pub mod packs;
pub(super) mod promised;

use super::Error;
use crate::model::finding::Flaw;

impl Flaw {
    /// What reading an object said.
    pub(super) fn unreadable(error: &Error) -> Self {
        Self::Unreadable {
            reason: error.to_string(),
        }
    }
}
