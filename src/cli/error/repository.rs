//! What to say about a repository that is refused, damaged or busy.

use std::path::Path;

use super::{Exit, Failure, of_io};
use crate::git;
use crate::git::open::Refusal;

/// The failure of something that touches the repository.
pub(super) fn of_git(error: &git::Error, message: String) -> Failure {
    let kind = match error {
        git::Error::Refused(refusal) => return of_refusal(refusal, message),
        git::Error::Io { source, .. } => return of_io(source, message),
        git::Error::Damaged { .. } => {
            return Failure::new("repository-damaged", Exit::Failure, message)
                .hint("git fsck says what is missing or broken");
        }
        git::Error::Touched { .. } => {
            return Failure::new("changed-meanwhile", Exit::Failure, message)
                .hint("nothing of it was overwritten; run the command again");
        }
        git::Error::Locked { path } => {
            return Failure::new("git-lock", Exit::Busy, message).hint(format!(
                "wait for that command; if none runs, remove the lock: rm {}",
                path.display()
            ));
        }
        git::Error::RefExists { .. } | git::Error::RefMoved { .. } => "ref-moved",
        git::Error::Convert { .. } => "conversion",
        git::Error::Moved { .. } => {
            return Failure::new("changed-meanwhile", Exit::Failure, message)
                .hint("run the command again when nothing writes to the work tree");
        }
        git::Error::Collision => "collision",
        git::Error::Git { .. } => "git",
    };
    Failure::new(kind, Exit::Failure, message)
}

fn of_refusal(refusal: &Refusal, message: String) -> Failure {
    let refuse = |kind, message: String| Failure::new(kind, Exit::Refused, message);
    match refusal {
        Refusal::NotARepository { .. } => refuse("not-a-repository", message)
            .hint("git init makes one here; -C DIR names another directory"),
        Refusal::Bare { .. } => refuse("bare-repository", message)
            .hint("run go-team in a work tree of it: git worktree add ../work"),
        Refusal::Ownership { path } => refuse("not-owner", message).hint(format!(
            "if you trust it: git config --global --add safe.directory {}",
            work_tree_of(path).display()
        )),
        Refusal::ObjectFormat { .. } => refuse(
            "object-format",
            format!("{message}, which is not supported yet"),
        )
        .hint("git init --object-format=sha1 makes a repository that is"),
        Refusal::RefStorage { .. } => refuse(
            "ref-storage",
            format!("{message}, which is not supported yet"),
        )
        .hint("git refs migrate --ref-format=files changes it"),
        Refusal::Extension { .. } => refuse("extension", message)
            .hint("git config --local --get-regexp '^extensions' lists what it asks for"),
        Refusal::TooWide { .. } => {
            refuse("too-wide", message).hint("if that is what you want, say so with --force")
        }
    }
}

/// git trusts by work tree, not by git directory.
fn work_tree_of(git_dir: &Path) -> &Path {
    match git_dir.parent() {
        Some(parent) if git_dir.ends_with(".git") => parent,
        _ => git_dir,
    }
}
