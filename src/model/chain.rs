//! The chain: every record names the checksum of the one before it, so an edited record does not go unnoticed even
//! when its own checksum was made to fit.

use super::digest::Sha256Digest;
use super::ids::CheckpointId;
use super::manifest::{Entry, PrunedRange};

/// What a record says about its place in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Its own checksum.
    pub checksum: Sha256Digest,
    /// The checksum of the record before it.
    pub prev_checksum: Option<Sha256Digest>,
}

/// Where the chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainBreak {
    /// The record is not the one that the manifest lists.
    Replaced {
        /// The checkpoint.
        id: CheckpointId,
        /// The manifest's checksum.
        listed: Sha256Digest,
        /// The record's checksum.
        found: Sha256Digest,
    },
    /// The record does not link to the one before it.
    Unlinked {
        /// The checkpoint.
        id: CheckpointId,
        /// The checksum of the one before it.
        expected: Option<Sha256Digest>,
        /// What the record says.
        found: Option<Sha256Digest>,
    },
}

/// Checks every record against the manifest and against its predecessor, listed or pruned.
///
/// `link_of` gives what a checkpoint's record says, or `None` when it cannot be read; that is for others to report.
pub fn check_chain(
    entries: &[Entry],
    pruned: &[PrunedRange],
    mut link_of: impl FnMut(&Entry) -> Option<Link>,
) -> Vec<ChainBreak> {
    let mut breaks = Vec::new();
    let mut pruned = pruned.iter().peekable();
    let mut before: Option<(u64, Sha256Digest)> = None;
    for entry in entries {
        while let Some(range) = pruned.next_if(|range| range.to_seq < entry.seq) {
            before = before.max(Some((range.to_seq, range.last_checksum)));
        }
        let expected = before.map(|(_, checksum)| checksum);
        if let Some(link) = link_of(entry) {
            let id = || entry.id.clone();
            if link.checksum != entry.checksum {
                let (listed, found) = (entry.checksum, link.checksum);
                breaks.push(ChainBreak::Replaced {
                    id: id(),
                    listed,
                    found,
                });
            }
            if link.prev_checksum != expected {
                let found = link.prev_checksum;
                breaks.push(ChainBreak::Unlinked {
                    id: id(),
                    expected,
                    found,
                });
            }
        }
        before = Some((entry.seq, entry.checksum));
    }
    breaks
}
