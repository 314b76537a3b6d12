//! Going back to a checkpoint, exactly, and never losing the only copy of anything.
//!
//! [`prepare`] makes the plan and changes nothing. [`execute`] looks again under the lock, takes the safety checkpoint,
//! writes the journal, and only then touches the first file. [`resume`] finishes what was killed on the way.

mod carry;
mod error;
mod goal;
mod layout;
pub mod resume;

use std::sync::atomic::Ordering;

use super::create::{CreateOptions, Files, Making, Retention};
use super::recover::Recovered;
use super::session::is_open;
use super::{Error, Workspace};
use carry::Carrier;
pub use error::RollbackError;
pub use goal::Forward;
use goal::Goal;
use layout::Layout;

use crate::git::backend::Head;
use crate::git::restore::{Direction, Foreign, Marks, Outcome, index};
use crate::git::sidecar::{Extras, IndexJson};
use crate::git::snapshot::{Snapshot, reference_of};
use crate::git::timings::Timings;
use crate::git::walk::Progress;
use crate::model::journal::RollbackJournal;
use crate::model::path_text::quote_path;
use crate::model::{
    CheckpointId, Manifest, ObjectId, RollbackId, RollbackRecord, SessionId, Trigger,
};
use crate::plan::rollback::Plan;

/// Room that is left free beside what the files need.
const SPARE_BYTES: u64 = 1 << 20;

/// Where to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// To a checkpoint, as a user names it.
    To(String),
    /// To where it was before the last rollback.
    Undo,
    /// To where it was before the last undo.
    Redo,
}

/// What a rollback is made with.
#[derive(Debug, Clone)]
pub struct RollbackOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// Where to go.
    pub what: What,
    /// The only paths to restore, from the top of the work tree; all when there are none.
    pub paths: Vec<Vec<u8>>,
    /// What the user says about it.
    pub reason: String,
    /// Whether targets off the current line are taken.
    pub forward: Forward,
}

/// A plan that was made, with what it rests on.
#[derive(Debug)]
pub struct Prepared {
    /// The session.
    pub session: SessionId,
    /// The plan.
    pub plan: Plan,
    print: Print,
}

/// How everything was when the plan was made.
#[derive(Debug, PartialEq, Eq)]
struct Print {
    tree: ObjectId,
    index_tree: ObjectId,
    head: Head,
    index: IndexJson,
    extras: Extras,
    next_seq: u64,
    current: Option<CheckpointId>,
    rollbacks: usize,
}

impl Print {
    fn of(snapshot: &Snapshot, manifest: &Manifest) -> Self {
        Self {
            tree: snapshot.tree,
            index_tree: snapshot.index_tree,
            head: snapshot.head.clone(),
            index: snapshot.index().clone(),
            extras: snapshot.extras().clone(),
            next_seq: manifest.next_seq(),
            current: manifest.current_checkpoint.clone(),
            rollbacks: manifest.rollback_history.len(),
        }
    }

    fn differences(&self, now: &Self) -> Vec<String> {
        let parts = [
            (
                self.tree != now.tree || self.extras != now.extras,
                "the work tree",
            ),
            (
                self.index_tree != now.index_tree || self.index != now.index,
                "the index",
            ),
            (self.head != now.head, "HEAD"),
            (
                (self.next_seq, &self.current, self.rollbacks)
                    != (now.next_seq, &now.current, now.rollbacks),
                "the session",
            ),
        ];
        let changed = parts.into_iter().filter(|(changed, _)| *changed);
        changed.map(|(_, what)| what.to_owned()).collect()
    }
}

/// What came of it.
#[derive(Debug)]
pub struct RollbackReport {
    /// What the session's history says of it.
    pub record: RollbackRecord,
    /// What was done.
    pub plan: Plan,
    /// The session as it is now.
    pub manifest: Manifest,
    /// Where the workflow goes on.
    pub resume_from: Option<String>,
    /// Troubles that did not stop it.
    pub warnings: Vec<String>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
}

/// Makes the plan. Nothing is changed.
///
/// # Errors
/// When the rollback is refused, or something cannot be read.
pub fn prepare(
    workspace: &Workspace,
    options: &RollbackOptions,
    progress: &Progress,
) -> Result<Prepared, Error> {
    let session = workspace.own_session(options.session.as_ref())?;
    let manifest = workspace.store.load_manifest(&session)?;
    refuse(workspace, &manifest)?;
    let goal = Goal::of(workspace, &manifest, options)?;
    let snapshot = workspace.look(progress)?;
    let layout = Layout::of(workspace, &manifest, &goal, &snapshot)?;
    check(workspace, &layout, &goal, &snapshot)?;
    Ok(Prepared {
        session,
        plan: layout.plan,
        print: Print::of(&snapshot, &manifest),
    })
}

