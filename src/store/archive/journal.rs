//! The journal of an import on disk: there before the first change that others could see, gone after the last.

use crate::model::archive::ImportJournal;
use crate::model::json::Limits;
use crate::store::{Error, Store, durable, if_there};

impl Store {
    /// Loads what an import was about; `None` when it came to its end.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or of another version.
    pub fn load_import_journal(&self) -> Result<Option<ImportJournal>, Error> {
        let path = self.layout().import_journal();
        if_there(Self::read(
            &path,
            Limits::MANIFEST.bytes,
            ImportJournal::from_file_bytes,
        ))
    }

    /// Writes the journal for good.
    ///
    /// # Errors
    /// When it cannot be written or synced; the import must not go on.
    pub fn write_import_journal(&self, journal: &ImportJournal) -> Result<(), Error> {
        let path = self.layout().import_journal();
        self.write(&path, &journal.to_file_bytes())
    }

    /// Removes the journal for good.
    ///
    /// # Errors
    /// When it cannot be removed or the directory cannot be synced.
    pub fn remove_import_journal(&self) -> Result<(), Error> {
        let path = self.layout().import_journal();
        if durable::remove_file(&path)? {
            durable::sync_parent(&path, self.durability())?;
        }
        Ok(())
    }
}
