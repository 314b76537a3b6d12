//! The lines of a manifest.
//!
//! Fields are declared in the order of their names, so that serialising an entry gives its canonical JSON directly.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Validity;
use crate::model::digest::Sha256Digest;
use crate::model::ids::{CheckpointId, RollbackId};
use crate::model::object_id::ObjectId;
use crate::model::record::Record;
use crate::model::status::SessionStatus;
use crate::model::timestamp;
use crate::model::trigger::Trigger;

/// A checkpoint as the manifest lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The checksum of its record.
    pub checksum: Sha256Digest,
    /// The checkpoint commit; absent when no files were captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<ObjectId>,
    /// When it was found to be corrupt.
    #[serde(
        default,
        with = "timestamp::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub corrupted_at: Option<DateTime<Utc>>,
    /// The checkpoint.
    pub id: CheckpointId,
    /// The rollback that left it behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidated_by: Option<RollbackId>,
    /// The step's name.
    pub name: String,
    /// The how-manieth checkpoint of its step, from 1.
    pub ordinal: u32,
    /// The checkpoint that the work tree descended from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CheckpointId>,
    /// Where the workflow was.
    pub phase: String,
    /// Its place in the session's history, from 1.
    pub seq: u64,
    /// The step that was done.
    pub step: u32,
    /// When it was made.
    #[serde(with = "timestamp")]
    pub timestamp: DateTime<Utc>,
    /// Why it was made.
    pub trigger: Trigger,
    /// Whether it can be rolled back to.
    pub valid: bool,
}

impl Entry {
    /// The entry of a new record: valid.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        Self {
            checksum: record.checksum(),
            commit_hash: record.git.commit_hash,
            corrupted_at: None,
            id: record.id.clone(),
            invalidated_by: None,
            name: record.step_name.clone(),
            ordinal: record.ordinal,
            parent: record.parent.clone(),
            phase: record.phase.clone(),
            seq: record.seq,
            step: record.step_number,
            timestamp: record.created_at,
            trigger: record.trigger,
            valid: true,
        }
    }

    /// Whether it was taken to make a rollback or an undo reversible.
    #[must_use]
    pub fn is_safety(&self) -> bool {
        self.trigger == Trigger::Safety
    }

    /// Whether and why it is valid.
    #[must_use]
    pub fn validity(&self) -> Validity {
        Validity {
            valid: self.valid,
            invalidated_by: self.invalidated_by.clone(),
            corrupted_at: self.corrupted_at,
        }
    }
}

/// What kind of move a rollback was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RollbackKind {
    /// To a checkpoint.
    #[default]
    Rollback,
    /// Back to where it was before one.
    Undo,
    /// Back to where it was before an undo.
    Redo,
}

impl RollbackKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rollback => "rollback",
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde asks for a reference"
    )]
    fn is_rollback(&self) -> bool {
        *self == Self::Rollback
    }
}

/// A branch that a rollback moved, made or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovedBranch {
    /// Where it was; absent when it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<ObjectId>,
    /// The full name.
    pub name: String,
    /// Where it went; absent when it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<ObjectId>,
}

/// A rollback that happened, or one that was undone or done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollbackRecord {
    /// The branches that it moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<MovedBranch>,
    /// The checkpoint that was current before; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_checkpoint: Option<CheckpointId>,
    /// Its step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_step: Option<u32>,
    /// The rollback.
    pub id: RollbackId,
    /// What kind of move it was.
    #[serde(default, skip_serializing_if = "RollbackKind::is_rollback")]
    pub kind: RollbackKind,
    /// The only paths that it restored, as people write them; all when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What the user said about it; may be empty.
    pub reason: String,
    /// The one that it undoes or does again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverses: Option<RollbackId>,
    /// What undoes it.
    pub safety_checkpoint: CheckpointId,
    /// When it happened.
    #[serde(with = "timestamp")]
    pub timestamp: DateTime<Utc>,
    /// The checkpoint that became current.
    pub to_checkpoint: CheckpointId,
    /// Its step.
    pub to_step: u32,
    /// When it was undone.
    #[serde(
        default,
        with = "timestamp::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub undone_at: Option<DateTime<Utc>>,
}

/// A change of a session's status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusChange {
    /// What the user said about it; may be empty.
    pub reason: String,
    /// The status from then on.
    pub status: SessionStatus,
    /// When it happened.
    #[serde(with = "timestamp")]
    pub timestamp: DateTime<Utc>,
}

/// Neighbouring checkpoints that were pruned, with what the next record links to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrunedRange {
    /// The first seq.
    pub from_seq: u64,
    /// The checksum of the last record.
    pub last_checksum: Sha256Digest,
    /// The last seq.
    pub to_seq: u64,
}
