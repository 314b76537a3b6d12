//! The rollback itself: look again, take the safety checkpoint, write the journal, and only then touch the first file.

use std::sync::atomic::Ordering;

use super::carry::Carrier;
use super::goal::Goal;
use super::layout::Layout;
use super::{Prepared, Print, RollbackError, RollbackOptions, RollbackReport, What, check, refuse};
use crate::engine::create::{CreateOptions, CreateReport, Files, Making, Retention};
use crate::engine::recover::Recovered;
use crate::engine::{Error, Workspace};
use crate::git::restore::index::{self, Expected};
use crate::git::restore::{Direction, Foreign, Marks, Outcome};
use crate::git::snapshot::{Snapshot, reference_of};
use crate::git::timings::Timings;
use crate::git::walk::Progress;
use crate::model::journal::RollbackJournal;
use crate::model::path_text::quote_path;
use crate::model::{Manifest, RollbackId, RollbackKind, RollbackRecord, Trigger};

/// Room that is left free beside what the files need.
const SPARE_BYTES: u64 = 1 << 20;

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
    refuse_twice(&manifest, &recovered, &options.what)?;
    let goal = Goal::of(workspace, &manifest, options)?;
    let index_stamp = index::current_stamp(&workspace.repo)?;
    let (snapshot, layout) = look(workspace, &manifest, &goal, expected, progress)?;
    go_on(marks)?;
    let safety = safety_checkpoint(workspace, manifest, &layout, snapshot, progress)?;
    let mut warnings = safety.warnings;
    let skipped = safety.skipped;
    let journal = journal(
        workspace,
        &safety.manifest,
        &goal,
        &layout,
        &safety.record,
        options,
    );
    go_on(marks)?;
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
        index: Expected::Unmoved(index_stamp),
        foreign: Foreign::Refuse,
    };
    let unreached = match carrier.walk(Direction::Forward, marks) {
        Ok(Outcome::Arrived) => verify(&carrier, &goal, progress),
        Ok(Outcome::Stopped) => Err(RollbackError::Interrupted { walked: true }.into()),
        Err(cause) => Err(cause),
    };
    let (unreached, (manifest, said)) = unreached
        .and_then(|unreached| Ok((unreached, carrier.complete()?)))
        .map_err(|cause| put_back(&carrier, marks, cause))?;
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
        skipped,
        warnings,
        recovered,
    })
}

/// Whoever repeats an undo or redo that was interrupted wants that one, which recovery has just finished, and not the one
/// before it as well.
fn refuse_twice(
    manifest: &Manifest,
    recovered: &[Recovered],
    what: &What,
) -> Result<(), RollbackError> {
    let kind = match what {
        What::To(_) => return Ok(()),
        What::Undo => RollbackKind::Undo,
        What::Redo => RollbackKind::Redo,
    };
    let finished = recovered.iter().find_map(|recovered| match recovered {
        Recovered::RolledBack { rollback, to } => {
            let mut history = manifest.rollback_history.iter();
            let is_same = history.any(|record| record.id == *rollback && record.kind == kind);
            is_same.then_some(to)
        }
        _ => None,
    });
    match finished {
        Some(to) => Err(RollbackError::FinishedInstead {
            kind,
            to: to.clone(),
        }),
        None => Ok(()),
    }
}

/// Looks at everything under the lock, and plans by what is there now.
fn look(
    workspace: &Workspace,
    manifest: &Manifest,
    goal: &Goal,
    expected: Option<&Prepared>,
    progress: &Progress,
) -> Result<(Snapshot, Layout), Error> {
    let mut snapshot = workspace.snapshot(progress)?;
    if let Some(expected) = expected {
        let what = expected.print.differences(&Print::of(&snapshot, manifest));
        if !what.is_empty() {
            return Err(RollbackError::ChangedSince { what }.into());
        }
    }
    let mut layout = Layout::of(workspace, manifest, goal, &snapshot)?;
    if !layout.uncaptured.is_empty() {
        // Ignored files that would be overwritten: the safety checkpoint must hold them.
        snapshot = workspace.snapshot_with(&layout.uncaptured, progress)?;
        layout = Layout::of(workspace, manifest, goal, &snapshot)?;
        if !layout.uncaptured.is_empty() {
            let paths = layout.uncaptured.iter().map(|path| quote_path(path));
            return Err(RollbackError::InTheWay {
                paths: paths.collect(),
            }
            .into());
        }
    }
    check(workspace, &layout, goal, &snapshot)?;
    let (needed, free) = (layout.plan.bytes_needed, layout.plan.bytes_free);
    if needed.saturating_add(SPARE_BYTES) > free {
        return Err(RollbackError::NoSpace { needed, free }.into());
    }
    Ok((snapshot, layout))
}

fn go_on(marks: &Marks) -> Result<(), Error> {
    if marks.stop.load(Ordering::Relaxed) {
        return Err(RollbackError::Interrupted { walked: false }.into());
    }
    Ok(())
}

/// Puts everything back after a failure, and says how that went.
fn put_back(carrier: &Carrier<'_>, marks: &Marks, cause: Error) -> Error {
    let (workspace, journal) = (carrier.workspace, carrier.journal);
    let listed = workspace.store.load_manifest(&journal.session);
    let has_happened = listed.is_ok_and(|manifest| {
        let mut history = manifest.rollback_history.iter();
        history.any(|record| record.id == journal.record.id)
    });
    if has_happened {
        // Only the last word failed, and the next command says it again.
        return RollbackError::Unclosed {
            target: journal.record.to_checkpoint.clone(),
            cause: Box::new(cause),
        }
        .into();
    }
    let back = Carrier {
        foreign: Foreign::Leave,
        ..*carrier
    };
    match (back.put_back(marks), cause) {
        (Ok(()), Error::Rollback(cause @ RollbackError::Interrupted { .. })) => cause.into(),
        (Ok(()), cause) => RollbackError::PutBack {
            cause: Box::new(cause),
        }
        .into(),
        (Err(then), cause) => RollbackError::Stuck {
            cause: Box::new(cause),
            then: Box::new(then),
        }
        .into(),
    }
}

fn safety_checkpoint(
    workspace: &Workspace,
    manifest: Manifest,
    layout: &Layout,
    snapshot: Snapshot,
    progress: &Progress,
) -> Result<CreateReport, Error> {
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
        branches: layout.plan.branches.clone(),
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
    let history = &manifest.rollback_history;
    let mut nth = 1;
    loop {
        let id = RollbackId::compose(now, nth);
        if history.iter().all(|record| record.id != id) {
            return id;
        }
        nth += 1;
    }
}

/// Looks at the whole work tree once more; the paths that are not as they should be are returned. What was seen is
/// remembered for the next scan.
fn verify(carrier: &Carrier<'_>, goal: &Goal, progress: &Progress) -> Result<Vec<String>, Error> {
    let workspace = carrier.workspace;
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
