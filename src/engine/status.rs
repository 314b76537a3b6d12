//! Where am I: repository, session, current checkpoint, and what changed since.

use std::path::PathBuf;

use serde::Serialize;

use super::checkpoint::Checkpoint;
use super::failure::error_chain;
use super::session::is_open;
use super::summary::{SessionSummary, Unfinished, path_text};
use super::{Error, Progress, Workspace};
use crate::git::sidecar::SkippedPath;
use crate::git::snapshot::tree_of;
use crate::model::path_text::quote_path;
use crate::model::selector::{Numbers, number_of};
use crate::model::{Entry, Files, Manifest, ObjectId, SessionId};

/// What is looked at.
#[derive(Debug, Clone, Default)]
pub struct StatusOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
}

/// Where one is.
#[derive(Debug, Clone, Serialize)]
pub struct StatusReport {
    /// The repository.
    pub repository: Repository,
    /// The session, unless the work tree has none.
    pub session: Option<SessionSummary>,
    /// The checkpoint that the work tree descends from.
    pub current: Option<Checkpoint>,
    /// What changed since it; absent when there is nothing to compare with.
    pub files: Option<Files>,
    /// Whether there is a way back.
    pub rollback: Option<Possibility>,
    /// Whether the workflow can be carried on with.
    pub resume: Option<Possibility>,
    /// Paths that a checkpoint would leave out now.
    pub skipped: Vec<SkippedPath>,
    /// An operation that has not come to its end.
    pub unfinished: Option<Unfinished>,
    /// Troubles that did not stop the report.
    pub warnings: Vec<String>,
}

/// Whether something can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Possibility {
    /// Whether it can.
    pub possible: bool,
    /// Why not; or, when it can, where it leads.
    pub detail: String,
}

impl Possibility {
    fn yes(detail: impl Into<String>) -> Self {
        Self {
            possible: true,
            detail: detail.into(),
        }
    }

    fn no(detail: impl Into<String>) -> Self {
        Self {
            possible: false,
            detail: detail.into(),
        }
    }
}

/// The repository as it is.
#[derive(Debug, Clone, Serialize)]
pub struct Repository {
    /// The root of the work tree.
    pub work_tree: String,
    /// Where go-team keeps its files.
    pub storage: String,
    /// The branch; absent when HEAD is detached.
    pub branch: Option<String>,
    /// The commit that is checked out; absent when there is none yet.
    pub head: Option<ObjectId>,
    /// What is special here, in words.
    pub notes: Vec<String>,
}

/// Looks around.
///
/// # Errors
/// When HEAD cannot be read, the session asked for does not exist, or its manifest cannot be read. What stands in the
/// way of a comparison is a warning.
pub fn status(
    workspace: &Workspace,
    options: &StatusOptions,
    progress: &Progress,
) -> Result<StatusReport, Error> {
    let mut report = StatusReport {
        repository: look_at_repository(workspace)?,
        session: None,
        current: None,
        files: None,
        rollback: None,
        resume: None,
        skipped: Vec::new(),
        unfinished: None,
        warnings: Vec::new(),
    };
    let session = match workspace.find_session(options.session.as_ref()) {
        Err(Error::NoSession) => return Ok(report),
        session => session?,
    };
    let manifest = workspace.store.load_manifest(&session)?;
    report.session = Some(workspace.summarize(&manifest));
    report.unfinished = workspace.look_for_unfinished(&session, &mut report.warnings);
    report.rollback = Some(rollback(workspace, &manifest, report.unfinished.as_ref()));
    report.resume = Some(resume(workspace, &manifest));
    let Some(current) = manifest.current() else {
        return Ok(report);
    };
    let mut checkpoint = Checkpoint::of(&manifest, &Numbers::of(&manifest), current);
    checkpoint.read(workspace, &manifest);
    report.warnings.extend(checkpoint.record_error.clone());
    report.current = Some(checkpoint);
    if let Err(error) = compare(workspace, &manifest, progress, &mut report) {
        let reason = error_chain(&error);
        let text = format!("what changed since the checkpoint is not known: {reason}");
        report.warnings.push(text);
    }
    Ok(report)
}

