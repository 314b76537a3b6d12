//! Why a rollback is refused, or did not come to its end.

use std::path::PathBuf;

use crate::model::{CheckpointId, ObjectId, RollbackKind};

/// How many names a message holds.
const NAMED: usize = 5;

/// The first of some names, and how many more there are.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).map(String::as_str);
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        let more = names.len() - NAMED;
        text = format!("{text} and {more} more");
    }
    text
}

/// The same with the verb that belongs to them.
fn listed(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", some(names))
}

/// Why a rollback is refused, or did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RollbackError {
    /// The target is not one that the current checkpoint descends from.
    #[error("cannot roll back forward: {current} does not descend from {target}")]
    Forward {
        /// The target.
        target: CheckpointId,
        /// The current checkpoint.
        current: CheckpointId,
    },
    /// The checkpoint cannot be trusted.
    #[error("{checkpoint} cannot be restored: {reason}")]
    Unusable {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// Why.
        reason: String,
    },
    /// The checkpoint holds no files.
    #[error("{checkpoint} was made without files")]
    NoFiles {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The nearest one before it that has some.
        nearest: Option<CheckpointId>,
    },
    /// The checkpoint that is needed is gone.
    #[error("the checkpoint {checkpoint} that this needs is not there any more")]
    Gone {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// No rollback is in force.
    #[error("there is nothing to undo: no rollback is in force")]
    NothingToUndo,
    /// No undo came last.
    #[error("there is nothing to redo: no undo came last")]
    NothingToRedo,
    /// The same command had been interrupted, and is complete now: nobody asked for it twice.
    #[error("the {} to {to} that was interrupted is complete now; nothing more was done", kind.as_str())]
    FinishedInstead {
        /// An undo or a redo.
        kind: RollbackKind,
        /// The checkpoint that is current now.
        to: CheckpointId,
    },
    /// git waits for the user.
    #[error("a {what} is in progress")]
    InProgress {
        /// What is.
        what: &'static str,
    },
    /// git would not let the branch be checked out twice.
    #[error("the branch {branch} is checked out at {}", path.display())]
    BranchElsewhere {
        /// The branch.
        branch: String,
        /// The other work tree.
        path: PathBuf,
    },
    /// A branch cannot be made beside one whose name is the beginning of its own.
    #[error("the branch {branch} cannot be made while {other} exists")]
    BranchName {
        /// The branch.
        branch: String,
        /// The other one.
        other: String,
    },
    /// The checkpoint holds a name that must never reach a work tree.
    #[error("the checkpoint holds {path}, a name that git refuses")]
    UnsafeName {
        /// The path, as people write it.
        path: String,
    },
    /// Something that cannot be kept safe is where something else must go.
    #[error("{} in the way and cannot be kept safe", listed(paths))]
    InTheWay {
        /// The paths, as people write them.
        paths: Vec<String>,
    },
    /// What was confirmed is not what is there.
    #[error("{} changed since the plan was shown", what.join(", "))]
    ChangedSince {
        /// What changed.
        what: Vec<String>,
    },
    /// The disk is too full.
    #[error("the files need {needed} bytes and {free} are free")]
    NoSpace {
        /// How much is needed.
        needed: u64,
        /// How much there is.
        free: u64,
    },
    /// The user interrupted it before anything was changed, or everything was put back.
    #[error("interrupted; {}", if *walked { "everything was put back as it was before" } else { "nothing was changed" })]
    Interrupted {
        /// Whether files had been changed and were put back.
        walked: bool,
    },
    /// It failed and everything was put back.
    #[error("the rollback failed, and everything was put back as it was before: {cause}")]
    PutBack {
        /// What failed.
        cause: Box<super::Error>,
    },
    /// It failed, and putting everything back failed too.
    #[error("the rollback stopped half way: {cause}; putting everything back failed too: {then}")]
    Stuck {
        /// What failed.
        cause: Box<super::Error>,
        /// What failed then.
        then: Box<super::Error>,
    },
    /// It was interrupted, and somebody has worked on the files since.
    #[error(
        "a rollback to {target} was interrupted, and {} changed since",
        some(what)
    )]
    Unfinished {
        /// Where it was going.
        target: CheckpointId,
        /// What changed.
        what: Vec<String>,
    },
    /// It is done but for some paths.
    #[error("the rollback to {target} is done, but {} not as {} should be", listed(paths), if paths.len() == 1 { "it" } else { "they" })]
    Incomplete {
        /// Where it went.
        target: CheckpointId,
        /// The paths.
        paths: Vec<String>,
    },
    /// It is done, but the last word on it may be lost in a power cut.
    #[error("the rollback to {target} is done, but it could not be closed: {cause}")]
    Unclosed {
        /// Where it went.
        target: CheckpointId,
        /// What failed.
        cause: Box<super::Error>,
    },
    /// It cannot be put back: it had come to its end.
    #[error("the rollback to {target} was already complete when it was interrupted")]
    AlreadyComplete {
        /// Where it went.
        target: CheckpointId,
    },
    /// No rollback waits to be finished.
    #[error("no rollback was interrupted")]
    NothingUnfinished,
    /// A branch name that cannot be written as text.
    #[error("the branch of commit {commit} has a name that is no text")]
    BranchText {
        /// The commit.
        commit: ObjectId,
    },
    /// A path outside of the work tree.
    #[error("{} is not in the work tree", path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// A path that neither the checkpoint nor the work tree has.
    #[error("{path} is neither in {checkpoint} nor in the work tree")]
    NoSuchPath {
        /// The path, as people write it.
        path: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
}
