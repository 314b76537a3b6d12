//! The index of a checkpoint, put in the place of the user's.
//!
//! It is built from the one that is there: entries that stay keep their stat data, so that `git status` has nothing to
//! read. Nothing of git's is locked. A lock would be left behind by a kill and block the user's next commit; instead the
//! file is checked before and after it is replaced, as no git command that began before gives way to it.

mod file;
mod lines;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use gix_worktree::index as gix_index;
use gix_worktree::index::entry::{Flags, Mode as EntryMode, Stat, stat::Time};

use super::compare::Differences;
use super::trees::Trees;
use super::view::View;
use crate::git::Error;
use crate::git::backend::Sync;
use crate::git::diff::ReadTree;
use crate::git::hash::Checksum;
use crate::git::index::stamp;
use crate::git::node::Entry;
use crate::git::open::Repo;
use crate::git::rules::{as_path, bstr};
use crate::git::stamp::Stamp;
use crate::git::tree::Mode;
pub use file::{Expected, clean, foreign_lock};
use lines::{
    KEPT_FLAGS, Line, Wanted, bits, conflicts_of, flags_of, intended, lines_of, path_of, read_state,
};

/// What `stat` says of the index, to tell later whether it changed.
///
/// # Errors
/// When it cannot be looked at.
pub fn current_stamp(repo: &Repo) -> Result<Option<Stamp>, Error> {
    stamp(&repo.git_dir)
}

/// Whether the index is, entry for entry, that of a checkpoint.
///
/// # Errors
/// When the index or a tree cannot be read.
pub fn is_at(repo: &Repo, read: &ReadTree<'_>, view: &View) -> Result<bool, Error> {
    let trees = Trees::new(repo.backend.format(), read);
    let mut state = read_state(repo)?;
    if state.is_sparse() {
        crate::git::expand::expand_all(&mut state, repo)?;
    }
    Ok(lines_of(&state) == Wanted::of(view, &trees)?.lines)
}

/// What decides over the stat data of an entry.
struct Proofs<'a> {
    repo: &'a Repo,
    /// Paths whose files are not what the index says.
    apart: BTreeSet<Vec<u8>>,
    /// Paths whose files were written.
    written: BTreeSet<&'a [u8]>,
}

impl Proofs<'_> {
    /// Stat data of the file as it is now, if it holds what the index says; else data that proves nothing.
    fn of(&self, line: &Line) -> Stat {
        let size = || u32::try_from(self.repo.backend.size(&line.id)?).ok();
        let unproven = || Stat {
            size: size().unwrap_or(0),
            ..Stat::default()
        };
        if line.stage != 0 || line.mode == 0o160_000 || self.apart.contains(&line.path) {
            return if line.stage == 0 && line.mode != 0o160_000 {
                unproven()
            } else {
                Stat::default()
            };
        }
        let meta = self
            .repo
            .work_dir
            .join(as_path(&line.path))
            .symlink_metadata();
        meta.map_or_else(|_| unproven(), |meta| stat_of(&meta))
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the index keeps the lower 32 bits of these fields"
)]
fn stat_of(meta: &fs::Metadata) -> Stat {
    Stat {
        mtime: Time {
            secs: meta.mtime() as u32,
            nsecs: meta.mtime_nsec() as u32,
        },
        ctime: Time {
            secs: meta.ctime() as u32,
            nsecs: meta.ctime_nsec() as u32,
        },
        dev: meta.dev() as u32,
        ino: meta.ino() as u32,
        uid: meta.uid(),
        gid: meta.gid(),
        size: meta.size() as u32,
    }
}

/// What an index is written for.
pub struct NewIndex<'a> {
    /// The checkpoint whose index it is.
    pub goal: &'a View,
    /// The other checkpoint, whose index is there now if it is as expected: then only what differs is touched.
    pub base: &'a View,
    /// What is known of the index that is there.
    pub expected: Expected,
    /// Which files were written.
    pub differences: &'a Differences,
    /// Which differing files were left alone.
    pub kept: &'a BTreeSet<Vec<u8>>,
    /// Names the temporary file.
    pub token: &'a str,
}

/// Writes an index in the place of the user's.
///
/// # Errors
/// When the index changed, a git command holds its lock, or it cannot be written.
pub fn write(
    repo: &Repo,
    read: &ReadTree<'_>,
    new: &NewIndex<'_>,
    sync: Sync,
) -> Result<(), Error> {
    let goal = new.goal;
    let trees = Trees::new(repo.backend.format(), read);
    let mut apart = BTreeSet::new();
    let mut note = |path: &[u8], _: Option<Entry>, _: Option<Entry>| {
        apart.insert(path.to_vec());
    };
    trees.differ(
        Some(goal.staged),
        Some(goal.tree),
        &mut Vec::new(),
        &mut note,
    )?;
    apart.extend(goal.raw.keys().cloned());
    apart.extend(goal.skipped.keys().chain(new.kept).cloned());
    let proofs = Proofs {
        repo,
        apart,
        written: new
            .differences
            .files
            .iter()
            .map(|change| change.path.as_slice())
            .collect(),
    };
    let bytes = match new.expected {
        Expected::Unmoved(_) => amended(repo, &trees, new.base, goal, &proofs)?,
        Expected::Anything => rebuilt(&trees, goal, &proofs)?,
    };
    file::replace(repo, &bytes, new.expected, new.token, sync)
}

