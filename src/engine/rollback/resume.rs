//! Finishing, or putting back, a rollback that was killed on its way.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::carry::Carrier;
use super::{Error, RollbackError, Workspace};
use crate::engine::create::{CreateOptions, Files, Making, Retention};
use crate::engine::recover::Recovered;
use crate::git::restore::index::Expected;
use crate::git::restore::{Differences, Direction, Filters, Foreign, Marks, Outcome, View};
use crate::git::timings::Timings;
use crate::git::walk::Progress;
use crate::model::journal::RollbackJournal;
use crate::model::path_text::unquote_path;
use crate::model::{CheckpointId, ObjectId, SessionId, Trigger};

/// What becomes of an interrupted rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It goes on to its target.
    Continue,
    /// Everything is put back as it was before it began.
    Abort,
}

/// What came of it.
#[derive(Debug)]
pub struct ResumeReport {
    /// Which end it came to.
    pub ending: Ending,
    /// Where the rollback was going.
    pub target: CheckpointId,
    /// The checkpoint that holds how it was before.
    pub safety_checkpoint: CheckpointId,
    /// The checkpoint that holds what was done since it was interrupted, if something was.
    pub since: Option<CheckpointId>,
    /// What changed since it was interrupted.
    pub changed: Vec<String>,
}

/// Ends an interrupted rollback as the user says.
///
/// # Errors
/// [`RollbackError::NothingUnfinished`] when there is none; else when a step fails, after which it can be tried again.
pub fn resume(
    workspace: &Workspace,
    session: Option<&SessionId>,
    ending: Ending,
    progress: &Progress,
    marks: &Marks,
) -> Result<ResumeReport, Error> {
    let _lock = workspace.lock("rollback")?;
    let session = workspace.own_session(session)?;
    workspace.recover_create(&session)?;
    let journal = workspace.store.load_rollback_journal(&session)?;
    let journal = journal.ok_or(RollbackError::NothingUnfinished)?;
    let target = journal.record.to_checkpoint.clone();
    let safety_checkpoint = journal.record.safety_checkpoint.clone();
    let mut report = ResumeReport {
        ending,
        target,
        safety_checkpoint,
        since: None,
        changed: Vec::new(),
    };
    if workspace.has_happened(&journal)? {
        workspace.store.remove_rollback_journal(&session)?;
        return match ending {
            Ending::Continue => Ok(report),
            Ending::Abort => Err(RollbackError::AlreadyComplete {
                target: report.target,
            }
            .into()),
        };
    }
    let way = Way::of(workspace, &journal)?;
    let carrier = way.carrier(workspace, &journal, Foreign::Overwrite);
    carrier.clean()?;
    report.changed = carrier.foreign()?;
    if !report.changed.is_empty() {
        let id = safety_of_now(workspace, &session, progress)?;
        report.since = Some(id);
    }
    match ending {
        Ending::Abort => carrier.put_back(marks)?,
        Ending::Continue => match carrier.walk(Direction::Forward, marks)? {
            Outcome::Arrived => {
                carrier.complete()?;
            }
            Outcome::Stopped => {
                carrier.put_back(marks)?;
                report.ending = Ending::Abort;
            }
        },
    }
    Ok(report)
}

/// A safety checkpoint of how things are, with whatever somebody did since the interruption.
fn safety_of_now(
    workspace: &Workspace,
    session: &SessionId,
    progress: &Progress,
) -> Result<CheckpointId, Error> {
    let manifest = workspace.store.load_manifest(session)?;
    let options = CreateOptions {
        session: Some(session.clone()),
        description: "what was done after a rollback was interrupted".to_owned(),
        step: None,
        name: Some("safety".to_owned()),
        phase: manifest.current().map(|entry| entry.phase.clone()),
        trigger: Trigger::Safety,
        state: None,
        outputs: None,
        metrics: Vec::new(),
        files: Files::Capture,
    };
    let making = Making {
        workspace,
        options: &options,
        snapshot: None,
        holds: &[],
        retention: Retention::Suspend,
    };
    Ok(making
        .make(manifest, progress, Timings::start())?
        .record
        .id
        .clone())
}

