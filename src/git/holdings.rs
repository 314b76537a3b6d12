//! How much of the disk checkpoints take: the objects that they hold and that nothing of the user's holds.
//!
//! An object that several checkpoints share counts for the first of them in the order that they are given in. The user's
//! are: what branches, tags, HEADs, the stash and reflogs reach, as commits; and, as files, what is in the commits that
//! checkpoints were made on and in those made since, and what is staged. A file of an older commit that came back counts
//! as the checkpoints', which is a little too much and never too little.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::backend::Backend;
use super::hash::Kind;
use super::index::{IndexView, Slice};
use super::open::Repo;
use super::tree::{Mode, decode};
use super::verify::commit::Links;
use super::{Error, pack_index};
use crate::model::object_id::ObjectId;

/// How many commits of the user's are looked into, the newest first.
const MOST_COMMITS: usize = 10_000;
/// How many entries of reflogs are followed.
const MOST_REFLOG: usize = 20_000;

/// How many bytes each checkpoint commit adds to those before it in the list. The user's commits are looked into from
/// the one on that `oldest` was made.
///
/// # Errors
/// When the repository cannot be read. Objects that are missing weigh nothing.
pub fn weigh(repo: &Repo, order: &[ObjectId], oldest: Option<ObjectId>) -> Result<Vec<u64>, Error> {
    // Packs may have come since the repository was opened.
    let backend = repo.backend.reopen()?;
    let mut walk = Walk {
        backend: &*backend,
        seen: HashSet::new(),
    };
    let tips = user_tips(repo, &*backend)?;
    let own = backend.commits_between(order, &tips, usize::MAX)?;
    let own: HashSet<ObjectId> = own.into_iter().collect();
    walk.pass_users(repo, order, oldest, &own, tips)?;
    let mut held = Vec::with_capacity(order.len());
    for commit in order {
        held.push(walk.commit(*commit, &own)?);
    }
    let sizes = disk_sizes(repo, &*backend, held.iter().flatten().copied().collect());
    let size = |id: &ObjectId| sizes.get(id).copied().unwrap_or(0);
    Ok(held
        .iter()
        .map(|objects| objects.iter().map(size).sum())
        .collect())
}

struct Walk<'a> {
    backend: &'a dyn Backend,
    seen: HashSet<ObjectId>,
}

