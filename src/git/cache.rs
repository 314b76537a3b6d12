//! The scanner's memory between runs: the nodes of the last scan, in one file.
//!
//! It can be deleted at any time. A file that is truncated, flipped, foreign or of another version is not used, which
//! costs time and nothing else. It is written aside and renamed, so that two processes may use it at once.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;

use super::index::Stage;
use super::node::{Dir, Disk, Entry, File, IndexFacts};
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use super::{Error, IoContext as _};
use crate::model::digest::Sha256Digest;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// How much of the file is in memory at once.
const CHUNK: usize = 64 * 1024;
const MAGIC: &[u8; 8] = b"GTSTAT\0\x04";

/// The commit whose ref keeps the cached objects alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The ref.
    pub reference: String,
    /// What it must point at.
    pub commit: ObjectId,
}

/// Everything remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cache {
    pub anchor: Anchor,
    /// The index the nodes' facts were read from, when it can be recognised again.
    pub index: Option<Stamp>,
    pub ignore_print: Sha256Digest,
    pub convert_print: Sha256Digest,
    pub conflicts: Vec<Stage>,
    pub root: Dir,
}

impl Cache {
    /// Reads a cache; none when there is none that can be used.
    pub fn load(path: &Path, format: ObjectFormat) -> Option<Self> {
        Self::decode(&fs::read(path).ok()?, format)
    }

    /// Replaces the cache. It is not synced: one that a power cut tears is recognised.
    pub fn store(&self, path: &Path, format: ObjectFormat) -> Result<(), Error> {
        let dir = path.parent().expect("a cache lies in a directory");
        let temporary = tempfile::Builder::new()
            .prefix(".tmp-cache-")
            .tempfile_in(dir);
        let file = temporary.at("create temporary file in", dir)?;
        self.encode(file.as_file(), format)
            .at("write", file.path())?;
        file.persist(path)
            .map_err(|error| error.error)
            .at("replace", path)?;
        Ok(())
    }

    fn encode(&self, out: impl Write, format: ObjectFormat) -> io::Result<()> {
        let mut out = Writer {
            out,
            chunk: Vec::with_capacity(CHUNK),
            crc: crc32fast::Hasher::new(),
            last: Stamp::default(),
        };
        out.raw(MAGIC)?;
        out.number(format.len() as u64)?;
        out.bytes(self.anchor.reference.as_bytes())?;
        out.raw(self.anchor.commit.as_bytes())?;
        out.optional_stamp(self.index.as_ref())?;
        out.raw(self.ignore_print.as_bytes())?;
        out.raw(self.convert_print.as_bytes())?;
        out.number(self.conflicts.len() as u64)?;
        for conflict in &self.conflicts {
            out.bytes(&conflict.path)?;
            out.byte(conflict.stage)?;
            out.entry(&Entry {
                mode: conflict.mode,
                id: conflict.id,
            })?;
        }
        out.dir(&self.root, 0)?;
        out.finish()
    }

    fn decode(bytes: &[u8], format: ObjectFormat) -> Option<Self> {
        let (body, crc) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
        if crc32fast::hash(body).to_le_bytes() != crc {
            return None;
        }
        let mut input = Reader {
            rest: body,
            last: Stamp::default(),
            format,
        };
        if input.array::<8>()? != *MAGIC || input.number()? != format.len() as u64 {
            return None;
        }
        let reference = String::from_utf8(input.bytes()?.to_vec()).ok()?;
        let anchor = Anchor {
            reference,
            commit: input.id()?,
        };
        let index = input.optional_stamp()?;
        let ignore_print = Sha256Digest::from_bytes(input.array()?);
        let convert_print = Sha256Digest::from_bytes(input.array()?);
        let mut conflicts = Vec::new();
        for _ in 0..input.number()? {
            let path = input.bytes()?.to_vec();
            let stage = input.byte()?;
            let Entry { mode, id } = input.entry()?;
            conflicts.push(Stage {
                path,
                stage,
                mode,
                id,
            });
        }
        let root = input.whole_dir(0)?;
        Some(Self {
            anchor,
            index,
            ignore_print,
            convert_print,
            conflicts,
            root,
        })
    }
}

