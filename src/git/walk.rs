//! The walk over the work tree: which names there are, and which of them count.
//!
//! A directory whose stamp is as before has the names it had before, and is not read. Ignored directories are not
//! entered; tracked files in them are looked at by name.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;
use rustix::fs::{AtFlags, FileType, Mode as OpenMode, OFlags};
use rustix::io::Errno;

use super::backend::Backend;
use super::content::{Reader, lstat};
use super::index::{IndexView, Slice, Tracked, TrackedFile};
use super::nested::{self, Nested};
use super::node::{ASSUME_UNCHANGED, Dir, Disk, Entry, File, IndexFacts, SKIP_WORKTREE, push};
use super::rules::{Rules, as_path};
use super::settings::Settings;
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use super::{Error, IoContext as _};

/// Directories with more files than this share them between threads.
const SHARE_FROM: usize = 48;

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

    fn root(&self) -> BorrowedFd<'a> {
        self.root.as_fd()
    }

    /// Looks at one directory. `slice` holds its index entries, unless the old node's facts are current.
    fn dir(
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
            let [ignores, attributes] = staged_controls_moved(&node, tracked);
            above.reread |= ignores;
            above.reconvert |= attributes;
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

    /// Whether `.gitignore` or `.gitattributes` changed since they were last seen. New ones are found by listing, but
    /// for attributes in an ignored directory, which is not listed.
    fn controls_moved(
        &self,
        node: &mut Dir,
        path: &[u8],
        ignored: bool,
    ) -> Result<[bool; 2], Error> {
        let mut moved = [false; 2];
        for (slot, name) in CONTROLS.iter().enumerate() {
            let old = node.controls[slot];
            if old.is_none() && (slot == 0 || !ignored) {
                continue;
            }
            let now = self.control(path, name)?;
            moved[slot] = now != old || now == Some(Stamp::default());
            node.controls[slot] = now;
        }
        Ok(moved)
    }

    /// The stamp of an ignore or attribute file. One that may change again without showing it gets none that a later
    /// scan could take for its own.
    fn control(&self, path: &[u8], name: &[u8]) -> Result<Option<Stamp>, Error> {
        let mut path = path.to_vec();
        push(&mut path, name);
        match lstat(self.root(), &path) {
            Ok(stamp) if stamp.is_older_than(self.clock) => Ok(Some(stamp)),
            Ok(_) => Ok(Some(Stamp::default())),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::LOOP) => Ok(None),
            Err(error) => Err(error).at("stat", as_path(&path)),
        }
    }

    /// The names are those of the last scan. False when a nested repository ceased to be one.
    fn known_names(
        &self,
        node: &mut Dir,
        path: &[u8],
        tracked: Option<&Tracked<'a>>,
        above: Above,
    ) -> Result<bool, Error> {
        let below = self.below(node, tracked, above);
        let moved = self.moved_files(&node.files, path, tracked, below);
        let mut still_same = true;
        let look = |at: usize| {
            let old = &node.files[at];
            let mut file_path = path.to_vec();
            push(&mut file_path, &old.name);
            let in_index = match tracked {
                None => old.index.map_or(InIndex::No, InIndex::Facts),
                Some(tracked) => find_tracked(tracked, &old.name, self.index)?,
            };
            if is_expandable(in_index) && self.is_dir(&file_path) {
                return Ok((at, None));
            }
            let new = if is_nested(old, in_index) {
                self.nested(&file_path, &old.name, in_index)?
            } else {
                self.file(&file_path, &old.name, Some(old.clone()), in_index, below)?
            };
            Ok((at, new))
        };
        let looked: Vec<Result<(usize, Option<File>), Error>> = if moved.len() > SHARE_FROM {
            moved.into_par_iter().with_min_len(16).map(look).collect()
        } else {
            moved.into_iter().map(look).collect()
        };
        for item in looked.into_iter().rev() {
            let (at, new) = item?;
            match new {
                Some(new) => {
                    let old = &node.files[at];
                    node.dirty |= new.tree != old.tree || new.index != old.index;
                    node.files[at] = new;
                }
                None => {
                    still_same = false;
                    node.dirty = true;
                    node.files.remove(at);
                }
            }
        }
        let old_dirs = std::mem::take(&mut node.dirs);
        let visited: Vec<Result<Visited, Error>> = old_dirs
            .into_par_iter()
            .map(|old| {
                let name = old.name.clone();
                let mut dir_path = path.to_vec();
                push(&mut dir_path, &name);
                let ignored = old.ignored;
                let slice = match tracked {
                    None => None,
                    Some(tracked) => Some(
                        find_dir(tracked, &name)
                            .map_or_else(|| (self.index)().map(|view| view.below(&dir_path)), Ok)?,
                    ),
                };
                self.dir(Some(old), &dir_path, &name, slice, ignored, below)
            })
            .collect();
        for item in visited {
            match item? {
                Visited::Dir(dir) => {
                    node.dirty |= dir.dirty;
                    node.dirs.push(dir);
                }
                Visited::Nested(file) => {
                    node.dirty = true;
                    insert_file(&mut node.files, file);
                }
                Visited::Gone => {
                    still_same = false;
                    node.dirty = true;
                }
            }
        }
        part_twins(node);
        Ok(still_same)
    }

    /// Which files are not exactly as the last scan left them. This is all that happens to most files.
    fn moved_files(
        &self,
        files: &[File],
        path: &[u8],
        tracked: Option<&Tracked<'a>>,
        below: Above,
    ) -> Vec<usize> {
        let is_same = |full: &[u8], file: &File| {
            let in_index = match tracked {
                None => file.index.map_or(InIndex::No, InIndex::Facts),
                Some(tracked) => match find_tracked(tracked, &file.name, self.index) {
                    Ok(found) => found,
                    Err(_) => return false,
                },
            };
            file.trusted
                && lstat(self.root(), full)
                    .is_ok_and(|stamp| self.is_unmoved(full, file, &stamp, in_index, below))
        };
        if below.reconvert {
            return (0..files.len()).collect();
        }
        let look = |(start, files): (usize, &[File])| {
            let mut full = path.to_vec();
            let mut moved = Vec::new();
            for (at, file) in files.iter().enumerate() {
                let length = push(&mut full, &file.name);
                if !is_same(&full, file) {
                    moved.push(start + at);
                }
                full.truncate(length);
            }
            self.progress
                .files
                .fetch_add((files.len() - moved.len()) as u64, Ordering::Relaxed);
            moved
        };
        if files.len() <= SHARE_FROM {
            return look((0, files));
        }
        let chunks = files.par_chunks(SHARE_FROM).enumerate();
        chunks
            .flat_map_iter(|(nth, files)| look((nth * SHARE_FROM, files)))
            .collect()
    }

    fn below(&self, node: &Dir, tracked: Option<&Tracked<'a>>, above: Above) -> Above {
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

    /// Reads the names from disk and judges each one.
    fn listed_names(
        &self,
        mut node: Dir,
        path: &[u8],
        tracked: Option<Tracked<'a>>,
        above: Above,
    ) -> Result<Visited, Error> {
        let tracked = match tracked {
            Some(tracked) => tracked,
            None => (self.index)()?.below(path).children(),
        };
        let names = if node.ignored {
            self.tracked_names(path, &tracked)?
        } else {
            self.list(path)?
        };
        let Some(names) = names else {
            let slice = (self.index)()?.below(path);
            return self.unreadable(Some(node), path, &[], Some(slice));
        };
        let is_tracked = !tracked.files.is_empty() || !tracked.dirs.is_empty();
        let has_git = names.iter().any(|(name, _)| &**name == b".git");
        if !path.is_empty() && !is_tracked && has_git {
            let name = node.name.clone();
            match self.nested(path, &name, InIndex::No)? {
                Some(file) => return Ok(Visited::Nested(file)),
                None => node.dirty = true,
            }
        }
        if !path.is_empty() && has_git {
            // It may become a repository, or count as one, without a change of this directory.
            node.trusted = false;
        }
        let mut above = above;
        for (slot, control) in CONTROLS.iter().enumerate() {
            let before = node.controls[slot];
            let is_there = names.iter().any(|(name, _)| &**name == *control);
            let is_unlisted = slot == 1 && node.ignored;
            node.controls[slot] = if is_there || is_unlisted {
                self.control(path, control)?
            } else {
                None
            };
            let moved = before != node.controls[slot];
            above.reread |= slot == 0 && moved;
            above.reconvert |= slot == 1 && moved;
        }
        let below = self.below(&node, Some(&tracked), above);
        let judged = self
            .rules
            .with_lane(|lane| self.judge(lane, path, &names, &tracked))?;
        self.visit_judged(node, path, judged, &tracked, below)
            .map(Visited::Dir)
    }

    /// Decides for each name on disk and in the index what it is.
    fn judge<'n>(
        &self,
        lane: &mut super::rules::Lane,
        path: &[u8],
        names: &'n [(Box<[u8]>, FileType)],
        tracked: &'n Tracked<'a>,
    ) -> Result<Judged<'n>, Error> {
        let mut judged = Judged::default();
        let mut full = path.to_vec();
        for (name, kind) in names {
            if &**name == b".git" {
                continue;
            }
            let length = push(&mut full, name);
            let file = tracked
                .files
                .binary_search_by(|file| file.name.cmp(name))
                .ok()
                .map(|at| &tracked.files[at]);
            let in_dirs = tracked
                .dirs
                .binary_search_by(|(dir, _)| (*dir).cmp(name))
                .is_ok();
            let is_dir = *kind == FileType::Directory;
            if is_dir && !in_dirs && file.is_none() && !self.rules.is_valid_name(name, false) {
                if !self.rules.is_excluded(&full, true) && !self.rules.is_ignored(lane, &full, true)
                {
                    judged.files.push(name);
                }
            } else if is_dir {
                match file.map(|file| file.facts.entry.mode) {
                    Some(Mode::Gitlink | Mode::Tree) => {
                        judged.files.push(name);
                    }
                    _ if self.rules.is_excluded(&full, true) && !in_dirs => {}
                    _ => {
                        let ignored = self.rules.is_ignored(lane, &full, true);
                        if in_dirs || !ignored {
                            judged.dirs.push((name, ignored));
                        }
                    }
                }
            } else if file.is_some() {
                judged.files.push(name);
            } else if !self.rules.is_excluded(&full, false)
                && !self.rules.is_ignored(lane, &full, false)
            {
                judged.files.push(name);
            }
            full.truncate(length);
        }
        // What only the index knows: deleted files and directories, and files with a directory in their place.
        for file in &tracked.files {
            judged.files.push(file.name);
        }
        for (dir, _) in &tracked.dirs {
            if !judged.dirs.iter().any(|(name, _)| name == dir) {
                judged.dirs.push((dir, false));
            }
        }
        judged.files.sort_unstable();
        judged.files.dedup();
        judged.dirs.sort_unstable();
        Ok(judged)
    }

    fn visit_judged(
        &self,
        mut node: Dir,
        path: &[u8],
        judged: Judged<'_>,
        tracked: &Tracked<'a>,
        below: Above,
    ) -> Result<Dir, Error> {
        let mut old_files = std::mem::take(&mut node.files);
        let had_files = old_files.len();
        let mut jobs = Vec::with_capacity(judged.files.len());
        let mut kept = 0;
        for name in judged.files {
            let old = old_files
                .binary_search_by(|file| (*file.name).cmp(name))
                .ok();
            kept += usize::from(old.is_some());
            let old = old.map(|at| {
                let blank = File {
                    name: old_files[at].name.clone(),
                    stamp: Stamp::default(),
                    trusted: false,
                    tree: None,
                    index: None,
                    disk: Disk::Absent,
                };
                std::mem::replace(&mut old_files[at], blank)
            });
            jobs.push((name, old));
        }
        node.dirty |= kept != had_files || kept != jobs.len();
        let look = |(name, old): (&[u8], Option<File>)| {
            let mut file_path = path.to_vec();
            push(&mut file_path, name);
            let in_index = find_tracked(tracked, name, self.index)?;
            let before = old.as_ref().map(|old| (old.tree, old.index));
            let is_link = in_index
                .facts()
                .is_some_and(|facts| facts.entry.mode == Mode::Gitlink);
            let new = if is_link {
                self.nested(&file_path, name, in_index)?
            } else {
                self.file(&file_path, name, old, in_index, below)?
            };
            let changed = new.as_ref().map(|new| (new.tree, new.index)) != before;
            Ok((new, changed))
        };
        let looked: Vec<Result<_, Error>> = if jobs.len() > SHARE_FROM {
            jobs.into_par_iter().with_min_len(16).map(look).collect()
        } else {
            jobs.into_iter().map(look).collect()
        };
        for item in looked {
            let (new, changed) = item?;
            node.dirty |= changed;
            node.files.extend(new);
        }
        let old_dirs = std::mem::take(&mut node.dirs);
        let had_dirs = old_dirs.len();
        let mut old_dirs: std::collections::HashMap<Vec<u8>, Dir> = old_dirs
            .into_iter()
            .map(|dir| (dir.name.to_vec(), dir))
            .collect();
        let jobs: Vec<_> = judged
            .dirs
            .into_iter()
            .map(|(name, ignored)| (name, ignored, old_dirs.remove(name)))
            .collect();
        node.dirty |= !old_dirs.is_empty() || had_dirs != jobs.len();
        let visited: Vec<Result<Visited, Error>> = jobs
            .into_par_iter()
            .map(|(name, ignored, old)| {
                let mut dir_path = path.to_vec();
                push(&mut dir_path, name);
                let slice = find_dir(tracked, name)
                    .map_or_else(|| (self.index)().map(|view| view.below(&dir_path)), Ok)?;
                self.dir(old, &dir_path, name, Some(slice), ignored, below)
            })
            .collect();
        for item in visited {
            match item? {
                Visited::Dir(dir) => {
                    node.dirty |= dir.dirty;
                    node.dirs.push(dir);
                }
                Visited::Nested(file) => {
                    node.dirty = true;
                    insert_file(&mut node.files, file);
                }
                Visited::Gone => node.dirty = true,
            }
        }
        part_twins(&mut node);
        Ok(node)
    }

    /// A directory that is not on disk, or is something else there: what the index has of it is deleted or kept.
    fn missing(
        &self,
        mut node: Dir,
        path: &[u8],
        slice: Option<Slice<'a>>,
    ) -> Result<Visited, Error> {
        let slice = match slice {
            Some(slice) => slice,
            None => (self.index)()?.below(path),
        };
        if slice.is_empty() {
            return Ok(Visited::Gone);
        }
        let tracked = slice.children();
        node = Dir {
            name: node.name,
            dirty: true,
            ..Dir::default()
        };
        for file in &tracked.files {
            let mut file_path = path.to_vec();
            push(&mut file_path, file.name);
            node.files
                .push(self.deleted(&file_path, file.name, file.facts));
        }
        for (name, slice) in &tracked.dirs {
            let mut dir_path = path.to_vec();
            push(&mut dir_path, name);
            let child = Dir {
                name: (*name).into(),
                dirty: true,
                ..Dir::default()
            };
            if let Visited::Dir(dir) = self.missing(child, &dir_path, Some(*slice))? {
                node.dirs.push(dir);
            }
        }
        Ok(Visited::Dir(node))
    }

    /// A directory that may not be read: what the index has of it is kept, and the directory is reported.
    fn unreadable(
        &self,
        old: Option<Dir>,
        path: &[u8],
        name: &[u8],
        slice: Option<Slice<'a>>,
    ) -> Result<Visited, Error> {
        let name = old.map_or_else(|| name.into(), |old| old.name);
        let slice = match slice {
            Some(slice) => slice,
            None => (self.index)()?.below(path),
        };
        let mut node = Dir {
            name,
            dirty: true,
            on_disk: true,
            unreadable: true,
            ..Dir::default()
        };
        let tracked = slice.children();
        for file in &tracked.files {
            let mut kept = self.deleted(path, file.name, file.facts);
            kept.tree = file.facts.staged();
            kept.disk = Disk::Skipped(SkipReason::Unreadable);
            node.files.push(kept);
        }
        for (name, slice) in &tracked.dirs {
            let mut dir_path = path.to_vec();
            push(&mut dir_path, name);
            if let Visited::Dir(dir) = self.unreadable(None, &dir_path, name, Some(*slice))? {
                node.dirs.push(dir);
            }
        }
        Ok(Visited::Dir(node))
    }

    /// The names on disk; none when they may not be read.
    fn list(&self, path: &[u8]) -> Result<Option<Vec<(Box<[u8]>, FileType)>>, Error> {
        let target = if path.is_empty() {
            as_path(b".")
        } else {
            as_path(path)
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match rustix::fs::openat(self.root(), target, flags, OpenMode::empty()) {
            Ok(dir) => dir,
            Err(Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG) => return Ok(None),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Some(Vec::new())),
            Err(error) => return Err(error).at("open directory", target),
        };
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(dir).at("read directory", target)? {
            let entry = entry.at("read directory", target)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let mut full = path.to_vec();
                    push(&mut full, name);
                    match lstat(self.root(), &full) {
                        Ok(stamp) => stamp.file_type(),
                        Err(_) => continue,
                    }
                }
                kind => kind,
            };
            names.push((name.into(), kind));
        }
        Ok(Some(names))
    }

    /// In an ignored directory only tracked names count.
    fn tracked_names(
        &self,
        path: &[u8],
        tracked: &Tracked<'a>,
    ) -> Result<Option<Vec<(Box<[u8]>, FileType)>>, Error> {
        let mut names = Vec::new();
        let all = tracked
            .files
            .iter()
            .map(|file| file.name)
            .chain(tracked.dirs.iter().map(|(name, _)| *name));
        for name in all {
            let mut full = path.to_vec();
            push(&mut full, name);
            match lstat(self.root(), &full) {
                Ok(stamp) => names.push((name.into(), stamp.file_type())),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(Errno::ACCESS | Errno::NAMETOOLONG) => return Ok(None),
                Err(error) => return Err(error).at("stat", as_path(&full)),
            }
        }
        Ok(Some(names))
    }

    /// A submodule or nested repository. None when an untracked directory is no repository.
    fn nested(
        &self,
        path: &[u8],
        name: &[u8],
        in_index: InIndex<'_>,
    ) -> Result<Option<File>, Error> {
        let facts = in_index.facts();
        let stamp = match rustix::fs::statat(self.root(), as_path(path), AtFlags::SYMLINK_NOFOLLOW)
        {
            Ok(stat) => Stamp::of(&stat),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                return Ok(facts.map(|facts| self.deleted(path, name, facts)));
            }
            Err(error) => return Err(error).at("stat", as_path(path)),
        };
        if stamp.file_type() != FileType::Directory {
            let above = Above {
                reread: false,
                reconvert: false,
                attributes: true,
            };
            return self.file(path, name, None, in_index, above);
        }
        let mut file = File {
            name: name.into(),
            stamp,
            trusted: false,
            tree: None,
            index: facts,
            disk: Disk::AsTree,
        };
        let kept = facts
            .filter(|facts| facts.has(SKIP_WORKTREE | ASSUME_UNCHANGED))
            .filter(|facts| facts.entry.mode == Mode::Gitlink)
            .map(|facts| facts.entry);
        match (nested::inspect(&self.work_dir.join(as_path(path))), facts) {
            _ if kept.is_some() => file.tree = kept,
            (Nested::At(id), _) => {
                file.tree = Some(Entry {
                    mode: Mode::Gitlink,
                    id,
                })
            }
            (_, Some(facts)) if facts.entry.mode == Mode::Gitlink => file.tree = facts.staged(),
            (Nested::Unrecordable, Some(facts)) => {
                file.tree = facts.staged();
                file.disk = Disk::Skipped(SkipReason::NestedWithoutCommit);
            }
            (Nested::Unrecordable, None) => {
                file.disk = Disk::Skipped(SkipReason::NestedWithoutCommit)
            }
            (Nested::No, _) => return Ok(None),
        }
        Ok(Some(file))
    }

    /// A tracked name that is not on disk.
    pub(super) fn deleted(&self, path: &[u8], name: &[u8], facts: IndexFacts) -> File {
        let kept = facts.has(ASSUME_UNCHANGED | SKIP_WORKTREE)
            || facts.entry.mode == Mode::Tree
            || !self.rules.in_sparse_checkout(path);
        let tree = if kept { facts.staged() } else { None };
        File {
            name: name.into(),
            stamp: Stamp::default(),
            trusted: false,
            tree,
            index: Some(facts),
            disk: Disk::Absent,
        }
    }

    fn is_dir(&self, path: &[u8]) -> bool {
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

const CONTROLS: [&[u8]; 2] = [b".gitignore", b".gitattributes"];

/// Whether a known name is looked at as a repository.
fn is_nested(old: &File, in_index: InIndex<'_>) -> bool {
    let entry = old.tree.or(in_index.facts().map(|facts| facts.entry));
    entry.is_some_and(|entry| entry.mode == Mode::Gitlink)
        || old.disk == Disk::Skipped(SkipReason::NestedWithoutCommit)
}

/// What a directory's names turned out to be, each list sorted.
#[derive(Default)]
struct Judged<'n> {
    files: Vec<&'n [u8]>,
    /// With whether git ignores the directory.
    dirs: Vec<(&'n [u8], bool)>,
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

fn find_tracked<'t, 'a: 't>(
    tracked: &'t Tracked<'a>,
    name: &[u8],
    view: &(dyn Fn() -> Result<&'a IndexView, Error> + Sync),
) -> Result<InIndex<'t>, Error> {
    match tracked.files.binary_search_by(|file| file.name.cmp(name)) {
        Ok(at) => Ok(InIndex::Entry(&tracked.files[at], view()?)),
        Err(_) => Ok(InIndex::No),
    }
}

fn find_dir<'a>(tracked: &Tracked<'a>, name: &[u8]) -> Option<Slice<'a>> {
    tracked
        .dirs
        .binary_search_by(|(dir, _)| (*dir).cmp(name))
        .ok()
        .map(|at| tracked.dirs[at].1)
}

