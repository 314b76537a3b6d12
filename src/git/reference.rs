//! A new ref as a file: written aside, synced when everything else is, and put in its place in one instant.
//!
//! Written here and not by libgit2, which never syncs and leaves a lock behind when killed. The name is new, so no git
//! command can be holding its lock.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::backend::Sync;
use super::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// How often a ref is put in place anew when its directory vanishes.
const ATTEMPTS: usize = 20;

/// What happens to a ref of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placing {
    /// There must be none.
    New,
    /// It goes.
    Over,
}

/// A ref that is written but not yet there. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct StagedRef {
    file: tempfile::NamedTempFile,
    common_dir: PathBuf,
    name: String,
}

impl StagedRef {
    /// Writes the ref into `scratch`, which is on the file system of the repository.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(
        common_dir: &Path,
        scratch: &Path,
        name: &str,
        id: ObjectId,
    ) -> Result<Self, Error> {
        fs::create_dir_all(scratch).at("create directory", scratch)?;
        let mut file = tempfile::Builder::new()
            .prefix(".tmp-ref-")
            .tempfile_in(scratch)
            .at("create temporary file in", scratch)?;
        file.write_all(format!("{id}\n").as_bytes())
            .at("write", file.path())?;
        set_readable(&file)?;
        Ok(Self {
            file,
            common_dir: common_dir.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The file whose content must reach the disk before [`StagedRef::publish`].
    #[must_use]
    pub fn file(&self) -> (&fs::File, &Path) {
        (self.file.as_file(), self.file.path())
    }

    /// Makes the content durable.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&self, sync: Sync) -> Result<(), Error> {
        match sync {
            Sync::Durable => self.file.as_file().sync_all().at("sync", self.file.path()),
            Sync::Lazy => Ok(()),
        }
    }

    /// Puts the ref in its place. Its name is not durable before [`PlacedRef::sync`].
    ///
    /// # Errors
    /// When there is one of that name, or it cannot be put there.
    pub fn publish(self, sync: Sync) -> Result<PlacedRef, Error> {
        self.place(sync, Placing::New)
    }

    /// Puts the ref in its place, whatever was there. Its name is not durable before [`PlacedRef::sync`].
    ///
    /// # Errors
    /// When it cannot be put there.
    pub fn replace(self, sync: Sync) -> Result<PlacedRef, Error> {
        self.place(sync, Placing::Over)
    }

    fn place(self, sync: Sync, placing: Placing) -> Result<PlacedRef, Error> {
        let Self {
            mut file,
            common_dir,
            name,
        } = self;
        let place = common_dir.join(&name);
        let dir = place.parent().expect("a ref lies in a directory");
        // A running `git pack-refs` may remove the directory while it is empty.
        for attempt in 1.. {
            create_dirs(&common_dir, dir, sync)?;
            let placed = match placing {
                Placing::New => file.persist_noclobber(&place),
                Placing::Over => file.persist(&place),
            };
            let Err(failed) = placed else { break };
            match failed.error.kind() {
                ErrorKind::NotFound if attempt < ATTEMPTS => file = failed.file,
                ErrorKind::AlreadyExists => return Err(Error::RefExists { name }),
                _ => return Err(failed.error).at("create", &place),
            }
        }
        Ok(PlacedRef {
            dir: dir.to_owned(),
            common_dir,
            sync,
        })
    }
}

/// A ref that is in its place.
#[derive(Debug)]
#[must_use = "its name is not durable yet"]
pub struct PlacedRef {
    dir: PathBuf,
    common_dir: PathBuf,
    sync: Sync,
}

impl PlacedRef {
    /// Makes the ref's name durable.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&self) -> Result<(), Error> {
        if self.sync == Sync::Lazy {
            return Ok(());
        }
        match fs::File::open(&self.dir) {
            // A running `git pack-refs` has taken the ref into its own file and removed the empty directory.
            Err(error) if error.kind() == ErrorKind::NotFound => super::sync_dir(&self.common_dir),
            opened => opened
                .and_then(|dir| dir.sync_all())
                .at("sync directory", &self.dir),
        }
    }
}

/// Creates the directories from `top` down to `dir`, so that each new name is on the disk too.
fn create_dirs(top: &Path, dir: &Path, sync: Sync) -> Result<(), Error> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent().filter(|_| dir != top) {
        create_dirs(top, parent, sync)?;
    }
    match fs::create_dir(dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error).at("create directory", dir);
        }
        _ => {}
    }
    if let (Sync::Durable, Some(parent)) = (sync, dir.parent()) {
        super::sync_dir(parent)?;
    }
    Ok(())
}

/// Refs are as readable as git makes them: whoever may read the directory may read the ref.
fn set_readable(file: &tempfile::NamedTempFile) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))
        .at("set permissions of", file.path())
}
