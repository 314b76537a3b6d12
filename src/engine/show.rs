//! Everything about one checkpoint.

pub mod contents;

use serde::Serialize;

use super::checkpoint::Checkpoint;
use super::failure::error_chain;
use super::summary::{SessionSummary, Unfinished};
use super::{Error, Workspace};
use crate::git::hash::Kind;
use crate::git::snapshot::reference_of;
use crate::model::selector::Numbers;
use crate::model::{
    CheckpointId, Entry, Files, Manifest, Record, RollbackRecord, Selector, SessionId,
};
use contents::TreeFile;

/// Which checkpoint.
#[derive(Debug, Clone)]
pub struct ShowOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// The checkpoint.
    pub checkpoint: Selector,
}

impl ShowOptions {
    /// Whether there is such a checkpoint.
    #[must_use]
    pub fn is_known(&self, workspace: &Workspace) -> bool {
        let session = workspace.find_session(self.session.as_ref()).ok();
        let manifest = session.and_then(|id| workspace.store.load_manifest(&id).ok());
        manifest.is_some_and(|manifest| self.checkpoint.resolve(&manifest).is_ok())
    }
}

/// Everything about one checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct ShowReport {
    /// What the manifest says.
    #[serde(flatten)]
    pub checkpoint: Checkpoint,
    /// The session it belongs to.
    pub session: SessionSummary,
    /// The record, when it can be read.
    pub record: Option<Record>,
    /// The ref that holds its files.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The ref that holds the files of the checkpoint it was made on top of.
    #[serde(skip)]
    pub parent_reference: Option<String>,
    /// What came before it and after it.
    pub lineage: Lineage,
    /// The listed files that it has, with their sizes.
    pub sizes: Vec<TreeFile>,
    /// What was checked.
    pub validation: Vec<Check>,
    /// An operation that has not come to its end.
    pub unfinished: Option<Unfinished>,
    /// Troubles that did not stop the report.
    pub warnings: Vec<String>,
}

/// What came before a checkpoint and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lineage {
    /// The checkpoint it was made on top of, while that is listed.
    pub parent: Option<Relative>,
    /// The checkpoints that were made on top of it.
    pub children: Vec<Relative>,
    /// The rollback that left it behind.
    pub invalidated_by: Option<RollbackRecord>,
    /// The rollback that it was taken for, of a safety checkpoint.
    pub safety_of: Option<RollbackRecord>,
    /// The rollbacks that went back to it, oldest first.
    pub rollbacks: Vec<RollbackRecord>,
}

/// A checkpoint before or after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Relative {
    /// What selects it.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
}

/// Something that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub check: Subject,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What can be checked about one checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The record can be read and has the checksum that it says it has.
    File,
    /// That checksum is the one that the manifest lists.
    Hash,
    /// The ref exists and points at the recorded commit.
    Ref,
    /// The commit is in the repository.
    Commit,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Ok,
    /// Not as it should be.
    Failed {
        /// In what way.
        reason: String,
    },
    /// There is nothing to check.
    Skipped {
        /// Why.
        reason: String,
    },
}

impl ShowReport {
    /// Whether every check that could be made went well.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let failed = |check: &Check| matches!(check.outcome, Outcome::Failed { .. });
        !self.validation.iter().any(failed)
    }
}

