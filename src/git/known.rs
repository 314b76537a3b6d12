//! Directories whose names are those of the last scan: their files are compared with what was seen of them.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::Error;
use super::content::lstat;
use super::index::Tracked;
use super::node::{Dir, Disk, File, push};
use super::pool;
use super::skip::SkipReason;
use super::tree::Mode;
use super::twins::part_twins;
use super::walk::{
    Above, InIndex, MANY_DIRS, MANY_FILES, SHARE_FROM, Visited, Walk, find_dir, find_tracked,
    insert_file,
};

impl<'a> Walk<'a> {
    /// The names are those of the last scan. False when a nested repository ceased to be one.
    pub(super) fn known_names(
        &self,
        node: &mut Dir,
        path: &[u8],
        tracked: Option<&Tracked<'a>>,
        above: Above,
    ) -> Result<bool, Error> {
        let below = Self::below(node, tracked, above);
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
            pool::widely(|| moved.into_par_iter().with_min_len(16).map(look).collect())
        } else {
            moved.into_iter().map(look).collect()
        };
        for item in looked.into_iter().rev() {
            let (at, new) = item?;
            if let Some(new) = new {
                let old = &node.files[at];
                node.dirty |= new.tree != old.tree || new.index != old.index;
                node.files[at] = new;
            } else {
                still_same = false;
                node.dirty = true;
                node.files.remove(at);
            }
        }
        let dirs = node.dirs.iter_mut().collect();
        let visited: Vec<Result<Option<Box<Visited>>, Error>> =
            pool::map(dirs, MANY_DIRS, |child: &mut Dir| {
                let name = child.name.clone();
                let mut dir_path = path.to_vec();
                push(&mut dir_path, &name);
                let slice = match tracked {
                    None => None,
                    Some(tracked) => Some(
                        find_dir(tracked, &name)
                            .map_or_else(|| (self.index)().map(|view| view.below(&dir_path)), Ok)?,
                    ),
                };
                let ignored = child.ignored;
                let old = std::mem::take(child);
                match self.dir(Some(old), &dir_path, &name, slice, ignored, below)? {
                    // It stays where it is: a scan that finds nothing new allocates nothing.
                    Visited::Dir(dir) => {
                        *child = dir;
                        Ok(None)
                    }
                    other => Ok(Some(Box::new(other))),
                }
            });
        for (at, item) in visited.into_iter().enumerate().rev() {
            let Some(other) = item? else {
                node.dirty |= node.dirs[at].dirty;
                continue;
            };
            node.dirs.remove(at);
            node.dirty = true;
            match *other {
                Visited::Nested(file) => insert_file(&mut node.files, file),
                _ => still_same = false,
            }
        }
        part_twins(node);
        Ok(still_same)
    }

    /// Which files are not exactly as the last scan left them. This is all that happens to most files.
    pub(super) fn moved_files(
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
        let few = if pool::is_alone() {
            MANY_FILES
        } else {
            SHARE_FROM
        };
        if files.len() <= few {
            return look((0, files));
        }
        pool::widely(|| {
            let chunks = files.par_chunks(SHARE_FROM).enumerate();
            chunks
                .flat_map_iter(|(nth, files)| look((nth * SHARE_FROM, files)))
                .collect()
        })
    }
}

/// Whether a known name is looked at as a repository.
fn is_nested(old: &File, in_index: InIndex<'_>) -> bool {
    let entry = old.tree.or(in_index.facts().map(|facts| facts.entry));
    entry.is_some_and(|entry| entry.mode == Mode::Gitlink)
        || old.disk == Disk::Skipped(SkipReason::NestedWithoutCommit)
}

/// Whether the index names a whole directory outside the sparse checkout.
fn is_expandable(in_index: InIndex<'_>) -> bool {
    let facts = in_index.facts();
    facts.is_some_and(|facts| facts.entry.mode == Mode::Tree)
}
