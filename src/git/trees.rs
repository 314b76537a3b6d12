//! The tree objects of a scan: computed where something changed, written where nothing holds them yet.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::backend::Backend;
use super::hash::{Kind, hash_object};
use super::node::Dir;
use super::pack::PackWriter;
use super::pool;
use super::tree::{self, Mode, TreeEntry};
use super::{Error, tree::decode};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// A thread that works alone may have a small stack, and goes no deeper than this.
const DEEP: usize = 50;

/// Trees that were computed and may not be in the repository.
pub(super) struct TreeBag {
    trees: HashMap<ObjectId, Vec<u8>>,
    format: ObjectFormat,
}

/// Which of a directory's two trees.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Worktree,
    Staged,
}

impl Side {
    fn of(self, dir: &Dir) -> Option<ObjectId> {
        match self {
            Self::Worktree => dir.tree,
            Self::Staged => dir.staged,
        }
    }
}

type Shared = Mutex<HashMap<ObjectId, Vec<u8>>>;

impl TreeBag {
    /// Computes the trees of all dirty directories.
    pub fn seal(root: &mut Dir, format: ObjectFormat) -> Result<Self, Error> {
        let shared = Shared::default();
        seal(root, format, &shared, 0)?;
        let trees = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Self { trees, format })
    }

    /// Reads a tree, new or old.
    pub fn read(&self, backend: &dyn Backend, id: &ObjectId) -> Result<Vec<u8>, Error> {
        if let Some(bytes) = self.trees.get(id) {
            return Ok(bytes.clone());
        }
        let found = backend.read(id)?.ok_or_else(|| Error::Damaged {
            what: format!("tree {id} is missing"),
        })?;
        Ok(found.bytes)
    }

    /// Writes one side's trees, but for those that the commit `reference` belongs to holds at the same place: that
    /// commit is a parent of the checkpoint's.
    pub fn write(
        &self,
        dir: &Dir,
        side: Side,
        reference: Option<ObjectId>,
        backend: &dyn Backend,
        pack: &PackWriter,
    ) -> Result<ObjectId, Error> {
        let Some(id) = side.of(dir) else {
            return pack.add(Kind::Tree, &[]);
        };
        self.write_below(dir, side, reference, backend, pack)?;
        Ok(id)
    }

    fn write_below(
        &self,
        dir: &Dir,
        side: Side,
        reference: Option<ObjectId>,
        backend: &dyn Backend,
        pack: &PackWriter,
    ) -> Result<(), Error> {
        let Some(id) = side.of(dir).filter(|id| Some(*id) != reference) else {
            return Ok(());
        };
        // A tree that was not computed is one that the last checkpoint's ref holds.
        let Some(bytes) = self.trees.get(&id) else {
            return Ok(());
        };
        pack.add_named(Kind::Tree, id, bytes)?;
        let known = match reference {
            Some(id) => backend.read(&id)?.map(|object| object.bytes),
            None => None,
        };
        let known = known
            .as_deref()
            .map(|bytes| decode(self.format, bytes))
            .transpose()?
            .unwrap_or_default();
        let known: HashMap<&[u8], ObjectId> = known
            .iter()
            .filter(|e| e.mode == Mode::Tree)
            .map(|e| (e.name, e.id))
            .collect();
        for child in &dir.dirs {
            self.write_below(child, side, known.get(&*child.name).copied(), backend, pack)?;
        }
        Ok(())
    }
}

fn seal(dir: &mut Dir, format: ObjectFormat, shared: &Shared, depth: usize) -> Result<(), Error> {
    if !dir.dirty {
        return Ok(());
    }
    let below = |child: &mut Dir| seal(child, format, shared, depth + 1);
    if pool::is_alone() && depth < DEEP {
        dir.dirs.iter_mut().try_for_each(below)?;
    } else {
        pool::widely(|| dir.dirs.par_iter_mut().try_for_each(below))?;
    }
    let mut worktree: Vec<TreeEntry<'_>> = Vec::with_capacity(dir.files.len() + dir.dirs.len());
    let mut staged: Vec<TreeEntry<'_>> = Vec::with_capacity(worktree.capacity());
    for file in &dir.files {
        let entry = |e: super::node::Entry| TreeEntry {
            mode: e.mode,
            name: &file.name,
            id: e.id,
        };
        worktree.extend(file.tree.map(entry));
        staged.extend(file.index.and_then(|facts| facts.staged()).map(entry));
    }
    for child in &dir.dirs {
        let entry = |id| TreeEntry {
            mode: Mode::Tree,
            name: &child.name,
            id,
        };
        worktree.extend(child.tree.map(entry));
        staged.extend(child.staged.map(entry));
    }
    let same = worktree == staged;
    let store = |entries: &mut Vec<TreeEntry<'_>>| -> Result<Option<ObjectId>, Error> {
        if entries.is_empty() {
            return Ok(None);
        }
        let bytes = tree::encode(entries);
        let id = hash_object(format, Kind::Tree, &bytes)?;
        shared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, bytes);
        Ok(Some(id))
    };
    let tree = store(&mut worktree)?;
    let staged = if same { tree } else { store(&mut staged)? };
    dir.tree = tree;
    dir.staged = staged;
    dir.dirty = false;
    Ok(())
}
