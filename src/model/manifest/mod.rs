//! A session's manifest: its checkpoints in order, its rollbacks, and what was pruned.
//!
//! The list only grows at its end and shrinks by pruning, so ids stay unique and `seq` keeps rising by construction;
//! [`Manifest::from_file_bytes`] checks the same for what comes from disk.

mod entry;
mod file;
mod line;
mod ordinals;
mod parents;
mod salvage;
mod text;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::digest::Sha256Digest;
use super::ids::{CheckpointId, SessionId};
use super::object_id::ObjectId;
use super::record::Record;
use super::status::SessionStatus;
use super::timestamp;
use super::trigger::Trigger;

pub use entry::{Entry, MovedBranch, PrunedRange, RollbackKind, RollbackRecord, StatusChange};
pub use file::Beginning;
pub use ordinals::OrdinalRange;
pub use parents::PrunedParent;
pub use salvage::Salvage;
use text::EntryText;

/// A session's manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The session.
    pub session_id: SessionId,
    /// What it is about.
    pub topic: String,
    /// The workflow's name.
    pub workflow: String,
    /// Where the session is in its life.
    pub status: SessionStatus,
    /// When the session began.
    pub created_at: DateTime<Utc>,
    /// When the manifest was last changed.
    pub updated_at: DateTime<Utc>,
    /// The checkpoint that the work tree descends from.
    pub current_checkpoint: Option<CheckpointId>,
    /// Every rollback, oldest first.
    pub rollback_history: Vec<RollbackRecord>,
    /// Every change of the status since the session began, oldest first.
    pub status_history: Vec<StatusChange>,
    next_seq: u64,
    checkpoints: Vec<Entry>,
    pruned: Vec<PrunedRange>,
    pruned_parents: Vec<PrunedParent>,
    next_ordinals: Vec<OrdinalRange>,
    /// The text of `checkpoints`, as long as it is known to be right.
    text: Option<EntryText>,
}

/// Why a record cannot become the next entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The record belongs to another session.
    #[error("{id} belongs to session {session}")]
    OtherSession {
        /// The checkpoint.
        id: CheckpointId,
        /// Its session.
        session: SessionId,
    },
    /// The id is in the list already.
    #[error("{id} is listed already")]
    DuplicateId {
        /// The id.
        id: CheckpointId,
    },
    /// The record does not have the next seq.
    #[error("{id} has seq {seq}, the next is {next_seq}")]
    Seq {
        /// The checkpoint.
        id: CheckpointId,
        /// Its seq.
        seq: u64,
        /// What it should be.
        next_seq: u64,
    },
}

impl Manifest {
    /// The manifest of a session that begins.
    #[must_use]
    pub fn new(
        session_id: SessionId,
        topic: &str,
        workflow: &str,
        created_at: DateTime<Utc>,
    ) -> Self {
        let created_at = timestamp::to_millis(created_at);
        Self {
            session_id,
            topic: topic.to_owned(),
            workflow: workflow.to_owned(),
            status: SessionStatus::Active,
            created_at,
            updated_at: created_at,
            current_checkpoint: None,
            rollback_history: Vec::new(),
            status_history: Vec::new(),
            next_seq: 1,
            checkpoints: Vec::new(),
            pruned: Vec::new(),
            pruned_parents: Vec::new(),
            next_ordinals: Vec::new(),
            text: Some(EntryText::default()),
        }
    }

    /// The checkpoints, by rising seq.
    #[must_use]
    pub fn checkpoints(&self) -> &[Entry] {
        &self.checkpoints
    }

    /// What was pruned, by rising seq.
    #[must_use]
    pub fn pruned(&self) -> &[PrunedRange] {
        &self.pruned
    }

    /// What lies below pruned checkpoints that listed ones were made on top of.
    #[must_use]
    pub fn pruned_parents(&self) -> &[PrunedParent] {
        &self.pruned_parents
    }

    /// The seq of the next checkpoint.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The checkpoint of that id.
    #[must_use]
    pub fn entry(&self, id: &CheckpointId) -> Option<&Entry> {
        self.checkpoints.iter().rev().find(|entry| entry.id == *id)
    }