/// What lies between the two ends, read back from the checkpoints.
struct Way {
    from: View,
    to: View,
    differences: Differences,
    filters: [Filters; 2],
    kept: BTreeSet<Vec<u8>>,
    stamps: HashMap<Vec<u8>, crate::git::stamp::Stamp>,
}

impl Way {
    fn of(workspace: &Workspace, journal: &RollbackJournal) -> Result<Self, Error> {
        let repo = &workspace.repo;
        let from = View::load(repo, journal.safety_commit)?;
        let to = View::load(repo, journal.source_commit)?;
        let paths = |texts: &[String]| -> Result<Vec<Vec<u8>>, Error> {
            let damaged = |text: &String| crate::git::Error::Damaged {
                what: format!("the journal: the path {text}"),
            };
            let paths = texts
                .iter()
                .map(|text| unquote_path(text).map_err(|_| damaged(text)));
            Ok(paths.collect::<Result<_, _>>()?)
        };
        let read = |id: &ObjectId| {
            let missing = || crate::git::Error::Damaged {
                what: format!("tree {id} is missing"),
            };
            let found = repo.backend.read(id)?;
            found.map(|object| object.bytes).ok_or_else(missing)
        };
        let mut differences = Differences::between(repo.backend.format(), &read, &from, &to)?;
        if !journal.record.paths.is_empty() {
            differences = differences.within(&paths(&journal.record.paths)?);
        }
        let kept: BTreeSet<Vec<u8>> = paths(&journal.kept)?.into_iter().collect();
        differences.leave_alone(&kept);
        let capture = workspace.capture();
        let filters = [
            Filters::of(repo, &capture, &read, &from, &differences)?,
            Filters::of(repo, &capture, &read, &to, &differences)?,
        ];
        Ok(Self {
            from,
            to,
            differences,
            filters,
            kept,
            stamps: HashMap::new(),
        })
    }

    fn carrier<'a>(
        &'a self,
        workspace: &'a Workspace,
        journal: &'a RollbackJournal,
        foreign: Foreign,
    ) -> Carrier<'a> {
        Carrier {
            workspace,
            journal,
            from: &self.from,
            to: &self.to,
            differences: &self.differences,
            filters: [&self.filters[0], &self.filters[1]],
            kept: &self.kept,
            stamps: &self.stamps,
            index: Expected::Anything,
            foreign,
        }
    }
}

impl Workspace {
    /// Whether the manifest lists a rollback: then it has happened, and only its journal was left.
    fn has_happened(&self, journal: &RollbackJournal) -> Result<bool, Error> {
        let manifest = self.store.load_manifest(&journal.session)?;
        let mut history = manifest.rollback_history.iter();
        Ok(history.any(|record| record.id == journal.record.id))
    }

    /// Finishes a rollback that was killed, unless somebody has worked on the files since. The caller holds the lock.
    pub(in crate::engine) fn recover_rollback(
        &self,
        session: &SessionId,
    ) -> Result<Option<Recovered>, Error> {
        let Some(journal) = self.store.load_rollback_journal(session)? else {
            return Ok(None);
        };
        let recovered = Recovered::RolledBack {
            rollback: journal.record.id.clone(),
            to: journal.record.to_checkpoint.clone(),
        };
        if self.has_happened(&journal)? {
            self.store.remove_rollback_journal(session)?;
            return Ok(Some(recovered));
        }
        let way = Way::of(self, &journal)?;
        let carrier = way.carrier(self, &journal, Foreign::Refuse);
        carrier.clean()?;
        let what = carrier.foreign()?;
        if !what.is_empty() {
            return Err(RollbackError::Unfinished {
                target: journal.record.to_checkpoint.clone(),
                what,
            }
            .into());
        }
        carrier.walk(Direction::Forward, &Marks::default())?;
        carrier.complete()?;
        Ok(Some(recovered))
    }
}
