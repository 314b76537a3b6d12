//! The index of a pack, looked into where it is on disk: which object is where.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::model::object_id::{ObjectFormat, ObjectId};

/// What version 2 begins with.
const MAGIC: &[u8; 8] = b"\xfftOc\0\0\0\x02";
/// Where the ids begin.
const IDS: u64 = 8 + 4 * 256;
/// An index up to this size is read at once.
const SMALL: u64 = 256 << 10;
/// How many ids around the likely place are read first.
const NEAR: u32 = 64;

/// The index of a pack.
pub(super) struct Index {
    source: Source,
    /// How many ids begin with a byte up to this one.
    fan: Vec<u32>,
    /// The length of an id.
    width: usize,
}

enum Source {
    Memory(Vec<u8>),
    Disk(File),
}

impl Index {
    /// Opens an index; none when it is not one of version 2, or shorter than it says.
    pub fn open(path: &Path, format: ObjectFormat) -> Option<Self> {
        let file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        if length < IDS {
            return None;
        }
        let source = if length <= SMALL {
            let mut bytes = vec![0; usize::try_from(length).ok()?];
            file.read_exact_at(&mut bytes, 0).ok()?;
            Source::Memory(bytes)
        } else {
            Source::Disk(file)
        };
        let width = format.len();
        let head = source.bytes(0, usize::try_from(IDS).ok()?)?;
        let fan = head.strip_prefix(MAGIC)?.chunks_exact(4);
        let fan: Vec<u32> = fan
            .map(|word| u32::from_be_bytes(word.try_into().expect("four bytes")))
            .collect();
        let count = u64::from(*fan.last()?);
        let per_object = width as u64 + 8;
        let is_whole = fan.is_sorted() && IDS + count * per_object + 2 * width as u64 <= length;
        is_whole.then_some(Self { source, fan, width })
    }

    /// Where in the pack an object is.
    pub fn find(&self, id: &ObjectId) -> Option<u64> {
        let nth = self.nth(id)?;
        let count = u64::from(self.fan[255]);
        let width = self.width as u64;
        let offsets = IDS + count * (width + 4);
        let word = self.source.bytes(offsets + 4 * u64::from(nth), 4)?;
        let short = u32::from_be_bytes(word[..].try_into().ok()?);
        if short >> 31 == 0 {
            return Some(u64::from(short));
        }
        let large = offsets + 4 * count + 8 * u64::from(short & 0x7fff_ffff);
        let word = self.source.bytes(large, 8)?;
        Some(u64::from_be_bytes(word[..].try_into().ok()?))
    }

    /// The how-manieth id it is. Ids are spread evenly, so it is looked for where it should be first.
    fn nth(&self, id: &ObjectId) -> Option<u32> {
        let id = id.as_bytes();
        let first = usize::from(id[0]);
        let mut low = if first == 0 { 0 } else { self.fan[first - 1] };
        let mut high = self.fan[first];
        let share = u64::from(u16::from_be_bytes([id[1], id[2]]));
        let likely = low + u32::try_from((u64::from(high - low) * share) >> 16).ok()?;
        let mut middle = likely;
        while low < high {
            let from = middle.saturating_sub(NEAR).max(low);
            let to = middle.saturating_add(NEAR).min(high);
            let length = (to - from) as usize * self.width;
            let at = IDS + u64::from(from) * self.width as u64;
            let bytes = self.source.bytes(at, length)?;
            let ids: Vec<&[u8]> = bytes.chunks_exact(self.width).collect();
            match ids.binary_search(&id) {
                Ok(nth) => return Some(from + u32::try_from(nth).ok()?),
                Err(0) => high = from,
                Err(nth) if nth == ids.len() => low = to,
                Err(_) => return None,
            }
            middle = low + (high - low) / 2;
        }
        None
    }
}

impl Source {
    /// Some bytes of the file; none where it ends before.
    fn bytes(&self, at: u64, length: usize) -> Option<std::borrow::Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(at).ok()?;
                Some(bytes.get(at..at.checked_add(length)?)?.into())
            }
            Self::Disk(file) => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, at).ok()?;
                Some(bytes.into())
            }
        }
    }
}