/// Puts a repository among the files; what the index says of its name stays.
fn insert_file(files: &mut Vec<File>, mut file: File) {
    match files.binary_search_by(|other| other.name.cmp(&file.name)) {
        Ok(at) => {
            file.index = file.index.or(files[at].index);
            files[at] = file;
        }
        Err(at) => files.insert(at, file),
    }
}

/// Which of `.gitignore` and `.gitattributes` are not on disk and changed in the index, where they count too.
fn staged_controls_moved(node: &Dir, tracked: &Tracked<'_>) -> [bool; 2] {
    [0, 1].map(|slot| {
        let name = CONTROLS[slot];
        let old = node
            .files
            .binary_search_by(|file| (*file.name).cmp(name))
            .ok()
            .and_then(|at| node.files[at].index);
        let new = tracked
            .files
            .binary_search_by(|file| file.name.cmp(name))
            .ok()
            .map(|at| tracked.files[at].facts);
        node.controls[slot].is_none() && old != new
    })
}

/// Whether the index names a whole directory outside the sparse checkout.
fn is_expandable(in_index: InIndex<'_>) -> bool {
    let facts = in_index.facts();
    facts.is_some_and(|facts| facts.entry.mode == Mode::Tree)
}

/// A name is a file or a directory, never both: where the index has one and the disk the other, the disk's wins, even
/// over entries that git takes as unchanged.
fn part_twins(node: &mut Dir) {
    let Dir {
        files, dirs, dirty, ..
    } = node;
    for dir in dirs {
        let Ok(at) = files.binary_search_by(|file| (*file.name).cmp(&dir.name)) else {
            continue;
        };
        let file = &mut files[at];
        if file.tree.is_none() {
            continue;
        }
        if file.disk != Disk::Absent {
            forget_trees(dir);
            *dirty = true;
        } else if has_trees(dir) {
            file.tree = None;
            *dirty = true;
        }
    }
}

fn forget_trees(dir: &mut Dir) {
    dir.dirty = true;
    for file in &mut dir.files {
        file.tree = None;
    }
    dir.dirs.iter_mut().for_each(forget_trees);
}

fn has_trees(dir: &Dir) -> bool {
    dir.files.iter().any(|file| file.tree.is_some()) || dir.dirs.iter().any(has_trees)
}
