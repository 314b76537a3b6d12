//! Writing the stat cache.

use std::io::{self, Write};

use super::{CHUNK, SHARED_LEVELS};
use crate::git::node::{Dir, Disk, Entry, File};
use crate::git::stamp::Stamp;
use crate::model::object_id::ObjectId;

/// Writes numbers in seven-bit groups and stamps as differences from the stamp before: neighbours are alike.
pub(super) struct Writer<W> {
    out: W,
    chunk: Vec<u8>,
    crc: crc32fast::Hasher,
    last: Stamp,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            chunk: Vec::new(),
            crc: crc32fast::Hasher::new(),
            last: Stamp::default(),
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.chunk.len() + bytes.len() > CHUNK {
            self.flush()?;
        }
        self.chunk.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.crc.update(&self.chunk);
        self.out.write_all(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(&self.crc.finalize().to_le_bytes())
    }

    pub(super) fn byte(&mut self, value: u8) -> io::Result<()> {
        self.raw(&[value])
    }

    pub(super) fn number(&mut self, mut value: u64) -> io::Result<()> {
        let mut bytes = [0; 10];
        let mut length = 0;
        loop {
            let more = value > 0x7f;
            bytes[length] = (value & 0x7f) as u8 | u8::from(more) << 7;
            length += 1;
            value >>= 7;
            if !more {
                return self.raw(&bytes[..length]);
            }
        }
    }

    pub(super) fn bytes(&mut self, value: &[u8]) -> io::Result<()> {
        self.number(value.len() as u64)?;
        self.raw(value)
    }

    pub(super) fn stamp(&mut self, stamp: &Stamp) -> io::Result<()> {
        let last = std::mem::replace(&mut self.last, *stamp);
        self.number(folded(stamp.mtime.wrapping_sub(last.mtime)))?;
        self.number(folded(stamp.ctime.wrapping_sub(stamp.mtime)))?;
        self.number(folded(stamp.ino.wrapping_sub(last.ino).cast_signed()))?;
        self.number(stamp.size)?;
        self.number(u64::from(stamp.mode ^ last.mode))
    }

    pub(super) fn optional_stamp(&mut self, stamp: Option<&Stamp>) -> io::Result<()> {
        self.byte(u8::from(stamp.is_some()))?;
        stamp.map_or(Ok(()), |stamp| self.stamp(stamp))
    }

    pub(super) fn optional_id(&mut self, id: Option<&ObjectId>) -> io::Result<()> {
        self.byte(u8::from(id.is_some()))?;
        id.map_or(Ok(()), |id| self.raw(id.as_bytes()))
    }

    pub(super) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        self.byte(entry.mode as u8)?;
        self.raw(entry.id.as_bytes())
    }

    pub(super) fn file(&mut self, file: &File) -> io::Result<()> {
        self.bytes(&file.name)?;
        self.stamp(&file.stamp)?;
        // Most files are tracked, clean and in the tree as in the index.
        let as_index = file
            .index
            .is_some_and(|facts| facts.flags == 0 && Some(facts.entry) == file.tree);
        let disk = match &file.disk {
            Disk::AsTree => 0,
            Disk::Raw(_) => 1,
            Disk::Absent => 2,
            Disk::Skipped(_) => 3,
            Disk::Excluded => 4,
        };
        let bits = u8::from(file.trusted)
            | u8::from(as_index) << 1
            | u8::from(file.tree.is_some()) << 2
            | u8::from(file.index.is_some()) << 3
            | disk << 4;
        self.byte(bits)?;
        if let Some(entry) = &file.tree {
            self.entry(entry)?;
        }
        if let Some(facts) = file.index.filter(|_| !as_index) {
            self.byte(facts.flags)?;
            self.entry(&facts.entry)?;
        }
        match &file.disk {
            Disk::Raw(entry) => self.entry(entry),
            Disk::Skipped(reason) => self.byte(reason.number()),
            _ => Ok(()),
        }
    }

    /// Below the uppermost directories each one is written apart, with its length before it, so that several threads
    /// can read them.
    pub(super) fn dir(&mut self, dir: &Dir, depth: usize) -> io::Result<()> {
        self.bytes(&dir.name)?;
        self.stamp(&dir.stamp)?;
        let bits = [dir.trusted, dir.on_disk, dir.ignored, dir.unreadable];
        self.byte(
            bits.iter()
                .enumerate()
                .map(|(at, bit)| u8::from(*bit) << at)
                .sum(),
        )?;
        for control in &dir.controls {
            self.optional_stamp(control.as_deref())?;
        }
        self.optional_id(dir.tree.as_ref())?;
        self.optional_id(dir.staged.as_ref().filter(|_| dir.staged != dir.tree))?;
        self.byte(u8::from(dir.staged == dir.tree))?;
        self.number(dir.files.len() as u64)?;
        for file in &dir.files {
            self.file(file)?;
        }
        self.number(dir.dirs.len() as u64)?;
        for dir in &dir.dirs {
            if depth < SHARED_LEVELS {
                let mut part = Writer::new(Vec::new());
                part.dir(dir, depth + 1)?;
                part.flush()?;
                self.bytes(&part.out)?;
            } else {
                self.dir(dir, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// A signed number with its sign in the lowest bit, so that small ones stay small.
fn folded(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}
