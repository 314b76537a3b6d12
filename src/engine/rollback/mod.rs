//! Going back to a checkpoint, exactly, and never losing the only copy of anything.
//!
//! [`prepare`] makes the plan and changes nothing. [`execute`] looks again under the lock, takes the safety checkpoint,
//! writes the journal, and only then touches the first file. [`resume`] finishes what was killed on the way.

mod carry;
mod error;
mod execute;
mod goal;
mod layout;
mod linked;
pub mod resume;

use super::recover::Recovered;
use super::session::is_open;
use super::{Error, Workspace};
pub use error::RollbackError;
pub use execute::execute;
pub use goal::Forward;
use goal::Goal;
use layout::Layout;

use crate::git::backend::Head;
use crate::git::restore::index;
pub use crate::git::sidecar::SkippedPath;
use crate::git::sidecar::{Extras, IndexJson};
use crate::git::snapshot::Snapshot;
use crate::git::walk::Progress;
use crate::model::path_text::quote_path;
use crate::model::{CheckpointId, Manifest, ObjectId, RollbackRecord, SessionId};
pub use crate::plan::rollback::{FileStep, KeptFile, Named, Plan, PlannedFile};

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
    /// What could not be captured, and was left alone.
    pub skipped: Vec<SkippedPath>,
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

impl Workspace {
    /// The session asked for or the work tree's own; not one of another work tree.
    pub(super) fn own_session(&self, wanted: Option<&SessionId>) -> Result<SessionId, Error> {
        let session = self.find_session(wanted)?;
        if self.is_bound_elsewhere(&session)? {
            return Err(Error::OtherWorktree { session });
        }
        Ok(session)
    }
}
