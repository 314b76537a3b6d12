//! What a tree cannot say, as the JSON files of the sidecar commit: `index.json` and `extras.json`.
//!
//! Paths are written as [`quote_path`] does. Both files are written in full each time; where nothing is special their
//! bytes are always the same, so that all checkpoints share them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::index::Stage;
use super::node::{
    ASSUME_UNCHANGED, CONFLICTED, Dir, Disk, Entry, File, INTENT_TO_ADD, OURS, SKIP_WORKTREE, join,
};
use super::skip::SkipReason;
use super::tree::Mode;
use crate::model::object_id::ObjectId;
use crate::model::path_text::quote_path;

/// `index.json`: flags and conflicts of the index. Everything else of it is the tree `staged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexJson {
    /// The format, 1.
    pub version: u32,
    /// Paths with flags.
    pub flags: Vec<FlaggedPath>,
    /// Conflict stages.
    pub conflicts: Vec<ConflictStage>,
}

/// A path with index flags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlaggedPath {
    /// The path.
    pub path: String,
    /// Its flags.
    pub flags: Vec<IndexFlag>,
    /// Its mode, for a path that is only intended to be added and so is not in the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

/// A flag of an index entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexFlag {
    /// `git update-index --assume-unchanged`.
    AssumeUnchanged,
    /// `git update-index --skip-worktree`, or a sparse checkout.
    SkipWorktree,
    /// `git add --intent-to-add`.
    IntentToAdd,
}

/// One stage of a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConflictStage {
    /// The path.
    pub path: String,
    /// 1 base, 2 ours, 3 theirs.
    pub stage: u8,
    /// The mode in octal.
    pub mode: String,
    /// The object.
    pub id: ObjectId,
}

/// `extras.json`: what is on disk beside what git keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extras {
    /// The format, 1.
    pub version: u32,
    /// Permission bits.
    pub permissions: Permissions,
    /// Directories that no file makes exist.
    pub empty_directories: Vec<String>,
    /// Paths of the tree that are not on disk, because the index says not to look.
    pub absent: Vec<String>,
    /// Nested repositories that are recorded as a commit.
    pub nested: Vec<NestedPath>,
    /// Paths that were left out.
    pub skipped: Vec<SkippedPath>,
}

/// Permission bits: what most files have, and those that differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permissions {
    /// Plain files.
    pub file: String,
    /// Runnable files.
    pub executable: String,
    /// Directories.
    pub directory: String,
    /// Paths with other bits.
    pub other: BTreeMap<String, String>,
}

/// A nested repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NestedPath {
    /// The path.
    pub path: String,
    /// The commit it was at.
    pub commit: ObjectId,
    /// Whether the index knows it as a submodule.
    pub tracked: bool,
}

/// A path that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedPath {
    /// The path.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// Everything of a scan that no tree says.
#[derive(Debug)]
pub(super) struct Sidecar {
    pub index: IndexJson,
    pub extras: Extras,
    /// Exact bytes of files that a checkout would not give back.
    pub raw: Vec<(Vec<u8>, Entry)>,
}

/// How often each permission occurs.
#[derive(Default)]
struct Common(BTreeMap<u32, u64>);

impl Common {
    fn add(&mut self, bits: u32) {
        *self.0.entry(bits).or_default() += 1;
    }

    fn most(&self, default: u32) -> u32 {
        self.0
            .iter()
            .max_by_key(|(_, count)| **count)
            .map_or(default, |(bits, _)| *bits)
    }
}

fn octal(bits: u32) -> String {
    format!("{bits:03o}")
}

/// The permission bits that most paths have.
struct Usual {
    file: u32,
    executable: u32,
    directory: u32,
}

impl Usual {
    fn of(root: &Dir) -> Self {
        let (mut files, mut executables, mut directories) =
            (Common::default(), Common::default(), Common::default());
        root.walk(&mut Vec::new(), &mut |_, dir| {
            if dir.on_disk {
                directories.add(dir.stamp.permissions());
            }
            for file in &dir.files {
                match on_disk(file) {
                    Some((Mode::Executable, bits)) => executables.add(bits),
                    Some((_, bits)) => files.add(bits),
                    None => {}
                }
            }
        });
        Self {
            file: files.most(0o644),
            executable: executables.most(0o755),
            directory: directories.most(0o755),
        }
    }
}

impl Usual {
    fn of_mode(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Executable => self.executable,
            _ => self.file,
        }
    }

    /// Whether there is nothing to say of a file that the tree and the usual permissions do not.
    fn is_all_of(&self, file: &File) -> bool {
        file.disk == Disk::AsTree
            && file.index.is_none_or(|facts| facts.flags == 0)
            && file.tree.is_none_or(|entry| entry.mode != Mode::Gitlink)
            && on_disk(file).is_none_or(|(mode, bits)| bits == self.of_mode(mode))
    }
}

