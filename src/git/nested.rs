//! Repositories inside the work tree: submodules and others. They are recorded as a commit and left alone.

use std::path::Path;

use crate::model::object_id::ObjectId;

/// What a directory with a `.git` inside is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nested {
    /// A repository whose HEAD is this commit.
    At(ObjectId),
    /// A repository that cannot be recorded: it has no commit, or it cannot be opened.
    Unrecordable,
    /// No repository.
    No,
}

/// Looks into a directory.
pub(super) fn inspect(dir: &Path) -> Nested {
    if dir.join(".git").symlink_metadata().is_err() {
        return Nested::No;
    }
    let flags = git2::RepositoryOpenFlags::NO_SEARCH;
    match git2::Repository::open_ext(dir, flags, &[] as &[&Path]) {
        Ok(repo) => {
            let head = repo.refname_to_id("HEAD");
            head.ok()
                .and_then(|id| ObjectId::from_bytes(id.as_bytes()).ok())
                .map_or(Nested::Unrecordable, Nested::At)
        }
        Err(error) if error.code() == git2::ErrorCode::NotFound => Nested::No,
        Err(_) => Nested::Unrecordable,
    }
}
