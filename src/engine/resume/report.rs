//! What is answered when a session is looked at, taken up, put away or removed.

use serde::Serialize;
use serde_json::{Map, Value};

use super::compare::Freshness;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::life::Removed;
use crate::engine::recover::Recovered;
use crate::engine::show::Relative;
use crate::engine::summary::{SessionSummary, Unfinished};
use crate::model::finding::Finding;
use crate::model::{SessionId, SessionStatus, State};
use crate::plan::resume::point::Point;
use crate::plan::resume::{Reason, Verdict};
use crate::store::ErrorLine;

/// A session that can be taken up, or why not.
#[derive(Debug, Clone, Serialize)]
pub struct ResumeReport {
    /// The session.
    pub session_id: SessionId,
    /// The session in short; absent when a newer go-team wrote its manifest.
    pub session: Option<SessionSummary>,
    /// What to do, in one word.
    pub verdict: Verdict,
    /// Why.
    pub reasons: Vec<Reason>,
    /// Why it cannot be taken up as it is; absent when it can.
    pub problem: Option<Problem>,
    /// The checkpoint that work goes on from; absent when there is none yet.
    pub checkpoint: Option<Checkpoint>,
    /// Where work goes on.
    pub resume_point: Option<Point>,
    /// What was done since the checkpoint and is in none.
    pub in_flight: InFlight,
    /// The state as it is now.
    pub state: State,
    /// What the workflow had produced.
    pub outputs: Map<String, Value>,
    /// The repository then and now.
    pub freshness: Freshness,
    /// What validation found.
    pub validation: Validation,
    /// That it was taken up; absent when it was only looked at.
    pub resumed: Option<Resumed>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Troubles that did not stop it.
    pub warnings: Vec<String>,
}

/// Why a session cannot be taken up as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Which kind.
    pub kind: ProblemKind,
    /// What was found, in words.
    pub details: Vec<String>,
}

/// Kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// A newer go-team wrote it.
    NewerVersion,
    /// The list of checkpoints, or the live state, is damaged.
    SessionDamaged,
    /// The current checkpoint is damaged.
    CheckpointCorrupt,
    /// A part of the current checkpoint is missing.
    CheckpointIncomplete,
}

/// What was done since the checkpoint.
#[derive(Debug, Clone, Default, Serialize)]
pub struct InFlight {
    /// The places in the state that changed, as dotted paths.
    pub state: Vec<String>,
    /// An operation that has not come to its end.
    pub operation: Option<Unfinished>,
    /// The operation that failed last, if that was after the checkpoint.
    pub failed: Option<ErrorLine>,
}

/// What validation found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Validation {
    /// Whether nothing is wrong.
    pub valid: bool,
    /// Everything that is not as it should be.
    pub findings: Vec<Finding>,
    /// The newest checkpoint that nothing is wrong with.
    pub last_valid: Option<Relative>,
}

/// That a session was taken up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resumed {
    /// Its status before.
    pub was: SessionStatus,
    /// Whether it was this work tree's own already.
    pub was_here: bool,
    /// The session that this work tree was in before; it stays as it is.
    pub left: Option<SessionId>,
}

/// A session that began in the place of another one.
#[derive(Debug, Clone, Serialize)]
pub struct FreshReport {
    /// The new session.
    #[serde(flatten)]
    pub session: SessionSummary,
    /// The old one.
    pub put_away: PutAway,
    /// Another session that this work tree was in before; it stays as it is.
    pub left: Option<SessionId>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Troubles that did not stop it.
    pub warnings: Vec<String>,
}

/// A session that another one took the place of. Nothing of it is gone.
#[derive(Debug, Clone, Serialize)]
pub struct PutAway {
    /// The session.
    pub session_id: SessionId,
    /// Its status now; absent when its manifest cannot be read, and it was left as it is.
    pub status: Option<SessionStatus>,
    /// Where its files are.
    pub directory: String,
    /// How to get back to it.
    pub resume_with: String,
}

/// A session that is gone.
#[derive(Debug, Clone, Serialize)]
pub struct GoneReport {
    /// The session.
    pub session_id: SessionId,
    /// What it was about.
    pub topic: Option<String>,
    /// How many checkpoints it had, as far as is known.
    pub checkpoints: usize,
    /// What was removed with it.
    pub removed: Removed,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
}