/// Rolls back.
///
/// `expected` is the plan that the user agreed to: if anything changed since it was made, nothing happens. `marks` says
/// how far it has come, and lets it be stopped.
///
/// # Errors
/// When it is refused, or failed and was put back, or stopped half way: each a variant of [`RollbackError`].
pub fn execute(
    workspace: &Workspace,
    options: &RollbackOptions,
    expected: Option<&Prepared>,
    progress: &Progress,
    marks: &Marks,
) -> Result<RollbackReport, Error> {
    let _lock = workspace.lock("rollback")?;
    let session = workspace.own_session(options.session.as_ref())?;
    let recovered = workspace.recover(&session)?;
    let manifest = workspace.store.load_manifest(&session)?;
    refuse(workspace, &manifest)?;
    let goal = Goal::of(workspace, &manifest, options)?;
    let index_stamp = index::current_stamp(&workspace.repo)?;
    let mut snapshot = workspace.snapshot(progress)?;
    if let Some(expected) = expected {
        let what = expected.print.differences(&Print::of(&snapshot, &manifest));
        if !what.is_empty() {
            return Err(RollbackError::ChangedSince { what }.into());
        }
    }
    let mut layout = Layout::of(workspace, &manifest, &goal, &snapshot)?;
    if !layout.uncaptured.is_empty() {
        // Ignored files that would be overwritten: the safety checkpoint must hold them.
        snapshot = workspace.snapshot_with(&layout.uncaptured, progress)?;
        layout = Layout::of(workspace, &manifest, &goal, &snapshot)?;
        if !layout.uncaptured.is_empty() {
            let paths = layout.uncaptured.iter().map(|path| quote_path(path));
            return Err(RollbackError::InTheWay {
                paths: paths.collect(),
            }
            .into());
        }
    }
    check(workspace, &layout, &goal, &snapshot)?;
    let (needed, free) = (layout.plan.bytes_needed, layout.plan.bytes_free);
    if needed.saturating_add(SPARE_BYTES) > free {
        return Err(RollbackError::NoSpace { needed, free }.into());
    }
    if marks.stop.load(Ordering::Relaxed) {
        return Err(RollbackError::Interrupted { walked: false }.into());
    }
    let safety = safety_checkpoint(workspace, manifest, &layout, snapshot, progress)?;
    let mut warnings = safety.warnings;
    let manifest = safety.manifest;
    let journal = journal(
        workspace,
        &manifest,
        &goal,
        &layout,
        &safety.record,
        options,
    );
    if marks.stop.load(Ordering::Relaxed) {
        return Err(RollbackError::Interrupted { walked: false }.into());
    }
    workspace.store.write_rollback_journal(&journal)?;
    let carrier = Carrier {
        workspace,
        journal: &journal,
        from: &layout.from,
        to: &layout.to,
        differences: &layout.differences,
        filters: [&layout.filters[0], &layout.filters[1]],
        kept: &layout.kept,
        stamps: &layout.stamps,
        index: Some(index_stamp),
        foreign: Foreign::Refuse,
    };
    let put_back = Carrier {
        foreign: Foreign::Leave,
        ..carrier
    };
    match carrier.walk(Direction::Forward, marks) {
        Ok(Outcome::Arrived) => {}
        Ok(Outcome::Stopped) => {
            return Err(match put_back.put_back() {
                Ok(()) => RollbackError::Interrupted { walked: true }.into(),
                Err(then) => stuck(RollbackError::Interrupted { walked: true }.into(), then),
            });
        }
        Err(cause) => {
            return Err(match put_back.put_back() {
                Ok(()) => RollbackError::PutBack {
                    cause: Box::new(cause),
                }
                .into(),
                Err(then) => stuck(cause, then),
            });
        }
    }
    let unreached = verify(workspace, &carrier, &goal, progress)?;
    let (manifest, said) = match carrier.complete() {
        Ok(done) => done,
        Err(cause) => {
            let listed = workspace
                .store
                .load_manifest(&session)
                .is_ok_and(|manifest| {
                    let mut history = manifest.rollback_history.iter();
                    history.any(|record| record.id == journal.record.id)
                });
            if listed {
                // It has happened; the next command finds that out too.
                return Err(cause);
            }
            return Err(match put_back.put_back() {
                Ok(()) => RollbackError::PutBack {
                    cause: Box::new(cause),
                }
                .into(),
                Err(then) => stuck(cause, then),
            });
        }
    };
    warnings.extend(said);
    if !unreached.is_empty() {
        return Err(RollbackError::Incomplete {
            target: goal.to.id,
            paths: unreached,
        }
        .into());
    }
    Ok(RollbackReport {
        record: journal.record,
        plan: layout.plan,
        manifest,
        resume_from: goal.source.recovery.resume_from.clone(),
        warnings,
        recovered,
    })
}

fn stuck(cause: Error, then: Error) -> Error {
    RollbackError::Stuck {
        cause: Box::new(cause),
        then: Box::new(then),
    }
    .into()
}

