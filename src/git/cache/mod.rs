//! The scanner's memory between runs: the nodes of the last scan, in one file.
//!
//! It can be deleted at any time. A file that is truncated, flipped, foreign or of another version is not used, which
//! costs time and nothing else. It is written aside and renamed, or all at once when it is small: two processes may use it.

mod decode;
mod encode;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::index::Stage;
use super::node::{Dir, Entry};
use super::stamp::Stamp;
use super::{Error, IoContext as _};
use crate::model::digest::Sha256Digest;
use crate::model::object_id::{ObjectFormat, ObjectId};

use decode::Reader;
use encode::Writer;

/// How much of the file is in memory at once.
const CHUNK: usize = 64 * 1024;
/// The directories down to this depth are written apart, so that several threads can read them.
const SHARED_LEVELS: usize = 2;
/// A cache up to this size is written in one go.
const SMALL: u64 = 64 << 10;
const MAGIC: &[u8; 8] = b"GTSTAT\0\x05";

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
        if self.store_small(path, format).unwrap_or(false) {
            return Ok(());
        }
        let dir = path.parent().expect("a cache lies in a directory");
        let temporary = tempfile::Builder::new()
            .prefix(".tmp-cache-")
            .tempfile_in(dir);
        let file = temporary.at("create temporary file in", dir)?;
        self.encode(file.as_file(), format)
            .at("write", file.path())?;
        // ext4 writes a file to the disk at once when it is renamed over another. Nobody needs this one there: the two
        // change places, and the old one goes with the temporary name.
        let exchange = rustix::fs::RenameFlags::EXCHANGE;
        let here = rustix::fs::CWD;
        if path.symlink_metadata().is_ok_and(|old| old.is_file())
            && rustix::fs::renameat_with(here, file.path(), here, path, exchange).is_ok()
        {
            return Ok(());
        }
        file.persist(path)
            .map_err(|error| error.error)
            .at("replace", path)?;
        Ok(())
    }

    /// Writes a small cache over the old one, which is quicker than a new file; says whether it is one. Whoever reads half
    /// of each takes it for torn.
    fn store_small(&self, path: &Path, format: ObjectFormat) -> io::Result<bool> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let old = file.metadata()?;
        if !old.is_file() || old.len() > SMALL {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        self.encode(&mut bytes, format)?;
        if bytes.len() as u64 > SMALL {
            return Ok(false);
        }
        file.write_all_at(&bytes, 0)?;
        if old.len() > bytes.len() as u64 {
            file.set_len(bytes.len() as u64)?;
        }
        Ok(true)
    }

    fn encode(&self, out: impl Write, format: ObjectFormat) -> io::Result<()> {
        let mut out = Writer::new(out);
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
        let mut input = Reader::new(body, format);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::node::{Disk, File, IndexFacts};
    use crate::git::skip::SkipReason;
    use crate::git::tree::Mode;

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
                controls: [Some(Box::new(stamp)), None],
                files: vec![
                    file(b"a", plain, Disk::AsTree),
                    file(b"b\xff", None, Disk::Raw(Box::new(entry))),
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
