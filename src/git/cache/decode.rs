//! Reading the stat cache. Whatever the bytes are, this ends, takes no more memory than they justify, and says no.

use std::cell::Cell;
use std::hint::black_box;

use rayon::prelude::*;

use super::SHARED_LEVELS;
use crate::git::node::{Dir, Disk, Entry, File, IndexFacts};
use crate::git::pool;
use crate::git::skip::SkipReason;
use crate::git::stamp::Stamp;
use crate::git::tree::Mode;
use crate::model::object_id::{ObjectFormat, ObjectId};

pub(super) struct Reader<'a> {
    rest: &'a [u8],
    last: Stamp,
    format: ObjectFormat,
}

/// Deeper than any path the operating system takes.
const MAX_DEPTH: usize = 4096;
/// A thread that works alone may have a small stack, and goes no deeper than this.
const DEEP: usize = 50;

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a [u8], format: ObjectFormat) -> Self {
        let last = Stamp::default();
        Self { rest, last, format }
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    pub(super) fn id(&mut self) -> Option<ObjectId> {
        let raw = self.take(self.format.len())?;
        ObjectId::from_bytes(raw).ok()
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(super) fn stamp(&mut self) -> Option<Stamp> {
        let last = self.last;
        let mtime = last.mtime.wrapping_add(unfolded(self.number()?));
        let ctime = mtime.wrapping_add(unfolded(self.number()?));
        let ino = last
            .ino
            .wrapping_add(unfolded(self.number()?).cast_unsigned());
        let size = self.number()?;
        let mode = last.mode ^ u32::try_from(self.number()?).ok()?;
        self.last = Stamp {
            mtime,
            ctime,
            ino,
            size,
            mode,
        };
        Some(self.last)
    }

    #[allow(
        clippy::option_option,
        reason = "the outer one is about reading, the inner one is the value"
    )]
    pub(super) fn optional_stamp(&mut self) -> Option<Option<Stamp>> {
        Some(if self.flag()? {
            Some(self.stamp()?)
        } else {
            None
        })
    }

    #[allow(
        clippy::option_option,
        reason = "the outer one is about reading, the inner one is the value"
    )]
    pub(super) fn optional_id(&mut self) -> Option<Option<ObjectId>> {
        Some(if self.flag()? { Some(self.id()?) } else { None })
    }

    pub(super) fn entry(&mut self) -> Option<Entry> {
        Some(Entry {
            mode: Mode::from_number(self.byte()?)?,
            id: self.id()?,
        })
    }

    pub(super) fn file(&mut self) -> Option<File> {
        let name = self.bytes()?.into();
        let stamp = self.stamp()?;
        let bits = self.byte()?;
        let tree = if bits & 4 != 0 {
            Some(self.entry()?)
        } else {
            None
        };
        let index = match (bits & 8 != 0, bits & 2 != 0) {
            (false, _) => None,
            (true, true) => Some(IndexFacts {
                entry: tree?,
                flags: 0,
            }),
            (true, false) => Some(IndexFacts {
                flags: self.byte()?,
                entry: self.entry()?,
            }),
        };
        let disk = match bits >> 4 {
            0 => Disk::AsTree,
            1 => Disk::Raw(Box::new(self.entry()?)),
            2 => Disk::Absent,
            3 => Disk::Skipped(SkipReason::from_number(self.byte()?)?),
            4 => Disk::Excluded,
            _ => return None,
        };
        Some(File {
            name,
            stamp,
            trusted: bits & 1 != 0,
            tree,
            index,
            disk,
        })
    }

    /// Room for so many values, each of which takes at least `bytes` bytes of what is left to read.
    pub(super) fn room<T>(&self, count: u64, bytes: usize) -> Vec<T> {
        let possible = (self.rest.len() / bytes) as u64;
        let count = usize::try_from(count.min(possible)).unwrap_or(0);
        make_room(count.saturating_mul(size_of::<T>()));
        Vec::with_capacity(count)
    }

    /// A directory that is all there is to read.
    pub(super) fn whole_dir(mut self, depth: usize) -> Option<Dir> {
        let dir = self.dir(depth)?;
        self.rest.is_empty().then_some(dir)
    }

    pub(super) fn dirs(&mut self, depth: usize) -> Option<Vec<Dir>> {
        let count = self.number()?;
        if depth < SHARED_LEVELS {
            let mut parts: Vec<Self> = self.room(count, 12);
            for _ in 0..count {
                parts.push(Self::new(self.bytes()?, self.format));
            }
            let read = |part: Self| part.whole_dir(depth + 1);
            if pool::is_alone() {
                return parts.into_iter().map(read).collect();
            }
            return parts.into_par_iter().with_min_len(4).map(read).collect();
        }
        let mut dirs = self.room(count, 12);
        for _ in 0..count {
            dirs.push(self.dir(depth + 1)?);
        }
        Some(dirs)
    }

    pub(super) fn dir(&mut self, depth: usize) -> Option<Dir> {
        if depth > MAX_DEPTH {
            return None;
        }
        if depth > DEEP && pool::is_alone() {
            return pool::run(|| self.dir(depth));
        }
        let name = self.bytes()?.into();
        let stamp = self.stamp()?;
        let bits = self.byte()?;
        let controls =
            [self.optional_stamp()?, self.optional_stamp()?].map(|stamp| stamp.map(Box::new));
        let tree = self.optional_id()?;
        let staged = self.optional_id()?;
        let staged = if self.flag()? { tree } else { staged };
        let count = self.number()?;
        let mut files = self.room(count, 27);
        for _ in 0..count {
            files.push(self.file()?);
        }
        let dirs = self.dirs(depth)?;
        let flag = |bit: u8| bits & (1 << bit) != 0;
        Some(Dir {
            name,
            stamp,
            trusted: flag(0),
            on_disk: flag(1),
            ignored: flag(2),
            unreadable: flag(3),
            controls,
            tree,
            staged,
            dirty: false,
            files,
            dirs,
        })
    }
}

/// Lets the allocator ask the system for much memory at once. On a thread of its own the C library asks page by page,
/// and each time all threads wait; what it once got for a thread and gets back, it keeps for the next allocations.
fn make_room(bytes: usize) {
    // More would go back to the system at once.
    const STEP: usize = 96 << 10;
    thread_local! {
        static LEFT: Cell<usize> = const { Cell::new(0) };
    }
    LEFT.with(|left| {
        if left.get() < bytes {
            drop(black_box(Vec::<u8>::with_capacity(STEP)));
            left.set(STEP);
        }
        left.set(left.get().saturating_sub(bytes));
    });
}

/// The number that was folded.
fn unfolded(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
