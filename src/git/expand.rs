//! Directories that a sparse index names as a whole, made into their files where they are on disk all the same.

use gix_worktree::index as gix_index;
use gix_worktree::index::entry::{Flags, Mode as EntryMode, Stat};

use super::Error;
use super::hash::Kind;
use super::open::Repo;
use super::rules::{as_path, bstr};
use super::tree::{self, Mode};
use crate::model::object_id::ObjectId;

/// git does the same when it meets such a directory; what is in it is then compared file by file.
pub(super) fn expand(state: &mut gix_index::State, repo: &Repo) -> Result<(), Error> {
    expand_where(state, repo, &|path| is_dir(repo, path))
}

/// The same for all such directories, on disk or not.
pub(super) fn expand_all(state: &mut gix_index::State, repo: &Repo) -> Result<(), Error> {
    expand_where(state, repo, &|_| true)
}

fn expand_where(
    state: &mut gix_index::State,
    repo: &Repo,
    is_meant: &dyn Fn(&[u8]) -> bool,
) -> Result<(), Error> {
    let whole: Vec<(Vec<u8>, ObjectId)> = state
        .entries()
        .iter()
        .filter(|entry| entry.mode == EntryMode::DIR)
        .map(|entry| (entry.path(state).to_vec(), entry.id))
        .filter(|(path, _)| is_meant(path))
        .filter_map(|(path, id)| Some((path, ObjectId::from_bytes(id.as_bytes()).ok()?)))
        .collect();
    if whole.is_empty() {
        return Ok(());
    }
    state.remove_entries(|_, path, entry| {
        let is_listed = || whole.iter().any(|(whole, _)| path == bstr(whole));
        entry.mode == EntryMode::DIR && is_listed()
    });
    for (path, id) in &whole {
        add_below(state, repo, path, *id)?;
    }
    state.sort_entries();
    Ok(())
}

fn is_dir(repo: &Repo, path: &[u8]) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let meta = repo.work_dir.join(as_path(path)).symlink_metadata();
    meta.is_ok_and(|meta| meta.is_dir())
}

/// Adds the files of a tree; `path` ends in a slash.
fn add_below(
    state: &mut gix_index::State,
    repo: &Repo,
    path: &[u8],
    id: ObjectId,
) -> Result<(), Error> {
    let missing = || Error::Damaged {
        what: format!("the tree {id} of the sparse index"),
    };
    let object = repo.backend.read(&id)?.ok_or_else(missing)?;
    if object.kind != Kind::Tree {
        return Err(missing());
    }
    for entry in tree::decode(repo.backend.format(), &object.bytes)? {
        let mut below = path.to_vec();
        below.extend_from_slice(entry.name);
        let mode = match entry.mode {
            Mode::Tree => {
                below.push(b'/');
                add_below(state, repo, &below, entry.id)?;
                continue;
            }
            Mode::File => EntryMode::FILE,
            Mode::Executable => EntryMode::FILE_EXECUTABLE,
            Mode::Symlink => EntryMode::SYMLINK,
            Mode::Gitlink => EntryMode::COMMIT,
        };
        let id = gix_hash::ObjectId::try_from(entry.id.as_bytes()).map_err(|_| missing())?;
        let flags = Flags::SKIP_WORKTREE | Flags::EXTENDED;
        state.dangerously_push_entry(Stat::default(), id, flags, mode, bstr(&below));
    }
    Ok(())
}
