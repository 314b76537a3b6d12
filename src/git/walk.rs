//! The walk over the work tree: which names there are, and which of them count.
//!
//! A directory whose stamp is as before has the names it had before, and is not read. Ignored directories are not
//! entered; tracked files in them are looked at by name.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::backend::Backend;
use super::content::{Reader, lstat};
use super::controls::{CONTROLS, staged_controls_moved};
use super::index::{IndexView, Slice, Tracked, TrackedFile};
use super::node::{Dir, File, IndexFacts};
use super::pool;
use super::rules::{Rules, as_path};
use super::settings::Settings;
use super::stamp::Stamp;
use super::{Error, IoContext as _};

/// Directories with more files than this share them between threads.
pub(super) const SHARE_FROM: usize = 48;
/// A thread that works alone does not look at more files than this, ...
pub(super) const MANY_FILES: usize = 1000;
/// ... nor at more directories in one.
pub(super) const MANY_DIRS: usize = 100;

/// How far a scan has come; read by whoever shows progress.
#[derive(Debug, Default)]
pub struct Progress {
    /// Files looked at.
    pub files: AtomicU64,
    /// Files whose content was read.
    pub read: AtomicU64,
}

/// One scan.
pub(super) struct Walk<'a> {
    pub root: &'a OwnedFd,
    pub work_dir: &'a std::path::Path,
    pub rules: &'a Rules,
    pub reader: Reader<'a>,
    pub backend: &'a dyn Backend,
    pub settings: &'a Settings,
    pub index: &'a (dyn Fn() -> Result<&'a IndexView, Error> + Sync),
    /// The facts in the old nodes are those of the index as it is.
    pub facts_are_current: bool,
    /// A ref holds the objects that the old nodes name.
    pub old_objects_are_held: bool,
    /// The last scan went by the same settings for conversions.
    pub conversions_are_known: bool,
    /// The file system's time when the scan began.
    pub clock: i64,
    pub progress: &'a Progress,
    /// Whether anything differs from the old nodes.
    pub moved: AtomicBool,
}

/// What holds for a directory because of the directories above it.
#[derive(Clone, Copy)]
pub(super) struct Above {
    /// Ignore rules changed: names must be judged anew.
    pub reread: bool,
    /// Attributes changed: stamps stand for nothing.
    pub reconvert: bool,
    /// Some attribute or setting may apply here.
    pub attributes: bool,
}

/// What a directory turned out to be.
pub(super) enum Visited {
    Dir(Dir),
    /// A nested repository, recorded like a file.
    Nested(File),
    Gone,
}

/// What the index says of a name.
#[derive(Clone, Copy)]
pub(super) enum InIndex<'a> {
    No,
    /// Known from the cache.
    Facts(IndexFacts),
    /// Known from the index itself, with stat data.
    Entry(&'a TrackedFile<'a>, &'a IndexView),
}

impl InIndex<'_> {
    pub fn facts(&self) -> Option<IndexFacts> {
        match self {
            Self::No => None,
            Self::Facts(facts) => Some(*facts),
            Self::Entry(file, _) => Some(file.facts),
        }
    }
}

impl<'a> Walk<'a> {
    /// The whole work tree.
    pub fn run(&self, old: Option<Dir>, above: Above) -> Result<Dir, Error> {
        let slice = if self.facts_are_current {
            None
        } else {
            Some((self.index)()?.root())
        };
        match self.dir(old, &[], &[], slice, false, above)? {
            Visited::Dir(dir) => Ok(dir),
            _ => Err(Error::Io {
                op: "read",
                path: self.work_dir.to_owned(),
                source: Errno::NOENT.into(),
            }),
        }
    }

