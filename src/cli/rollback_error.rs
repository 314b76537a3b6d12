//! What to say about a rollback that was refused or failed, and what to type next.

use super::{Exit, Failure};
use crate::engine::rollback::RollbackError;
use crate::model::RollbackKind;

/// The failure of a rollback.
pub(super) fn of_rollback(error: &RollbackError, message: String) -> Failure {
    let fail = |kind| Failure::new(kind, Exit::Failure, message.clone());
    match error {
        RollbackError::Forward { target, .. } => fail("forward")
            .hint("go-team undo reverses the last rollback")
            .hint(format!("go-team rollback {target} --force goes there all the same")),
        RollbackError::Unusable { checkpoint, .. } => Failure::new("unusable", Exit::Invalid, message)
            .hint("go-team cp-validate says which checkpoints can be trusted")
            .hint(format!("go-team cp-rebuild {checkpoint} mends a damaged record")),
        RollbackError::NoFiles { nearest, .. } => {
            let failure = fail("no-files");
            match nearest {
                Some(nearest) => failure.hint(format!(
                    "go-team rollback {nearest} goes to the last one before it that has files"
                )),
                None => failure.hint("go-team cp-list shows the others"),
            }
        }
        RollbackError::Gone { .. } => Failure::new("gone", Exit::NotFound, message)
            .hint("go-team cp-list shows what is left"),
        RollbackError::NothingToUndo | RollbackError::NothingToRedo => {
            Failure::new("nothing-to-reverse", Exit::NotFound, message)
                .hint("go-team session-info shows the rollbacks of the session")
        }
        RollbackError::FinishedInstead { kind, .. } => {
            let failure = Failure::new("finished-instead", Exit::NotFound, message);
            let back = match kind {
                RollbackKind::Undo => "redo",
                _ => "undo",
            };
            failure
                .hint(format!("go-team {back} reverses it"))
                .hint("go-team session-info shows the rollbacks of the session")
        }
        RollbackError::InProgress { what } => fail("in-progress").hint(match *what {
            "bisect" => "git bisect reset ends it".to_owned(),
            what => format!("git {what} --abort or --continue ends it"),
        }),
        RollbackError::BranchElsewhere { .. } => fail("branch-elsewhere")
            .hint("roll back there, or check out another branch in that work tree"),
        RollbackError::BranchName { other, .. } => fail("branch-name").hint(format!(
            "git branch -m {} NEW-NAME makes room for it",
            other.trim_start_matches("refs/heads/")
        )),
        RollbackError::UnsafeName { .. } => fail("unsafe-name")
            .hint("nothing was changed; go-team never writes such a name"),
        RollbackError::InTheWay { .. } => {
            fail("in-the-way").hint("move it away and run the command again; nothing was changed")
        }
        RollbackError::ChangedSince { .. } => fail("changed-meanwhile")
            .hint("nothing was changed; run the command again to see the new plan"),
        RollbackError::NoSpace { .. } => {
            fail("no-space").hint("free some room and run the command again; nothing was changed")
        }
        RollbackError::Interrupted { .. } => {
            Failure::new("interrupted", Exit::Interrupted, message)
        }
        RollbackError::PutBack { .. } => fail("put-back")
            .hint("go-team status shows that nothing is left of it")
            .hint("mend what failed and run the command again"),
        RollbackError::Stuck { .. } => fail("stuck")
            .hint("mend what failed, then:")
            .hint("go-team rollback --continue finishes it")
            .hint("go-team rollback --abort puts everything back"),
        RollbackError::Unfinished { .. } => fail("unfinished")
            .hint("go-team rollback --continue finishes it; what changed is kept in a safety checkpoint first")
            .hint("go-team rollback --abort puts everything back; the same holds"),
        RollbackError::Incomplete { .. } => fail("incomplete")
            .hint("go-team undo brings back how it was before")
            .hint("go-team rollback current --yes tries those paths again"),
        RollbackError::Unclosed { .. } => fail("unclosed")
            .hint("mend what failed; the next command closes it")
            .hint("go-team undo brings back how it was before"),
        RollbackError::AlreadyComplete { .. } => fail("already-complete")
            .hint("go-team undo brings back how it was before"),
        RollbackError::NothingUnfinished => {
            Failure::new("nothing-unfinished", Exit::NotFound, message).hint("go-team status")
        }
        RollbackError::BranchText { .. } => {
            fail("branch-text").hint("git branch -m gives it a name that can be written")
        }
        RollbackError::Outside { .. } => Failure::new("outside", Exit::Usage, message)
            .hint("--path takes paths inside of the work tree"),
        RollbackError::NoSuchPath { checkpoint, .. } => {
            Failure::new("no-such-path", Exit::NotFound, message)
                .hint(format!("go-team cp-show {checkpoint} --tree lists its files"))
        }
    }
}
