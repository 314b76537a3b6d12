//! The journal on disk: there before an operation begins, gone after it has ended.

use super::durable;
use super::{Error, Staged, Store, if_there};
use crate::model::format::FormatError;
use crate::model::ids::SessionId;
use crate::model::journal::{Journal, RollbackJournal};
use crate::model::json::Limits;

impl Store {
    /// Loads what a session's last operation was about; `None` when it came to its end.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or of another version.
    pub fn load_journal(&self, session: &SessionId) -> Result<Option<Journal>, Error> {
        let path = self.layout().journal(session);
        if_there(Self::read(
            &path,
            Limits::RECORD.bytes,
            Journal::from_file_bytes,
        ))
    }

    /// Writes the journal for good, before the operation begins.
    ///
    /// # Errors
    /// When it cannot be written or synced; the operation must not begin.
    pub fn write_journal(&self, journal: &Journal) -> Result<(), Error> {
        let path = self.layout().journal(journal.session());
        self.write(&path, &journal.to_file_bytes())
    }

    /// Writes the journal beside where it will be.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn stage_journal(&self, journal: &Journal) -> Result<Staged, Error> {
        let path = self.layout().journal(journal.session());
        self.stage(&path, &journal.to_file_bytes())
    }

    /// Removes the journal for good, after the operation has ended; says whether there was one.
    ///
    /// # Errors
    /// When it cannot be removed or the directory cannot be synced.
    pub fn remove_journal(&self, session: &SessionId) -> Result<bool, Error> {
        let path = self.layout().journal(session);
        let was_there = durable::remove_file(&path)?;
        if was_there {
            durable::sync_parent(&path, self.durability())?;
        }
        Ok(was_there)
    }

    /// Both journals of a session, each as [`Store::load_journal`] would answer: that of what is published, and that of a
    /// rollback.
    pub fn load_journals(&self, session: &SessionId) -> [Result<Option<Journal>, Error>; 2] {
        let rollback = self.load_rollback_journal(session);
        let rollback = rollback.map(|journal| journal.map(Box::new).map(Journal::Rollback));
        [self.load_journal(session), rollback]
    }

    /// Loads what an unfinished rollback was about.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or of another version.
    pub fn load_rollback_journal(
        &self,
        session: &SessionId,
    ) -> Result<Option<RollbackJournal>, Error> {
        let path = self.layout().rollback_journal(session);
        let parse = |bytes: &[u8]| match Journal::from_file_bytes(bytes)? {
            Journal::Rollback(journal) => Ok(*journal),
            other => Err(FormatError::UnknownOp {
                op: other.op().to_owned(),
            }),
        };
        if_there(Self::read(&path, Limits::MANIFEST.bytes, parse))
    }

    /// Writes the journal of a rollback for good. It has a file of its own: checkpoints may be made while one waits.
    ///
    /// # Errors
    /// When it cannot be written or synced; the rollback must not begin.
    pub fn write_rollback_journal(&self, journal: &RollbackJournal) -> Result<(), Error> {
        let path = self.layout().rollback_journal(&journal.session);
        self.write(
            &path,
            &Journal::Rollback(Box::new(journal.clone())).to_file_bytes(),
        )
    }

    /// Removes the journal of a rollback for good, after its end.
    ///
    /// # Errors
    /// When it cannot be removed or the directory cannot be synced.
    pub fn remove_rollback_journal(&self, session: &SessionId) -> Result<(), Error> {
        let path = self.layout().rollback_journal(session);
        if durable::remove_file(&path)? {
            durable::sync_parent(&path, self.durability())?;
        }
        Ok(())
    }

    /// Removes the journal of an operation that does no harm when it is finished twice: after a power cut it may be
    /// there again.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn drop_journal(&self, session: &SessionId) -> Result<(), Error> {
        durable::remove_file(&self.layout().journal(session))?;
        Ok(())
    }
}
