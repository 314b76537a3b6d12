//! How much a session takes on the disk, as far as it was measured. Only a memory: without it, it is measured again.

use serde::{Deserialize, Serialize};

use super::format::{self, FormatError};
use super::json::Limits;

/// How much a session takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredSize {
    /// In bytes, when it was measured.
    pub measured: u64,
    /// The bytes that checkpoints have written since.
    pub grown: u64,
}

impl MeasuredSize {
    /// Whether the session may have outgrown a limit, by enough to be worth another look.
    #[must_use]
    pub fn is_due(&self, limit: u64) -> bool {
        self.measured.saturating_add(self.grown) > limit && self.grown > limit / 100
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_looked_at_again_when_it_grew_past_the_limit_by_enough() {
        let size = |measured, grown| MeasuredSize { measured, grown };
        assert!(!size(0, 1000).is_due(1000));
        assert!(size(0, 1001).is_due(1000));
        assert!(!size(1000, 10).is_due(1000));
        assert!(size(1000, 11).is_due(1000));
        assert!(size(u64::MAX, 11).is_due(1000));
        let some = size(5, 7);
        assert_eq!(
            MeasuredSize::from_file_bytes(&some.to_file_bytes()),
            Ok(some)
        );
    }
}
