//! The index of a checkpoint, put in the place of the user's.
//!
//! It is built from the one that is there: entries that stay keep their stat data, so that `git status` has nothing to
//! read. Nothing of git's is locked. A lock would be left behind by a kill and block the user's next commit; instead the
//! file is checked before and after it is replaced, as no git command that began before gives way to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gix_worktree::index as gix_index;
use gix_worktree::index::entry::{Flags, Mode as EntryMode, Stat, stat::Time};

use super::compare::Differences;
use super::trees::Trees;
use super::view::View;
use crate::git::backend::Sync;
use crate::git::diff::ReadTree;
use crate::git::hash::Checksum;
use crate::git::index::{location, stamp};
use crate::git::node::Entry;
use crate::git::open::Repo;
use crate::git::rules::{as_path, bstr};
use crate::git::sidecar::IndexFlag;
use crate::git::stamp::Stamp;
use crate::git::tree::Mode;
use crate::git::{Error, IoContext as _};
use crate::model::object_id::ObjectId;
use crate::model::path_text::unquote_path;

/// How long a git command beside us may hold its lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// An entry as the index lists it, without stat data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    path: Vec<u8>,
    stage: u8,
    mode: u32,
    id: ObjectId,
    flags: u32,
}

const KEPT_FLAGS: Flags = Flags::ASSUME_VALID
    .union(Flags::SKIP_WORKTREE)
    .union(Flags::INTENT_TO_ADD);

/// The lock of git's that is there, if one is.
#[must_use]
pub fn foreign_lock(repo: &Repo) -> Option<PathBuf> {
    let lock = repo.git_dir.join("index.lock");
    lock.symlink_metadata().is_ok().then_some(lock)
}

/// What `stat` says of the index, to tell later whether it changed.
///
/// # Errors
/// When it cannot be looked at.
pub fn current_stamp(repo: &Repo) -> Result<Option<Stamp>, Error> {
    stamp(&repo.git_dir)
}

/// The index of a checkpoint, entry for entry.
struct Wanted {
    lines: Vec<Line>,
}

impl Wanted {
    fn of(view: &View, trees: &Trees<'_>) -> Result<Self, Error> {
        let flags = flags_of(view)?;
        let conflicts = conflicts_of(view)?;
        let mut lines = Vec::new();
        let mut add = |path: &[u8], entry: Entry| {
            lines.push(Line {
                path: path.to_vec(),
                stage: 0,
                mode: bits(entry.mode),
                id: entry.id,
                flags: 0,
            });
        };
        trees.each(view.staged, &mut Vec::new(), &mut add, &mut |_| {})?;
        for line in &mut lines {
            // A sparse index flags whole directories.
            super::view::at_or_above(&line.path, |path| {
                let found = flags.get(path).map(|(flags, _)| *flags);
                line.flags |= found.unwrap_or(0);
                found.is_some()
            });
        }
        lines.extend(intended(&flags));
        lines.extend(conflicts);
        lines.sort_unstable();
        Ok(Self { lines })
    }
}

/// The flags of each path, and the mode of those that are only intended to be added.
type FlagMap = BTreeMap<Vec<u8>, (u32, Option<u32>)>;

fn flags_of(view: &View) -> Result<FlagMap, Error> {
    let mut found = BTreeMap::new();
    for flagged in &view.index.flags {
        let path = path_of(&flagged.path)?;
        let mut flags = Flags::empty();
        for flag in &flagged.flags {
            flags |= match flag {
                IndexFlag::AssumeUnchanged => Flags::ASSUME_VALID,
                IndexFlag::SkipWorktree => Flags::SKIP_WORKTREE,
                IndexFlag::IntentToAdd => Flags::INTENT_TO_ADD,
            };
        }
        let mode = flagged.mode.as_deref().map(octal).transpose()?;
        found.insert(path, (flags.bits(), mode));
    }
    Ok(found)
}

fn intended(flags: &FlagMap) -> impl Iterator<Item = Line> {
    let empty = gix_hash::ObjectId::empty_blob(gix_hash::Kind::Sha1);
    let empty = ObjectId::from_bytes(empty.as_bytes()).expect("a valid length");
    let intended = flags
        .iter()
        .filter(|(_, (flags, _))| Flags::from_bits_retain(*flags).contains(Flags::INTENT_TO_ADD));
    intended.map(move |(path, (flags, mode))| Line {
        path: path.clone(),
        stage: 0,
        mode: mode.unwrap_or(0o100_644),
        id: empty,
        flags: *flags,
    })
}

fn conflicts_of(view: &View) -> Result<Vec<Line>, Error> {
    let stages = view.index.conflicts.iter().map(|stage| {
        Ok(Line {
            path: path_of(&stage.path)?,
            stage: stage.stage,
            mode: octal(&stage.mode)?,
            id: stage.id,
            flags: 0,
        })
    });
    stages.collect()
}

fn path_of(text: &str) -> Result<Vec<u8>, Error> {
    unquote_path(text).map_err(|_| Error::Damaged {
        what: format!("index.json: the path {text}"),
    })
}

fn octal(text: &str) -> Result<u32, Error> {
    u32::from_str_radix(text, 8).map_err(|_| Error::Damaged {
        what: format!("index.json: the mode {text}"),
    })
}

fn bits(mode: Mode) -> u32 {
    u32::from_str_radix(mode.as_octal(), 8).expect("a constant")
}

