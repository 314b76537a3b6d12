//! Whether the world is still what it was when a checkpoint was made: branch, HEAD, files, work tree, tracked issue.
//!
//! What is found is compared, never judged: what a change calls for is decided in [`super::resume`].

pub mod issue;

use serde::Serialize;

use crate::model::ObjectId;
use crate::model::files::FileTotals;

pub use issue::{Issue, LineChange};

/// Something that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// The work tree that the session worked in is gone.
    WorkTreeMissing {
        /// Where it was.
        path: String,
    },
    /// The branch that was checked out is gone.
    BranchGone {
        /// Its name.
        branch: String,
    },
    /// Another branch is checked out.
    BranchSwitched {
        /// The branch then; absent when HEAD was detached.
        from: Option<String>,
        /// The branch now; absent when HEAD is detached.
        to: Option<String>,
    },
    /// HEAD is at another commit.
    HeadMoved {
        /// The commit then; absent when there was none yet.
        from: Option<ObjectId>,
        /// The commit now.
        to: Option<ObjectId>,
        /// How the two lie to each other.
        way: Way,
    },
    /// Files are not what they were.
    FilesChanged {
        /// How many.
        totals: FileTotals,
    },
    /// Nobody knows whether files are what they were.
    FilesUnknown {
        /// Why not.
        reason: String,
    },
    /// A merge, rebase or the like is under way.
    InProgress {
        /// What.
        what: String,
    },
    /// The issue has other labels.
    IssueLabels {
        /// Those that are new.
        added: Vec<String>,
        /// Those that are gone.
        removed: Vec<String>,
    },
    /// The issue has another title.
    IssueTitle {
        /// The title then.
        from: String,
        /// The title now.
        to: String,
    },
    /// The issue was closed, or opened again.
    IssueState {
        /// Its state then.
        from: String,
        /// Its state now.
        to: String,
    },
    /// The issue says something else.
    IssueBody {
        /// The lines that are gone or new.
        lines: Vec<LineChange>,
    },
    /// There is an issue now, and nothing in the state to compare it with.
    IssueUnknown,
}

/// How two commits lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "way", rename_all = "snake_case")]
pub enum Way {
    /// The new one has all of the old one's history, and these commits more.
    Ahead {
        /// How many.
        commits: usize,
    },
    /// The old one has all of the new one's history.
    Behind {
        /// How many commits are missing now.
        commits: usize,
    },
    /// Each has commits that the other one lacks.
    Diverged {
        /// Those of the new one.
        ahead: usize,
        /// Those of the old one.
        behind: usize,
    },
    /// History cannot be read that far.
    Unknown,
}

/// The repository when the checkpoint was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Then {
    /// The branch that was checked out; absent when HEAD was detached.
    pub branch: Option<String>,
    /// The commit that HEAD was at.
    pub head: Option<ObjectId>,
}

/// The repository now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Now {
    /// The branch that is checked out; absent when HEAD is detached.
    pub branch: Option<String>,
    /// The commit that HEAD is at.
    pub head: Option<ObjectId>,
    /// Whether the branch of then exists.
    pub has_old_branch: bool,
    /// How HEAD now lies to HEAD then.
    pub way: Way,
    /// The files.
    pub files: FilesNow,
    /// The work trees that the session needs and that are gone.
    pub missing_work_trees: Vec<String>,
    /// A merge, rebase or the like that is under way.
    pub in_progress: Option<String>,
}

/// The files now, compared with the checkpoint's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesNow {
    /// They were compared.
    Compared(FileTotals),
    /// The checkpoint recorded none.
    NotRecorded,
    /// They could not be compared.
    Unknown {
        /// Why not.
        reason: String,
    },
}

/// What changed in the repository. `then` is absent where the checkpoint recorded nothing of it.
#[must_use]
pub fn changes(then: Option<&Then>, now: &Now) -> Vec<Change> {
    let missing = now.missing_work_trees.iter();
    let mut found: Vec<Change> = missing
        .map(|path| Change::WorkTreeMissing { path: path.clone() })
        .collect();
    if let Some(then) = then {
        match &then.branch {
            Some(branch) if !now.has_old_branch => found.push(Change::BranchGone {
                branch: branch.clone(),
            }),
            branch if *branch != now.branch => found.push(Change::BranchSwitched {
                from: branch.clone(),
                to: now.branch.clone(),
            }),
            _ => {}
        }
        if then.head != now.head {
            found.push(Change::HeadMoved {
                from: then.head,
                to: now.head,
                way: now.way,
            });
        }
    }
    match &now.files {
        FilesNow::Compared(totals) if *totals != FileTotals::default() => {
            found.push(Change::FilesChanged { totals: *totals });
        }
        FilesNow::Unknown { reason } => found.push(Change::FilesUnknown {
            reason: reason.clone(),
        }),
        FilesNow::Compared(_) | FilesNow::NotRecorded => {}
    }
    if let Some(what) = &now.in_progress {
        found.push(Change::InProgress { what: what.clone() });
    }
    found
}
