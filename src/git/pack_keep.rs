//! What keeps a new pack from `git gc` until a ref holds its objects, and what killed writers leave of packs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::open::Repo;
use super::pack::{TEMP_INDEX, TEMP_PACK};
use super::{Error, IoContext as _};

/// What is in a `.keep` file of go-team's.
pub(super) const KEEP: &[u8] = b"go-team: a checkpoint is being published\n";
/// No checkpoint takes that long to be published.
const KEPT_TOO_LONG: Duration = Duration::from_secs(3600);

/// Makes the names of packs durable.
///
/// # Errors
/// When the disk does not take them.
pub fn sync_dir_of(repo: &Repo) -> Result<(), Error> {
    super::sync_dir(&repo.pack_dir())
}

/// Removes the `.keep` file that a killed writer left on a pack of this repository.
///
/// # Errors
/// When the file is there and cannot be removed.
pub fn release_in(repo: &Repo, name: &str) -> Result<(), Error> {
    if !super::repack::is_pack_name(name) {
        return Err(Error::Damaged {
            what: format!("the name of a pack: {name:?}"),
        });
    }
    release(&repo.pack_dir(), name)
}

/// Removes what killed processes left of packs they were writing. Only for the holder of the lock.
///
/// # Errors
/// When the directory cannot be read or a file cannot be removed.
pub fn clean_temps(repo: &Repo) -> Result<(), Error> {
    let dir = repo.pack_dir();
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.at("read", &dir)?,
    };
    for entry in entries {
        let entry = entry.at("read", &dir)?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(TEMP_PACK.as_bytes()) || name.starts_with(TEMP_INDEX.as_bytes()) {
            fs::remove_file(entry.path()).at("remove", entry.path())?;
        }
        if name.ends_with(b".keep") && is_forgotten(&entry.path()) {
            fs::remove_file(entry.path()).at("remove", entry.path())?;
        }
    }
    Ok(())
}

/// Whether a `.keep` file is one of go-team's whose journal a power cut took.
fn is_forgotten(keep: &Path) -> bool {
    let age = keep
        .metadata()
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > KEPT_TOO_LONG) && fs::read(keep).is_ok_and(|text| text == KEEP)
}

/// Removes the `.keep` file of a pack; a missing one is fine.
pub(super) fn release(dir: &Path, name: &str) -> Result<(), Error> {
    let keep = dir.join(format!("{name}.keep"));
    match fs::remove_file(&keep) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).at("remove", &keep)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_files_of_our_own_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let keep = dir.path().join("pack-1.keep");
        let old = std::time::SystemTime::now() - 2 * KEPT_TOO_LONG;
        let write = |text: &[u8], time| {
            fs::write(&keep, text).unwrap();
            let file = fs::File::options().write(true).open(&keep).unwrap();
            file.set_modified(time).unwrap();
            is_forgotten(&keep)
        };
        assert!(write(KEEP, old));
        assert!(!write(KEEP, std::time::SystemTime::now()));
        assert!(!write(b"mine", old));
        assert!(!write(b"", old));
        assert!(!is_forgotten(&dir.path().join("pack-2.keep")));
    }
}
