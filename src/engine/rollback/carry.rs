//! Carrying a rollback out, or back: files, index, branches, HEAD, state, manifest, in this order.
//!
//! Every step can be taken again, and the manifest comes last: once it lists the rollback, the rollback has happened.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::{Error, RollbackError, Workspace, linked};
use crate::git::backend::Head;
use crate::git::diff::ReadTree;
use crate::git::restore::index::{self, Expected, NewIndex};
use crate::git::restore::{
    Differences, Direction, Filters, Foreign, Marks, Outcome, Restore, View, head,
};
use crate::git::stamp::Stamp;
use crate::model::journal::{JournalHead, RollbackJournal};
use crate::model::path_text::quote_path;
use crate::model::{CheckpointId, Manifest, ObjectId};
use crate::plan::rollback::settle;
use crate::store;

/// A rollback on its way.
pub(super) struct Carrier<'a> {
    pub workspace: &'a Workspace,
    pub journal: &'a RollbackJournal,
    pub from: &'a View,
    pub to: &'a View,
    pub differences: &'a Differences,
    pub filters: [&'a Filters; 2],
    pub kept: &'a BTreeSet<Vec<u8>>,
    pub stamps: &'a HashMap<Vec<u8>, Stamp>,
    /// What is known of the index when the walk forth begins.
    pub index: Expected,
    /// What becomes of paths that somebody else has changed.
    pub foreign: Foreign,
}

