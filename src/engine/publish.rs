//! The order in which a checkpoint becomes visible: objects, ref, record, manifest, each on the disk before the next.
//!
//! The contents of all files are synced side by side first, under temporary names; what remains is a chain of renames,
//! each followed by a sync of its directory. The journal is in its place before the first rename that counts, so that
//! the next command can tell a checkpoint that was cut short from one that was completed; and on the disk before the
//! ref, so that it can do so after a power cut too.

use std::thread::{Scope, ScopedJoinHandle};

use super::{Error, Workspace};
use crate::git::reference::StagedRef;
use crate::git::snapshot::{Committed, PackPart, PublishedSnapshot, reference_of};
use crate::git::timings::Timings;
use crate::model::{Entry, Journal, Manifest, Record, SessionId, State};
use crate::store::{self, Staged};

/// All that a checkpoint puts on the disk beside its objects.
pub(super) struct Publication<'a> {
    pub record: &'a Record,
    pub manifest: &'a Manifest,
    pub state: &'a State,
    pub journal: &'a Journal,
}

impl Publication<'_> {
    /// Publishes; when this returns, the checkpoint is complete and durable.
    ///
    /// # Errors
    /// When a step failed. The journal says to the next command what to finish or undo.
    pub fn run(
        &self,
        workspace: &Workspace,
        committed: Option<Committed>,
        timings: &mut Timings,
    ) -> Result<Option<PublishedSnapshot>, Error> {
        let store = &workspace.store;
        let session = &self.manifest.session_id;
        let sync = workspace.sync();
        let reference = reference_of(session, &self.record.id);
        let contents = self.sync_contents(workspace, committed.as_ref(), &reference)?;
        timings.lap("sync contents");
        contents.journal.publish().map_err(store::Error::from)?;
        let published = if let (Some(committed), Some(staged)) = (committed, contents.reference) {
            let visible = committed.publish(&workspace.repo)?;
            // Neither name needs the other on the disk. A power cut that takes the journal's and leaves the pack's
            // leaves objects that no ref holds, and a `.keep` file that is removed when it is old.
            std::thread::scope(|scope| {
                let journal = scope.spawn(|| store.sync_session(session));
                let objects = visible.sync(&workspace.repo, sync);
                joined(journal)?;
                objects.map_err(Error::from)
            })?;
            timings.lap("publish objects");
            let published = visible.publish(staged, &reference, sync)?;
            timings.lap("publish ref");
            Some(published)
        } else {
            store.sync_session(session)?;
            None
        };
        contents.record.publish().map_err(store::Error::from)?;
        store.sync_session(session)?;
        timings.lap("publish record");
        contents.manifest.publish().map_err(store::Error::from)?;
        contents.state.publish().map_err(store::Error::from)?;
        store.point_latest(session, &self.record.id)?;
        store.sync_session(session)?;
        timings.lap("publish manifest");
        Ok(published)
    }

    /// Writes everything aside and syncs it, the pack included, all at the same time: one wait for the disk and not
    /// seven.
    fn sync_contents(
        &self,
        workspace: &Workspace,
        committed: Option<&Committed>,
        reference: &str,
    ) -> Result<Contents, Error> {
        let store = &workspace.store;
        let sync = workspace.sync();
        let session = &self.manifest.session_id;
        std::thread::scope(|scope| {
            let pack = |part| move || committed.map_or(Ok(()), |made| made.sync(part, sync));
            let objects = scope.spawn(pack(PackPart::Objects));
            let index = scope.spawn(pack(PackPart::Index));
            let reference = scope.spawn(|| {
                let staged = committed.map(|made| made.stage_reference(&workspace.repo, reference));
                let staged = staged.transpose()?;
                staged.as_ref().map_or(Ok(()), |staged| staged.sync(sync))?;
                Ok::<_, crate::git::Error>(staged)
            });
            let journal = synced(scope, || store.stage_journal(self.journal));
            let manifest = synced(scope, || store.stage_manifest(self.manifest));
            let state = synced(scope, || store.stage_state(session, self.state));
            let record = synced(scope, || store.stage_record(self.record));
            joined(objects)?;
            joined(index)?;
            Ok(Contents {
                journal: joined(journal)?,
                reference: joined(reference)?,
                record: joined(record)?,
                manifest: joined(manifest)?,
                state: joined(state)?,
            })
        })
    }
}

/// The files of a checkpoint, on the disk but not in their places.
struct Contents {
    journal: Staged,
    reference: Option<StagedRef>,
    record: Staged,
    manifest: Staged,
    state: Staged,
}

/// Writes and syncs a file on a thread of its own.
fn synced<'scope>(
    scope: &'scope Scope<'scope, '_>,
    stage: impl FnOnce() -> Result<Staged, store::Error> + Send + 'scope,
) -> ScopedJoinHandle<'scope, Result<Staged, store::Error>> {
    scope.spawn(|| {
        let mut staged = stage()?;
        staged.sync()?;
        Ok(staged)
    })
}

fn joined<T, E: Into<Error>>(handle: ScopedJoinHandle<'_, Result<T, E>>) -> Result<T, Error> {
    let result = handle.join();
    result
        .expect("a thread that only writes files does not panic")
        .map_err(Into::into)
}

impl Workspace {
    /// What follows a complete checkpoint: pruned ones go, the pack is released, the scan is remembered. What fails here
    /// is a warning; the journal is left to the next command, which finishes it.
    pub(super) fn finish(
        &self,
        session: &SessionId,
        pruned: &[Entry],
        published: Option<PublishedSnapshot>,
        warnings: &mut Vec<String>,
        timings: &mut Timings,
    ) {
        let before = warnings.len();
        for entry in pruned {
            if let Err(error) = self.remove_checkpoint(session, &entry.id, entry.commit_hash) {
                warnings.push(format!("could not remove {}: {error}", entry.id));
            }
        }
        let settled = published.map(PublishedSnapshot::release).transpose();
        let settled = settled.map_err(|error| warnings.push(error.to_string()));
        if warnings.len() == before
            && let Err(error) = self.store.drop_journal(session)
        {
            warnings.push(error.to_string());
        }
        timings.lap("clean up");
        let Ok(Some(settled)) = settled else { return };
        let pack = settled.pack.clone();
        if let Err(error) = settled.remember(&self.repo) {
            warnings.push(error.to_string());
        }
        timings.lap("remember the scan");
        if let Err(error) = self.tidy_packs(&pack) {
            warnings.push(format!("could not merge packs: {error}"));
        }
        timings.lap("merge packs");
    }
}
