//! Finishing or undoing what an earlier command left behind when it was killed.

use serde::Serialize;

use super::rebuild::evidence::from_commit;
use super::{Error, Workspace};
use crate::git::snapshot::{reference_of, retract};
use crate::model::{CheckpointId, Entry, Journal, Manifest, RollbackId, SessionId, SessionStatus};
use crate::store;

/// Something that was unfinished and is not any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Recovered {
    /// A checkpoint had been completed; only traces of its making were left.
    Completed {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// A rollback had been interrupted and is complete now.
    RolledBack {
        /// The rollback.
        rollback: RollbackId,
        /// The checkpoint that is current now.
        to: CheckpointId,
    },
    /// A checkpoint had not been completed, was never acknowledged, and is gone.
    Retracted {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// An import had been completed; only traces of it were left.
    ImportCompleted {
        /// The session.
        session: SessionId,
    },
    /// An import had not been completed, was never acknowledged, and is gone.
    ImportRetracted {
        /// The session.
        session: SessionId,
    },
    /// A session's status had been about to change, and has changed now.
    Settled {
        /// The session.
        session: SessionId,
        /// The status that it has now.
        status: SessionStatus,
    },
    /// A session's status had been about to change; its manifest cannot be read, so it has not.
    NotSettled {
        /// The session.
        session: SessionId,
        /// The status that it was to have.
        status: SessionStatus,
    },
    /// A session had been about to be removed, and is gone now.
    Removed {
        /// The session.
        session: SessionId,
    },
    /// What was about to happen to a session as a whole cannot be read any more.
    JournalSetAside {
        /// Where the damaged file is now.
        kept: String,
    },
    /// Checkpoints had been taken from the list, and are gone for good now.
    Deleted {
        /// The checkpoints; none when deleting had not begun.
        checkpoints: Vec<CheckpointId>,
    },
}

impl Workspace {
    /// What an earlier command left unfinished in a session, for commands that only read.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn unfinished(&self, session: &SessionId) -> Result<Option<Journal>, Error> {
        let [published, rollback] = self.store.load_journals(session);
        match rollback? {
            Some(rollback) => Ok(Some(rollback)),
            None => Ok(published?),
        }
    }

    /// Brings the live state's account of checkpoints, and the link to the newest record, up to the manifest.
    fn refresh_state(&self, manifest: &Manifest) -> Result<(), Error> {
        let session = &manifest.session_id;
        let Some(newest) = manifest.newest() else {
            return Ok(());
        };
        // A state that knows of the checkpoint was written with it, or after it by somebody who set a value.
        let live = self.store.load_state(session)?.unwrap_or_default();
        let current = manifest
            .current_checkpoint
            .as_ref()
            .map(CheckpointId::as_str);
        let known = live
            .get("checkpoint.current_checkpoint")
            .and_then(serde_json::Value::as_str);
        if current.is_some() && current == known {
            return Ok(self.store.point_latest(session, &newest.id)?);
        }
        let mut state = match self.store.load_listed(session, newest) {
            Ok(record) => record.state.clone(),
            Err(_) => live,
        };
        state.maintain_checkpoint(
            manifest.current_checkpoint.as_ref(),
            manifest.checkpoints().len(),
            newest.timestamp,
        );
        state.maintain_rollbacks(&manifest.rollback_history);
        self.store
            .stage_state(session, &state)?
            .publish()
            .map_err(store::Error::from)?;
        self.store.point_latest(session, &newest.id)?;
        Ok(self.store.sync_session(session)?)
    }

    /// Finishes or undoes what an earlier command left. The caller holds the lock.
    ///
    /// # Errors
    /// When that fails; it can be tried again.
    pub fn recover(&self, session: &SessionId) -> Result<Vec<Recovered>, Error> {
        self.clear_leftovers(session)?;
        self.recover_journal(session)
    }

    /// Removes what killed processes were writing. The caller holds the lock.
    pub(super) fn clear_leftovers(&self, session: &SessionId) -> Result<(), Error> {
        self.store.clean_work_temps(&self.worktree)?;
        self.store.clean_temps(Some(session))?;
        crate::git::pack::clean_temps(&self.repo)?;
        Ok(self.repo.backend.recover_locks()?)
    }

    /// Finishes or undoes what a journal tells of. The caller holds the lock, and leftovers have been cleared.
    pub(super) fn recover_journal(&self, session: &SessionId) -> Result<Vec<Recovered>, Error> {
        let mut recovered = self.take_recovered();
        recovered.extend(self.recover_import()?);
        recovered.extend(self.finish_create(session)?);
        recovered.extend(self.recover_rollback(session)?);
        Ok(recovered)
    }

    /// The same as [`Workspace::recover`] for checkpoints alone.
    pub(super) fn recover_create(&self, session: &SessionId) -> Result<Vec<Recovered>, Error> {
        self.clear_leftovers(session)?;
        self.finish_create(session)
    }

    /// Puts back the ref and the record of a checkpoint that the manifest lists, where a power cut took their names: they
    /// reach the disk together with the manifest's.
    fn restore_names(&self, session: &SessionId, entry: &Entry) -> Result<(), Error> {
        let Some(commit) = entry.commit_hash else {
            return Ok(());
        };
        let reference = reference_of(session, &entry.id);
        let backend = &*self.repo.backend;
        if backend.reference(&reference)?.is_none() {
            backend.create_reference(&reference, commit, self.sync())?;
        }
        if matches!(
            self.store.load_record(session, &entry.id),
            Err(store::Error::Missing { .. })
        ) && let Ok(record) = from_commit(backend, session, &entry.id, &commit)
            && record.checksum() == entry.checksum
        {
            let staged = self.store.stage_record(&record)?;
            staged.publish().map_err(store::Error::from)?;
            self.store.sync_session(session)?;
        }
        Ok(())
    }

    fn finish_create(&self, session: &SessionId) -> Result<Vec<Recovered>, Error> {
        let Some(journal) = self.store.load_journal(session)? else {
            return Ok(Vec::new());
        };
        let recovered = match &journal {
            Journal::Rollback(_) => return Ok(Vec::new()),
            Journal::Create(create) => {
                let manifest = self.store.load_manifest(session)?;
                let checkpoint = create.checkpoint.clone();
                if let Some(entry) = manifest.entry(&checkpoint) {
                    self.restore_names(session, entry)?;
                    if let Some(pack) = &create.keep {
                        crate::git::pack::release_in(&self.repo, pack)?;
                    }
                    for id in create
                        .prune
                        .iter()
                        .filter(|id| manifest.entry(id).is_none())
                    {
                        self.remove_checkpoint(session, id, None)?;
                    }
                    self.refresh_state(&manifest)?;
                    Recovered::Completed { checkpoint }
                } else {
                    self.store.remove_record(session, &checkpoint)?;
                    retract(
                        &self.repo,
                        &reference_of(session, &checkpoint),
                        create.keep.as_deref(),
                    )?;
                    Recovered::Retracted { checkpoint }
                }
            }
            Journal::Delete(delete) => {
                let manifest = self.store.load_manifest(session)?;
                let gone = delete.checkpoints.iter();
                let gone = gone.filter(|id| manifest.entry(id).is_none());
                let checkpoints: Vec<CheckpointId> = gone.cloned().collect();
                for id in &checkpoints {
                    self.remove_checkpoint(session, id, None)?;
                }
                self.refresh_state(&manifest)?;
                Recovered::Deleted { checkpoints }
            }
        };
        self.store.remove_journal(session)?;
        Ok(vec![recovered])
    }
}