/// Writes numbers in seven-bit groups and stamps as differences from the stamp before: neighbours are alike.
struct Writer<W> {
    out: W,
    chunk: Vec<u8>,
    crc: crc32fast::Hasher,
    last: Stamp,
}

impl<W: Write> Writer<W> {
    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.chunk.len() + bytes.len() > CHUNK {
            self.flush()?;
        }
        self.chunk.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.crc.update(&self.chunk);
        self.out.write_all(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(&self.crc.finalize().to_le_bytes())
    }

    fn byte(&mut self, value: u8) -> io::Result<()> {
        self.raw(&[value])
    }

    fn number(&mut self, mut value: u64) -> io::Result<()> {
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

    fn bytes(&mut self, value: &[u8]) -> io::Result<()> {
        self.number(value.len() as u64)?;
        self.raw(value)
    }

    fn stamp(&mut self, stamp: &Stamp) -> io::Result<()> {
        let last = std::mem::replace(&mut self.last, *stamp);
        self.number(folded(stamp.mtime.wrapping_sub(last.mtime)))?;
        self.number(folded(stamp.ctime.wrapping_sub(stamp.mtime)))?;
        self.number(folded(stamp.ino.wrapping_sub(last.ino).cast_signed()))?;
        self.number(stamp.size)?;
        self.number(u64::from(stamp.mode ^ last.mode))
    }

    fn optional_stamp(&mut self, stamp: Option<&Stamp>) -> io::Result<()> {
        self.byte(u8::from(stamp.is_some()))?;
        stamp.map_or(Ok(()), |stamp| self.stamp(stamp))
    }

    fn optional_id(&mut self, id: Option<&ObjectId>) -> io::Result<()> {
        self.byte(u8::from(id.is_some()))?;
        id.map_or(Ok(()), |id| self.raw(id.as_bytes()))
    }

    fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        self.byte(entry.mode as u8)?;
        self.raw(entry.id.as_bytes())
    }

