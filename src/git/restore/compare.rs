//! What lies between two views.

use std::collections::BTreeSet;

use super::trees::Trees;
use super::view::{Item, View};
use crate::git::Error;
use crate::git::diff::ReadTree;
use crate::git::tree::Mode;
use crate::model::object_id::ObjectFormat;

/// A path that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: Vec<u8>,
    /// What is there on the one side.
    pub from: Option<Item>,
    /// What is there on the other.
    pub to: Option<Item>,
}

/// A directory that is not the same on both sides; its bits, where it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirChange {
    /// The path.
    pub path: Vec<u8>,
    /// On the one side.
    pub from: Option<u32>,
    /// On the other.
    pub to: Option<u32>,
}

/// All that lies between two views.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Files, links and nested repositories, by path.
    pub files: Vec<Change>,
    /// Directories, by path; those that hold a changed file are listed even where they are the same.
    pub dirs: Vec<DirChange>,
}

impl Differences {
    /// Compares two views. `read` gives the trees of both.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn between(
        format: ObjectFormat,
        read: &ReadTree<'_>,
        from: &View,
        to: &View,
    ) -> Result<Self, Error> {
        let trees = Trees::new(format, read);
        let mut files = Vec::new();
        let mut known = BTreeSet::new();
        let mut compare = |path: &[u8], a, b| {
            known.insert(path.to_vec());
            let (from, to) = (from.item(path, a), to.item(path, b));
            if from != to {
                let path = path.to_vec();
                files.push(Change { path, from, to });
            }
        };
        trees.differ(
            Some(from.tree),
            Some(to.tree),
            &mut Vec::new(),
            &mut compare,
        )?;
        let (others, mut dirs) = special(&trees, from, to)?;
        for path in others.difference(&known) {
            let plain = |view: &View| -> Result<_, Error> {
                let found = trees.find(view.tree, path)?;
                Ok(view.item(path, found.filter(|entry| entry.mode != Mode::Tree)))
            };
            let (from, to) = (plain(from)?, plain(to)?);
            if from != to {
                let path = path.clone();
                files.push(Change { path, from, to });
            }
        }
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        dirs.extend(files.iter().flat_map(|change| above(&change.path)));
        let dirs = directories(&trees, from, to, dirs)?;
        Ok(Self { files, dirs })
    }

    /// Only what is at or below some paths.
    #[must_use]
    pub fn within(mut self, paths: &[Vec<u8>]) -> Self {
        let is_in = |path: &[u8]| {
            super::view::at_or_above(path, |path| paths.iter().any(|wanted| wanted == path))
        };
        // An empty path is the whole work tree.
        if paths.iter().any(Vec::is_empty) {
            return self;
        }
        self.files.retain(|change| is_in(&change.path));
        let leads_to_one = |dir: &DirChange| {
            let below = [dir.path.as_slice(), b"/"].concat();
            let first = self.files.partition_point(|change| change.path < below);
            let next = self.files.get(first);
            next.is_some_and(|change| change.path.starts_with(&below)) && dir.from != dir.to
        };
        let mut dirs = std::mem::take(&mut self.dirs);
        dirs.retain(|dir| is_in(&dir.path) || leads_to_one(dir));
        self.dirs = dirs;
        self
    }

    /// Without some paths.
    pub fn leave_alone(&mut self, paths: &BTreeSet<Vec<u8>>) {
        self.files.retain(|change| !paths.contains(&change.path));
    }

    /// How many files and directories differ, or hold something that does.
    #[must_use]
    pub fn count(&self) -> usize {
        self.files.len() + self.dirs.len()
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.dirs.iter().all(|dir| dir.from == dir.to)
    }
}

/// The directories above a path.
fn above(path: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| path[..at].to_vec())
}

type Paths = BTreeSet<Vec<u8>>;

/// Paths that may differ though they are the same to git, and directories that do.
fn special(trees: &Trees<'_>, from: &View, to: &View) -> Result<(Paths, Paths), Error> {
    let (mut others, mut dirs) = (Paths::new(), Paths::new());
    let raw = from.raw.keys().chain(to.raw.keys());
    others.extend(
        raw.filter(|path| from.raw.get(*path) != to.raw.get(*path))
            .cloned(),
    );
    let bits = from.bits.keys().chain(to.bits.keys());
    let other_bits = bits.filter(|path| from.bits.get(*path) != to.bits.get(*path));
    let other_bits: Paths = other_bits.cloned().collect();
    for absent in from.absent.symmetric_difference(&to.absent) {
        others.insert(absent.clone());
        for view in [from, to] {
            // A sparse index leaves out whole directories.
            let whole = trees.find(view.tree, absent)?;
            if let Some(whole) = whole.filter(|entry| entry.mode == Mode::Tree) {
                let mut add = |path: &[u8], _| {
                    others.insert(path.to_vec());
                };
                trees.each(whole.id, &mut absent.clone(), &mut add, &mut |_| {})?;
            }
        }
    }
    if from.usual != to.usual {
        for view in [from, to] {
            let mut add = |path: &[u8], _| {
                others.insert(path.to_vec());
            };
            let mut enter = |path: &[u8]| {
                dirs.insert(path.to_vec());
            };
            trees.each(view.tree, &mut Vec::new(), &mut add, &mut enter)?;
        }
    }
    for empty in from.empty.symmetric_difference(&to.empty) {
        dirs.extend(above(empty));
        dirs.insert(empty.clone());
    }
    dirs.extend(other_bits.iter().cloned());
    others.extend(other_bits);
    Ok((others, dirs))
}

fn directories(
    trees: &Trees<'_>,
    from: &View,
    to: &View,
    paths: Paths,
) -> Result<Vec<DirChange>, Error> {
    let mut found = Vec::new();
    for path in paths {
        let bits = |view: &View| -> Result<Option<u32>, Error> {
            let is_there = view.has_dir(trees, &path)?;
            Ok(is_there.then(|| view.dir_bits(&path)))
        };
        let (from, to) = (bits(from)?, bits(to)?);
        if from.is_some() || to.is_some() {
            found.push(DirChange { path, from, to });
        }
    }
    Ok(found)
}
