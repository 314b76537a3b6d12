//! What a pack holds at a place: a whole object, or a change of another.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;

use crate::git::hash::Kind;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// The largest object that is read here; larger ones are libgit2's.
const LARGEST: u64 = 512 << 20;
/// How much is read at first: most trees are smaller.
const FIRST: usize = 2 << 10;
/// Content up to this length is inflated in one go, where all of it was read at first.
const SHORT: u64 = 64 << 10;
/// How much is read when that was not enough.
const MORE: usize = 64 << 10;
/// Room that is made for content because an entry says that it is so long.
const ROOM: u64 = 1 << 20;

/// What the bytes of an entry are a change of.
pub(super) enum Base {
    /// Nothing: they are an object of this kind.
    None(Kind),
    /// What begins so many bytes before it.
    Before(u64),
    /// The object of this name.
    Named(ObjectId),
}

/// An entry, inflated.
pub(super) struct Entry {
    pub base: Base,
    pub bytes: Vec<u8>,
}

thread_local! {
    /// Making room for these takes longer than inflating a small object does.
    static TOOLS: RefCell<Tools> = RefCell::new(Tools {
        quick: Decompressor::new(),
        patient: None,
        buffer: vec![0; FIRST],
    });
}

/// What it takes to inflate.
struct Tools {
    /// For content whose compressed form is in memory: twice as quick.
    quick: Decompressor,
    /// For any other, piece by piece.
    patient: Option<Decompress>,
    buffer: Vec<u8>,
}

impl Entry {
    /// Reads the entry at a place; none when there is none, or it is damaged.
    pub fn read(pack: &File, offset: u64, format: ObjectFormat) -> Option<Self> {
        TOOLS.with_borrow_mut(|tools| {
            tools.make_room(FIRST);
            let length = pack.read_at(&mut tools.buffer[..FIRST], offset).ok()?;
            let (base, size, used) = header(&tools.buffer[..length], format)?;
            if size > LARGEST {
                return None;
            }
            let length = tools.read_on(pack, offset, (used, length), size)?;
            let bytes = match tools.at_once(used, length, size) {
                Some(bytes) => bytes,
                None => tools.in_pieces(pack, offset, (used, length), size)?,
            };
            Some(Self { base, bytes })
        })
    }
}

impl Tools {
    fn make_room(&mut self, length: usize) {
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
    }

    /// Reads the rest of content that is inflated in one go and may go on behind what was read; says how much there is now.
    fn read_on(
        &mut self,
        pack: &File,
        offset: u64,
        (used, length): (usize, usize),
        size: u64,
    ) -> Option<usize> {
        // What cannot be made smaller is stored with a few bytes to each block, and as many at both ends.
        let longest = used as u64 + size + size / 1024 + 64;
        if size > SHORT || length < FIRST || longest <= length as u64 {
            return Some(length);
        }
        let longest = usize::try_from(longest).ok()?;
        self.make_room(longest);
        let more = pack.read_at(&mut self.buffer[length..longest], offset + length as u64);
        Some(length + more.ok()?)
    }

    /// Inflates what is in the buffer; none when it is long, damaged, or goes on behind the buffer.
    fn at_once(&mut self, from: usize, to: usize, size: u64) -> Option<Vec<u8>> {
        if size > SHORT {
            return None;
        }
        let size = usize::try_from(size).ok()?;
        let mut bytes = vec![0; size];
        let compressed = &self.buffer[from..to];
        let length = self.quick.zlib_decompress(compressed, &mut bytes).ok()?;
        (length == size).then_some(bytes)
    }

    /// Inflates what begins in the buffer and goes on in the file.
    fn in_pieces(
        &mut self,
        pack: &File,
        offset: u64,
        (mut from, mut to): (usize, usize),
        size: u64,
    ) -> Option<Vec<u8>> {
        let inflater = self.patient.get_or_insert_with(|| Decompress::new(true));
        inflater.reset(true);
        let buffer = &mut self.buffer;
        let room = usize::try_from(size.min(ROOM)).ok()? + 1;
        let mut bytes = Vec::with_capacity(room);
        let mut offset = offset + to as u64;
        loop {
            let (before, filled) = (inflater.total_in(), bytes.len());
            let input = &buffer[from..to];
            let status = inflater.decompress_vec(input, &mut bytes, FlushDecompress::None);
            let status = status.ok()?;
            from += usize::try_from(inflater.total_in() - before).ok()?;
            if bytes.len() as u64 > size {
                return None;
            }
            if status == Status::StreamEnd {
                break;
            }
            if bytes.len() == bytes.capacity() {
                bytes.reserve(bytes.len());
            } else if from == to {
                buffer.resize(MORE, 0);
                to = pack.read_at(buffer, offset).ok()?;
                (from, offset) = (0, offset + to as u64);
                if to == 0 {
                    return None;
                }
            } else if bytes.len() == filled && inflater.total_in() == before {
                return None;
            }
        }
        (bytes.len() as u64 == size).then_some(bytes)
    }
}

/// What an entry begins with: what it is, how long it is inflated, and how many bytes said so.
fn header(bytes: &[u8], format: ObjectFormat) -> Option<(Base, u64, usize)> {
    let mut rest = bytes.iter().copied();
    let first = rest.next()?;
    let mut size = u64::from(first & 0x0f);
    let (mut byte, mut shift) = (first, 4);
    while byte & 0x80 != 0 {
        byte = rest.next()?;
        if shift > 57 {
            return None;
        }
        size |= u64::from(byte & 0x7f) << shift;
        shift += 7;
    }
    let base = match first >> 4 & 7 {
        1 => Base::None(Kind::Commit),
        2 => Base::None(Kind::Tree),
        3 => Base::None(Kind::Blob),
        4 => Base::None(Kind::Tag),
        6 => {
            let mut byte = rest.next()?;
            let mut distance = u64::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                byte = rest.next()?;
                distance = distance.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
            }
            // An entry that is a change of itself has no end.
            (distance > 0).then_some(Base::Before(distance))?
        }
        7 => {
            let at = bytes.len() - rest.len();
            let id = bytes.get(at..at + format.len())?;
            rest.nth(format.len() - 1)?;
            Base::Named(ObjectId::from_bytes(id).ok()?)
        }
        _ => return None,
    };
    Some((base, size, bytes.len() - rest.len()))
}
