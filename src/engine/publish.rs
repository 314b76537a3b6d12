//! The order in which a checkpoint becomes visible: objects, ref, record, manifest, each on the disk before the next.
//!
//! The contents of all files are synced side by side first, under temporary names; what remains is a chain of renames,
//! each followed by a sync of its directory. The journal is there before the first rename that counts, so that the next
//! command can tell a checkpoint that was cut short from one that was completed.

use super::{Error, Workspace};
use crate::git::snapshot::{Committed, PublishedSnapshot, reference_of};
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
        let staged = self.sync_contents(workspace, committed.as_ref());
        let [record, manifest, state] = staged?;
        timings.lap("sync contents");
        let published = match committed {
            Some(committed) => {
                let reference = reference_of(session, &self.record.id);
                let published = committed.publish(&workspace.repo, &reference, workspace.sync())?;
                timings.include(published.timings.clone());
                Some(published)
            }
            None => None,
        };
        record.publish().map_err(store::Error::from)?;
        store.sync_session(session)?;
        timings.lap("publish record");
        manifest.publish().map_err(store::Error::from)?;
        state.publish().map_err(store::Error::from)?;
        store.point_latest(session, &self.record.id)?;
        store.sync_session(session)?;
        timings.lap("publish manifest");
        Ok(published)
    }

    /// Writes record, manifest and state aside and syncs them, the pack and the journal, all at the same time.
    fn sync_contents(
        &self,
        workspace: &Workspace,
        committed: Option<&Committed>,
    ) -> Result<[Staged; 3], Error> {
        let store = &workspace.store;
        let synced = |staged: Result<Staged, store::Error>| -> Result<Staged, Error> {
            let mut staged = staged?;
            staged.sync().map_err(store::Error::from)?;
            Ok(staged)
        };
        let objects = || committed.map_or(Ok(()), |committed| committed.sync(workspace.sync()));
        std::thread::scope(|scope| {
            let journal = scope.spawn(|| store.write_journal(self.journal));
            let objects = scope.spawn(objects);
            let manifest = scope.spawn(|| synced(store.stage_manifest(self.manifest)));
            let session = &self.manifest.session_id;
            let state = scope.spawn(|| synced(store.stage_state(session, self.state)));
            let record = synced(store.stage_record(self.record));
            let joined = "a thread that only writes files does not panic";
            journal.join().expect(joined)?;
            objects.join().expect(joined)?;
            Ok([
                record?,
                manifest.join().expect(joined)?,
                state.join().expect(joined)?,
            ])
        })
    }
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
