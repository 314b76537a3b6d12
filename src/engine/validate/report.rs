//! What validation comes to: a verdict on each checkpoint, and everything that was found.

use std::collections::HashSet;

use serde::Serialize;

use super::Depth;
use crate::engine::show::Relative;
use crate::engine::summary::SessionSummary;
use crate::model::finding::{Check, Finding, Severity};
use crate::model::selector::Numbers;
use crate::model::{CheckpointId, Entry, SessionId};
use crate::plan::validate::{CommitFact, Facts, FileFact};

/// What validation came to.
#[derive(Debug, Clone, Serialize)]
pub struct ValidateReport {
    /// The session.
    pub session_id: SessionId,
    /// The session in short; absent when its manifest is of a newer version.
    pub session: Option<SessionSummary>,
    /// How far objects were looked at.
    pub depth: Depth,
    /// What came of each checkpoint, oldest first.
    pub checkpoints: Vec<Verdict>,
    /// Everything that is not as it should be.
    pub findings: Vec<Finding>,
    /// The newest checkpoint that nothing is wrong with.
    pub last_valid: Option<Relative>,
    /// The checkpoints that were marked as corrupt now.
    pub marked: Vec<CheckpointId>,
    /// Why what is corrupt could not be marked.
    pub not_marked: Option<String>,
    /// How many objects the checkpoints need.
    pub objects: usize,
    /// How many of them a partial clone has elsewhere.
    pub promised: usize,
}

/// What came of one checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// What selects it.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// Its place in the session's history.
    pub seq: u64,
    /// Its record.
    pub file: Outcome,
    /// Its checksum.
    pub hash: Outcome,
    /// Its links.
    pub chain: Outcome,
    /// Its ref and objects.
    pub git: Outcome,
    /// Its state.
    pub state: Outcome,
    /// All of that.
    pub overall: Outcome,
    /// Whether the manifest says that it can be rolled back to.
    pub valid: bool,
    /// Whether it is the current one.
    pub current: bool,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Ok,
    /// Not as it should be.
    Failed,
    /// There is nothing to check, or no way to.
    Skipped,
}

impl ValidateReport {
    /// The last valid checkpoint, unless the work tree descends from it anyway.
    #[must_use]
    pub fn way_back(&self) -> Option<&Relative> {
        let session = self.session.as_ref()?;
        let current = session.current_checkpoint.as_ref();
        self.last_valid
            .as_ref()
            .filter(|last| Some(&last.id) != current)
    }

    /// Whether nothing is wrong; leftovers that cost nothing do not count.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity == Severity::Notice)
    }
}

/// Says what came of one checkpoint.
pub(super) fn verdict(
    numbers: &Numbers,
    entry: &Entry,
    facts: &Facts,
    failed: Option<&HashSet<Option<Check>>>,
    current: bool,
) -> Verdict {
    let has_record = matches!(facts.file, FileFact::Whole(_));
    let outcome = |check: Check, can_be_checked: bool| {
        if failed.is_some_and(|failed| failed.contains(&Some(check))) {
            Outcome::Failed
        } else if can_be_checked {
            Outcome::Ok
        } else {
            Outcome::Skipped
        }
    };
    let has_commit = entry.commit_hash.is_some() && !matches!(facts.committed, CommitFact::None);
    Verdict {
        number: numbers.number(entry),
        id: entry.id.clone(),
        seq: entry.seq,
        file: outcome(Check::File, true),
        hash: outcome(Check::Hash, has_record),
        chain: outcome(Check::Chain, has_record),
        git: outcome(Check::Git, has_commit),
        state: outcome(Check::State, has_record),
        overall: if failed.is_some() {
            Outcome::Failed
        } else {
            Outcome::Ok
        },
        valid: entry.valid,
        current,
    }
}
