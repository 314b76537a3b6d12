//! The index file, replaced without a lock of git's.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::git::backend::Sync;
use crate::git::index::{location, stamp};
use crate::git::open::Repo;
use crate::git::stamp::Stamp;
use crate::git::{Error, IoContext as _};

/// How long a git command beside us may hold its lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is known of the index that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing: it may be that of either side.
    Anything,
    /// It is as it was looked at.
    Unmoved(Option<Stamp>),
}

/// The lock of git's that is there, if one is.
#[must_use]
pub fn foreign_lock(repo: &Repo) -> Option<PathBuf> {
    let lock = repo.git_dir.join("index.lock");
    lock.symlink_metadata().is_ok().then_some(lock)
}

/// Where the new index waits until it is complete.
fn waiting(repo: &Repo, token: &str) -> PathBuf {
    repo.git_dir.join(format!("go-team-index-{token}"))
}

/// Removes what a killed process left.
///
/// # Errors
/// When it cannot be removed.
pub fn clean(repo: &Repo, token: &str) -> Result<(), Error> {
    let path = waiting(repo, token);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

pub(super) fn replace(
    repo: &Repo,
    bytes: &[u8],
    expected: Expected,
    token: &str,
    sync: Sync,
) -> Result<(), Error> {
    let place = location(&repo.git_dir);
    let temp = waiting(repo, token);
    for attempt in 1.. {
        wait_for_git(repo)?;
        let now = stamp(&repo.git_dir)?;
        let is_moved = matches!(expected, Expected::Unmoved(then) if then != now);
        if attempt == 1 && is_moved {
            return Err(Error::Touched { path: place });
        }
        let written = write_file(&temp, bytes, &place, sync).and_then(|inode| {
            fs::rename(&temp, &place).at("replace", &place)?;
            Ok(inode)
        });
        let inode = match written {
            Ok(inode) => inode,
            Err(error) => {
                // Best effort: the journal knows its name.
                let _ = fs::remove_file(&temp);
                return Err(error);
            }
        };
        if sync == Sync::Durable {
            crate::git::sync_dir(&repo.git_dir)?;
        }
        // A git command that had read the old index may be about to write it back.
        wait_for_git(repo)?;
        let is_ours = fs::symlink_metadata(&place).is_ok_and(|meta| meta.ino() == inode);
        if is_ours {
            return Ok(());
        }
        if attempt == 3 {
            return Err(Error::Touched { path: place });
        }
    }
    unreachable!("the attempts end")
}

fn write_file(temp: &Path, bytes: &[u8], place: &Path, sync: Sync) -> Result<u64, Error> {
    let mut file = fs::File::create(temp).at("create", temp)?;
    file.write_all(bytes).at("write", temp)?;
    let bits = fs::metadata(place).map_or(0o644, |meta| meta.permissions().mode() & 0o777);
    file.set_permissions(fs::Permissions::from_mode(bits))
        .at("set permissions of", temp)?;
    if sync == Sync::Durable {
        file.sync_all().at("sync", temp)?;
    }
    Ok(file.metadata().at("stat", temp)?.ino())
}

fn wait_for_git(repo: &Repo) -> Result<(), Error> {
    let start = Instant::now();
    while let Some(path) = foreign_lock(repo) {
        if start.elapsed() > PATIENCE {
            return Err(Error::Locked { path });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
