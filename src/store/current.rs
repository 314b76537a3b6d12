//! Which session a work tree is in, on disk.

use super::durable;
use super::{Error, Store, WorktreeKey, if_there};
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

    /// Whether a session is the active one of another work tree than `key`'s.
    ///
    /// # Errors
    /// When the directory of work trees cannot be read.
    pub fn is_bound_elsewhere(
        &self,
        session: &SessionId,
        key: &WorktreeKey,
    ) -> Result<bool, Error> {
        self.is_bound_to(session, |name| name != key.as_str())
    }

    /// Whether a session is the active one of any work tree.
    ///
    /// # Errors
    /// When the directory of work trees cannot be read.
    pub fn is_bound(&self, session: &SessionId) -> Result<bool, Error> {
        self.is_bound_to(session, |_| true)
    }

    /// Pointers that cannot be read say nothing.
    fn is_bound_to(
        &self,
        session: &SessionId,
        counts: impl Fn(&std::ffi::OsStr) -> bool,
    ) -> Result<bool, Error> {
        let dir = self.layout().worktrees();
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(source) => {
                let op = "read";
                return Err(durable::IoError {
                    op,
                    path: dir,
                    source,
                }
                .into());
            }
        };
        let mut counted = entries.flatten().filter(|entry| counts(&entry.file_name()));
        Ok(counted.any(|entry| {
            let path = entry.path().join("current");
            let pointer = Self::read(&path, Limits::INPUT.bytes, CurrentPointer::from_file_bytes);
            pointer.is_ok_and(|pointer| pointer.session_id == *session)
        }))
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
