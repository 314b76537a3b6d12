//! Where an export goes: a temporary file beside its place, synced, and put there only if nothing is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::store::durable::{self, Durability, on};
use crate::store::{Error, platform};

/// How the names of unfinished exports begin.
const TEMP_PREFIX: &str = ".tmp-checkpoint-export-";

/// Where an archive is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// In this directory, under the first name that is free: `<stem>.tar.gz`, `<stem>-2.tar.gz`, …
    Directory {
        /// The directory.
        dir: PathBuf,
        /// The beginning of the name.
        stem: String,
    },
    /// This file, which must not exist.
    File(PathBuf),
}

impl Destination {
    fn dir(&self) -> &Path {
        let dir = match self {
            Self::Directory { dir, .. } => dir,
            Self::File(path) => path.parent().unwrap_or(Path::new("")),
        };
        if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        }
    }
}

/// A file that is being written and not yet in its place. Dropped, it leaves nothing.
pub struct Target {
    temp: NamedTempFile,
    destination: Destination,
    durability: Durability,
}

impl Target {
    /// Begins a file. What killed processes left of theirs in the same directory goes away.
    ///
    /// # Errors
    /// [`Error::Exists`] when the file is there already; else what the system says.
    pub fn create(destination: Destination, durability: Durability) -> Result<Self, Error> {
        if let Destination::File(path) = &destination
            && path.symlink_metadata().is_ok()
        {
            let path = path.clone();
            return Err(Error::Exists { path });
        }
        let dir = destination.dir().to_owned();
        if matches!(destination, Destination::Directory { .. }) {
            durable::create_dir_all(&dir, durability)?;
        }
        clean(&dir);
        let temp = tempfile::Builder::new()
            .prefix(TEMP_PREFIX)
            .make_in(&dir, |path| {
                platform::open_private(
                    OpenOptions::new().read(true).write(true).create_new(true),
                    path,
                )
            })
            .map_err(on("create a file in", &dir))?;
        // The lock says that the writer lives; where there are none, nothing is ever taken for abandoned.
        let _ = temp.as_file().try_lock();
        Ok(Self {
            temp,
            destination,
            durability,
        })
    }

    /// An unnamed file on the same file system.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch(&self) -> Result<File, Error> {
        let dir = self.destination.dir();
        let file = tempfile::tempfile_in(dir).map_err(on("create a file in", dir))?;
        Ok(file)
    }

    /// Makes the file durable and puts it in its place; says where that is.
    ///
    /// # Errors
    /// [`Error::Exists`] when something has come there meanwhile; else what the system says.
    pub fn publish(self) -> Result<PathBuf, Error> {
        let Self {
            mut temp,
            destination,
            durability,
        } = self;
        if durability == Durability::Full {
            let synced = temp.as_file().sync_all();
            synced.map_err(on("sync", temp.path()))?;
        }
        for nth in 1_u32.. {
            let path = match &destination {
                Destination::File(path) => path.clone(),
                Destination::Directory { dir, stem } if nth == 1 => {
                    dir.join(format!("{stem}.tar.gz"))
                }
                Destination::Directory { dir, stem } => dir.join(format!("{stem}-{nth}.tar.gz")),
            };
            temp = match temp.persist_noclobber(&path) {
                Ok(_) => {
                    durable::sync_dir(destination.dir(), durability)?;
                    return Ok(path);
                }
                Err(failed) if failed.error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(on("create", &path)(failed.error).into());
                }
                Err(_) if matches!(destination, Destination::File(_)) => {
                    return Err(Error::Exists { path });
                }
                Err(taken) => taken.file,
            };
        }
        unreachable!("the numbers do not end")
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temp.flush()
    }
}

/// Removes unfinished exports whose writers are gone. Best effort: they are in nobody's way.
pub(in crate::store) fn clean(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes()) {
            continue;
        }
        let abandoned = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if abandoned {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_overwritten_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let destination = || Destination::Directory {
            dir: dir.path().join("exports"),
            stem: "x".to_owned(),
        };
        for _ in 0..3 {
            let mut target = Target::create(destination(), Durability::Full).unwrap();
            target.write_all(b"bytes").unwrap();
            target.publish().unwrap();
        }
        drop(Target::create(destination(), Durability::Full).unwrap());
        let there = ["x-2.tar.gz", "x-3.tar.gz", "x.tar.gz"];
        assert_eq!(names(&dir.path().join("exports")), there);
        let file = Destination::File(dir.path().join("exports/x.tar.gz"));
        let taken = Target::create(file, Durability::Full);
        assert!(matches!(taken, Err(Error::Exists { .. })));
        let file = dir.path().join("y");
        let target = Target::create(Destination::File(file.clone()), Durability::None).unwrap();
        fs::write(&file, b"mine").unwrap();
        assert!(matches!(target.publish(), Err(Error::Exists { .. })));
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        assert_eq!(names(dir.path()), ["exports", "y"]);
    }

    #[test]
    fn what_a_killed_writer_left_goes_and_what_a_running_one_has_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| Destination::File(dir.path().join(name));
        let running = Target::create(file("a"), Durability::None).unwrap();
        fs::write(dir.path().join(".tmp-checkpoint-export-old"), b"half").unwrap();
        let next = Target::create(file("b"), Durability::None).unwrap();
        assert_eq!(names(dir.path()).len(), 2);
        running.publish().unwrap();
        next.publish().unwrap();
        assert_eq!(names(dir.path()), ["a", "b"]);
    }
}
