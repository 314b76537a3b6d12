//! The index of a pack, version 2: which object is where.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::hash::Checksum;
use super::pack_entry::Stored;
use super::{Error, IoContext as _};
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

/// A pack of go-team's own, to be merged with others.
pub(super) struct PackReader {
    path: PathBuf,
    file: File,
    /// In the order they have in the pack.
    objects: Vec<(ObjectId, u64)>,
    /// Where the last one ends.
    end: u64,
    format: ObjectFormat,
}

impl PackReader {
    pub fn open(dir: &Path, name: &str, format: ObjectFormat) -> Result<Self, Error> {
        let index = dir.join(format!("{name}.idx"));
        let bytes = fs::read(&index).at("read", &index)?;
        let mut objects = decode(format, &bytes).ok_or_else(|| damaged(&index))?;
        objects.sort_unstable_by_key(|(_, offset)| *offset);
        let path = dir.join(format!("{name}.pack"));
        let file = File::open(&path).at("open", &path)?;
        let length = file.metadata().at("measure", &path)?.len();
        let end = length.saturating_sub(format.len() as u64);
        Ok(Self {
            path,
            file,
            objects,
            end,
            format,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.end
    }

    pub fn objects(&self) -> &[(ObjectId, u64)] {
        &self.objects
    }

    /// The object that begins at an offset.
    pub fn at(&self, offset: u64) -> Option<ObjectId> {
        let found = self.objects.binary_search_by_key(&offset, |(_, at)| *at);
        found.ok().map(|nth| self.objects[nth].0)
    }

    /// One entry as it is stored.
    pub fn read(&self, nth: usize) -> Result<Stored, Error> {
        let start = self.objects[nth].1;
        let end = self.objects.get(nth + 1).map_or(self.end, |(_, at)| *at);
        let length = end.min(self.end).checked_sub(start);
        let length = length.and_then(|length| usize::try_from(length).ok());
        let mut entry = vec![0; length.ok_or_else(|| damaged(&self.path))?];
        self.file
            .read_exact_at(&mut entry, start)
            .at("read", &self.path)?;
        Stored::parse(entry, self.format).ok_or_else(|| damaged(&self.path))
    }
}

/// The objects of a pack with the bytes that each takes in it; `None` when the index or the pack cannot be read.
pub(super) fn extents(format: ObjectFormat, index: &Path) -> Option<Vec<(ObjectId, u64)>> {
    let mut objects = decode(format, &fs::read(index).ok()?)?;
    let length = index.with_extension("pack").metadata().ok()?.len();
    let mut end = length.saturating_sub(format.len() as u64);
    objects.sort_unstable_by_key(|(_, offset)| *offset);
    for (_, offset) in objects.iter_mut().rev() {
        let start = *offset;
        *offset = end.saturating_sub(start);
        end = start;
    }
    Some(objects)
}

fn damaged(path: &Path) -> Error {
    Error::Damaged {
        what: path.display().to_string(),
    }
}

/// The ids and offsets in an index.
fn decode(format: ObjectFormat, index: &[u8]) -> Option<Vec<(ObjectId, u64)>> {
    let body = index.strip_prefix(b"\xfftOc\0\0\0\x02")?;
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?))
    };
    let count = word(255 * 4)? as usize;
    let length = format.len();
    // Fan-out, ids, checksums, offsets, large offsets.
    let ids = 1024;
    let offsets = ids + count.checked_mul(length + 4)?;
    let large = offsets.checked_add(count.checked_mul(4)?)?;
    let mut objects = Vec::with_capacity(count.min(body.len() / length));
    for nth in 0..count {
        let id = body.get(ids + nth * length..ids + (nth + 1) * length)?;
        let short = word(offsets + nth * 4)?;
        let offset = if short >> 31 == 0 {
            u64::from(short)
        } else {
            let at = large + (short & 0x7fff_ffff) as usize * 8;
            u64::from_be_bytes(body.get(at..at + 8)?.try_into().ok()?)
        };
        objects.push((ObjectId::from_bytes(id).ok()?, offset));
    }
    Some(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let id = |byte| ObjectId::from_bytes(&[byte; 20]).unwrap();
        let slots = [(3, 12), (1, 1 << 40), (2, (1 << 31) - 1), (9, 1 << 31)];
        let slot = |(byte, offset): (u8, u64)| Slot {
            id: id(byte),
            crc: 0,
            offset,
        };
        let bytes = encode(
            ObjectFormat::Sha1,
            slots.map(slot).into_iter().collect(),
            &id(0),
        );
        let expected = [(1, 1 << 40), (2, (1 << 31) - 1), (3, 12), (9, 1 << 31)];
        let expected = expected.map(|(byte, offset)| (id(byte), offset));
        assert_eq!(decode(ObjectFormat::Sha1, &bytes).unwrap(), expected);
        for cut in 0..bytes.len() - 40 {
            assert_eq!(decode(ObjectFormat::Sha1, &bytes[..cut]), None, "{cut}");
        }
    }
}