/// Whether a rollback could begin now, by what would stop it at once. Everything else is looked at when it is planned.
fn rollback(
    workspace: &Workspace,
    manifest: &Manifest,
    unfinished: Option<&Unfinished>,
) -> Possibility {
    let repo = &workspace.repo;
    let Some(current) = manifest.current() else {
        return Possibility::no("there is no current checkpoint");
    };
    if let Some(Unfinished { operation }) = unfinished {
        return Possibility::no(format!("an operation ({operation}) is not finished"));
    }
    if let Some(what) = repo.in_progress() {
        return Possibility::no(format!("a {what} is in progress"));
    }
    if repo.git_dir.join("index.lock").exists() {
        return Possibility::no("index.lock is there: another git command is running");
    }
    let is_usable = |entry: &Entry| entry.commit_hash.is_some() && entry.corrupted_at.is_none();
    let mut targets = Vec::new();
    let mut at = Some(current);
    while let Some(entry) = at {
        if is_usable(entry) {
            targets.push(entry);
        }
        at = manifest.parent_of(entry);
    }
    match targets.as_slice() {
        [] => Possibility::no("no checkpoint on the way here has files"),
        [only] => Possibility::yes(format!("to {}", number_of(manifest, only))),
        [newest, .., oldest] => Possibility::yes(format!(
            "to {} checkpoints, from {} back to {}",
            targets.len(),
            number_of(manifest, newest),
            number_of(manifest, oldest)
        )),
    }
}

/// Whether the workflow can be carried on with, by the session's status and its current checkpoint.
fn resume(workspace: &Workspace, manifest: &Manifest) -> Possibility {
    if !is_open(manifest.status) {
        return Possibility::no(format!("the session is {}", manifest.status));
    }
    let Some(current) = manifest.current() else {
        return Possibility::no("there is no checkpoint to go on from");
    };
    match workspace.store.load_listed(&manifest.session_id, current) {
        Err(_) => Possibility::no("the record of the current checkpoint cannot be read"),
        Ok(record) if !record.recovery.can_resume => {
            let reason = record.recovery.warnings.first().cloned();
            Possibility::no(reason.unwrap_or_else(|| "the workflow has come to its end".to_owned()))
        }
        Ok(record) => Possibility::yes(
            record
                .recovery
                .resume_from
                .clone()
                .unwrap_or_else(|| "nothing is left to do".to_owned()),
        ),
    }
}

fn look_at_repository(workspace: &Workspace) -> Result<Repository, Error> {
    let repo = &workspace.repo;
    let head = repo.backend.head()?;
    Ok(Repository {
        work_tree: path_text(&repo.work_dir.components().collect::<PathBuf>()),
        storage: path_text(workspace.store.layout().root()),
        branch: head.branch().map(quote_path),
        head: head.commit(),
        notes: repo.notes()?.iter().map(ToString::to_string).collect(),
    })
}

/// Compares the work tree with the current checkpoint's. Nothing of it stays: the snapshot is dropped.
fn compare(
    workspace: &Workspace,
    manifest: &Manifest,
    progress: &Progress,
    report: &mut StatusReport,
) -> Result<(), Error> {
    let commit = manifest.current().and_then(|entry| entry.commit_hash);
    let Some(commit) = commit else {
        return Ok(());
    };
    let repo = &workspace.repo;
    let tree = tree_of(repo, &commit)?;
    let snapshot = workspace.look(progress)?;
    let changes = snapshot.changes_since(repo, Some(tree))?;
    report.files = Some(Files::new(
        &changes.created,
        &changes.modified,
        &changes.deleted,
    ));
    report.skipped.clone_from(&snapshot.extras().skipped);
    Ok(())
}