impl Walk<'_> {
    fn links(&self, commit: ObjectId) -> Result<Option<Links>, Error> {
        let found = self.backend.read(&commit)?;
        let found = found.filter(|object| object.kind == Kind::Commit);
        Ok(found.and_then(|object| Links::parse(&object.bytes)))
    }

    /// Marks what the user has.
    fn pass_users(
        &mut self,
        repo: &Repo,
        order: &[ObjectId],
        oldest: Option<ObjectId>,
        own: &HashSet<ObjectId>,
        tips: Vec<ObjectId>,
    ) -> Result<(), Error> {
        let base_of = |walk: &Self, commit: ObjectId| -> Result<Vec<ObjectId>, Error> {
            let links = walk.links(commit)?;
            let parents = links.into_iter().flat_map(|links| links.parents);
            Ok(parents.filter(|parent| !own.contains(parent)).collect())
        };
        let mut bases = Vec::new();
        for commit in order {
            bases.extend(base_of(self, *commit)?);
        }
        let oldest = oldest.map(|oldest| base_of(self, oldest)).transpose()?;
        let oldest = oldest.unwrap_or_default();
        let newest: Vec<ObjectId> = bases.iter().copied().chain(tips).collect();
        let since = self
            .backend
            .commits_between(&newest, &oldest, MOST_COMMITS)?;
        let mut seen = HashSet::new();
        for commit in bases.into_iter().chain(since) {
            if seen.insert(commit)
                && let Some(links) = self.links(commit)?
            {
                self.tree(links.tree, &mut |_| {})?;
            }
        }
        let mut open = Vec::new();
        let index = IndexView::read(repo)?;
        open.push(index.root());
        while let Some(slice) = open.pop() {
            let children = Slice::children(&slice);
            let files = children.files.iter();
            self.seen.extend(files.map(|file| file.facts.entry.id));
            open.extend(children.dirs.iter().map(|(_, below)| *below));
        }
        Ok(())
    }

    /// What a checkpoint holds that has not been seen.
    fn commit(
        &mut self,
        commit: ObjectId,
        own: &HashSet<ObjectId>,
    ) -> Result<Vec<ObjectId>, Error> {
        let mut held = Vec::new();
        let mut open = vec![commit];
        while let Some(commit) = open.pop() {
            if !own.contains(&commit) || !self.seen.insert(commit) {
                continue;
            }
            let Some(links) = self.links(commit)? else {
                continue;
            };
            held.push(commit);
            self.tree(links.tree, &mut |id| held.push(id))?;
            open.extend(links.parents);
        }
        Ok(held)
    }

    /// Goes through what has not been seen of a tree.
    fn tree(&mut self, root: ObjectId, found: &mut dyn FnMut(ObjectId)) -> Result<(), Error> {
        let mut open = vec![root];
        while let Some(tree) = open.pop() {
            if !self.seen.insert(tree) {
                continue;
            }
            let Some(object) = self.backend.read(&tree)? else {
                continue;
            };
            if object.kind != Kind::Tree {
                continue;
            }
            found(tree);
            for entry in decode(self.backend.format(), &object.bytes)? {
                match entry.mode {
                    Mode::Tree => open.push(entry.id),
                    // The commit of another repository is not here.
                    Mode::Gitlink => {}
                    _ => {
                        if self.seen.insert(entry.id) {
                            found(entry.id);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Where the user's history ends: refs, HEADs, reflogs.
fn user_tips(repo: &Repo, backend: &dyn Backend) -> Result<Vec<ObjectId>, Error> {
    let refs = backend.references("refs/")?.into_iter();
    let refs = refs.filter(|(name, _)| !name.starts_with("refs/go-team/"));
    let mut tips: Vec<ObjectId> = refs.map(|(_, id)| id).collect();
    let mut dirs = vec![repo.common_dir.clone()];
    let linked = fs::read_dir(repo.common_dir.join("worktrees"));
    dirs.extend(
        linked
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path()),
    );
    let mut left = MOST_REFLOG;
    for dir in dirs {
        for name in ["HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD"] {
            let text = fs::read_to_string(dir.join(name)).unwrap_or_default();
            tips.extend(text.get(..40).and_then(|id| ObjectId::parse(id).ok()));
        }
        reflogs(&dir.join("logs"), &mut left, &mut tips);
    }
    let mut seen = HashSet::new();
    tips.retain(|tip| seen.insert(*tip));
    Ok(tips)
}

/// What reflogs below a directory name, the newest entries of each first.
fn reflogs(dir: &Path, left: &mut usize, tips: &mut Vec<ObjectId>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            reflogs(&path, left, tips);
            continue;
        }
        let text = fs::read(&path).unwrap_or_default();
        for line in text.rsplit(|byte| *byte == b'\n') {
            let mut words = line.split(|byte| *byte == b' ');
            for word in [words.next(), words.next()].into_iter().flatten() {
                let id = std::str::from_utf8(word).ok();
                let id = id.and_then(|id| ObjectId::parse(id).ok());
                if *left > 0
                    && let Some(id) = id
                {
                    tips.push(id);
                    *left -= 1;
                }
            }
        }
    }
}

/// What objects take on the disk: their part of a pack, or their file.
fn disk_sizes(
    repo: &Repo,
    backend: &dyn Backend,
    mut wanted: HashSet<ObjectId>,
) -> HashMap<ObjectId, u64> {
    let mut sizes = HashMap::with_capacity(wanted.len());
    let packs = fs::read_dir(repo.pack_dir())
        .into_iter()
        .flatten()
        .flatten();
    let indexes = packs.map(|entry| entry.path());
    for index in indexes.filter(|path| path.extension().is_some_and(|ext| ext == "idx")) {
        if wanted.is_empty() {
            break;
        }
        let Some(objects) = pack_index::extents(backend.format(), &index) else {
            continue;
        };
        for (id, size) in objects {
            if wanted.remove(&id) {
                sizes.insert(id, size);
            }
        }
    }
    for id in wanted {
        let text = id.to_string();
        let file: PathBuf = ["objects", &text[..2], &text[2..]].iter().collect();
        let file = repo.common_dir.join(file).metadata().map(|meta| meta.len());
        // In another repository's store, or moved meanwhile: as long as it is.
        let size = file.ok().or_else(|| backend.size(&id));
        sizes.extend(size.map(|size| (id, size)));
    }
    sizes
}
