//! Making a checkpoint: objects, ref, record, manifest, each durable before the next.

use std::time::Duration;

use serde_json::{Map, Value};

use super::recover::Recovered;
use super::{Error, Workspace};
use crate::git::sidecar::{NestedPath, SkippedPath};
use crate::git::walk::Progress;
use crate::model::{CheckpointId, Manifest, Record, SessionId, State, Trigger};

/// Whether files are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Files {
    /// Files, index and HEAD go into a commit.
    #[default]
    Capture,
    /// The record alone is made.
    RecordOnly,
}

/// What a checkpoint is made with.
#[derive(Debug, Clone)]
pub struct CreateOptions {
    /// The session; the work tree's own when absent, a new one when that has none.
    pub session: Option<SessionId>,
    /// What the maker says about it.
    pub description: String,
    /// The step; the workflow's or the next number when absent.
    pub step: Option<u32>,
    /// The step's name.
    pub name: Option<String>,
    /// Where the workflow is.
    pub phase: Option<String>,
    /// Why it is made.
    pub trigger: Trigger,
    /// The workflow's state; the live state when absent.
    pub state: Option<State>,
    /// What was produced; what the current checkpoint has when absent.
    pub outputs: Option<Map<String, Value>>,
    /// Metrics to set in the state.
    pub metrics: Vec<(String, Value)>,
    /// Whether files are captured.
    pub files: Files,
}

/// What came of it.
#[derive(Debug)]
pub struct CreateReport {
    /// The checkpoint's record.
    pub record: Record,
    /// The session as it is now.
    pub manifest: Manifest,
    /// Whether the session began with this checkpoint.
    pub session_started: bool,
    /// Whether files, index and HEAD are as in the parent.
    pub unchanged: bool,
    /// Paths that were left out.
    pub skipped: Vec<SkippedPath>,
    /// Nested repositories, recorded as commits.
    pub nested: Vec<NestedPath>,
    /// Troubles that did not stop the checkpoint.
    pub warnings: Vec<String>,
    /// Checkpoints that the retention policy removed.
    pub pruned: Vec<CheckpointId>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Objects and bytes that the repository grew by.
    pub growth: (usize, u64),
    /// Where the time went.
    pub timings: Vec<(&'static str, Duration)>,
}

/// Makes a checkpoint.
///
/// # Errors
/// When it could not be made; nothing of it is left then.
pub fn create(
    workspace: &Workspace,
    options: &CreateOptions,
    progress: &Progress,
) -> Result<CreateReport, Error> {
    let _ = (workspace, options, progress);
    Err(Error::NoSession)
}