impl Sidecar {
    pub fn of(root: &Dir, conflicts: &[Stage]) -> Self {
        let usual = Usual::of(root);
        let mut sidecar = Self {
            index: IndexJson {
                version: 1,
                flags: Vec::new(),
                conflicts: conflicts.iter().map(ConflictStage::of).collect(),
            },
            extras: Extras {
                version: 1,
                permissions: Permissions {
                    file: octal(usual.file),
                    executable: octal(usual.executable),
                    directory: octal(usual.directory),
                    other: BTreeMap::new(),
                },
                empty_directories: Vec::new(),
                absent: Vec::new(),
                nested: Vec::new(),
                skipped: Vec::new(),
            },
            raw: Vec::new(),
        };
        root.walk(&mut Vec::new(), &mut |path, dir| {
            sidecar.extras.add_dir(path, dir, &usual);
            // Paths are made for the few that are not like the rest.
            for file in dir.files.iter().filter(|file| !usual.is_all_of(file)) {
                sidecar.add_file(&join(path, &file.name), file, &usual);
            }
        });
        sidecar
    }

    fn add_file(&mut self, path: &[u8], file: &File, usual: &Usual) {
        let extras = &mut self.extras;
        if let Some((mode, bits)) = on_disk(file)
            && bits != usual.of_mode(mode)
        {
            let other = &mut extras.permissions.other;
            other.insert(quote_path(path), octal(bits));
        }
        match &file.disk {
            Disk::Raw(entry) => self.raw.push((path.to_vec(), **entry)),
            Disk::Skipped(reason) => extras.skipped.push(SkippedPath {
                path: quote_path(path),
                reason: *reason,
            }),
            Disk::Absent if file.tree.is_some() => extras.absent.push(quote_path(path)),
            _ => {}
        }
        if let Some(Entry {
            mode: Mode::Gitlink,
            id,
        }) = file.tree
            && file.disk != Disk::Absent
        {
            extras.nested.push(NestedPath {
                path: quote_path(path),
                commit: id,
                tracked: file.index.is_some(),
            });
        }
        let flagged = FlaggedPath::of(path, file.index);
        self.index.flags.extend(flagged);
    }
}

impl Extras {
    fn add_dir(&mut self, path: &[u8], dir: &Dir, usual: &Usual) {
        if !dir.on_disk || path.is_empty() {
            return;
        }
        if dir.unreadable {
            self.skipped.push(SkippedPath {
                path: quote_path(path),
                reason: SkipReason::Unreadable,
            });
            return;
        }
        let bits = dir.stamp.permissions();
        if bits != usual.directory {
            let other = &mut self.permissions.other;
            other.insert(quote_path(path), octal(bits));
        }
        // Entries that the index keeps without a file on disk do not make a directory.
        let is_there = |file: &File| matches!(file.disk, Disk::AsTree | Disk::Raw(_));
        let holds_something =
            dir.files.iter().any(is_there) || dir.dirs.iter().any(|child| child.on_disk);
        if !holds_something && !dir.ignored {
            self.empty_directories.push(quote_path(path));
        }
    }
}

/// The permission bits of a captured regular file, and the mode it is recorded with, which a checkout would use.
fn on_disk(file: &File) -> Option<(Mode, u32)> {
    let recorded = match &file.disk {
        Disk::AsTree => file.tree?,
        Disk::Raw(entry) => **entry,
        _ => return None,
    };
    let regular = file.stamp.file_type() == rustix::fs::FileType::RegularFile;
    regular.then(|| (recorded.mode, file.stamp.permissions()))
}

impl ConflictStage {
    fn of(stage: &Stage) -> Self {
        Self {
            path: quote_path(&stage.path),
            stage: stage.stage,
            mode: stage.mode.as_octal().to_owned(),
            id: stage.id,
        }
    }
}

impl FlaggedPath {
    fn of(path: &[u8], facts: Option<super::node::IndexFacts>) -> Option<Self> {
        let facts = facts.filter(|facts| facts.flags & !(CONFLICTED | OURS) != 0)?;
        let known = [
            (ASSUME_UNCHANGED, IndexFlag::AssumeUnchanged),
            (SKIP_WORKTREE, IndexFlag::SkipWorktree),
            (INTENT_TO_ADD, IndexFlag::IntentToAdd),
        ];
        Some(Self {
            path: quote_path(path),
            flags: known
                .iter()
                .filter(|(bit, _)| facts.has(*bit))
                .map(|(_, flag)| *flag)
                .collect(),
            mode: facts
                .has(INTENT_TO_ADD)
                .then(|| facts.entry.mode.as_octal().to_owned()),
        })
    }
}