/// Gathers everything about one checkpoint.
///
/// # Errors
/// When there is no such session or checkpoint, or the manifest cannot be read. A damaged record is reported, not an
/// error.
pub fn show(workspace: &Workspace, options: &ShowOptions) -> Result<ShowReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let manifest = workspace.store.load_manifest(&session)?;
    let entry = options.checkpoint.resolve(&manifest)?;
    let numbers = Numbers::of(&manifest);
    let relative = |entry: &Entry| Relative {
        number: numbers.number(entry),
        id: entry.id.clone(),
    };
    let children = manifest.checkpoints().iter();
    let children = children
        .filter(|other| other.parent.as_ref() == Some(&entry.id))
        .map(relative)
        .collect();
    let parent = entry.parent.as_ref().and_then(|id| manifest.entry(id));
    let rollbacks = |is_meant: &dyn Fn(&RollbackRecord) -> bool| -> Vec<RollbackRecord> {
        let history = manifest.rollback_history.iter();
        history
            .filter(|rollback| is_meant(rollback))
            .cloned()
            .collect()
    };
    let reference = |entry: &Entry| {
        let captured = entry.commit_hash.is_some();
        captured.then(|| reference_of(&session, &entry.id))
    };
    let sizes = |record: &Record| sizes(workspace, entry, &record.files);
    let (record, mut validation) = check_record(workspace, &manifest, entry);
    validation.extend(check_git(workspace, &session, entry));
    let mut checkpoint = Checkpoint::of(&manifest, &numbers, entry);
    if let Some(record) = &record {
        checkpoint.describe(record);
    }
    let mut warnings = Vec::new();
    Ok(ShowReport {
        checkpoint,
        session: workspace.summarize(&manifest),
        sizes: record.as_ref().map(sizes).unwrap_or_default(),
        record,
        reference: reference(entry),
        parent_reference: parent.and_then(reference),
        lineage: Lineage {
            parent: parent.map(relative),
            children,
            invalidated_by: rollbacks(&|rollback| {
                entry.invalidated_by.as_ref() == Some(&rollback.id)
            })
            .pop(),
            safety_of: rollbacks(&|rollback| rollback.safety_checkpoint == entry.id).pop(),
            rollbacks: rollbacks(&|rollback| rollback.to_checkpoint == entry.id),
        },
        validation,
        unfinished: workspace.look_for_unfinished(&session, &mut warnings),
        warnings,
    })
}

/// How large the files are that the record lists. What cannot be read is left out: the checks say why.
fn sizes(workspace: &Workspace, entry: &Entry, files: &Files) -> Vec<TreeFile> {
    let Some(commit) = entry.commit_hash else {
        return Vec::new();
    };
    let paths = files.created.iter().chain(&files.modified);
    contents::describe_paths(workspace, &commit, paths).unwrap_or_default()
}

fn check_record(
    workspace: &Workspace,
    manifest: &Manifest,
    entry: &Entry,
) -> (Option<Record>, Vec<Check>) {
    let failed = |reason| Outcome::Failed { reason };
    let (record, file, hash) = match workspace.store.load_record(&manifest.session_id, &entry.id) {
        Ok(record) if record.checksum() == entry.checksum => {
            (Some(record), Outcome::Ok, Outcome::Ok)
        }
        Ok(record) => {
            let reason = format!(
                "the record has {}, the manifest lists {}",
                record.checksum(),
                entry.checksum
            );
            (Some(record), Outcome::Ok, failed(reason))
        }
        Err(error) => {
            let reason = "the record cannot be read".to_owned();
            (
                None,
                failed(error_chain(&error)),
                Outcome::Skipped { reason },
            )
        }
    };
    let checks = [(Subject::File, file), (Subject::Hash, hash)];
    let checks = checks.map(|(check, outcome)| Check { check, outcome });
    (record, checks.into())
}

fn check_git(workspace: &Workspace, session: &SessionId, entry: &Entry) -> Vec<Check> {
    let backend = &workspace.repo.backend;
    let failed = |reason| Outcome::Failed { reason };
    let (reference, commit) = match &entry.commit_hash {
        None => {
            let reason = "no files were captured".to_owned();
            let skipped = Outcome::Skipped { reason };
            (skipped.clone(), skipped)
        }
        Some(commit) => {
            let name = reference_of(session, &entry.id);
            let reference = match backend.reference(&name) {
                Ok(Some(found)) if found == *commit => Outcome::Ok,
                Ok(Some(found)) => failed(format!("{name} points at {found}, not at {commit}")),
                Ok(None) => failed(format!("{name} does not exist")),
                Err(error) => failed(error_chain(&error)),
            };
            let object = match backend.read(commit) {
                Ok(Some(object)) if object.kind == Kind::Commit => Outcome::Ok,
                Ok(Some(_)) => failed(format!("{commit} is not a commit")),
                Ok(None) => failed(format!("{commit} is not in the repository")),
                Err(error) => failed(error_chain(&error)),
            };
            (reference, object)
        }
    };
    let checks = [(Subject::Ref, reference), (Subject::Commit, commit)];
    let checks = checks.map(|(check, outcome)| Check { check, outcome });
    checks.into()
}
