//! Names as they are on disk, each one judged: what counts, and what is ignored.

use rayon::prelude::*;
use rustix::fs::{FileType, Mode as OpenMode, OFlags};
use rustix::io::Errno;

use super::content::lstat;
use super::controls::CONTROLS;
use super::index::Tracked;
use super::node::{Dir, Disk, File, push};
use super::pool;
use super::rules::{Lane, as_path};
use super::stamp::Stamp;
use super::tree::Mode;
use super::twins::part_twins;
use super::walk::{
    Above, InIndex, MANY_DIRS, SHARE_FROM, Visited, Walk, find_dir, find_tracked, insert_file,
};
use super::{Error, IoContext as _};

/// A name with what the directory says it is.
type OnDisk = (Box<[u8]>, FileType);
type Names = Vec<OnDisk>;

/// What a directory's names turned out to be, each list sorted.
#[derive(Default)]
struct Judged<'n> {
    files: Vec<&'n [u8]>,
    /// With whether git ignores the directory.
    dirs: Vec<(&'n [u8], bool)>,
}

impl<'a> Walk<'a> {
    /// Reads the names from disk and judges each one.
    pub(super) fn listed_names(
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
            let before = node.controls[slot].take();
            let is_there = names.iter().any(|(name, _)| &**name == *control);
            let is_unlisted = slot == 1 && node.ignored;
            node.controls[slot] = if is_there || is_unlisted {
                self.control(path, control)?.map(Box::new)
            } else {
                None
            };
            let moved = before != node.controls[slot];
            above.reread |= slot == 0 && moved;
            above.reconvert |= slot == 1 && moved;
        }
        let below = Self::below(&node, Some(&tracked), above);
        let judged = self
            .rules
            .with_lane(|lane| self.judge(lane, path, &names, &tracked));
        self.visit_judged(node, path, judged, &tracked, below)
            .map(Visited::Dir)
    }

    /// Decides for each name on disk and in the index what it is.
    fn judge<'n>(
        &self,
        lane: &mut Lane,
        path: &[u8],
        names: &'n [OnDisk],
        tracked: &'n Tracked<'a>,
    ) -> Judged<'n> {
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
            if file.is_none() && !in_dirs && self.is_tracked_in_other_case(path, name, tracked) {
                full.truncate(length);
                continue;
            }
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
            } else if file.is_some()
                || (!self.rules.is_excluded(&full, false)
                    && !self.rules.is_ignored(lane, &full, false))
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
        judged
    }

    /// Whether the file system knows a tracked name by this one too. git goes on with the name it has.
    fn is_tracked_in_other_case(&self, path: &[u8], name: &[u8], tracked: &Tracked<'_>) -> bool {
        if !self.settings.ignore_case {
            return false;
        }
        let inode = |name: &[u8]| {
            let mut full = path.to_vec();
            push(&mut full, name);
            lstat(self.root(), &full).ok().map(|stamp| stamp.ino)
        };
        let files = tracked.files.iter().map(|file| file.name);
        let mut names = files.chain(tracked.dirs.iter().map(|(name, _)| *name));
        names.any(|other| {
            other.eq_ignore_ascii_case(name)
                && inode(other).is_some_and(|ino| inode(name) == Some(ino))
        })
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
            pool::widely(|| jobs.into_par_iter().with_min_len(16).map(look).collect())
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
        let visited: Vec<Result<Visited, Error>> =
            pool::map(jobs, MANY_DIRS, |(name, ignored, old)| {
                let mut dir_path = path.to_vec();
                push(&mut dir_path, name);
                let slice = find_dir(tracked, name)
                    .map_or_else(|| (self.index)().map(|view| view.below(&dir_path)), Ok)?;
                self.dir(old, &dir_path, name, Some(slice), ignored, below)
            });
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

    /// The names on disk; none when they may not be read.
    fn list(&self, path: &[u8]) -> Result<Option<Names>, Error> {
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
    fn tracked_names(&self, path: &[u8], tracked: &Tracked<'a>) -> Result<Option<Names>, Error> {
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
}
