//! Reading one file's content so that what is stored is what the file was at one instant.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::convert::Conversion;
use super::hash::{Kind, ObjectHasher, hash_object};
use super::pack::{PackWriter, Spill};
use super::rules::{Lane, Rules, as_path};
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// Files up to this size are read into memory; larger ones are streamed.
const IN_MEMORY: u64 = 4 << 20;
/// How often a file that keeps changing is read anew.
const ATTEMPTS: usize = 4;

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Stored.
    Stored(Stored),
    /// Left out.
    Skipped(SkipReason),
    /// It is not there any more.
    Gone,
}

/// Stored content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// What git would record.
    pub id: ObjectId,
    /// The exact bytes, when a checkout of `id` would not give them back.
    pub raw: Option<ObjectId>,
    /// The file as it was read.
    pub stamp: Stamp,
}

/// Everything that reading a file needs.
pub(super) struct Reader<'a> {
    pub root: BorrowedFd<'a>,
    pub rules: &'a Rules,
    pub pack: &'a PackWriter,
    pub max_bytes: u64,
}

/// What is known of a file before it is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// The index's object, which decides whether `text=auto` converts line endings.
    pub index: Option<ObjectId>,
    /// What the tree will hold whatever the content is: the index's object, for files git takes as unchanged.
    pub fixed: Option<ObjectId>,
    /// Objects that are held by a ref or the index already and need no second copy.
    pub anchored: [Option<ObjectId>; 2],
}

impl Known {
    fn holds(&self, id: &ObjectId) -> bool {
        self.anchored.iter().flatten().any(|held| held == id)
    }
}