/// What stands against any rollback.
fn refuse(workspace: &Workspace, manifest: &Manifest) -> Result<(), Error> {
    if !is_open(manifest.status) {
        return Err(Error::SessionEnded {
            session: manifest.session_id.clone(),
            status: manifest.status,
        });
    }
    if let Some(what) = workspace.repo.in_progress() {
        return Err(RollbackError::InProgress { what }.into());
    }
    if let Some(path) = index::foreign_lock(&workspace.repo) {
        return Err(crate::git::Error::Locked { path }.into());
    }
    Ok(())
}

/// Refuses paths that neither side knows: a slip of the hand must not look like a success.
fn check(
    workspace: &Workspace,
    layout: &Layout,
    goal: &Goal,
    snapshot: &Snapshot,
) -> Result<(), Error> {
    let repo = &workspace.repo;
    let read = |id: &ObjectId| snapshot.read_tree(repo, id);
    let format = repo.backend.format();
    for path in goal.paths.iter().filter(|path| !path.is_empty()) {
        let is_known =
            layout.from.knows(format, &read, path)? || layout.to.knows(format, &read, path)?;
        if !is_known {
            return Err(RollbackError::NoSuchPath {
                path: quote_path(path),
                checkpoint: goal.source.id.clone(),
            }
            .into());
        }
    }
    Ok(())
}

fn safety_checkpoint(
    workspace: &Workspace,
    manifest: Manifest,
    layout: &Layout,
    snapshot: Snapshot,
    progress: &Progress,
) -> Result<super::create::CreateReport, Error> {
    let plan = &layout.plan;
    let options = CreateOptions {
        session: Some(manifest.session_id.clone()),
        description: format!("before the {} to {}", plan.kind.as_str(), plan.target.id),
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
        snapshot: Some(snapshot),
        holds: &layout.tips(),
        retention: Retention::Suspend,
    };
    making.make(manifest, progress, Timings::start())
}

fn journal(
    workspace: &Workspace,
    manifest: &Manifest,
    goal: &Goal,
    layout: &Layout,
    safety: &crate::model::Record,
    options: &RollbackOptions,
) -> RollbackJournal {
    let now = crate::model::timestamp::to_millis(workspace.clock.now());
    let current = manifest.current();
    let record = RollbackRecord {
        branches: layout
            .plan
            .branches
            .iter()
            .map(|planned| planned.branch.clone())
            .collect(),
        from_checkpoint: current.map(|entry| entry.id.clone()),
        from_step: current.map(|entry| entry.step),
        id: fresh_id(manifest, now),
        kind: goal.kind,
        paths: layout.plan.paths.clone(),
        reason: options.reason.clone(),
        reverses: goal.reverses.as_ref().map(|record| record.id.clone()),
        safety_checkpoint: safety.id.clone(),
        timestamp: now,
        to_checkpoint: goal.to.id.clone(),
        to_step: goal.to.step,
        undone_at: None,
    };
    RollbackJournal {
        session: manifest.session_id.clone(),
        record,
        source: goal.source.id.clone(),
        source_commit: goal.source_commit,
        safety_commit: safety
            .git
            .commit_hash
            .expect("a safety checkpoint captures files"),
        head_from: layout.plan.head.from.clone(),
        head_to: layout.plan.head.to.clone(),
        kept: layout.kept.iter().map(|path| quote_path(path)).collect(),
        started_at: now,
    }
}

fn fresh_id(manifest: &Manifest, now: chrono::DateTime<chrono::Utc>) -> RollbackId {
    let is_taken = |id: &RollbackId| {
        let mut history = manifest.rollback_history.iter();
        history.any(|record| record.id == *id)
    };
    (1..)
        .map(|nth| RollbackId::compose(now, nth))
        .find(|id| !is_taken(id))
        .expect("the numbers do not end")
}

/// Looks at the whole work tree once more; the paths that are not as they should be are returned. What was seen is
/// remembered for the next scan.
fn verify(
    workspace: &Workspace,
    carrier: &Carrier<'_>,
    goal: &Goal,
    progress: &Progress,
) -> Result<Vec<String>, Error> {
    let seen = workspace.check(progress)?;
    let is_exact = seen.tree == carrier.to.tree && seen.index_tree == carrier.to.staged;
    if is_exact && seen.raw_equals(carrier.to) {
        let reference = reference_of(&carrier.journal.session, &goal.source.id);
        // A cache that cannot be written costs time later, nothing else.
        let _ = seen.remember(&workspace.repo, &reference, goal.source_commit);
        return Ok(Vec::new());
    }
    let unreached = carrier.restore()?.unreached()?;
    Ok(unreached.iter().map(|path| quote_path(path)).collect())
}

impl Workspace {
    /// The session asked for or the work tree's own; not one of another work tree.
    pub(super) fn own_session(&self, wanted: Option<&SessionId>) -> Result<SessionId, Error> {
        let session = self.find_session(wanted)?;
        if self.store.is_bound_elsewhere(&session, &self.worktree)? {
            return Err(Error::OtherWorktree { session });
        }
        Ok(session)
    }
}
