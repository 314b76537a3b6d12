//! Rebuilding what is damaged: records from the sidecars of their commits, the manifest from the refs.
//!
//! Records and refs come first, the manifest last, each in one step; a rebuild that is cut short is begun again and finds
//! less to do. Damaged files are kept aside.

pub(super) mod evidence;
mod restore;

use std::collections::HashSet;

use serde::Serialize;

use super::recover::Recovered;
use super::validate::{Depth, Look, Marking, ValidateOptions};
use super::{Error, Tally, Workspace};
use crate::git::snapshot::reference_of;
use crate::model::finding::{Finding, Severity};
use crate::model::{CheckpointId, Journal, Selector, SessionId};
use crate::plan::rebuild::{Loss, Proof, Rebuilt};
use crate::store::{self, durable};

use restore::{restore_record, restore_refs, restore_state, set_aside};

/// What is rebuilt.
#[derive(Debug, Clone)]
pub enum Target {
    /// Everything that is damaged, the manifest included.
    All,
    /// One checkpoint.
    One(Selector),
}

/// What is rebuilt, of which session.
#[derive(Debug, Clone)]
pub struct RebuildOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// What of it.
    pub target: Target,
}

/// What a rebuild came to.
#[derive(Debug, Clone, Serialize)]
pub struct RebuildReport {
    /// The session.
    pub session_id: SessionId,
    /// How many checkpoints were looked at.
    pub checked: usize,
    /// The records that were rebuilt.
    pub records: Vec<RebuiltRecord>,
    /// The refs that were put back.
    pub refs: Vec<String>,
    /// Whether the manifest was rebuilt or corrected.
    pub manifest_rebuilt: bool,
    /// Whether the live state was taken from a checkpoint.
    pub state_rebuilt: bool,
    /// Checkpoints that had been marked as corrupt and are valid again.
    pub restored: Vec<CheckpointId>,
    /// Where the damaged files are now.
    pub set_aside: Vec<String>,
    /// What could not be recovered.
    pub losses: Vec<Loss>,
    /// What is still wrong.
    pub findings: Vec<Finding>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
}

/// A record that was rebuilt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RebuiltRecord {
    /// The checkpoint.
    pub id: CheckpointId,
    /// What shows that it is right.
    pub proof: Proof,
}

impl RebuildReport {
    /// Whether nothing is wrong any more; leftovers that cost nothing do not count.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity == Severity::Notice)
    }

    /// Whether anything was changed.
    #[must_use]
    pub fn changed_anything(&self) -> bool {
        self.manifest_rebuilt
            || self.state_rebuilt
            || !(self.records.is_empty() && self.refs.is_empty() && self.restored.is_empty())
    }
}

/// Rebuilds.
///
/// # Errors
/// When there is nothing to rebuild it from, a newer go-team wrote it, or it cannot be written.
pub fn rebuild(
    workspace: &Workspace,
    options: &RebuildOptions,
    tally: &Tally,
) -> Result<RebuildReport, Error> {
    let session = find_session(workspace, options.session.as_ref())?;
    let _lock = workspace.lock("cp-rebuild")?;
    // What is finished first may have been its removal.
    let session = find_session(workspace, Some(&session))?;
    let dir = workspace.store.layout().session(&session);
    durable::create_dir_all(&dir, workspace.store.durability()).map_err(store::Error::from)?;
    let mut report = RebuildReport {
        session_id: session.clone(),
        checked: 0,
        records: Vec::new(),
        refs: Vec::new(),
        manifest_rebuilt: false,
        state_rebuilt: false,
        restored: Vec::new(),
        set_aside: Vec::new(),
        losses: Vec::new(),
        findings: Vec::new(),
        recovered: Vec::new(),
    };
    settle_journal(workspace, &session, &mut report)?;
    let rebuilt = evidence::rebuilt(workspace, &session)?;
    let one = match &options.target {
        Target::All => {
            report.checked = rebuild_all(workspace, rebuilt, &mut report)?;
            None
        }
        Target::One(selector) => {
            report.checked = 1;
            Some(rebuild_one(workspace, rebuilt, selector, &mut report)?)
        }
    };
    if report.recovered.is_empty() {
        report.recovered = workspace.recover(&session)?;
    }
    restore_state(workspace, &session, &mut report)?;
    check_again(workspace, one.as_ref(), &session, tally, &mut report)?;
    Ok(report)
}

/// The session asked for; also one of which only the refs are left.
fn find_session(workspace: &Workspace, wanted: Option<&SessionId>) -> Result<SessionId, Error> {
    let error = match workspace.find_session(wanted) {
        Err(error @ (Error::NoSession | Error::NoSuchSession { .. })) => error,
        found => return found,
    };
    let pointed = workspace.store.load_current(&workspace.worktree)?;
    let lost = wanted
        .cloned()
        .or(pointed.map(|current| current.session_id));
    let has_refs = |session: &SessionId| -> Result<bool, Error> {
        let prefix = format!("refs/go-team/{session}/");
        Ok(!workspace.repo.backend.references(&prefix)?.is_empty())
    };
    match lost {
        Some(session) if has_refs(&session)? => Ok(session),
        _ => Err(error),
    }
}

