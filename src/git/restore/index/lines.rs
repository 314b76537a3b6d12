//! The entries of an index, as a checkpoint says them and as they are.

use std::collections::BTreeMap;

use gix_worktree::index as gix_index;
use gix_worktree::index::entry::Flags;

use crate::git::Error;
use crate::git::index::location;
use crate::git::node::Entry;
use crate::git::open::Repo;
use crate::git::restore::trees::Trees;
use crate::git::restore::view::{View, at_or_above};
use crate::git::sidecar::IndexFlag;
use crate::git::tree::Mode;
use crate::model::object_id::ObjectId;
use crate::model::path_text::unquote_path;

/// An entry as the index lists it, without stat data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    pub path: Vec<u8>,
    pub stage: u8,
    pub mode: u32,
    pub id: ObjectId,
    pub flags: u32,
}

pub(super) const KEPT_FLAGS: Flags = Flags::ASSUME_VALID
    .union(Flags::SKIP_WORKTREE)
    .union(Flags::INTENT_TO_ADD);

/// The index of a checkpoint, entry for entry.
pub(super) struct Wanted {
    pub lines: Vec<Line>,
}

impl Wanted {
    pub fn of(view: &View, trees: &Trees<'_>) -> Result<Self, Error> {
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
            at_or_above(&line.path, |path| {
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
pub(super) type FlagMap = BTreeMap<Vec<u8>, (u32, Option<u32>)>;

pub(super) fn flags_of(view: &View) -> Result<FlagMap, Error> {
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

pub(super) fn intended(flags: &FlagMap) -> impl Iterator<Item = Line> {
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

pub(super) fn conflicts_of(view: &View) -> Result<Vec<Line>, Error> {
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

pub(super) fn path_of(text: &str) -> Result<Vec<u8>, Error> {
    unquote_path(text).map_err(|_| Error::Damaged {
        what: format!("index.json: the path {text}"),
    })
}

pub(super) fn octal(text: &str) -> Result<u32, Error> {
    u32::from_str_radix(text, 8).map_err(|_| Error::Damaged {
        what: format!("index.json: the mode {text}"),
    })
}

pub(super) fn bits(mode: Mode) -> u32 {
    u32::from_str_radix(mode.as_octal(), 8).expect("a constant")
}

pub(super) fn read_state(repo: &Repo) -> Result<gix_index::State, Error> {
    let path = location(&repo.git_dir);
    let options = gix_index::decode::Options::default();
    gix_index::File::at_or_default(&path, gix_hash::Kind::Sha1, true, options)
        .map(Into::into)
        .map_err(|error| Error::Damaged {
            what: format!("the index {}: {error}", path.display()),
        })
}

pub(super) fn lines_of(state: &gix_index::State) -> Vec<Line> {
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
