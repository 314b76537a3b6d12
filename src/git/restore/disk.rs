//! What is on disk at a path, compared with what the two sides of a change have there.

use std::io::Read as _;
use std::os::fd::BorrowedFd;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::compare::{Change, Differences};
use super::trees::Trees;
use super::view::{Item, View};
use crate::git::backend::Backend;
use crate::git::diff::ReadTree;
use crate::git::hash::{Kind, ObjectHasher};
use crate::git::index::Control;
use crate::git::open::Repo;
use crate::git::rules::{Capture, Rules, as_path};
use crate::git::stamp::Stamp;
use crate::git::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Nothing, or a directory.
    Nothing,
    /// What the item says.
    Same,
    /// The item's content with other permission bits.
    OtherBits,
    /// Something else.
    Other,
}

/// The rules of one side, by the files in its own tree.
pub struct Filters {
    rules: Rules,
    /// Whether a filter program could be asked for at all.
    has_programs: bool,
}

impl Filters {
    /// The rules that hold for the changed paths, read from the tree of `view`.
    ///
    /// # Errors
    /// When a tree or a rule file cannot be read.
    pub fn of(
        repo: &Repo,
        capture: &Capture,
        read: &ReadTree<'_>,
        view: &View,
        differences: &Differences,
    ) -> Result<Self, Error> {
        let trees = Trees::new(repo.backend.format(), read);
        let mut controls = Vec::new();
        let dirs = differences.dirs.iter().map(|dir| dir.path.as_slice());
        for dir in std::iter::once(&b""[..]).chain(dirs) {
            for name in [b".gitattributes".as_slice(), b".gitignore"] {
                let mut path = dir.to_vec();
                crate::git::node::push(&mut path, name);
                let found = trees.find(view.tree, &path)?;
                let raw = view.raw.get(&path).copied();
                if let Some(entry) = raw.or(found).filter(|entry| entry.mode.is_regular()) {
                    controls.push(Control { path, id: entry.id });
                }
            }
        }
        controls.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Self {
            rules: Rules::of_tree(repo, capture, controls)?,
            has_programs: !repo.settings.filters.is_empty(),
        })
    }

    /// Whether git would ignore the path, were it not tracked.
    #[must_use]
    pub fn ignores(&self, path: &[u8]) -> bool {
        self.rules
            .with_lane(|lane| self.rules.is_ignored(lane, path, false))
    }

    /// Whether the configuration leaves the path out.
    #[must_use]
    pub fn excludes(&self, path: &[u8]) -> bool {
        self.rules.is_excluded(path, false)
    }

    /// Whether git would take every part of the path into a work tree.
    #[must_use]
    pub fn allows(&self, path: &[u8], is_link: bool) -> bool {
        if !super::view::is_inside(path) {
            return false;
        }
        let parts = path.split(|byte| *byte == b'/');
        let mut left = parts.clone().count();
        parts.into_iter().all(|part| {
            left -= 1;
            self.rules.is_valid_name(part, is_link && left == 0)
        })
    }

    /// The bytes that belong on disk.
    pub(super) fn bytes(
        &self,
        backend: &dyn Backend,
        path: &[u8],
        item: &Item,
    ) -> Result<Vec<u8>, Error> {
        let id = item.id();
        let object = backend.read(&id)?;
        let object = object.filter(|object| object.kind == Kind::Blob);
        let blob = object.ok_or_else(|| Error::Damaged {
            what: format!("blob {id} is missing"),
        })?;
        if !self.has_programs
            || !matches!(
                item,
                Item::File {
                    is_exact: false,
                    ..
                }
            )
        {
            return Ok(blob.bytes);
        }
        self.rules.with_lane(|lane| {
            let conversion = self.rules.conversion(lane, path);
            // Whatever is converted without a program was kept as it was on disk.
            if !conversion.has_program() {
                return Ok(blob.bytes);
            }
            lane.converter.smudge(&conversion, path, &blob.bytes)
        })
    }

    fn needs_program(&self, path: &[u8], item: &Item) -> Result<bool, Error> {
        if !self.has_programs
            || !matches!(
                item,
                Item::File {
                    is_exact: false,
                    ..
                }
            )
        {
            return Ok(false);
        }
        self.rules.with_lane(|lane| {
            let conversion = self.rules.conversion(lane, path);
            Ok(conversion.has_program())
        })
    }

    /// Compares the disk with one side of a change.
    pub(super) fn see(
        &self,
        root: BorrowedFd<'_>,
        backend: &dyn Backend,
        path: &[u8],
        item: Option<&Item>,
    ) -> Result<Seen, Error> {
        let stamp = match stat_beneath(root, path) {
            Ok(stamp) if stamp.file_type() == FileType::Directory => {
                return Ok(match item {
                    Some(item) if item.is_nested() => Seen::Same,
                    _ => Seen::Nothing,
                });
            }
            Ok(stamp) => stamp,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Seen::Nothing),
            Err(error) => return Err(error).at("stat", as_path(path)),
        };
        let is_same = match item {
            None | Some(Item::Nested { .. }) => false,
            Some(Item::Link { id }) => {
                stamp.file_type() == FileType::Symlink
                    && link_id(root, backend, path)?.as_ref() == Some(id)
            }
            Some(item @ Item::File { id, .. }) => {
                if stamp.file_type() != FileType::RegularFile {
                    false
                } else if self.needs_program(path, item)? {
                    let wanted = self.bytes(backend, path, item)?;
                    read(root, path, &stamp)? == wanted
                } else {
                    file_id(root, backend, path, &stamp)?.as_ref() == Some(id)
                }
            }
        };
        Ok(match item {
            Some(Item::File { bits, .. }) if is_same && stamp.permissions() != *bits => {
                Seen::OtherBits
            }
            _ if is_same => Seen::Same,
            _ => Seen::Other,
        })
    }

    /// Whether the disk holds something that neither side of a change has.
    pub(super) fn is_foreign(
        &self,
        root: BorrowedFd<'_>,
        backend: &dyn Backend,
        change: &Change,
        other: &Self,
    ) -> Result<bool, Error> {
        if self.see(root, backend, &change.path, change.from.as_ref())? != Seen::Other {
            return Ok(false);
        }
        Ok(other.see(root, backend, &change.path, change.to.as_ref())? == Seen::Other)
    }
}

