//! Which session a work tree is in, on disk.

use std::ffi::OsString;
use std::fs;

use super::durable::{self, on};
use super::{Error, Store, WorktreeKey, if_there, is_missing};
use crate::model::current::CurrentPointer;
use crate::model::ids::SessionId;
use crate::model::json::Limits;

impl Store {
    /// The active session of a work tree; `None` when there is none.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or of another version.
    pub fn load_current(&self, key: &WorktreeKey) -> Result<Option<CurrentPointer>, Error> {
        let path = self.layout().current(key);
        if_there(Self::read(
            &path,
            Limits::INPUT.bytes,
            CurrentPointer::from_file_bytes,
        ))
    }

    /// Makes a session the active one of a work tree, for good.
    ///
    /// # Errors
    /// When the file or its directory cannot be written or synced.
    pub fn write_current(&self, key: &WorktreeKey, current: &CurrentPointer) -> Result<(), Error> {
        durable::create_dir_all(&self.layout().worktree(key), self.durability())?;
        self.write(&self.layout().current(key), &current.to_file_bytes())
    }

    /// The directories of the work trees whose active session this is, by name. A pointer that cannot be read says
    /// nothing.
    ///
    /// # Errors
    /// When the directory of work trees cannot be read.
    pub fn bound_to(&self, session: &SessionId) -> Result<Vec<OsString>, Error> {
        let dir = self.layout().worktrees();
        let entries = match fs::read_dir(&dir) {
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            entries => entries.map_err(on("read", &dir))?,
        };
        let mut bound = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path().join("current");
            let pointer = Self::read(&path, Limits::INPUT.bytes, CurrentPointer::from_file_bytes);
            if pointer.is_ok_and(|pointer| pointer.session_id == *session) {
                bound.push(entry.file_name());
            }
        }
        bound.sort();
        Ok(bound)
    }

    /// Leaves every work tree that is in a session without an active one, for good; says how many there were.
    ///
    /// # Errors
    /// When a pointer cannot be removed or a directory cannot be synced.
    pub fn unbind(&self, session: &SessionId) -> Result<usize, Error> {
        let bound = self.bound_to(session)?;
        for name in &bound {
            let path = self.layout().worktrees().join(name).join("current");
            if durable::remove_file(&path)? {
                durable::sync_parent(&path, self.durability())?;
            }
        }
        Ok(bound.len())
    }

    /// Leaves a work tree without an active session, for good; says whether it had one.
    ///
    /// # Errors
    /// When the file cannot be removed or the directory cannot be synced.
    pub fn clear_current(&self, key: &WorktreeKey) -> Result<bool, Error> {
        let path = self.layout().current(key);
        let was_there = durable::remove_file(&path)?;
        if was_there {
            durable::sync_parent(&path, self.durability())?;
        }
        Ok(was_there)
    }
}
