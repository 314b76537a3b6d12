//! What the index has and the disk has not, or does not show.

use super::Error;
use super::index::Slice;
use super::node::{ASSUME_UNCHANGED, Dir, Disk, File, IndexFacts, SKIP_WORKTREE, push};
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use super::walk::{Visited, Walk};

impl<'a> Walk<'a> {
    /// A directory that is not on disk, or is something else there: what the index has of it is deleted or kept.
    pub(super) fn missing(
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
    pub(super) fn unreadable(
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
}