/// Lets an interrupted operation come to its end; a journal that cannot be read is kept aside. When the manifest is
/// damaged as well, the journal has to wait for the manifest.
fn settle_journal(
    workspace: &Workspace,
    session: &SessionId,
    report: &mut RebuildReport,
) -> Result<(), Error> {
    let store = &workspace.store;
    let [published, rollback] = store.load_journals(session);
    if is_damaged(published)? {
        set_aside(workspace, session, &store.layout().journal(session), report)?;
        store.remove_journal(session)?;
    }
    if is_damaged(rollback)? {
        let path = store.layout().rollback_journal(session);
        set_aside(workspace, session, &path, report)?;
        store.remove_rollback_journal(session)?;
    }
    if workspace.store.load_manifest(session).is_ok() {
        report.recovered = workspace.recover(session)?;
    }
    Ok(())
}

/// Whether a journal is there and cannot be made sense of.
fn is_damaged(journal: Result<Option<Journal>, store::Error>) -> Result<bool, Error> {
    match journal {
        Ok(_) => Ok(false),
        Err(error @ (store::Error::NewerVersion { .. } | store::Error::Io(_))) => Err(error.into()),
        Err(_) => Ok(true),
    }
}

fn rebuild_all(
    workspace: &Workspace,
    rebuilt: Rebuilt,
    report: &mut RebuildReport,
) -> Result<usize, Error> {
    let Rebuilt {
        manifest,
        records,
        losses,
    } = rebuilt;
    report.losses = losses;
    let session = &manifest.session_id;
    if records.is_empty() && workspace.store.load_manifest(session).is_err() {
        return Err(Error::NoSession);
    }
    for (record, proof) in &records {
        restore_record(workspace, record, *proof, report)?;
    }
    restore_refs(workspace, &records, report)?;
    let old = workspace.store.load_manifest(session);
    let is_same = old.is_ok_and(|old| old.to_file_bytes() == manifest.to_file_bytes());
    if !is_same {
        let path = workspace.store.layout().manifest(session);
        set_aside(workspace, session, &path, report)?;
        workspace.replace_manifest(&manifest)?;
        report.manifest_rebuilt = true;
    }
    Ok(records.len())
}

fn rebuild_one(
    workspace: &Workspace,
    rebuilt: Rebuilt,
    selector: &Selector,
    report: &mut RebuildReport,
) -> Result<CheckpointId, Error> {
    let session = report.session_id.clone();
    let mut manifest = workspace.store.load_manifest(&session)?;
    let entry = selector.resolve(&manifest)?.clone();
    let records = rebuilt.records.into_iter();
    let chosen: Vec<_> = records
        .filter(|(record, _)| record.id == entry.id)
        .collect();
    let Some((record, proof)) = chosen.first() else {
        let reference = reference_of(&session, &entry.id);
        let known = rebuilt.losses.into_iter().find_map(|loss| match loss {
            Loss::NotACheckpoint {
                reference: of,
                reason,
            } if of == reference => Some(reason),
            Loss::Conflict { checkpoint, reason } if checkpoint == entry.id => Some(reason),
            _ => None,
        });
        let none = "its record is gone, and it has no commit that holds a copy".to_owned();
        return Err(Error::CannotRebuild {
            checkpoint: entry.id,
            reason: known.unwrap_or(none),
        });
    };
    restore_record(workspace, record, *proof, report)?;
    restore_refs(workspace, &chosen, report)?;
    if manifest.correct(record) {
        let path = workspace.store.layout().manifest(&session);
        set_aside(workspace, &session, &path, report)?;
        workspace.replace_manifest(&manifest)?;
        report.manifest_rebuilt = true;
    }
    Ok(entry.id)
}

/// Looks again: what had been marked as corrupt and is whole now is valid again, what is corrupt is marked. Objects are
/// read where somebody asked for one checkpoint, or one had been marked.
fn check_again(
    workspace: &Workspace,
    one: Option<&CheckpointId>,
    session: &SessionId,
    tally: &Tally,
    report: &mut RebuildReport,
) -> Result<(), Error> {
    let manifest = workspace.store.load_manifest(session)?;
    let was_marked = manifest
        .checkpoints()
        .iter()
        .any(|entry| entry.corrupted_at.is_some());
    let checkpoints = one.map(|id| Selector::parse(id.as_str())).into_iter();
    let checkpoints = checkpoints.collect::<Result<Vec<_>, _>>()?;
    let depth = if was_marked || !checkpoints.is_empty() {
        Depth::Deep
    } else {
        Depth::Plain
    };
    let validate = ValidateOptions {
        session: Some(session.clone()),
        checkpoints,
        depth,
        marking: Marking::Mark,
    };
    let mut look = Look::take(workspace, session, &validate, tally)?;
    let sound: HashSet<CheckpointId> = look.sound_again();
    if !sound.is_empty()
        && let Some(manifest) = &look.manifest
    {
        let mut manifest = manifest.clone();
        manifest.mark(|id, validity| {
            if sound.contains(id) {
                validity.corrupted_at = None;
                validity.valid = validity.invalidated_by.is_none();
            }
        });
        workspace.replace_manifest(&manifest)?;
        look = Look::take(workspace, session, &validate, tally)?;
        let entries = manifest.checkpoints().iter().map(|entry| entry.id.clone());
        report.restored = entries.filter(|id| sound.contains(id)).collect();
    }
    look.mark(workspace)?;
    report.findings = look.findings;
    Ok(())
}