impl Reader<'_> {
    /// Reads and stores a regular file.
    pub fn file(
        &self,
        lane: &mut Lane,
        path: &[u8],
        conversion: &Conversion,
        known: Known,
    ) -> Result<Content, Error> {
        for _ in 0..ATTEMPTS {
            let file = match self.open(path) {
                Ok(file) => file,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {
                    return Ok(Content::Gone);
                }
                Err(Errno::ACCESS | Errno::PERM) => {
                    return Ok(Content::Skipped(SkipReason::Unreadable));
                }
                Err(error) => return Err(error).at("open", as_path(path)),
            };
            let before = stat(&file).at("stat", as_path(path))?;
            if before.file_type() != FileType::RegularFile {
                return Ok(Content::Gone);
            }
            if before.size > self.max_bytes {
                return Ok(Content::Skipped(SkipReason::TooLarge));
            }
            wait_until_cold(&before);
            let stored = match self.read(lane, &file, path, before, conversion, known) {
                Ok(stored) => stored,
                Err(Error::Convert { .. }) => {
                    return Ok(Content::Skipped(SkipReason::ConversionFailed));
                }
                Err(Error::Collision) => return Ok(Content::Skipped(SkipReason::Collision)),
                Err(Error::Io {
                    op: "read", source, ..
                }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                    return Ok(Content::Skipped(SkipReason::Unreadable));
                }
                Err(error) => return Err(error),
            };
            if let Some(stored) = stored {
                return Ok(Content::Stored(stored));
            }
        }
        Ok(Content::Skipped(SkipReason::Unstable))
    }

    /// None when the file changed meanwhile; nothing of it has been stored then.
    fn read(
        &self,
        lane: &mut Lane,
        file: &File,
        path: &[u8],
        before: Stamp,
        conversion: &Conversion,
        known: Known,
    ) -> Result<Option<Stored>, Error> {
        let unchanged = || {
            stat(file)
                .at("stat", as_path(path))
                .map(|after| after == before)
        };
        if *conversion == Conversion::NONE && before.size > IN_MEMORY {
            return self.stream(file, path, before, known);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0) + 1);
        file.take(before.size + 1)
            .read_to_end(&mut bytes)
            .at("read", as_path(path))?;
        if bytes.len() as u64 != before.size || !unchanged()? {
            return Ok(None);
        }
        let format = self.pack.format();
        if *conversion == Conversion::NONE {
            let id = hash_object(format, Kind::Blob, &bytes)?;
            let id = self.settle(known, id, &bytes)?;
            let raw = (known.fixed.is_some_and(|fixed| fixed != id)).then_some(id);
            return Ok(Some(Stored {
                id: known.fixed.unwrap_or(id),
                raw,
                stamp: before,
            }));
        }
        let blob = self
            .rules
            .to_git(lane, conversion, path, &bytes, known.index);
        let blob = match (blob, known.fixed) {
            (Err(Error::Convert { .. }), Some(id)) => {
                let raw = Some(self.pack.add(Kind::Blob, &bytes)?);
                return Ok(Some(Stored {
                    id,
                    raw,
                    stamp: before,
                }));
            }
            (blob, _) => blob?,
        };
        let id = hash_object(format, Kind::Blob, &blob)?;
        // Where no program is asked, the bytes themselves are kept: a checkout may one day convert differently.
        let exact = known.fixed.is_none_or(|fixed| fixed == id)
            && (blob == bytes || conversion.has_program())
            && lane
                .converter
                .smudge(conversion, path, &blob)
                .is_ok_and(|checked_out| checked_out == bytes);
        if known.fixed.is_none() {
            self.settle(known, id, &blob)?;
        }
        let raw = if exact {
            None
        } else {
            Some(self.pack.add(Kind::Blob, &bytes)?)
        };
        Ok(Some(Stored {
            id: known.fixed.unwrap_or(id),
            raw,
            stamp: before,
        }))
    }

    fn settle(&self, known: Known, id: ObjectId, blob: &[u8]) -> Result<ObjectId, Error> {
        if !known.holds(&id) {
            self.pack.add_named(Kind::Blob, id, blob)?;
        }
        Ok(id)
    }

    fn stream(
        &self,
        file: &File,
        path: &[u8],
        before: Stamp,
        known: Known,
    ) -> Result<Option<Stored>, Error> {
        let mut hasher = ObjectHasher::new(self.pack.format(), Kind::Blob, before.size);
        let mut spill = match self.pack.dir() {
            Some(dir) => Some((Spill::new(dir, Kind::Blob, before.size)?, dir)),
            None => None,
        };
        let mut buffer = vec![0; 256 * 1024];
        let mut total = 0;
        let mut source = file;
        loop {
            let n = source.read(&mut buffer).at("read", as_path(path))?;
            if n == 0 {
                break;
            }
            total += n as u64;
            if total > before.size {
                return Ok(None);
            }
            hasher.update(&buffer[..n]);
            if let Some((spill, dir)) = &mut spill {
                spill.write(&buffer[..n], dir)?;
            }
        }
        if total != before.size || stat(file).at("stat", as_path(path))? != before {
            return Ok(None);
        }
        let id = hasher.finish()?;
        if let Some((spill, _)) = spill.filter(|_| !known.holds(&id)) {
            self.pack.add_spilled(id, spill)?;
        }
        let raw = (known.fixed.is_some_and(|fixed| fixed != id)).then_some(id);
        Ok(Some(Stored {
            id: known.fixed.unwrap_or(id),
            raw,
            stamp: before,
        }))
    }

    /// Reads and stores a symbolic link.
    pub fn link(&self, path: &[u8], known: Known) -> Result<Content, Error> {
        for _ in 0..ATTEMPTS {
            let target = match rustix::fs::readlinkat(self.root, as_path(path), Vec::new()) {
                Ok(target) => target,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::INVAL) => return Ok(Content::Gone),
                Err(Errno::ACCESS) => return Ok(Content::Skipped(SkipReason::Unreadable)),
                Err(error) => return Err(error).at("read link", as_path(path)),
            };
            let stamp = match lstat(self.root, path) {
                Ok(stamp) if stamp.file_type() == FileType::Symlink => stamp,
                _ => continue,
            };
            let id = hash_object(self.pack.format(), Kind::Blob, target.as_bytes())?;
            let id = self.settle(known, id, target.as_bytes())?;
            let raw = (known.fixed.is_some_and(|fixed| fixed != id)).then_some(id);
            return Ok(Content::Stored(Stored {
                id: known.fixed.unwrap_or(id),
                raw,
                stamp,
            }));
        }
        Ok(Content::Skipped(SkipReason::Unstable))
    }

    /// Opens without following a link anywhere on the way, and without waiting for a pipe's writer.
    fn open(&self, path: &[u8]) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match rustix::fs::openat2(self.root, as_path(path), flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return opened.map(File::from),
            }
        }
        rustix::fs::openat(self.root, as_path(path), flags, Mode::empty()).map(File::from)
    }
}

pub(super) fn lstat(root: BorrowedFd<'_>, path: &[u8]) -> Result<Stamp, Errno> {
    rustix::fs::statat(root, as_path(path), AtFlags::SYMLINK_NOFOLLOW).map(|stat| Stamp::of(&stat))
}

fn stat(file: &File) -> Result<Stamp, Errno> {
    rustix::fs::fstat(file.as_fd()).map(|stat| Stamp::of(&stat))
}

/// A file written in the current tick of the file system's clock could be written again in that tick without showing
/// it. Waiting for the tick to pass makes an equal stamp after reading a proof.
fn wait_until_cold(stamp: &Stamp) {
    const FAR_AHEAD: i64 = 100_000_000;
    let latest = stamp.mtime.max(stamp.ctime);
    for _ in 0..40 {
        let now = coarse_now();
        if latest < now || latest > now.saturating_add(FAR_AHEAD) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The clock that stamps files, which advances by ticks.
fn coarse_now() -> i64 {
    #[cfg(target_os = "linux")]
    let id = rustix::time::ClockId::RealtimeCoarse;
    #[cfg(not(target_os = "linux"))]
    let id = rustix::time::ClockId::Realtime;
    let now = rustix::time::clock_gettime(id);
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}
