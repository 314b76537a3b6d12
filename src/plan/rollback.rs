//! What a rollback would do, as a value: shown by a dry run, asked about before the real one, and carried out as it is.
//!
//! The checkpoints that count are those on the line of the current one. Rolling back moves the current one, so which are
//! valid afterwards follows from the line of the new one alone, whichever way it lies.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::model::journal::JournalHead;
use crate::model::manifest::{MovedBranch, RollbackKind};
use crate::model::{CheckpointId, Entry, Manifest, ObjectId, RollbackId, RollbackRecord};

/// A checkpoint, as people know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// What a user types to mean it.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// Its step.
    pub step: u32,
    /// The step's name.
    pub name: String,
    /// When it was made.
    pub timestamp: DateTime<Utc>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStep {
    /// It is not there and comes.
    Create,
    /// It gets other content.
    Replace,
    /// It gets other permission bits only.
    Permissions,
    /// It goes.
    Delete,
}

/// One file of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedFile {
    /// The path, as people write it.
    pub path: String,
    /// What happens to it.
    pub step: FileStep,
    /// How large it is, as git stores it.
    pub bytes: u64,
}

/// A path that differs and is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptFile {
    /// The path, as people write it.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A commit of the user's that leaves a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedCommit {
    /// The branch's full name.
    pub branch: String,
    /// The commit.
    pub commit: ObjectId,
    /// The first line of its message.
    pub summary: String,
}

/// Where HEAD goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedHead {
    /// Where it is.
    pub from: JournalHead,
    /// Where it will be.
    pub to: JournalHead,
}

/// Everything that a rollback, an undo or a redo would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// What kind of move it is.
    pub kind: RollbackKind,
    /// The checkpoint that becomes current.
    pub target: Named,
    /// The checkpoint whose files and state are restored, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Named>,
    /// The checkpoint that is current now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<Named>,
    /// The only paths that are restored; all when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// HEAD.
    pub head: PlannedHead,
    /// Branches that move.
    pub branches: Vec<MovedBranch>,
    /// The newest of the commits that are not on their branch any more.
    pub commits_leaving: Vec<PlannedCommit>,
    /// How many there are.
    pub commits_leaving_total: usize,
    /// Whether the index changes.
    pub index: bool,
    /// Files that are written.
    pub write: Vec<PlannedFile>,
    /// Files that are deleted.
    pub delete: Vec<PlannedFile>,
    /// Files that differ and are left alone.
    pub keep: Vec<KeptFile>,
    /// Empty directories that are made.
    pub make_directories: Vec<String>,
    /// Directories that go, if nothing is left in them.
    pub remove_directories: Vec<String>,
    /// Checkpoints that become invalid.
    pub invalidates: Vec<CheckpointId>,
    /// Checkpoints that become valid again.
    pub revalidates: Vec<CheckpointId>,
    /// How much the files to write take.
    pub bytes_needed: u64,
    /// How much is free.
    pub bytes_free: u64,
    /// What to know before going on.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Whether nothing of the files, the index, HEAD and branches would change.
    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        self.write.is_empty()
            && self.delete.is_empty()
            && self.branches.is_empty()
            && self.head.from == self.head.to
            && !self.index
    }
}

/// A checkpoint and those it descends from, newest first.
#[must_use]
pub fn line<'m>(manifest: &'m Manifest, id: &CheckpointId) -> Vec<&'m Entry> {
    let mut line: Vec<&Entry> = Vec::new();
    let mut at = manifest.entry(id);
    while let Some(entry) = at {
        line.push(entry);
        at = manifest.parent_of(entry);
    }
    line
}

/// How the validity of checkpoints changes when another one becomes current.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValidityChange {
    /// These are left behind.
    pub invalidates: Vec<CheckpointId>,
    /// These are on the line again.
    pub revalidates: Vec<CheckpointId>,
}

/// What becomes invalid and what valid again when `current` becomes the current checkpoint.
#[must_use]
pub fn validity_after(manifest: &Manifest, current: &CheckpointId) -> ValidityChange {
    let on_line: BTreeSet<&CheckpointId> = line(manifest, current)
        .iter()
        .map(|entry| &entry.id)
        .collect();
    let mut change = ValidityChange::default();
    for entry in manifest.checkpoints() {
        let is_on_line = on_line.contains(&entry.id);
        if entry.valid && !is_on_line && !entry.is_safety() {
            change.invalidates.push(entry.id.clone());
        } else if !entry.valid && is_on_line && entry.corrupted_at.is_none() {
            change.revalidates.push(entry.id.clone());
        }
    }
    change
}

/// Makes a rollback part of the manifest: its record, the current checkpoint, who is valid.
pub fn settle(manifest: &mut Manifest, record: RollbackRecord) {
    if record.paths.is_empty() {
        let change = validity_after(manifest, &record.to_checkpoint);
        manifest.mark(|id, validity| {
            if change.invalidates.contains(id) {
                validity.valid = false;
                validity.invalidated_by = Some(record.id.clone());
            } else if change.revalidates.contains(id) {
                validity.valid = true;
                validity.invalidated_by = None;
            }
        });
        manifest.current_checkpoint = Some(record.to_checkpoint.clone());
    }
    let reversed = |id: &RollbackId| record.reverses.as_ref() == Some(id);
    let mut revived = None;
    for earlier in &mut manifest.rollback_history {
        if reversed(&earlier.id) {
            earlier.undone_at = Some(record.timestamp);
            if record.kind == RollbackKind::Redo {
                revived.clone_from(&earlier.reverses);
            }
        }
    }
    // What an undo had undone is in force again when the undo itself is undone.
    for earlier in &mut manifest.rollback_history {
        if revived.as_ref() == Some(&earlier.id) {
            earlier.undone_at = None;
        }
    }
    manifest.updated_at = manifest.updated_at.max(record.timestamp);
    manifest.rollback_history.push(record);
}

/// The rollbacks that are in force, and the undos that could be done again, each the last one last.
fn stacks(history: &[RollbackRecord]) -> (Vec<&RollbackRecord>, Vec<&RollbackRecord>) {
    let (mut done, mut undone) = (Vec::new(), Vec::new());
    for record in history {
        match record.kind {
            RollbackKind::Rollback => {
                done.push(record);
                undone.clear();
            }
            RollbackKind::Undo => {
                done.pop();
                undone.push(record);
            }
            RollbackKind::Redo => {
                undone.pop();
                done.push(record);
            }
        }
    }
    (done, undone)
}

/// What `undo` would undo.
#[must_use]
pub fn to_undo(history: &[RollbackRecord]) -> Option<&RollbackRecord> {
    stacks(history).0.last().copied()
}

/// What `redo` would do again.
#[must_use]
pub fn to_redo(history: &[RollbackRecord]) -> Option<&RollbackRecord> {
    stacks(history).1.last().copied()
}

#[cfg(test)]
mod tests;