fn read_state(repo: &Repo) -> Result<gix_index::State, Error> {
    let path = location(&repo.git_dir);
    let options = gix_index::decode::Options::default();
    gix_index::File::at_or_default(&path, gix_hash::Kind::Sha1, true, options)
        .map(Into::into)
        .map_err(|error| Error::Damaged {
            what: format!("the index {}: {error}", path.display()),
        })
}

fn lines_of(state: &gix_index::State) -> Vec<Line> {
    let entries = state.entries().iter().map(|entry| Line {
        path: entry.path(state).to_vec(),
        stage: u8::try_from(entry.stage_raw()).unwrap_or(0),
        mode: entry.mode.bits(),
        id: ObjectId::from_bytes(entry.id.as_bytes()).expect("gitoxide's ids have a valid length"),
        flags: (entry.flags & KEPT_FLAGS).bits(),
    });
    let mut lines: Vec<Line> = entries.collect();
    lines.sort_unstable();
    lines
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
struct Stats<'a> {
    repo: &'a Repo,
    /// Paths whose files are not what the index says.
    apart: BTreeSet<Vec<u8>>,
    /// Paths whose files were written.
    written: BTreeSet<&'a [u8]>,
}

impl Stats<'_> {
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
    /// The view whose index is there now, where that is known, and what `stat` said of it; only what differs between
    /// the two is touched then.
    pub base: Option<(&'a View, Option<Stamp>)>,
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
    let NewIndex { goal, base, .. } = new;
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
    let stats = Stats {
        repo,
        apart,
        written: new
            .differences
            .files
            .iter()
            .map(|change| change.path.as_slice())
            .collect(),
    };
    let bytes = match base {
        Some((base, _)) => amended(repo, &trees, base, goal, &stats)?,
        None => rebuilt(&trees, goal, &stats)?,
    };
    let expected = base.as_ref().map(|(_, stamp)| *stamp);
    replace(repo, &bytes, expected, new.token, sync)
}

/// The index that is there, with what differs between the two checkpoints changed.
fn amended(
    repo: &Repo,
    trees: &Trees<'_>,
    base: &View,
    goal: &View,
    stats: &Stats<'_>,
) -> Result<Vec<u8>, Error> {
    let mut state = read_state(repo)?;
    if state.is_sparse() {
        return rebuilt(trees, goal, stats);
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
    again.extend(stats.written.iter().map(|path| path.to_vec()));
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
    push(&mut state, &wanted, stats);
    encode(&state)
}

/// The index from nothing but the checkpoint.
fn rebuilt(trees: &Trees<'_>, goal: &View, stats: &Stats<'_>) -> Result<Vec<u8>, Error> {
    let mut state = gix_index::State::new(gix_hash::Kind::Sha1);
    push(&mut state, &Wanted::of(goal, trees)?.lines, stats);
    encode(&state)
}

fn push(state: &mut gix_index::State, lines: &[Line], stats: &Stats<'_>) {
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
            stats.of(line)
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

/// Where the new index waits until it is complete.
fn waiting(repo: &Repo, token: &str) -> PathBuf {
    repo.git_dir.join(format!("go-team-index-{token}"))
}

/// Removes what a killed process left.
///
/// # Errors
/// When it cannot be removed.
pub fn clean(repo: &Repo, token: &str) -> Result<(), Error> {
    let path = waiting(repo, token);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

fn replace(
    repo: &Repo,
    bytes: &[u8],
    expected: Option<Option<Stamp>>,
    token: &str,
    sync: Sync,
) -> Result<(), Error> {
    let place = location(&repo.git_dir);
    let temp = waiting(repo, token);
    for attempt in 1.. {
        wait_for_git(repo)?;
        let now = stamp(&repo.git_dir)?;
        if attempt == 1 && expected.is_some_and(|expected| expected != now) {
            return Err(Error::Touched { path: place });
        }
        let written = write_file(&temp, bytes, &place, sync).and_then(|inode| {
            fs::rename(&temp, &place).at("replace", &place)?;
            Ok(inode)
        });
        let inode = match written {
            Ok(inode) => inode,
            Err(error) => {
                // Best effort: the journal knows its name.
                let _ = fs::remove_file(&temp);
                return Err(error);
            }
        };
        if sync == Sync::Durable {
            crate::git::sync_dir(&repo.git_dir)?;
        }
        // A git command that had read the old index may be about to write it back.
        wait_for_git(repo)?;
        let is_ours = fs::symlink_metadata(&place).is_ok_and(|meta| meta.ino() == inode);
        if is_ours {
            return Ok(());
        }
        if attempt == 3 {
            return Err(Error::Touched { path: place });
        }
    }
    unreachable!("the attempts end")
}

fn write_file(temp: &Path, bytes: &[u8], place: &Path, sync: Sync) -> Result<u64, Error> {
    let mut file = fs::File::create(temp).at("create", temp)?;
    file.write_all(bytes).at("write", temp)?;
    let bits = fs::metadata(place).map_or(0o644, |meta| meta.permissions().mode() & 0o777);
    file.set_permissions(fs::Permissions::from_mode(bits))
        .at("set permissions of", temp)?;
    if sync == Sync::Durable {
        file.sync_all().at("sync", temp)?;
    }
    Ok(file.metadata().at("stat", temp)?.ino())
}

fn wait_for_git(repo: &Repo) -> Result<(), Error> {
    let start = Instant::now();
    while let Some(path) = foreign_lock(repo) {
        if start.elapsed() > PATIENCE {
            return Err(Error::Locked { path });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
