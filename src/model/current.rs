//! Which session a work tree is in.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::format::{self, FormatError};
use super::ids::SessionId;
use super::json::Limits;
use super::timestamp;

/// A work tree's active session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurrentPointer {
    /// The session.
    pub session_id: SessionId,
    /// Since when.
    #[serde(with = "timestamp")]
    pub since: DateTime<Utc>,
}

impl CurrentPointer {
    /// Makes `session_id` the active one.
    #[must_use]
    pub fn new(session_id: SessionId, since: DateTime<Utc>) -> Self {
        Self {
            session_id,
            since: timestamp::to_millis(since),
        }
    }

    /// The bytes of its file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        format::versioned_bytes(self)
    }

    /// Reads its file.
    ///
    /// # Errors
    /// For text that is not JSON, an unknown version, or another shape.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        format::shaped(format::parse_versioned(bytes, Limits::INPUT)?)
    }
}
