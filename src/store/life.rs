//! The journal of a change in a session's life on disk, and the way to the archive and back.

use std::fs;
use std::path::{Path, PathBuf};

use super::durable::{self, on};
use super::{Error, Store, if_there, is_missing};
use crate::model::ids::SessionId;
use crate::model::json::Limits;
use crate::model::life::LifeJournal;

impl Store {
    /// Loads which change in a session's life is under way; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or of another version.
    pub fn load_life_journal(&self) -> Result<Option<LifeJournal>, Error> {
        let path = self.layout().life_journal();
        if_there(Self::read(
            &path,
            Limits::RECORD.bytes,
            LifeJournal::from_file_bytes,
        ))
    }

    /// Writes the journal for good.
    ///
    /// # Errors
    /// When it cannot be written or synced; the change must not begin.
    pub fn write_life_journal(&self, journal: &LifeJournal) -> Result<(), Error> {
        let path = self.layout().life_journal();
        self.write(&path, &journal.to_file_bytes())
    }

    /// Removes the journal for good.
    ///
    /// # Errors
    /// When it cannot be removed or the directory cannot be synced.
    pub fn remove_life_journal(&self) -> Result<(), Error> {
        let path = self.layout().life_journal();
        if durable::remove_file(&path)? {
            durable::sync_parent(&path, self.durability())?;
        }
        Ok(())
    }

    /// Keeps a damaged journal under another name, so that it stands in nobody's way; says where.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn set_life_journal_aside(&self) -> Result<PathBuf, Error> {
        let path = self.layout().life_journal();
        let kept = path.with_extension("json.damaged");
        fs::rename(&path, &kept).map_err(on("set aside", &path))?;
        durable::sync_parent(&path, self.durability())?;
        Ok(kept)
    }

    /// Whether a session is in the archive of failed ones.
    #[must_use]
    pub fn is_archived(&self, session: &SessionId) -> bool {
        let layout = self.layout();
        layout.session(session) == layout.failed_session(session)
    }

    /// Moves a session to the archive, for good; one that is there already stays there.
    ///
    /// # Errors
    /// When there is no such session, one of that id is in both places, or it cannot be moved.
    pub fn archive_session(&self, session: &SessionId) -> Result<(), Error> {
        let layout = self.layout();
        let (from, to) = (layout.open_session(session), layout.failed_session(session));
        durable::create_dir_all(&layout.failed(), self.durability())?;
        self.move_session(&from, &to)
    }

    /// Brings a session back from the archive, for good; one that is not there stays where it is.
    ///
    /// # Errors
    /// When there is no such session, one of that id is in both places, or it cannot be moved.
    pub fn unarchive_session(&self, session: &SessionId) -> Result<(), Error> {
        let layout = self.layout();
        let (from, to) = (layout.failed_session(session), layout.open_session(session));
        self.prepare()?;
        self.move_session(&from, &to)
    }

    fn move_session(&self, from: &Path, to: &Path) -> Result<(), Error> {
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        match (is_there(from), is_there(to)) {
            (true, true) => {
                let path = to.to_owned();
                return Err(Error::Exists { path });
            }
            // A move that was cut short may not be on the disk yet.
            (false, true) => {}
            (_, false) => match fs::rename(from, to) {
                Err(error) if is_missing(&error) => {
                    let path = from.to_owned();
                    return Err(Error::Missing { path });
                }
                result => result.map_err(on("move", from))?,
            },
        }
        durable::sync_parent(to, self.durability())?;
        if from.parent().is_some_and(Path::is_dir) {
            durable::sync_parent(from, self.durability())?;
        }
        Ok(())
    }
}
