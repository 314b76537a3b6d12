//! The work trees of a repository, as git lists them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::open::Repo;

/// A work tree that git knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    /// git's name for it; none for the main one.
    pub name: Option<OsString>,
    /// Its root.
    pub path: PathBuf,
    /// Whether its directory is there.
    pub is_there: bool,
    /// Whether it may be elsewhere for a while: on a disk that is not always there.
    pub is_locked: bool,
}

/// All work trees, the main one first. One whose files git cannot read is left out.
#[must_use]
pub fn list(repo: &Repo) -> Vec<WorkTree> {
    let beside = repo.common_dir.parent();
    let main = match &repo.worktree_name {
        None => repo.work_dir.clone(),
        Some(_) if repo.common_dir.ends_with(".git") => {
            beside.map_or_else(|| repo.common_dir.clone(), Path::to_owned)
        }
        // Where a repository lies apart from its main work tree, only that one knows the way.
        Some(_) => repo.common_dir.clone(),
    };
    let mut all = vec![WorkTree {
        name: None,
        is_there: main.is_dir(),
        path: main,
        is_locked: false,
    }];
    let linked = fs::read_dir(repo.common_dir.join("worktrees"));
    let linked = linked.into_iter().flatten().flatten();
    all.extend(linked.filter_map(|entry| {
        let path = root(&entry.path())?;
        Some(WorkTree {
            name: Some(entry.file_name()),
            is_there: path.is_dir(),
            path,
            is_locked: entry.path().join("locked").exists(),
        })
    }));
    all
}

/// Where git's directory for a linked work tree says that the work tree is.
fn root(dir: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut text = fs::read(dir.join("gitdir")).ok()?;
    text.truncate(text.trim_ascii_end().len());
    // git can be told to write it relative to its own directory.
    let link = dir.join(PathBuf::from(OsString::from_vec(text)));
    Some(link.parent()?.to_owned())
}
