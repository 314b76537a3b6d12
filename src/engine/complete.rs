//! A session that has reached its end: a last checkpoint of what changed, the mark, and what the settings say about
//! keeping it.

use serde_json::{Map, Value};

use super::create::{CreateOptions, CreateReport, Files, Making, Retention};
use super::ending::{EndOptions, EndReport, LastCheckpoint, NoCheckpoint, is_to_end, lock_own};
use super::{Error, Progress, Workspace};
use crate::git::restore::{Differences, View};
use crate::git::snapshot::Snapshot;
use crate::git::timings::Timings;
use crate::model::path_text::quote_path;
use crate::model::{Manifest, ObjectId, SessionStatus, State, StatusChange, Trigger};

/// What becomes of a session that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Afterwards {
    /// What the settings say: deleted at once when they keep completed sessions for no day.
    #[default]
    AsConfigured,
    /// It is kept.
    Keep,
    /// It is deleted at once.
    Delete,
}

/// Which session is complete, and what becomes of it.
#[derive(Debug, Clone, Default)]
pub struct CompleteOptions {
    /// Which session, and what is said about it.
    pub end: EndOptions,
    /// What becomes of it.
    pub afterwards: Afterwards,
}

/// Marks a session as completed.
///
/// # Errors
/// When there is no such session, another work tree is in it, it has ended in another way, the last checkpoint cannot be
/// made, or something cannot be written; the next command finishes then what was begun.
pub fn complete(
    workspace: &Workspace,
    options: &CompleteOptions,
    progress: &Progress,
) -> Result<EndReport, Error> {
    let wanted = options.end.session.as_ref();
    let (_lock, session) = lock_own(workspace, wanted, "complete")?;
    let recovered = workspace.recover(&session)?;
    let mut manifest = workspace.store.load_manifest(&session)?;
    let was = manifest.status;
    let is_to_end = is_to_end(&manifest, SessionStatus::Completed)?;
    let deletes = match options.afterwards {
        Afterwards::AsConfigured => {
            is_to_end && workspace.config.settings.retention.completed_days == 0
        }
        Afterwards::Keep => false,
        Afterwards::Delete => true,
    };
    let mut last = None;
    if is_to_end && deletes {
        // One step and not two: the session is there as it was, or gone. A last checkpoint would help nobody.
        manifest.settle(StatusChange {
            reason: options.end.reason.clone(),
            status: SessionStatus::Completed,
            timestamp: workspace.clock.now(),
        });
    } else if is_to_end {
        last = Some(workspace.last_checkpoint(&manifest, progress)?);
        manifest = workspace.settle(&session, SessionStatus::Completed, &options.end.reason)?;
    }
    let mut report = EndReport::of(workspace, &manifest, was);
    report.recovered = recovered;
    match last {
        Some(Last::Made(made)) => {
            report.checkpoint = Some(LastCheckpoint::of(&made));
            report.warnings = made.warnings;
        }
        Some(Last::NotMade(why)) => report.no_checkpoint = Some(why),
        None => {}
    }
    if deletes {
        report.removed = Some(workspace.remove_session(&session)?);
        report.directory = None;
    }
    Ok(report)
}

/// What became of the last checkpoint.
enum Last {
    Made(Box<CreateReport>),
    NotMade(NoCheckpoint),
}

impl Workspace {
    /// A checkpoint of what changed since the current one, unless nothing did or nobody wants it.
    fn last_checkpoint(&self, manifest: &Manifest, progress: &Progress) -> Result<Last, Error> {
        if !self.wants(Trigger::SessionEnd) {
            return Ok(Last::NotMade(NoCheckpoint::SwitchedOff));
        }
        let snapshot = self.snapshot(progress)?;
        if self.is_as_current(manifest, &snapshot)? {
            return Ok(Last::NotMade(NoCheckpoint::Unchanged));
        }
        // It records where things are and is no move of the workflow's; sessions without one go on counting.
        let has_steps = !self.workflow(&manifest.workflow)?.steps().is_empty();
        let current = manifest.current().filter(|_| has_steps);
        let options = CreateOptions {
            session: Some(manifest.session_id.clone()),
            description: "session completed".to_owned(),
            step: current.map(|entry| entry.step),
            name: current.map(|entry| entry.name.clone()),
            phase: manifest.current().map(|entry| entry.phase.clone()),
            trigger: Trigger::SessionEnd,
            state: None,
            outputs: None,
            metrics: Vec::new(),
            files: Files::Capture,
        };
        let making = Making {
            workspace: self,
            options: &options,
            snapshot: Some(snapshot),
            holds: &[],
            retention: Retention::Apply,
        };
        let mut made = making.make(manifest.clone(), progress, Timings::start())?;
        self.keep_within_size(&mut made);
        Ok(Last::Made(Box::new(made)))
    }

    /// Whether files, index, HEAD and state are those of the current checkpoint.
    fn is_as_current(&self, manifest: &Manifest, snapshot: &Snapshot) -> Result<bool, Error> {
        let Some(current) = manifest.current() else {
            return Ok(false);
        };
        let session = &manifest.session_id;
        let (Ok(record), Some(commit)) = (
            self.store.load_listed(session, current),
            current.commit_hash,
        ) else {
            return Ok(false);
        };
        let head = &snapshot.head;
        let same_head =
            record.git.head == head.commit() && record.git.branch == head.branch().map(quote_path);
        if !same_head || own(self.live_state(session)?) != own(record.state.clone()) {
            return Ok(false);
        }
        let Ok(then) = View::load(&self.repo, commit) else {
            return Ok(false);
        };
        let now = View::of(&self.repo, snapshot)?;
        if then.staged != now.staged || then.index != now.index {
            return Ok(false);
        }
        let read = |id: &ObjectId| snapshot.read_tree(&self.repo, id);
        let format = self.repo.backend.format();
        let differences = Differences::between(format, &read, &then, &now)?;
        let mut dirs = differences.dirs.iter();
        Ok(differences.files.is_empty() && dirs.all(|dir| dir.from == dir.to))
    }
}

/// The state without what the engine keeps in it.
fn own(state: State) -> Map<String, Value> {
    let mut map = state.into_map();
    map.remove(super::state::MAINTAINED);
    map
}
