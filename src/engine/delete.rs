//! Deleting checkpoints by hand.
//!
//! They leave the manifest first, in one step, and their seqs join the pruned ranges, so that the chain stays checkable;
//! then their records and refs go. The journal lets the next command finish what was cut short.

use serde::Serialize;

use super::recover::Recovered;
use super::retention::protected;
use super::{Error, Workspace};
use crate::git::snapshot::reference_of;
use crate::model::journal::DeleteJournal;
use crate::model::selector::Numbers;
use crate::model::{CheckpointId, Entry, Journal, Manifest, Selector, SessionId};
use crate::plan::delete::{DeletePlan, plan};
use crate::store;

/// What is deleted.
#[derive(Debug, Clone)]
pub struct DeleteOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// The checkpoints.
    pub checkpoints: Vec<Selector>,
}

/// What deleting would do, or did.
#[derive(Debug, Clone, Serialize)]
pub struct DeleteReport {
    /// The session.
    pub session_id: SessionId,
    /// The checkpoints, by rising seq.
    pub deleted: Vec<Deleted>,
    /// How many are left.
    pub left: usize,
    /// Whether it was only planned.
    pub dry_run: bool,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Troubles that the next command will see to.
    pub warnings: Vec<String>,
}

/// A checkpoint that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deleted {
    /// What selected it.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// The step's name.
    pub name: String,
    /// Whether it could be rolled back to.
    pub valid: bool,
}

/// Says what deleting would do. Nothing is changed.
///
/// # Errors
/// When there is no such session or checkpoint, or one of them is needed.
pub fn plan_delete(workspace: &Workspace, options: &DeleteOptions) -> Result<DeleteReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let manifest = workspace.store.load_manifest(&session)?;
    let wanted = resolve(&manifest, &options.checkpoints)?;
    let plan = allowed(&manifest, &wanted)?;
    Ok(report(&manifest, &plan, true))
}

/// Deletes the checkpoints of a plan.
///
/// # Errors
/// When one of them is needed by now, or the manifest cannot be written; nothing has been deleted then.
pub fn delete(workspace: &Workspace, planned: &DeleteReport) -> Result<DeleteReport, Error> {
    let session = &planned.session_id;
    let _lock = workspace.lock("cp-delete")?;
    workspace.find_session(Some(session))?;
    let recovered = workspace.recover(session)?;
    let manifest = workspace.store.load_manifest(session)?;
    let wanted: Vec<_> = planned.deleted.iter().map(|gone| gone.id.clone()).collect();
    let plan = allowed(&manifest, &wanted)?;
    let mut report = report(&manifest, &plan, false);
    report.recovered = recovered;
    workspace.take_from_list(&manifest, &plan.goes, &mut report.warnings)?;
    Ok(report)
}

impl Workspace {
    /// Deletes checkpoints that nobody needs; gives the manifest without them. The caller holds the lock, and has
    /// recovered the session.
    ///
    /// # Errors
    /// When the manifest cannot be written; nothing has been deleted then. What cannot be removed afterwards is a
    /// warning, and left to the next command.
    pub(super) fn take_from_list(
        &self,
        manifest: &Manifest,
        goes: &[Entry],
        warnings: &mut Vec<String>,
    ) -> Result<Manifest, Error> {
        let session = &manifest.session_id;
        let mut changed = manifest.clone();
        if goes.is_empty() {
            return Ok(changed);
        }
        let ids: Vec<CheckpointId> = goes.iter().map(|entry| entry.id.clone()).collect();
        self.store.write_journal(&Journal::Delete(DeleteJournal {
            session: session.clone(),
            checkpoints: ids.clone(),
            started_at: self.clock.now(),
        }))?;
        changed.prune(&ids.into_iter().collect());
        relink(self, &mut changed, goes);
        changed.updated_at = changed.updated_at.max(self.clock.now());
        if let Err(error) = self.replace_manifest(&changed) {
            // Whatever this cannot clean up, the journal lets the next command clean up.
            let _ = self.recover(session);
            return Err(error);
        }
        finish(self, session, &changed, goes, warnings);
        Ok(changed)
    }
}