    /// Changes what may change about checkpoints: whether and why they are valid.
    pub fn mark(&mut self, mut change: impl FnMut(&CheckpointId, &mut Validity)) {
        for entry in &mut self.checkpoints {
            let mut validity = entry.validity();
            change(&entry.id, &mut validity);
            if validity != entry.validity() {
                entry.valid = validity.valid;
                entry.invalidated_by = validity.invalidated_by;
                entry.corrupted_at = validity.corrupted_at.map(timestamp::to_millis);
                self.text = None;
            }
        }
    }

    /// What a checkpoint of this kind makes of an open session: a user who interrupts leaves it interrupted, and whatever
    /// is done in it afterwards takes it up again. What is kept for safety's sake says nothing about the work.
    #[must_use]
    pub fn status_with(
        &self,
        trigger: Trigger,
        checkpoint: &CheckpointId,
        now: DateTime<Utc>,
    ) -> Option<StatusChange> {
        let (status, reason) = match (self.status, trigger) {
            (SessionStatus::Active, Trigger::UserInterrupt) => {
                (SessionStatus::Interrupted, "the user interrupted the work")
            }
            (SessionStatus::Interrupted, Trigger::UserInterrupt | Trigger::Safety) => return None,
            (SessionStatus::Interrupted, _) => (SessionStatus::Active, "the work went on"),
            _ => return None,
        };
        Some(StatusChange {
            reason: format!("{reason}: {checkpoint}"),
            status,
            timestamp: timestamp::to_millis(now),
        })
    }

    /// Gives the session another status, and remembers when and why.
    pub fn settle(&mut self, change: StatusChange) {
        self.status = change.status;
        self.updated_at = self.updated_at.max(change.timestamp);
        self.status_history.push(change);
    }

    /// The newest checkpoint of all, safety checkpoints included.
    #[must_use]
    pub fn newest(&self) -> Option<&Entry> {
        self.checkpoints.last()
    }

    /// The newest checkpoint that is valid and not a safety checkpoint.
    #[must_use]
    pub fn newest_valid(&self) -> Option<&Entry> {
        let mut newest_first = self.checkpoints.iter().rev();
        newest_first.find(|entry| entry.valid && !entry.is_safety())
    }

    /// The checkpoint that the work tree descends from.
    #[must_use]
    pub fn current(&self) -> Option<&Entry> {
        self.entry(self.current_checkpoint.as_ref()?)
    }

    /// The checksum that the next record links to: of the newest record ever made, pruned or not.
    #[must_use]
    pub fn last_checksum(&self) -> Option<Sha256Digest> {
        let listed = self
            .checkpoints
            .last()
            .map(|entry| (entry.seq, entry.checksum));
        let pruned = self
            .pruned
            .last()
            .map(|range| (range.to_seq, range.last_checksum));
        listed.max(pruned).map(|(_, checksum)| checksum)
    }

    /// Adds the next checkpoint and, unless it is a safety checkpoint, makes it the current one.
    ///
    /// # Errors
    /// When the record belongs to another session, has an id that is listed, or does not have the next seq.
    pub fn append(&mut self, record: &Record) -> Result<&Entry, AppendError> {
        let (id, seq, next_seq) = (record.id.clone(), record.seq, self.next_seq);
        if record.session_id != self.session_id {
            let session = record.session_id.clone();
            return Err(AppendError::OtherSession { id, session });
        }
        if seq != next_seq {
            return Err(AppendError::Seq { id, seq, next_seq });
        }
        if self.entry(&id).is_some() {
            return Err(AppendError::DuplicateId { id });
        }
        let entry = Entry::of(record);
        if let Some(text) = &mut self.text {
            text.push(&entry);
        }
        self.next_seq += 1;
        self.updated_at = self.updated_at.max(record.created_at);
        if record.trigger != Trigger::Safety {
            self.current_checkpoint = Some(id);
        }
        self.checkpoints.push(entry);
        Ok(self.checkpoints.last().expect("just added"))
    }