/// The index that is there, with what differs between the two checkpoints changed.
fn amended(
    repo: &Repo,
    trees: &Trees<'_>,
    base: &View,
    goal: &View,
    proofs: &Proofs<'_>,
) -> Result<Vec<u8>, Error> {
    let mut state = read_state(repo)?;
    if state.is_sparse() {
        return rebuilt(trees, goal, proofs);
    }
    let (old_flags, new_flags) = (flags_of(base)?, flags_of(goal)?);
    let mut touched: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut lines = Vec::new();
    let mut compare = |path: &[u8], _: Option<Entry>, new: Option<Entry>| {
        touched.insert(path.to_vec());
        lines.extend(new.map(|entry| (path.to_vec(), entry)));
    };
    trees.differ(
        Some(base.staged),
        Some(goal.staged),
        &mut Vec::new(),
        &mut compare,
    )?;
    let special = |view: &View| -> Result<BTreeSet<Vec<u8>>, Error> {
        let conflicts = view.index.conflicts.iter();
        let paths: Result<BTreeSet<_>, Error> =
            conflicts.map(|stage| path_of(&stage.path)).collect();
        paths
    };
    let mut again: BTreeSet<Vec<u8>> = old_flags.keys().chain(new_flags.keys()).cloned().collect();
    again.extend(special(base)?);
    again.extend(special(goal)?);
    // The file was written: its entry stays, its stat data does not.
    again.extend(proofs.written.iter().map(|path| path.to_vec()));
    for path in again {
        if touched.insert(path.clone()) {
            let entry = trees.find(goal.staged, &path)?;
            let entry = entry.filter(|entry| entry.mode != Mode::Tree);
            lines.extend(entry.map(|entry| (path, entry)));
        }
    }
    let mut wanted: Vec<Line> = lines
        .into_iter()
        .map(|(path, entry)| Line {
            stage: 0,
            mode: bits(entry.mode),
            id: entry.id,
            flags: new_flags.get(&path).map_or(0, |(flags, _)| *flags),
            path,
        })
        .collect();
    wanted.extend(intended(&new_flags));
    wanted.extend(conflicts_of(goal)?);
    state.remove_entries(|_, path, _| touched.contains::<[u8]>(path.as_ref()));
    for path in &touched {
        invalidate(state.tree_mut(), path);
    }
    push(&mut state, &wanted, proofs);
    encode(&state)
}

/// The index from nothing but the checkpoint.
fn rebuilt(trees: &Trees<'_>, goal: &View, proofs: &Proofs<'_>) -> Result<Vec<u8>, Error> {
    let mut state = gix_index::State::new(gix_hash::Kind::Sha1);
    push(&mut state, &Wanted::of(goal, trees)?.lines, proofs);
    encode(&state)
}

fn push(state: &mut gix_index::State, lines: &[Line], proofs: &Proofs<'_>) {
    for line in lines {
        let mut flags = Flags::from_bits_retain(line.flags) & KEPT_FLAGS;
        if flags.intersects(Flags::SKIP_WORKTREE | Flags::INTENT_TO_ADD) {
            flags |= Flags::EXTENDED;
        }
        flags |= Flags::from_bits_retain(u32::from(line.stage) << 12);
        let Some(mode) = EntryMode::from_bits(line.mode) else {
            continue;
        };
        let Ok(id) = gix_hash::ObjectId::try_from(line.id.as_bytes()) else {
            continue;
        };
        let intended = flags.contains(Flags::INTENT_TO_ADD);
        let stat = if intended {
            Stat::default()
        } else {
            proofs.of(line)
        };
        state.dangerously_push_entry(stat, id, flags, mode, bstr(&line.path));
    }
    state.sort_entries();
}

/// The cached trees on the way to a path are not those of the index any more.
fn invalidate(tree: Option<&mut gix_index::extension::Tree>, path: &[u8]) {
    let Some(mut tree) = tree else { return };
    for part in path.split(|byte| *byte == b'/') {
        tree.num_entries = None;
        let child = tree.children.iter_mut().find(|child| *child.name == *part);
        let Some(child) = child else { return };
        tree = child;
    }
}

fn encode(state: &gix_index::State) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let options = gix_index::write::Options {
        extensions: gix_index::write::Extensions::Given {
            tree_cache: true,
            end_of_index_entry: false,
        },
        skip_hash: false,
    };
    state
        .write_to(&mut bytes, options)
        .map_err(|error| Error::Damaged {
            what: format!("an index that cannot be written: {error}"),
        })?;
    let mut hasher = Checksum::new(crate::model::object_id::ObjectFormat::Sha1);
    hasher.update(&bytes);
    bytes.extend_from_slice(hasher.finish().as_bytes());
    Ok(bytes)
}
