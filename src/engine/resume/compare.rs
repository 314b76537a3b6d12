//! The repository when the checkpoint was made and now: what is gathered here is compared in `plan`.

use serde::Serialize;

use super::super::summary::path_text;
use crate::engine::failure::error_chain;
use crate::engine::{Error, Progress, Workspace};
use crate::git::diff::commits::{Between, Commit, between};
use crate::git::snapshot::tree_of;
use crate::model::path_text::quote_path;
use crate::model::{Files, ObjectId, Record, SessionId, State};
use crate::plan::freshness::{Change, FilesNow, Now, Then, Way, changes};

/// The most commits that are named on either side.
const MAX_COMMITS: usize = 100;

/// The repository then and now.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Freshness {
    /// The branch then; absent when HEAD was detached, or nothing was recorded.
    pub branch_then: Option<String>,
    /// The branch now; absent when HEAD is detached.
    pub branch_now: Option<String>,
    /// HEAD then.
    pub head_then: Option<ObjectId>,
    /// HEAD now.
    pub head_now: Option<ObjectId>,
    /// The commits in between.
    pub commits: Commits,
    /// The files that changed since; absent when they could not be compared.
    pub files: Option<Files>,
    /// The work tree that was compared.
    pub work_tree: String,
}

/// The commits between two points, the newest of them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Commits {
    /// Those that HEAD has now and had not then.
    pub added: Vec<Commit>,
    /// How many.
    pub added_total: usize,
    /// Those that HEAD had then and has not now.
    pub removed: Vec<Commit>,
    /// How many.
    pub removed_total: usize,
}

/// Compares the repository with what the checkpoint recorded of it.
pub(super) fn compare(
    workspace: &Workspace,
    session: &SessionId,
    record: Option<&Record>,
    state: &State,
    progress: &Progress,
    warnings: &mut Vec<String>,
) -> Result<(Vec<Change>, Freshness), Error> {
    let repo = &workspace.repo;
    let head = repo.backend.head()?;
    let git = record.map(|record| &record.git).filter(|git| git.enabled);
    let then = git.map(|git| Then {
        branch: git.branch.clone(),
        head: git.head,
    });
    let mut freshness = Freshness {
        branch_then: then.as_ref().and_then(|then| then.branch.clone()),
        branch_now: head.branch().map(quote_path),
        head_then: then.as_ref().and_then(|then| then.head),
        head_now: head.commit(),
        work_tree: path_text(&repo.work_dir.components().collect::<std::path::PathBuf>()),
        ..Freshness::default()
    };
    let mut way = Way::Ahead { commits: 0 };
    if then.is_some() && freshness.head_then != freshness.head_now {
        way = match between(&*repo.backend, freshness.head_then, freshness.head_now) {
            Ok(found) => {
                let way = direction(repo.backend.as_ref(), &freshness, &found);
                freshness.commits = Commits::of(found);
                way
            }
            Err(error) => {
                warnings.push(error_chain(&error));
                Way::Unknown
            }
        };
    }
    let commit = git.and_then(|git| git.commit_hash);
    let files = match commit {
        None => FilesNow::NotRecorded,
        Some(commit) => match files_since(workspace, commit, progress) {
            Ok(files) => {
                let totals = files.totals;
                freshness.files = Some(files);
                FilesNow::Compared(totals)
            }
            Err(error) => FilesNow::Unknown {
                reason: error_chain(&error),
            },
        },
    };
    let mut missing = workspace.missing_work_trees(session)?;
    missing.extend(missing_by_state(workspace, state));
    missing.dedup();
    let now = Now {
        branch: freshness.branch_now.clone(),
        head: freshness.head_now,
        has_old_branch: has_branch(workspace, freshness.branch_then.as_deref())?,
        way,
        files,
        missing_work_trees: missing,
        in_progress: repo.in_progress().map(str::to_owned),
    };
    Ok((changes(then.as_ref(), &now), freshness))
}

impl Commits {
    fn of(mut found: Between) -> Self {
        let (added_total, removed_total) = (found.added.len(), found.removed.len());
        found.added.truncate(MAX_COMMITS);
        found.removed.truncate(MAX_COMMITS);
        Self {
            added: found.added,
            added_total,
            removed: found.removed,
            removed_total,
        }
    }
}

/// How HEAD now lies to HEAD then.
fn direction(
    backend: &dyn crate::git::backend::Backend,
    freshness: &Freshness,
    found: &Between,
) -> Way {
    // A commit that is gone, or that a shallow clone does not reach, has no history to compare.
    let is_there = |id: Option<ObjectId>| id.is_none_or(|id| backend.exists(&id));
    if !is_there(freshness.head_then) || !is_there(freshness.head_now) {
        return Way::Unknown;
    }
    match (found.added.len(), found.removed.len()) {
        (ahead, 0) => Way::Ahead { commits: ahead },
        (0, behind) => Way::Behind { commits: behind },
        (ahead, behind) => Way::Diverged { ahead, behind },
    }
}

/// What changed in the work tree since a checkpoint. Nothing of the look stays.
fn files_since(
    workspace: &Workspace,
    commit: ObjectId,
    progress: &Progress,
) -> Result<Files, Error> {
    let repo = &workspace.repo;
    let tree = tree_of(repo, &commit)?;
    let snapshot = workspace.look(progress)?;
    let changes = snapshot.changes_since(repo, Some(tree))?;
    Ok(Files::new(
        &changes.created,
        &changes.modified,
        &changes.deleted,
    ))
}

/// Whether the branch exists; an unborn one that HEAD is still on does too.
fn has_branch(workspace: &Workspace, branch: Option<&str>) -> Result<bool, Error> {
    let Some(branch) = branch else {
        return Ok(true);
    };
    let head = workspace.repo.backend.head()?;
    if head.branch().map(quote_path).as_deref() == Some(branch) {
        return Ok(true);
    }
    // A name that is no plain text is looked for as people see it.
    let refs = workspace.repo.backend.references("refs/heads/")?;
    Ok(refs.iter().any(|(name, _)| {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        quote_path(name.as_bytes()) == branch
    }))
}

/// The work tree that the state of `impl` names, if it is gone.
fn missing_by_state(workspace: &Workspace, state: &State) -> Option<String> {
    let path = state.get("worktree")?.as_str()?;
    if path.is_empty() {
        return None;
    }
    let is_there = workspace.repo.work_dir.join(path).is_dir();
    (!is_there).then(|| quote_path(path.as_bytes()))
}