    fn file(&mut self, file: &File) -> io::Result<()> {
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
    fn dir(&mut self, dir: &Dir, depth: usize) -> io::Result<()> {
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
            self.optional_stamp(control.as_ref())?;
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
                let mut part = Writer {
                    out: Vec::new(),
                    chunk: Vec::new(),
                    crc: crc32fast::Hasher::new(),
                    last: Stamp::default(),
                };
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

fn unfolded(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

struct Reader<'a> {
    rest: &'a [u8],
    last: Stamp,
    format: ObjectFormat,
}

/// Deeper than any path the operating system takes.
const MAX_DEPTH: usize = 4096;
/// The directories down to this depth are read by several threads.
const SHARED_LEVELS: usize = 2;

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Option<u64> {
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

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    fn id(&mut self) -> Option<ObjectId> {
        let raw = self.take(self.format.len())?;
        ObjectId::from_bytes(raw).ok()
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn stamp(&mut self) -> Option<Stamp> {
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
    fn optional_stamp(&mut self) -> Option<Option<Stamp>> {
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
    fn optional_id(&mut self) -> Option<Option<ObjectId>> {
        Some(if self.flag()? { Some(self.id()?) } else { None })
    }

    fn entry(&mut self) -> Option<Entry> {
        Some(Entry {
            mode: Mode::from_number(self.byte()?)?,
            id: self.id()?,
        })
    }

    fn file(&mut self) -> Option<File> {
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
            1 => Disk::Raw(self.entry()?),
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
    fn room<T>(&self, count: u64, bytes: usize) -> Vec<T> {
        let possible = (self.rest.len() / bytes) as u64;
        Vec::with_capacity(usize::try_from(count.min(possible)).unwrap_or(0))
    }

    /// A directory that is all there is to read.
    fn whole_dir(mut self, depth: usize) -> Option<Dir> {
        let dir = self.dir(depth)?;
        self.rest.is_empty().then_some(dir)
    }

    fn dirs(&mut self, depth: usize) -> Option<Vec<Dir>> {
        let count = self.number()?;
        if depth < SHARED_LEVELS {
            let mut parts: Vec<Self> = self.room(count, 12);
            for _ in 0..count {
                parts.push(Self {
                    rest: self.bytes()?,
                    last: Stamp::default(),
                    format: self.format,
                });
            }
            return parts
                .into_par_iter()
                .with_min_len(4)
                .map(|part| part.whole_dir(depth + 1))
                .collect();
        }
        let mut dirs = self.room(count, 12);
        for _ in 0..count {
            dirs.push(self.dir(depth + 1)?);
        }
        Some(dirs)
    }

    fn dir(&mut self, depth: usize) -> Option<Dir> {
        if depth > MAX_DEPTH {
            return None;
        }
        let name = self.bytes()?.into();
        let stamp = self.stamp()?;
        let bits = self.byte()?;
        let controls = [self.optional_stamp()?, self.optional_stamp()?];
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

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_as(bytes: &[u8], format: ObjectFormat) -> Option<Cache> {
        Cache::decode(bytes, format)
    }

    fn decode(bytes: &[u8]) -> Option<Cache> {
        decode_as(bytes, ObjectFormat::Sha1)
    }

    fn encode(cache: &Cache) -> Vec<u8> {
        let mut bytes = Vec::new();
        cache.encode(&mut bytes, ObjectFormat::Sha1).unwrap();
        bytes
    }

    fn sample() -> Cache {
        let id = |byte| ObjectId::from_bytes(&[byte; 20]).unwrap();
        let entry = Entry {
            mode: Mode::File,
            id: id(1),
        };
        let stamp = Stamp {
            mtime: 5,
            ctime: -6,
            ino: 7,
            size: 8,
            mode: 0o100_644,
        };
        let file = |name: &[u8], index, disk| File {
            name: name.into(),
            stamp,
            trusted: true,
            tree: Some(entry),
            index,
            disk,
        };
        let plain = Some(IndexFacts { entry, flags: 0 });
        let sub = Dir {
            name: b"sub".as_slice().into(),
            staged: Some(id(3)),
            on_disk: true,
            ..Dir::default()
        };
        Cache {
            anchor: Anchor {
                reference: "refs/go-team/s/cp".into(),
                commit: id(9),
            },
            index: Some(stamp),
            ignore_print: Sha256Digest::of(b"i"),
            convert_print: Sha256Digest::of(b"c"),
            conflicts: vec![Stage {
                path: b"x".to_vec(),
                stage: 2,
                mode: Mode::Executable,
                id: id(4),
            }],
            root: Dir {
                tree: Some(id(2)),
                trusted: true,
                controls: [Some(stamp), None],
                files: vec![
                    file(b"a", plain, Disk::AsTree),
                    file(b"b\xff", None, Disk::Raw(entry)),
                    file(
                        b"c",
                        Some(IndexFacts { entry, flags: 3 }),
                        Disk::Skipped(SkipReason::Socket),
                    ),
                ],
                dirs: vec![sub],
                ..Dir::default()
            },
        }
    }

    #[test]
    fn round_trip() {
        let cache = sample();
        let bytes = encode(&cache);
        assert_eq!(decode(&bytes), Some(cache));
        assert_eq!(decode_as(&bytes, ObjectFormat::Sha256), None);
    }

    #[test]
    fn damage_is_recognised() {
        let bytes = encode(&sample());
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), None);
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert_eq!(decode(&flipped), None, "byte {at} bit {bit}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_body_with_a_right_checksum_is_survived(body: Vec<u8>) {
            let mut bytes = MAGIC.to_vec();
            bytes.push(20);
            bytes.extend_from_slice(&body);
            let crc = crc32fast::hash(&bytes);
            bytes.extend_from_slice(&crc.to_le_bytes());
            let _ = decode(&bytes);
        }
    }
}