impl Carrier<'_> {
    pub fn restore(&self) -> Result<Restore<'_>, Error> {
        Ok(Restore::new(
            &self.workspace.repo,
            self.differences,
            self.filters,
            self.stamps,
            self.journal.record.id.as_str(),
            self.workspace.sync(),
        )?)
    }

    /// Removes the temporary files of a killed process.
    pub fn clean(&self) -> Result<(), Error> {
        self.restore()?.clean()?;
        if let Some(file) = &self.workspace.config.settings.state.file {
            let place = self.workspace.repo.work_dir.join(file);
            linked::clean(&place, self.journal.record.id.as_str())?;
        }
        Ok(index::clean(
            &self.workspace.repo,
            self.journal.record.id.as_str(),
        )?)
    }

    /// What holds neither what was there before nor what will be there: somebody has worked here since.
    pub fn foreign(&self) -> Result<Vec<String>, Error> {
        let repo = &self.workspace.repo;
        let paths = self.restore()?.foreign()?;
        let mut found: Vec<String> = paths.iter().map(|path| quote_path(path)).collect();
        if !self.journal.record.paths.is_empty() {
            return Ok(found);
        }
        if self.is_index_foreign()? {
            found.push("the index".to_owned());
        }
        let now = repo.backend.head()?;
        let is_at = |head: &JournalHead| head::same_place(&now, &head_of(head));
        if !is_at(&self.journal.head_from) && !is_at(&self.journal.head_to) {
            found.push("HEAD".to_owned());
        }
        for branch in &self.journal.record.branches {
            let now = repo.backend.reference(&branch.name)?;
            if now != branch.from && now != branch.to {
                found.push(branch.name.clone());
            }
        }
        Ok(found)
    }

    fn is_index_foreign(&self) -> Result<bool, Error> {
        let repo = &self.workspace.repo;
        let read = self.read();
        Ok(!index::is_at(repo, &read, self.from)? && !index::is_at(repo, &read, self.to)?)
    }

    fn read(&self) -> impl Fn(&ObjectId) -> Result<Vec<u8>, crate::git::Error> {
        let repo = &self.workspace.repo;
        move |id: &ObjectId| {
            let missing = || crate::git::Error::Damaged {
                what: format!("tree {id} is missing"),
            };
            let found = repo.backend.read(id)?;
            found.map(|object| object.bytes).ok_or_else(missing)
        }
    }

    /// Takes files, index, branches and HEAD to one side.
    pub fn walk(&self, direction: Direction, marks: &Marks) -> Result<Outcome, Error> {
        let outcome = self.restore()?.walk(direction, self.foreign, marks)?;
        if outcome == Outcome::Stopped || !self.journal.record.paths.is_empty() {
            return Ok(outcome);
        }
        // What somebody else has moved meanwhile is theirs.
        let is_left = self.foreign == Foreign::Leave;
        if !(is_left && self.is_index_foreign()?) {
            self.move_index(direction)?;
        }
        match self.move_refs(direction) {
            Err(Error::Git(crate::git::Error::RefMoved { .. })) if is_left => {}
            moved => moved?,
        }
        Ok(Outcome::Arrived)
    }

    fn move_index(&self, direction: Direction) -> Result<(), Error> {
        let repo = &self.workspace.repo;
        let read = self.read();
        let read: &ReadTree<'_> = &read;
        let (start, goal) = match direction {
            Direction::Forward => (self.from, self.to),
            Direction::Back => (self.to, self.from),
        };
        // On the way forth the index is the one that was captured; on the way back it may be either.
        let expected = match direction {
            Direction::Forward => self.index,
            Direction::Back => Expected::Anything,
        };
        let is_known = expected != Expected::Anything;
        let is_same = start.staged == goal.staged && start.index == goal.index;
        let is_done = if is_known {
            is_same && self.differences.files.is_empty()
        } else {
            index::is_at(repo, read, goal)?
        };
        if is_done {
            return Ok(());
        }
        let new = NewIndex {
            goal,
            base: start,
            expected,
            differences: self.differences,
            kept: self.kept,
            token: self.journal.record.id.as_str(),
        };
        Ok(index::write(repo, read, &new, self.workspace.sync())?)
    }

    fn move_refs(&self, direction: Direction) -> Result<(), Error> {
        let RollbackJournal {
            record,
            head_from,
            head_to,
            ..
        } = self.journal;
        let repo = &self.workspace.repo;
        let sync = self.workspace.sync();
        let (start, goal) = match direction {
            Direction::Forward => (head_from, head_to),
            Direction::Back => (head_to, head_from),
        };
        let message = match direction {
            Direction::Forward => format!(
                "go-team: {} to {}",
                record.kind.as_str(),
                self.journal.source
            ),
            Direction::Back => format!("go-team: {} put back", record.kind.as_str()),
        };
        let signature = self.workspace.signature();
        let signed = head::Signed {
            signature: &signature,
            at: record.timestamp,
            message: &message,
        };
        for branch in &record.branches {
            let (from, to) = match direction {
                Direction::Forward => (branch.from, branch.to),
                Direction::Back => (branch.to, branch.from),
            };
            let branch = head::BranchMove {
                name: branch.name.clone(),
                from,
                to,
            };
            head::move_branch(repo, &branch, &signed, sync)?;
        }
        head::move_head(repo, &head_of(start), &head_of(goal), sync)?;
        if start.commit != goal.commit && goal.commit.is_some() {
            head::log_head(repo, start.commit, goal.commit, &signed, sync)?;
        }
        Ok(())
    }

    /// Puts everything back as it was, and ends the rollback.
    pub fn put_back(&self, marks: &Marks) -> Result<(), Error> {
        self.clean()?;
        self.walk(Direction::Back, marks)?;
        let store = &self.workspace.store;
        let session = &self.journal.session;
        let manifest = store.load_manifest(session)?;
        if self.journal.record.paths.is_empty() {
            self.restore_state(&manifest, &self.journal.record.safety_checkpoint, self.from)?;
        } else {
            self.note_in_state(&manifest)?;
        }
        Ok(store.remove_rollback_journal(session)?)
    }

    /// Makes the rollback part of the session's history, and ends it.
    pub fn complete(&self) -> Result<(Manifest, Vec<String>), Error> {
        let store = &self.workspace.store;
        let session = &self.journal.session;
        let mut manifest = store.load_manifest(session)?;
        settle(&mut manifest, self.journal.record.clone());
        let warnings = if self.journal.record.paths.is_empty() {
            self.restore_state(&manifest, &self.journal.source, self.to)?
        } else {
            self.note_in_state(&manifest)?;
            Vec::new()
        };
        store
            .stage_manifest(&manifest)?
            .publish()
            .map_err(store::Error::from)?;
        store.sync_session(session)?;
        store.remove_rollback_journal(session)?;
        Ok((manifest, warnings))
    }

    /// The live state as it is, with the rollback in its account of the session.
    fn note_in_state(&self, manifest: &Manifest) -> Result<(), Error> {
        let store = &self.workspace.store;
        let session = &manifest.session_id;
        let mut state = store.load_state(session)?.unwrap_or_default();
        let newest = manifest.newest().map(|entry| entry.timestamp);
        state.maintain_checkpoint(
            manifest.current_checkpoint.as_ref(),
            manifest.checkpoints().len(),
            newest.unwrap_or(manifest.created_at),
        );
        state.maintain_rollbacks(&manifest.rollback_history);
        store
            .stage_state(session, &state)?
            .publish()
            .map_err(store::Error::from)?;
        Ok(store.sync_session(session)?)
    }

    /// The live state as a checkpoint has it, with the session's own account of its checkpoints.
    fn restore_state(
        &self,
        manifest: &Manifest,
        source: &CheckpointId,
        view: &View,
    ) -> Result<Vec<String>, Error> {
        let store = &self.workspace.store;
        let session = &manifest.session_id;
        let gone = || RollbackError::Gone {
            checkpoint: source.clone(),
        };
        let entry = manifest.entry(source).ok_or_else(gone)?;
        let record = store.load_listed(session, entry)?;
        let mut state = record.state.clone();
        let newest = manifest
            .newest()
            .map_or(entry.timestamp, |entry| entry.timestamp);
        state.maintain_checkpoint(
            manifest.current_checkpoint.as_ref(),
            manifest.checkpoints().len(),
            newest,
        );
        state.maintain_rollbacks(&manifest.rollback_history);
        store
            .stage_state(session, &state)?
            .publish()
            .map_err(store::Error::from)?;
        store.sync_session(session)?;
        let Some(file) = &self.workspace.config.settings.state.file else {
            return Ok(Vec::new());
        };
        let place = self.workspace.repo.work_dir.join(file);
        if self.is_captured(&place, view)? {
            return Ok(Vec::new());
        }
        // What is linked is the orchestrator's own: it gets back what it wrote, without the engine's account.
        let bytes = record.state.to_file_bytes();
        let top = &self.workspace.repo.work_dir;
        let token = self.journal.record.id.as_str();
        let said = linked::write(top, &place, &bytes, token, store.durability())?;
        Ok(said.into_iter().collect())
    }

    /// Whether the linked file came back with the other files.
    fn is_captured(&self, place: &Path, view: &View) -> Result<bool, Error> {
        use std::os::unix::ffi::OsStrExt as _;
        let Ok(inside) = place.strip_prefix(&self.workspace.repo.work_dir) else {
            return Ok(false);
        };
        let read = self.read();
        let format = self.workspace.repo.backend.format();
        Ok(view.holds(format, &read, inside.as_os_str().as_bytes())?)
    }
}

/// HEAD from the journal.
pub(super) fn head_of(head: &JournalHead) -> Head {
    match (&head.branch, head.commit) {
        (Some(branch), commit) => Head::Branch {
            name: branch.clone().into_bytes(),
            commit,
        },
        (None, Some(commit)) => Head::Detached { commit },
        (None, None) => Head::Branch {
            name: Vec::new(),
            commit: None,
        },
    }
}