fn open(root: BorrowedFd<'_>, path: &[u8]) -> Result<std::fs::File, Error> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open_beneath(root, path, flags);
    file.map(std::fs::File::from).at("open", as_path(path))
}

/// What `stat` says of a path, without following a link: what lies behind one is not in the work tree.
pub(super) fn stat_beneath(root: BorrowedFd<'_>, path: &[u8]) -> Result<Stamp, Errno> {
    #[cfg(target_os = "linux")]
    {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = open_beneath(root, path, flags)?;
        rustix::fs::fstat(&file).map(|stat| Stamp::of(&stat))
    }
    #[cfg(not(target_os = "linux"))]
    {
        refuse_links(root, path)?;
        crate::git::content::lstat(root, path)
    }
}

/// Opens a path without following a link anywhere on the way.
pub(super) fn open_beneath(
    root: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
) -> Result<std::os::fd::OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(root, as_path(path), flags, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            // What lies behind a link is not there.
            Err(Errno::XDEV) => return Err(Errno::LOOP),
            opened => return opened,
        }
    }
    refuse_links(root, path)?;
    rustix::fs::openat(root, as_path(path), flags, Mode::empty())
}

/// For systems that cannot be told to follow no link.
fn refuse_links(root: BorrowedFd<'_>, path: &[u8]) -> Result<(), Errno> {
    for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let above = crate::git::content::lstat(root, &path[..at])?;
        if above.file_type() != FileType::Directory {
            return Err(Errno::NOTDIR);
        }
    }
    Ok(())
}

fn read(root: BorrowedFd<'_>, path: &[u8], stamp: &Stamp) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0));
    open(root, path)?
        .read_to_end(&mut bytes)
        .at("read", as_path(path))?;
    Ok(bytes)
}

/// The name of a file's content; none when the file may not be read.
fn file_id(
    root: BorrowedFd<'_>,
    backend: &dyn Backend,
    path: &[u8],
    stamp: &Stamp,
) -> Result<Option<ObjectId>, Error> {
    let mut file = match open(root, path) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
            return Ok(None);
        }
        file => file?,
    };
    let mut hasher = ObjectHasher::new(backend.format(), Kind::Blob, stamp.size);
    let mut buffer = vec![0; 128 * 1024];
    let mut total = 0;
    loop {
        let n = file.read(&mut buffer).at("read", as_path(path))?;
        total += n as u64;
        if n == 0 || total > stamp.size {
            break;
        }
        hasher.update(&buffer[..n]);
    }
    if total != stamp.size {
        return Ok(None);
    }
    hasher.finish().map(Some)
}

fn link_id(
    root: BorrowedFd<'_>,
    backend: &dyn Backend,
    path: &[u8],
) -> Result<Option<ObjectId>, Error> {
    let (dir, name) = super::place::split(path);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let read = if dir.is_empty() {
        rustix::fs::readlinkat(root, as_path(name), Vec::new())
    } else {
        open_beneath(root, dir, flags)
            .and_then(|dir| rustix::fs::readlinkat(&dir, as_path(name), Vec::new()))
    };
    match read {
        Ok(target) => {
            crate::git::hash::hash_object(backend.format(), Kind::Blob, target.as_bytes()).map(Some)
        }
        Err(Errno::NOENT | Errno::INVAL) => Ok(None),
        Err(error) => Err(error).at("read link", as_path(path)),
    }
}
