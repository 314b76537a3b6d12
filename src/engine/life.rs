//! What happens to sessions as a whole: they get another status, go to the archive and come back, are removed.
//!
//! Each change is written to a journal first and then made in steps that can be taken twice. Killed on the way, the next
//! command that takes the lock makes it whole before it does anything else. A session's directory is the first thing to
//! go when it is removed, so nobody ever sees half a session.

use serde::Serialize;

use super::recover::Recovered;
use super::summary::path_text;
use super::{Error, Workspace};
use crate::git::worktrees::{self, WorkTree};
use crate::model::life::{LifeChange, LifeJournal};
use crate::model::{CurrentPointer, Manifest, SessionId, SessionStatus, StatusChange, timestamp};
use crate::store::{self, WorktreeKey};

/// What was removed with a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// How many refs.
    pub refs: usize,
    /// How many work trees were left without a session.
    pub work_trees: usize,
}

impl Workspace {
    /// Gives a session another status, for good. Failed ones go to the archive, others come back from it. The caller
    /// holds the lock, and has recovered the session.
    ///
    /// # Errors
    /// When there is no such session, its manifest cannot be read, or something cannot be written; the next command
    /// finishes then what was begun.
    pub fn settle(
        &self,
        session: &SessionId,
        status: SessionStatus,
        reason: &str,
    ) -> Result<Manifest, Error> {
        self.store.load_manifest(session)?;
        let journal = self.begin_change(
            session,
            LifeChange::Settle {
                status,
                reason: reason.to_owned(),
            },
        )?;
        let manifest = self.take_on(&journal, status, reason)?;
        self.store.remove_life_journal()?;
        Ok(manifest)
    }

    /// Brings a session back to life, whatever became of it, and makes it this work tree's own. The caller holds the
    /// lock, and has recovered the session.
    ///
    /// # Errors
    /// As [`Workspace::settle`]; and when another work tree is in it.
    pub fn reopen(&self, session: &SessionId, reason: &str) -> Result<Manifest, Error> {
        if self.is_bound_elsewhere(session)? {
            let session = session.clone();
            return Err(Error::OtherWorktree { session });
        }
        let mut manifest = self.store.load_manifest(session)?;
        if manifest.status != SessionStatus::Active || self.store.is_archived(session) {
            manifest = self.settle(session, SessionStatus::Active, reason)?;
        }
        let pointer = CurrentPointer::new(session.clone(), self.clock.now());
        self.store.write_current(&self.worktree, &pointer)?;
        Ok(manifest)
    }

    /// Removes a session for good: its directory, its refs, and the pointers of work trees at it. The caller holds the
    /// lock, and has seen to it that nobody needs the session.
    ///
    /// # Errors
    /// When there is no such session, or something cannot be removed; the next command finishes then what was begun.
    pub fn remove_session(&self, session: &SessionId) -> Result<Removed, Error> {
        if !self.store.has_session(session) {
            return Err(Error::NoSuchSession {
                wanted: session.clone(),
                known: self.session_ids()?,
            });
        }
        self.begin_change(session, LifeChange::Remove)?;
        let removed = self.take_away(session)?;
        self.store.remove_life_journal()?;
        Ok(removed)
    }

    /// Finishes what was begun with a session as a whole. The caller holds the lock.
    ///
    /// # Errors
    /// When that fails; it can be tried again.
    pub(super) fn recover_life(&self) -> Result<Option<Recovered>, Error> {
        let journal = match self.store.load_life_journal() {
            Ok(Some(journal)) => journal,
            Ok(None) => return Ok(None),
            Err(store::Error::Damaged { .. } | store::Error::TooLarge { .. }) => {
                let kept = path_text(&self.store.set_life_journal_aside()?);
                return Ok(Some(Recovered::JournalSetAside { kept }));
            }
            Err(error) => return Err(error.into()),
        };
        let session = journal.session.clone();
        let recovered = match &journal.change {
            LifeChange::Remove => {
                self.take_away(&session)?;
                Recovered::Removed { session }
            }
            LifeChange::Settle { status, reason } => {
                let status = *status;
                match self.take_on(&journal, status, reason) {
                    Ok(_) => Recovered::Settled { session, status },
                    Err(error @ Error::Store(store::Error::Io(_))) => return Err(error),
                    // Its manifest is gone or damaged: what stands in the way of this must not stand in the way of
                    // rebuilding it.
                    Err(_) => Recovered::NotSettled { session, status },
                }
            }
        };
        // A session that was half removed has a temporary name, which nothing else would come across.
        self.store.clean_temps(None)?;
        self.store.remove_life_journal()?;
        Ok(Some(recovered))
    }

    fn begin_change(&self, session: &SessionId, change: LifeChange) -> Result<LifeJournal, Error> {
        let journal = LifeJournal {
            session: session.clone(),
            change,
            started_at: timestamp::to_millis(self.clock.now()),
        };
        self.store.write_life_journal(&journal)?;
        Ok(journal)
    }

    /// The steps of a new status.
    fn take_on(
        &self,
        journal: &LifeJournal,
        status: SessionStatus,
        reason: &str,
    ) -> Result<Manifest, Error> {
        let session = &journal.session;
        let mut manifest = self.store.load_manifest(session)?;
        let change = StatusChange {
            reason: reason.to_owned(),
            status,
            timestamp: journal.started_at,
        };
        if manifest.status_history.last() != Some(&change) {
            manifest.settle(change);
            self.replace_manifest(&manifest)?;
        }
        if status == SessionStatus::Failed {
            self.store.archive_session(session)?;
        } else {
            self.store.unarchive_session(session)?;
        }
        Ok(manifest)
    }

    /// The steps of a removal.
    fn take_away(&self, session: &SessionId) -> Result<Removed, Error> {
        match self.store.remove_session(session) {
            Ok(()) | Err(store::Error::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let dir = format!("refs/go-team/{session}");
        Ok(Removed {
            refs: self.repo.backend.clear_references(&dir, self.sync())?,
            work_trees: self.store.unbind(session)?,
        })
    }

    /// Whether another work tree is in a session. One that git does not know any more is in none.
    ///
    /// # Errors
    /// When the pointers of work trees cannot be read.
    pub fn is_bound_elsewhere(&self, session: &SessionId) -> Result<bool, Error> {
        let bound = self.store.bound_to(session)?;
        let mut others = bound.iter().filter(|name| *name != self.worktree.as_str());
        Ok(others.any(|name| self.living_work_trees().any(|key| *name == key.as_str())))
    }

    /// The keys of the work trees that git knows and whose directories may be there.
    fn living_work_trees(&self) -> impl Iterator<Item = WorktreeKey> {
        let known = self.work_trees().into_iter();
        known.filter_map(|tree| (tree.is_there || tree.is_locked).then(|| key_of(&tree)))
    }

    /// The work trees that git knows.
    pub(super) fn work_trees(&self) -> Vec<WorkTree> {
        worktrees::list(&self.repo)
    }
}

/// The key of a work tree in the store.
pub(super) fn key_of(tree: &WorkTree) -> WorktreeKey {
    use std::os::unix::ffi::OsStrExt as _;
    match &tree.name {
        None => WorktreeKey::main(),
        Some(name) => WorktreeKey::linked(name.as_bytes()),
    }
}
