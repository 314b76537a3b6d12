//! The scanner's memory between runs: the nodes of the last scan, in one file.
//!
//! It can be deleted at any time. A file that is truncated, flipped, foreign or of another version is not used, which
//! costs time and nothing else. It is written aside and renamed, so that two processes may use it at once.

use std::fs;
use std::path::Path;

use super::index::Stage;
use super::node::{Dir, Disk, Entry, File, IndexFacts};
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use super::{Error, IoContext as _};
use crate::model::digest::Sha256Digest;
use crate::model::object_id::{ObjectFormat, ObjectId};

const MAGIC: &[u8; 8] = b"GTSTAT\0\x01";

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
        let bytes = fs::read(path).ok()?;
        Self::decode(&bytes, format)
    }

    /// Replaces the cache. It is not synced: one that a power cut tears is recognised.
    pub fn store(&self, path: &Path, format: ObjectFormat) -> Result<(), Error> {
        let dir = path.parent().expect("a cache lies in a directory");
        let file = tempfile::Builder::new()
            .prefix(".tmp-cache-")
            .tempfile_in(dir)
            .at("create temporary file in", dir)?;
        fs::write(file.path(), self.encode(format)).at("write", file.path())?;
        file.persist(path)
            .map_err(|error| error.error)
            .at("replace", path)?;
        Ok(())
    }

    fn encode(&self, format: ObjectFormat) -> Vec<u8> {
        let mut out = Writer(Vec::with_capacity(1 << 16));
        out.0.extend_from_slice(MAGIC);
        out.u32(u32::try_from(format.len()).expect("20 or 32"));
        out.bytes(self.anchor.reference.as_bytes());
        out.id(&self.anchor.commit);
        out.option(self.index.as_ref(), Writer::stamp);
        out.0.extend_from_slice(self.ignore_print.as_bytes());
        out.0.extend_from_slice(self.convert_print.as_bytes());
        out.count(self.conflicts.len());
        for conflict in &self.conflicts {
            out.bytes(&conflict.path);
            out.u8(conflict.stage);
            out.entry(&Entry {
                mode: conflict.mode,
                id: conflict.id,
            });
        }
        out.dir(&self.root);
        let crc = crc32fast::hash(&out.0);
        out.u32(crc);
        out.0
    }

    fn decode(bytes: &[u8], format: ObjectFormat) -> Option<Self> {
        let (body, crc) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
        if crc32fast::hash(body).to_le_bytes() != crc || !body.starts_with(MAGIC) {
            return None;
        }
        let mut input = Reader {
            rest: &body[MAGIC.len()..],
            id_length: format.len(),
        };
        if input.u32()? as usize != format.len() {
            return None;
        }
        let reference = String::from_utf8(input.bytes()?.to_vec()).ok()?;
        let anchor = Anchor {
            reference,
            commit: input.id()?,
        };
        let index = input.option(Reader::stamp)?;
        let ignore_print = Sha256Digest::from_bytes(input.take(32)?.try_into().ok()?);
        let convert_print = Sha256Digest::from_bytes(input.take(32)?.try_into().ok()?);
        let mut conflicts = Vec::new();
        for _ in 0..input.u32()? {
            let path = input.bytes()?.to_vec();
            let stage = input.u8()?;
            let Entry { mode, id } = input.entry()?;
            conflicts.push(Stage {
                path,
                stage,
                mode,
                id,
            });
        }
        let root = input.dir(0)?;
        input.rest.is_empty().then_some(Self {
            anchor,
            index,
            ignore_print,
            convert_print,
            conflicts,
            root,
        })
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn count(&mut self, value: usize) {
        self.u32(u32::try_from(value).expect("fewer than 2^32 entries"));
    }

    fn bytes(&mut self, value: &[u8]) {
        self.count(value.len());
        self.0.extend_from_slice(value);
    }

    fn id(&mut self, id: &ObjectId) {
        self.0.extend_from_slice(id.as_bytes());
    }

    fn option<T>(&mut self, value: Option<&T>, write: impl FnOnce(&mut Self, &T)) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn stamp(&mut self, stamp: &Stamp) {
        self.0.extend_from_slice(&stamp.mtime.to_le_bytes());
        self.0.extend_from_slice(&stamp.ctime.to_le_bytes());
        self.0.extend_from_slice(&stamp.ino.to_le_bytes());
        self.0.extend_from_slice(&stamp.size.to_le_bytes());
        self.u32(stamp.mode);
    }

    fn entry(&mut self, entry: &Entry) {
        self.u8(entry.mode as u8);
        self.id(&entry.id);
    }

    fn file(&mut self, file: &File) {
        self.bytes(&file.name);
        self.stamp(&file.stamp);
        // Most files are tracked, clean and in the tree as in the index: one byte says so.
        let plain = file
            .index
            .is_some_and(|facts| facts.flags == 0 && Some(facts.entry) == file.tree);
        self.u8(u8::from(file.trusted) | u8::from(plain) << 1);
        self.option(file.tree.as_ref(), Self::entry);
        if !plain {
            self.option(file.index.as_ref(), |out, facts| {
                out.u8(facts.flags);
                out.entry(&facts.entry);
            });
        }
        match &file.disk {
            Disk::AsTree => self.u8(0),
            Disk::Raw(entry) => {
                self.u8(1);
                self.entry(entry);
            }
            Disk::Absent => self.u8(2),
            Disk::Skipped(reason) => {
                self.u8(3);
                self.u8(reason.number());
            }
            Disk::Excluded => self.u8(4),
        }
    }

    fn dir(&mut self, dir: &Dir) {
        self.bytes(&dir.name);
        self.stamp(&dir.stamp);
        self.u8(u8::from(dir.trusted)
            | u8::from(dir.on_disk) << 1
            | u8::from(dir.ignored) << 2
            | u8::from(dir.unreadable) << 3);
        for control in &dir.controls {
            self.option(control.as_ref(), Self::stamp);
        }
        self.option(dir.tree.as_ref(), Self::id);
        self.option(dir.staged.as_ref(), Self::id);
        self.count(dir.files.len());
        for file in &dir.files {
            self.file(file);
        }
        self.count(dir.dirs.len());
        for dir in &dir.dirs {
            self.dir(dir);
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    id_length: usize,
}

/// Deeper than any path the operating system takes.
const MAX_DEPTH: usize = 4096;

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn i64(&mut self) -> Option<i64> {
        self.take(8)
            .map(|bytes| i64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    fn id(&mut self) -> Option<ObjectId> {
        let raw = self.take(self.id_length)?;
        ObjectId::from_bytes(raw).ok()
    }

    #[allow(
        clippy::option_option,
        reason = "the outer one is about reading, the inner one is the value"
    )]
    fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.u8()? {
            0 => Some(None),
            1 => read(self).map(Some),
            _ => None,
        }
    }

    fn stamp(&mut self) -> Option<Stamp> {
        Some(Stamp {
            mtime: self.i64()?,
            ctime: self.i64()?,
            ino: self.u64()?,
            size: self.u64()?,
            mode: self.u32()?,
        })
    }

    fn entry(&mut self) -> Option<Entry> {
        Some(Entry {
            mode: Mode::from_number(self.u8()?)?,
            id: self.id()?,
        })
    }

    fn file(&mut self) -> Option<File> {
        let name = self.bytes()?.into();
        let stamp = self.stamp()?;
        let bits = self.u8()?;
        let tree = self.option(Self::entry)?;
        let index = if bits & 2 != 0 {
            Some(IndexFacts {
                entry: tree?,
                flags: 0,
            })
        } else {
            self.option(|input| {
                Some(IndexFacts {
                    flags: input.u8()?,
                    entry: input.entry()?,
                })
            })?
        };
        let disk = match self.u8()? {
            0 => Disk::AsTree,
            1 => Disk::Raw(self.entry()?),
            2 => Disk::Absent,
            3 => Disk::Skipped(SkipReason::from_number(self.u8()?)?),
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

    fn dir(&mut self, depth: usize) -> Option<Dir> {
        if depth > MAX_DEPTH {
            return None;
        }
        let name = self.bytes()?.into();
        let stamp = self.stamp()?;
        let bits = self.u8()?;
        let controls = [self.option(Self::stamp)?, self.option(Self::stamp)?];
        let tree = self.option(Self::id)?;
        let staged = self.option(Self::id)?;
        let count = self.u32()? as usize;
        let mut files = Vec::with_capacity(count.min(self.rest.len() / 40));
        for _ in 0..count {
            files.push(self.file()?);
        }
        let count = self.u32()? as usize;
        let mut dirs = Vec::with_capacity(count.min(self.rest.len() / 40));
        for _ in 0..count {
            dirs.push(self.dir(depth + 1)?);
        }
        let flag = |bit: u8| bits & bit != 0;
        Some(Dir {
            name,
            stamp,
            trusted: flag(1),
            on_disk: flag(2),
            ignored: flag(4),
            unreadable: flag(8),
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
        let bytes = cache.encode(ObjectFormat::Sha1);
        assert_eq!(Cache::decode(&bytes, ObjectFormat::Sha1), Some(cache));
        assert_eq!(Cache::decode(&bytes, ObjectFormat::Sha256), None);
    }

    #[test]
    fn damage_is_recognised() {
        let bytes = sample().encode(ObjectFormat::Sha1);
        for cut in 0..bytes.len() {
            assert_eq!(Cache::decode(&bytes[..cut], ObjectFormat::Sha1), None);
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert_eq!(
                    Cache::decode(&flipped, ObjectFormat::Sha1),
                    None,
                    "byte {at} bit {bit}"
                );
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_body_with_a_right_checksum_is_survived(body: Vec<u8>) {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&20u32.to_le_bytes());
            bytes.extend_from_slice(&body);
            let crc = crc32fast::hash(&bytes);
            bytes.extend_from_slice(&crc.to_le_bytes());
            let _ = Cache::decode(&bytes, ObjectFormat::Sha1);
        }
    }
}
