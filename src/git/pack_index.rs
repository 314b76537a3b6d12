//! The index of a pack, version 2: which object is where.

use super::hash::Checksum;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// One object's place in a pack.
pub(super) struct Slot {
    pub id: ObjectId,
    pub crc: u32,
    pub offset: u64,
}

/// Encodes the index of a pack with this checksum.
pub(super) fn encode(format: ObjectFormat, mut slots: Vec<Slot>, trailer: &ObjectId) -> Vec<u8> {
    slots.sort_unstable_by(|a, b| a.id.as_bytes().cmp(b.id.as_bytes()));
    let mut bytes =
        Vec::with_capacity(8 + 1024 + slots.len() * (format.len() + 8) + 2 * format.len());
    bytes.extend_from_slice(b"\xfftOc\0\0\0\x02");
    let mut next = slots.iter().peekable();
    let mut seen: u32 = 0;
    for first in 0..=255u8 {
        while next
            .next_if(|slot| slot.id.as_bytes()[0] == first)
            .is_some()
        {
            seen += 1;
        }
        bytes.extend_from_slice(&seen.to_be_bytes());
    }
    for slot in &slots {
        bytes.extend_from_slice(slot.id.as_bytes());
    }
    for slot in &slots {
        bytes.extend_from_slice(&slot.crc.to_be_bytes());
    }
    let mut large = Vec::new();
    for slot in &slots {
        let short = u32::try_from(slot.offset)
            .ok()
            .filter(|offset| *offset < 1 << 31);
        let word = short.unwrap_or_else(|| {
            large.push(slot.offset);
            (1 << 31) | u32::try_from(large.len() - 1).expect("fewer than 2^31 objects")
        });
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    for offset in large {
        bytes.extend_from_slice(&offset.to_be_bytes());
    }
    bytes.extend_from_slice(trailer.as_bytes());
    let mut checksum = Checksum::new(format);
    checksum.update(&bytes);
    bytes.extend_from_slice(checksum.finish().as_bytes());
    bytes
}