/// Lets the records after those that go speak for them: a checksum that was forged does not stay.
fn relink(workspace: &Workspace, manifest: &mut Manifest, goes: &[Entry]) {
    for gone in goes {
        let mut after = manifest.checkpoints().iter();
        let Some(next) = after.find(|entry| entry.seq > gone.seq) else {
            continue;
        };
        if let Ok(record) = workspace.store.load_listed(&manifest.session_id, next) {
            manifest.relink(&record);
        }
    }
}

/// Removes what the manifest does not list any more. What fails here is a warning: the journal is left to the next
/// command.
fn finish(
    workspace: &Workspace,
    session: &SessionId,
    manifest: &Manifest,
    goes: &[Entry],
    warnings: &mut Vec<String>,
) {
    let before = warnings.len();
    let backend = &workspace.repo.backend;
    for entry in goes {
        // A ref that cannot be read is made readable first: what points nowhere cannot be taken away otherwise.
        let name = reference_of(session, &entry.id);
        if let (Err(_), Some(commit)) = (backend.reference(&name), entry.commit_hash) {
            let _ = backend.put_reference(&name, commit, workspace.sync());
        }
        // By what the ref points at, not by what the manifest says: one that points elsewhere goes as well.
        if let Err(error) = workspace.remove_checkpoint(session, &entry.id, None) {
            warnings.push(format!("could not remove {}: {error}", entry.id));
        }
    }
    let newest = manifest.newest();
    let pointed = newest.map_or(Ok(()), |newest| {
        workspace.store.point_latest(session, &newest.id)
    });
    let counted = count_in_state(workspace, manifest);
    let synced = workspace.store.sync_session(session);
    for error in [pointed, counted, synced]
        .into_iter()
        .filter_map(Result::err)
    {
        warnings.push(error.to_string());
    }
    if warnings.len() == before
        && let Err(error) = workspace.store.remove_journal(session)
    {
        warnings.push(error.to_string());
    }
}

/// Brings the number of checkpoints in the live state up to date.
fn count_in_state(workspace: &Workspace, manifest: &Manifest) -> Result<(), store::Error> {
    let Some(mut state) = workspace.store.load_state(&manifest.session_id)? else {
        return Ok(());
    };
    let at = manifest
        .newest()
        .map_or(manifest.created_at, |newest| newest.timestamp);
    let count = manifest.checkpoints().len();
    state.maintain_checkpoint(manifest.current_checkpoint.as_ref(), count, at);
    let staged = workspace.store.stage_state(&manifest.session_id, &state)?;
    Ok(staged.publish()?)
}

fn resolve(manifest: &Manifest, selectors: &[Selector]) -> Result<Vec<CheckpointId>, Error> {
    let resolved = selectors.iter().map(|selector| {
        let entry = selector.resolve(manifest)?;
        Ok(entry.id.clone())
    });
    resolved.collect()
}

/// The plan, unless it would take what is needed.
fn allowed(manifest: &Manifest, wanted: &[CheckpointId]) -> Result<DeletePlan, Error> {
    let plan = plan(manifest, wanted, &protected(manifest));
    if plan.refused.is_empty() {
        Ok(plan)
    } else {
        let refused = plan.refused;
        Err(Error::Needed { refused })
    }
}

fn report(manifest: &Manifest, plan: &DeletePlan, dry_run: bool) -> DeleteReport {
    let numbers = Numbers::of(manifest);
    let deleted = plan.goes.iter().map(|entry| Deleted {
        number: numbers.number(entry),
        id: entry.id.clone(),
        name: entry.name.clone(),
        valid: entry.valid,
    });
    DeleteReport {
        session_id: manifest.session_id.clone(),
        deleted: deleted.collect(),
        left: manifest.checkpoints().len() - plan.goes.len(),
        dry_run,
        recovered: Vec::new(),
        warnings: Vec::new(),
    }
}
