//! Single steps on the disk, none of which follows a link or leaves the work tree.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::disk::open_beneath;
use crate::git::rules::as_path;
use crate::git::{Error, IoContext as _};

/// How the names of files begin that are not in their place yet. What a rollback's journal calls its own follows.
pub const TEMP_PREFIX: &str = ".go-team-tmp-";

/// The work tree, for changes.
pub(super) struct Place {
    root: OwnedFd,
    token: String,
    counter: AtomicU64,
}

/// What to put at a path.
pub(super) enum Content<'a> {
    File { bytes: &'a [u8], bits: u32 },
    Link { target: &'a [u8] },
}

/// Whether the content is synced on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flush {
    /// Each file at once; directories when all is done.
    Each,
    /// Later, all together, or never.
    Later,
}

impl Place {
    pub fn new(work_dir: &std::path::Path, token: &str) -> Result<Self, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(work_dir, flags, Mode::empty()).at("open", work_dir)?;
        Ok(Self {
            root,
            token: token.to_owned(),
            counter: AtomicU64::new(0),
        })
    }

    pub fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Opens a directory without following a link on the way.
    pub fn open_dir(&self, dir: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if dir.is_empty() {
            return rustix::fs::openat(&self.root, ".", flags, Mode::empty());
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match rustix::fs::openat2(&self.root, as_path(dir), flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return opened,
            }
        }
        let mut at: Option<OwnedFd> = None;
        for part in dir.split(|byte| *byte == b'/') {
            let above = at.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
            at = Some(rustix::fs::openat(
                above,
                as_path(part),
                flags,
                Mode::empty(),
            )?);
        }
        at.ok_or(Errno::NOENT)
    }

    /// Puts something at a path, in one step; whatever was there, but for a directory, is replaced.
    pub fn put(&self, path: &[u8], content: &Content<'_>, flush: Flush) -> Result<(), Error> {
        let (dir, name) = split(path);
        let parent = self.open_dir(dir).at("open", as_path(dir))?;
        let nth = self.counter.fetch_add(1, Ordering::Relaxed);
        let temp = format!("{TEMP_PREFIX}{}-{nth}", self.token);
        let made = self.with_room(&parent, || Self::make(&parent, &temp, content, flush));
        let placed = made
            .and_then(|()| rustix::fs::renameat(&parent, temp.as_str(), &parent, as_path(name)));
        if let Err(error) = placed {
            // Best effort: whatever stays is recognised by its name later.
            let _ = rustix::fs::unlinkat(&parent, temp.as_str(), AtFlags::empty());
            return Err(error).at("write", as_path(path));
        }
        Ok(())
    }

    fn make(
        parent: &OwnedFd,
        temp: &str,
        content: &Content<'_>,
        flush: Flush,
    ) -> Result<(), Errno> {
        match content {
            Content::Link { target } => rustix::fs::symlinkat(as_path(target), parent, temp),
            Content::File { bytes, bits } => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let mode = Mode::RUSR | Mode::WUSR;
                let mut file = File::from(rustix::fs::openat(parent, temp, flags, mode)?);
                file.write_all(bytes)
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
                rustix::fs::fchmod(&file, Mode::from_raw_mode(*bits as _))?;
                if flush == Flush::Each {
                    rustix::fs::fsync(&file)?;
                }
                Ok(())
            }
        }
    }

    /// Removes a file or link; one that is gone is fine.
    pub fn remove(&self, path: &[u8]) -> Result<(), Error> {
        let (dir, name) = split(path);
        let parent = match self.open_dir(dir) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            parent => parent.at("open", as_path(dir))?,
        };
        let removed = self.with_room(&parent, || {
            rustix::fs::unlinkat(&parent, as_path(name), AtFlags::empty())
        });
        match removed {
            Err(Errno::NOENT) => Ok(()),
            removed => removed.at("remove", as_path(path)),
        }
    }

    /// Removes a directory if nothing is in it any more; says whether it is gone.
    pub fn remove_dir(&self, path: &[u8]) -> Result<bool, Error> {
        let (dir, name) = split(path);
        let parent = match self.open_dir(dir) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(true),
            parent => parent.at("open", as_path(dir))?,
        };
        let removed = self.with_room(&parent, || {
            rustix::fs::unlinkat(&parent, as_path(name), AtFlags::REMOVEDIR)
        });
        match removed {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => Ok(false),
            Err(error) => Err(error).at("remove directory", as_path(path)),
        }
    }

    /// Makes a directory that its owner may write to; one that is there is fine.
    pub fn make_dir(&self, path: &[u8], bits: u32) -> Result<(), Error> {
        let (dir, name) = split(path);
        let parent = self.open_dir(dir).at("open", as_path(dir))?;
        let mode = Mode::from_raw_mode((bits | 0o700) as _);
        let outcome = self.with_room(&parent, || {
            rustix::fs::mkdirat(&parent, as_path(name), mode)
        });
        match outcome {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => self
                .open_dir(path)
                .map(drop)
                .at("create directory", as_path(path)),
            Err(error) => Err(error).at("create directory", as_path(path)),
        }
    }

    /// Sets a directory's bits where they differ.
    pub fn settle_dir(&self, path: &[u8], bits: u32) -> Result<(), Error> {
        let stat = rustix::fs::statat(&self.root, as_path(path), AtFlags::SYMLINK_NOFOLLOW);
        let Ok(stat) = stat else { return Ok(()) };
        let is = crate::git::stamp::Stamp::of(&stat);
        if is.file_type() != rustix::fs::FileType::Directory || is.permissions() == bits {
            return Ok(());
        }
        // A directory that may not be read cannot be opened to be changed.
        let set = match self.open_dir(path) {
            Ok(dir) => rustix::fs::fchmod(&dir, Mode::from_raw_mode(bits as _)),
            Err(Errno::ACCESS) => self.set_bits(path, bits),
            Err(error) => Err(error),
        };
        set.at("set permissions of", as_path(path))
    }

    /// Sets the bits of a file, which must not be a link.
    pub fn settle_file(&self, path: &[u8], bits: u32, flush: Flush) -> Result<(), Error> {
        self.set_bits(path, bits)
            .at("set permissions of", as_path(path))?;
        if flush == Flush::Later {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match open_beneath(self.root(), path, flags) {
            // What may not be read now cannot be synced alone.
            Err(Errno::ACCESS) => self.sync_all(),
            file => file.and_then(rustix::fs::fsync).at("sync", as_path(path)),
        }
    }

    fn set_bits(&self, path: &[u8], bits: u32) -> Result<(), Errno> {
        let (dir, name) = split(path);
        let parent = self.open_dir(dir)?;
        let stat = rustix::fs::statat(&parent, as_path(name), AtFlags::SYMLINK_NOFOLLOW)?;
        if crate::git::stamp::Stamp::of(&stat).file_type() == rustix::fs::FileType::Symlink {
            return Err(Errno::LOOP);
        }
        let mode = Mode::from_raw_mode(bits as _);
        rustix::fs::chmodat(&parent, as_path(name), mode, AtFlags::empty())
    }

    /// Runs a step that needs a writable directory; its owner may make it writable for the time being. The bits it should
    /// have are set when all is done.
    fn with_room<T>(
        &self,
        parent: &OwnedFd,
        step: impl Fn() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        match step() {
            Err(denied @ (Errno::ACCESS | Errno::PERM)) => {
                let stat = rustix::fs::fstat(parent)?;
                let bits = crate::git::stamp::Stamp::of(&stat).permissions();
                let is_root = rustix::fs::fstat(&self.root)
                    .is_ok_and(|root| (root.st_dev, root.st_ino) == (stat.st_dev, stat.st_ino));
                // The bits of the top are in no checkpoint: nobody could set them back.
                if bits & 0o300 == 0o300 || is_root {
                    return Err(denied);
                }
                rustix::fs::fchmod(parent, Mode::from_raw_mode((bits | 0o300) as _))
                    .map_err(|_| denied)?;
                step()
            }
            done => done,
        }
    }

    /// Removes what an interrupted walk left in a directory.
    pub fn clean(&self, dir: &[u8]) -> Result<(), Error> {
        let opened = match self.open_dir(dir) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            opened => opened.at("open", as_path(dir))?,
        };
        let prefix = format!("{TEMP_PREFIX}{}-", self.token);
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&opened).at("read", as_path(dir))? {
            let entry = entry.at("read", as_path(dir))?;
            if entry.file_name().to_bytes().starts_with(prefix.as_bytes()) {
                found.push(entry.file_name().to_owned());
            }
        }
        for name in found {
            rustix::fs::unlinkat(&opened, &name, AtFlags::empty()).at("remove", as_path(dir))?;
        }
        Ok(())
    }

    /// Makes durable what came, went or changed its bits in a directory, if it is still there.
    pub fn sync_dir(&self, dir: &[u8]) -> Result<(), Error> {
        match self.open_dir(dir) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
            Err(Errno::ACCESS) => self.sync_all(),
            opened => opened
                .and_then(rustix::fs::fsync)
                .at("sync directory", as_path(dir)),
        }
    }

    /// Makes everything that was changed durable.
    pub fn sync_all(&self) -> Result<(), Error> {
        #[cfg(target_os = "linux")]
        return rustix::fs::syncfs(&self.root).at("sync", "the work tree");
        #[cfg(not(target_os = "linux"))]
        Ok(rustix::fs::sync())
    }
}

/// A path's directory and its name there.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&[], path),
    }
}