    /// As [`Manifest::append`], for a manifest that is rebuilt: a gap before the record counts as pruned.
    ///
    /// # Errors
    /// As [`Manifest::append`]; here only a seq that has been used is refused.
    pub fn adopt(&mut self, record: &Record) -> Result<&Entry, AppendError> {
        if record.seq > self.next_seq
            && record.session_id == self.session_id
            && let Some(last_checksum) = record.prev_checksum
        {
            self.pruned.push(PrunedRange {
                from_seq: self.next_seq,
                last_checksum,
                to_seq: record.seq - 1,
            });
            self.next_seq = record.seq;
        }
        self.append(record)
    }

    /// Takes checkpoints out of the list and gives them back; their seqs join the pruned ranges.
    ///
    /// If the current checkpoint is among them there is no current one afterwards.
    pub fn prune(&mut self, ids: &BTreeSet<CheckpointId>) -> Vec<Entry> {
        if !self.checkpoints.iter().any(|entry| ids.contains(&entry.id)) {
            return Vec::new();
        }
        self.next_ordinals = ordinals::ranges(&self.checkpoints, &self.next_ordinals);
        let gone = self
            .checkpoints
            .extract_if(.., |entry| ids.contains(&entry.id));
        let gone: Vec<Entry> = gone.collect();
        self.pruned_parents = parents::bridges(&self.checkpoints, &gone, &self.pruned_parents);
        let mut ranges = std::mem::take(&mut self.pruned);
        ranges.extend(gone.iter().map(|entry| PrunedRange {
            from_seq: entry.seq,
            last_checksum: entry.checksum,
            to_seq: entry.seq,
        }));
        ranges.sort_unstable_by_key(|range| range.from_seq);
        for range in ranges {
            match self.pruned.last_mut() {
                Some(last) if !is_any_between(&self.checkpoints, last.to_seq, range.from_seq) => {
                    last.to_seq = range.to_seq;
                    last.last_checksum = range.last_checksum;
                }
                _ => self.pruned.push(range),
            }
        }
        if self
            .current_checkpoint
            .as_ref()
            .is_some_and(|id| ids.contains(id))
        {
            self.current_checkpoint = None;
        }
        self.text = None;
        gone
    }

    /// The same history under another session's name. `resealed` gives what the record of each entry says under that
    /// name: its checksum, and the commit that holds it.
    #[must_use]
    pub fn renamed(
        mut self,
        session_id: SessionId,
        mut resealed: impl FnMut(&Entry) -> (Sha256Digest, Option<ObjectId>),
    ) -> Self {
        for entry in &mut self.checkpoints {
            (entry.checksum, entry.commit_hash) = resealed(entry);
        }
        self.session_id = session_id;
        self.text = None;
        self
    }

    /// The ordinal of the next checkpoint of a step; none is given twice, whatever was pruned.
    #[must_use]
    pub fn ordinal_for(&self, step: u32) -> u32 {
        ordinals::next(&self.checkpoints, &self.next_ordinals, step)
    }

    /// The step number of the next checkpoint of a session without a workflow: 1, 2, 3, none twice.
    #[must_use]
    pub fn next_number(&self) -> u32 {
        let listed = self.checkpoints.iter().map(|entry| entry.step);
        let pruned = self.next_ordinals.iter().map(|range| range.to_step);
        listed.chain(pruned).max().unwrap_or(0).saturating_add(1)
    }
}

/// Whether a listed seq lies strictly between two others.
fn is_any_between(entries: &[Entry], after: u64, before: u64) -> bool {
    let next = entries.partition_point(|entry| entry.seq <= after);
    entries.get(next).is_some_and(|entry| entry.seq < before)
}

/// What may change about a listed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validity {
    /// Whether it can be rolled back to.
    pub valid: bool,
    /// The rollback that left it behind.
    pub invalidated_by: Option<super::ids::RollbackId>,
    /// When it was found to be corrupt.
    pub corrupted_at: Option<DateTime<Utc>>,
}

#[cfg(test)]
mod tests;
