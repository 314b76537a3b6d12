//! What the commands that end a session have in common.

use serde::Serialize;

use super::checkpoint::Checkpoint;
use super::create::CreateReport;
use super::life::Removed;
use super::recover::Recovered;
use super::summary::{SessionSummary, path_text};
use super::{Error, Workspace};
use crate::git::sidecar::SkippedPath;
use crate::model::{CheckpointId, Manifest, SessionId, SessionStatus};
use crate::store::Lock;

/// Which session ends, and why.
#[derive(Debug, Clone, Default)]
pub struct EndOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// What the user says about it; may be empty.
    pub reason: String,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct EndReport {
    /// The session as it is now, or was when it was deleted.
    #[serde(flatten)]
    pub session: SessionSummary,
    /// Its status before.
    pub was: SessionStatus,
    /// Whether that has changed.
    pub changed: bool,
    /// What the user said about it.
    pub reason: String,
    /// Where its files are now; absent when it was deleted.
    pub directory: Option<String>,
    /// The checkpoint of how things were at its end.
    pub checkpoint: Option<LastCheckpoint>,
    /// Why there is none, where there could have been one.
    pub no_checkpoint: Option<NoCheckpoint>,
    /// What was removed with it, when it was deleted.
    pub removed: Option<Removed>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Troubles that did not stop it.
    pub warnings: Vec<String>,
}

/// The checkpoint that a session ends with.
#[derive(Debug, Clone, Serialize)]
pub struct LastCheckpoint {
    /// The checkpoint.
    #[serde(flatten)]
    pub checkpoint: Checkpoint,
    /// Paths that were left out.
    pub skipped: Vec<SkippedPath>,
    /// Checkpoints that the retention policy removed.
    pub pruned: Vec<CheckpointId>,
}

impl LastCheckpoint {
    pub(super) fn of(made: &CreateReport) -> Self {
        Self {
            checkpoint: Checkpoint::described(&made.manifest, &made.record),
            skipped: made.skipped.clone(),
            pruned: made.pruned.clone(),
        }
    }
}

/// Why a session ended without a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoCheckpoint {
    /// Everything is as in the current checkpoint.
    Unchanged,
    /// The settings switch `session_end` off.
    SwitchedOff,
}

impl EndReport {
    pub(super) fn of(workspace: &Workspace, manifest: &Manifest, was: SessionStatus) -> Self {
        let last = manifest.status_history.last();
        let directory = workspace.store.layout().session(&manifest.session_id);
        Self {
            session: workspace.summarize(manifest),
            was,
            changed: manifest.status != was,
            reason: last.map(|last| last.reason.clone()).unwrap_or_default(),
            directory: Some(path_text(&directory)),
            checkpoint: None,
            no_checkpoint: None,
            removed: None,
            recovered: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Ends a session with this status. Whoever ends it twice in the same way changes nothing the second time.
pub(super) fn end(
    workspace: &Workspace,
    options: &EndOptions,
    command: &str,
    status: SessionStatus,
) -> Result<EndReport, Error> {
    let (_lock, session) = lock_own(workspace, options.session.as_ref(), command)?;
    let recovered = workspace.recover(&session)?;
    let manifest = workspace.store.load_manifest(&session)?;
    let was = manifest.status;
    let manifest = if is_to_end(&manifest, status)? {
        workspace.settle(&session, status, &options.reason)?
    } else {
        manifest
    };
    let mut report = EndReport::of(workspace, &manifest, was);
    report.recovered = recovered;
    Ok(report)
}

/// Takes the lock for the session asked for or the work tree's own. Asking about one that is not there makes no files,
/// unless something has to be finished first.
pub(super) fn lock_own(
    workspace: &Workspace,
    wanted: Option<&SessionId>,
    command: &str,
) -> Result<(Lock, SessionId), Error> {
    if let Ok(None) = workspace.store.load_life_journal() {
        workspace.own_session(wanted)?;
    }
    let lock = workspace.lock(command)?;
    let session = workspace.own_session(wanted)?;
    Ok((lock, session))
}

/// Whether a session is still to be ended with this status.
///
/// # Errors
/// When it has ended in another way.
pub(super) fn is_to_end(manifest: &Manifest, status: SessionStatus) -> Result<bool, Error> {
    if manifest.status == status {
        return Ok(false);
    }
    if manifest.status.is_open() {
        return Ok(true);
    }
    Err(Error::SessionEnded {
        session: manifest.session_id.clone(),
        status: manifest.status,
    })
}
