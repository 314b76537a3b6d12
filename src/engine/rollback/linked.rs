//! The linked state file, which is the orchestrator's own: it gets back what it wrote.
//!
//! It waits for its rename under a name that tells the rollback, as the other files do, so that the next command knows what
//! a killed one left beside it.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::git::restore::TEMP_PREFIX;
use crate::git::{Error, IoContext as _};
use crate::store::{Durability, durable};

/// Where the file waits.
fn waiting(place: &Path, token: &str) -> PathBuf {
    place.with_file_name(format!("{TEMP_PREFIX}{token}-state"))
}

/// Removes what a killed process left beside the file.
///
/// # Errors
/// When it cannot be removed.
pub(super) fn clean(place: &Path, token: &str) -> Result<(), Error> {
    let temp = waiting(place, token);
    remove(&temp).at("remove", &temp)
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        removed => removed,
    }
}

/// Writes the file, and says why where it may not be written. No link is followed, and a link on the way must not lead out
/// of the work tree.
///
/// # Errors
/// When it may be written and that failed.
pub(super) fn write(
    top: &Path,
    place: &Path,
    bytes: &[u8],
    token: &str,
    durability: Durability,
) -> Result<Option<String>, Error> {
    let say = |why: &str| Ok(Some(format!("{} was not written: {why}", place.display())));
    let permissions = match place.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => return say("it is a symbolic link"),
        Ok(meta) if !meta.is_file() => return say("it is no file"),
        Ok(meta) => Some(meta.permissions()),
        Err(_) => None,
    };
    let there = place
        .ancestors()
        .skip(1)
        .find(|dir| dir.symlink_metadata().is_ok());
    let (there, home) = (there.map(Path::canonicalize), top.canonicalize());
    if place.starts_with(top)
        && !matches!((&there, &home), (Some(Ok(there)), Ok(home)) if there.starts_with(home))
    {
        return say("a symbolic link on the way leads out of the work tree");
    }
    if let Ok(Some(now)) = durable::read_limited(place, bytes.len())
        && now == bytes
    {
        return Ok(None);
    }
    let temp = waiting(place, token);
    let refused = [
        ErrorKind::PermissionDenied,
        ErrorKind::ReadOnlyFilesystem,
        ErrorKind::NotADirectory,
    ];
    match replace(place, &temp, bytes, permissions, durability) {
        Ok(()) => Ok(None),
        Err(error) => {
            let _ = remove(&temp);
            if refused.contains(&error.kind()) {
                return say(&error.to_string());
            }
            Err(error).at("write", place)
        }
    }
}

/// Puts the new file in the place of the old one, in one step and with its permissions.
fn replace(
    place: &Path,
    temp: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
    durability: Durability,
) -> io::Result<()> {
    let dir = place.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    remove(temp)?;
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(temp)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    if durability == Durability::Full {
        file.sync_all()?;
    }
    std::fs::rename(temp, place)?;
    durable::sync_dir(dir, durability).map_err(|error| error.source)
}
