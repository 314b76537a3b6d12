//! Finishing or undoing an import that was cut short.

use std::collections::BTreeMap;

use super::named;
use crate::engine::recover::Recovered;
use crate::engine::{Error, Workspace};
use crate::git::pack::release_in;
use crate::git::snapshot::reference_of;

impl Workspace {
    /// Brings an import to its end that has a journal: with the session there it is complete, without it the refs go.
    /// The caller holds the lock.
    ///
    /// # Errors
    /// When that fails; it can be tried again.
    pub(in crate::engine) fn recover_import(&self) -> Result<Option<Recovered>, Error> {
        let Some(journal) = self.store.load_import_journal()? else {
            return Ok(None);
        };
        let session = journal.session.clone();
        let recovered = if self.store.has_session(&session) {
            Recovered::ImportCompleted { session }
        } else {
            let mut ours = BTreeMap::new();
            for (id, commit) in &journal.refs {
                let found = self.repo.backend.reference(&reference_of(&session, id))?;
                if found == Some(*commit) {
                    ours.insert(id.clone(), *commit);
                }
            }
            let refs = named(&session, &ours);
            self.repo.backend.delete_references(&refs)?;
            Recovered::ImportRetracted { session }
        };
        for pack in &journal.keep {
            release_in(&self.repo, pack)?;
        }
        self.store.remove_import_journal()?;
        Ok(Some(recovered))
    }
}