    pub(super) fn root(&self) -> BorrowedFd<'a> {
        self.root.as_fd()
    }

    /// Looks at one directory. `slice` holds its index entries, unless the old node's facts are current.
    pub(super) fn dir(
        &self,
        old: Option<Dir>,
        path: &[u8],
        name: &[u8],
        slice: Option<Slice<'a>>,
        ignored: bool,
        above: Above,
    ) -> Result<Visited, Error> {
        let is_much = || {
            self.progress.files.load(Ordering::Relaxed) > MANY_FILES as u64
                || self.progress.read.load(Ordering::Relaxed) > SHARE_FROM as u64
        };
        let look = || self.dir_here(old, path, name, slice, ignored, above);
        if pool::is_alone() && is_much() {
            return pool::run(look);
        }
        pool::with_room(path, look)
    }

    fn dir_here(
        &self,
        old: Option<Dir>,
        path: &[u8],
        name: &[u8],
        slice: Option<Slice<'a>>,
        ignored: bool,
        above: Above,
    ) -> Result<Visited, Error> {
        let stamp = if path.is_empty() {
            rustix::fs::fstat(self.root()).map(|stat| Stamp::of(&stat))
        } else {
            lstat(self.root(), path)
        };
        let stamp = match stamp {
            Ok(stamp) if stamp.file_type() == FileType::Directory => Some(stamp),
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            Err(Errno::ACCESS | Errno::NAMETOOLONG) => {
                return self.unreadable(old, path, name, slice);
            }
            Err(error) => return Err(error).at("stat", as_path(path)),
        };
        let old_existed = old.is_some();
        let mut above = above;
        let mut node = old.unwrap_or_else(|| Dir {
            name: name.into(),
            dirty: true,
            ..Dir::default()
        });
        let Some(stamp) = stamp else {
            return self.missing(node, path, slice);
        };
        if ignored && slice.is_some_and(|slice| slice.is_empty()) {
            return Ok(Visited::Gone);
        }
        let controls_moved = self.controls_moved(&mut node, path, ignored)?;
        above.reread |= controls_moved[0];
        above.reconvert |= controls_moved[1];
        let slice = match slice {
            None if above.reconvert || (above.reread && !self.facts_are_current) => {
                Some((self.index)()?.below(path))
            }
            slice => slice,
        };
        let tracked = slice.map(|slice| slice.children());
        if let Some(tracked) = tracked.as_ref().filter(|_| old_existed) {
            let staged_moved = staged_controls_moved(&node, tracked);
            above.reread |= staged_moved[0];
            above.reconvert |= staged_moved[1];
        }
        let same_names = old_existed
            && node.on_disk
            && node.ignored == ignored
            // The names that count in an ignored directory are the index's.
            && (ignored || (node.trusted && node.stamp == stamp))
            && !above.reread
            && tracked.as_ref().is_none_or(|tracked| same_tracked_names(&node, tracked));
        let trusted = stamp.is_older_than(self.clock);
        if node.stamp != stamp || node.trusted != trusted {
            self.moved();
        }
        node.trusted = trusted;
        node.stamp = stamp;
        node.on_disk = true;
        node.ignored = ignored;
        if same_names && self.known_names(&mut node, path, tracked.as_ref(), above)? {
            return Ok(Visited::Dir(node));
        }
        self.listed_names(node, path, tracked, above)
    }

    pub(super) fn below(node: &Dir, tracked: Option<&Tracked<'a>>, above: Above) -> Above {
        let tracked_attributes = || match tracked {
            Some(tracked) => tracked.files.iter().any(|file| file.name == CONTROLS[1]),
            None => node
                .files
                .iter()
                .any(|file| &*file.name == CONTROLS[1] && file.index.is_some()),
        };
        Above {
            attributes: above.attributes || node.controls[1].is_some() || tracked_attributes(),
            ..above
        }
    }

    pub(super) fn is_dir(&self, path: &[u8]) -> bool {
        lstat(self.root(), path).is_ok_and(|stamp| stamp.file_type() == FileType::Directory)
    }

    pub(super) fn count(&self) {
        self.progress.files.fetch_add(1, Ordering::Relaxed);
    }

    /// Something is not as the last scan left it.
    pub(super) fn moved(&self) {
        self.moved.store(true, Ordering::Relaxed);
    }
}

fn same_tracked_names(node: &Dir, tracked: &Tracked<'_>) -> bool {
    let old = node
        .files
        .iter()
        .filter(|file| file.index.is_some())
        .map(|file| &*file.name);
    old.eq(tracked.files.iter().map(|file| file.name))
        && tracked
            .dirs
            .iter()
            .all(|(name, _)| node.dirs.iter().any(|dir| &*dir.name == *name))
}

pub(super) fn find_tracked<'t, 'a: 't>(
    tracked: &'t Tracked<'a>,
    name: &[u8],
    view: &(dyn Fn() -> Result<&'a IndexView, Error> + Sync),
) -> Result<InIndex<'t>, Error> {
    match tracked.files.binary_search_by(|file| file.name.cmp(name)) {
        Ok(at) => Ok(InIndex::Entry(&tracked.files[at], view()?)),
        Err(_) => Ok(InIndex::No),
    }
}

pub(super) fn find_dir<'a>(tracked: &Tracked<'a>, name: &[u8]) -> Option<Slice<'a>> {
    tracked
        .dirs
        .binary_search_by(|(dir, _)| (*dir).cmp(name))
        .ok()
        .map(|at| tracked.dirs[at].1)
}

/// Puts a repository among the files; what the index says of its name stays.
pub(super) fn insert_file(files: &mut Vec<File>, mut file: File) {
    match files.binary_search_by(|other| other.name.cmp(&file.name)) {
        Ok(at) => {
            file.index = file.index.or(files[at].index);
            files[at] = file;
        }
        Err(at) => files.insert(at, file),
    }
}
