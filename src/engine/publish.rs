//! The order in which a checkpoint becomes visible: objects, ref, record, manifest.
//!
//! The disk is waited for three times, and each time for all that can be written side by side:
//!
//! 1. the contents of all files, under temporary names
//! 2. the names of the journal and of the pack
//! 3. the names of the ref, the record, the manifest and the live state
//!
//! Whoever looks sees them appear in that order. A power cut may keep any of the names of the third wait and lose the
//! others: the manifest decides then. If it has the checkpoint, the journal lets the next command put back a ref or a
//! record that is missing, from the commit; if it has not, the checkpoint was never acknowledged, and goes. A checkpoint
//! without a commit has its record on the disk before the manifest is replaced.

use std::thread::ScopedJoinHandle;

use super::{Error, Workspace};
use crate::git::reference::StagedRef;
use crate::git::snapshot::{Committed, PublishedSnapshot, SeenScan, reference_of};
use crate::git::timings::Timings;
use crate::model::{Entry, Journal, Manifest, Record, SessionId, State};
use crate::store::{self, Begun, Staged};

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
        begun: Option<Begun>,
        warnings: &mut Vec<String>,
        timings: &mut Timings,
    ) -> Result<Option<PublishedSnapshot>, Error> {
        let store = &workspace.store;
        let session = &self.manifest.session_id;
        let sync = workspace.sync();
        let reference = reference_of(session, &self.record.id);
        let contents = self.sync_contents(workspace, committed.as_ref(), begun, &reference)?;
        timings.lap("sync contents");
        contents.journal.publish().map_err(store::Error::from)?;
        let mut published = if let (Some(committed), Some(staged)) = (committed, contents.reference)
        {
            let visible = committed.publish(&workspace.repo)?;
            // Neither name needs the other on the disk. A power cut that takes the journal's and leaves the pack's
            // leaves objects that no ref holds, and a `.keep` file that is removed when it is old. The second finds its
            // name on the disk already wherever the file system writes its own journal as a whole: threads gain nothing.
            store.sync_session(session)?;
            visible.sync(&workspace.repo, sync)?;
            timings.lap("publish objects");
            let published = visible.publish(staged, &reference, sync)?;
            contents.record.publish().map_err(store::Error::from)?;
            Some(published)
        } else {
            contents.record.publish().map_err(store::Error::from)?;
            store.sync_session(session)?;
            None
        };
        contents.manifest.publish().map_err(store::Error::from)?;
        contents.state.publish().map_err(store::Error::from)?;
        store.point_latest(session, &self.record.id)?;
        let scan = published.as_mut().and_then(PublishedSnapshot::take_scan);
        let names = || -> Result<(), Error> {
            store.sync_session(session)?;
            published
                .as_ref()
                .map_or(Ok(()), |published| Ok(published.sync_reference()?))
        };
        let remember = |scan: SeenScan| scan.remember(&workspace.repo).err();
        let unremembered = match scan {
            // A large scan is remembered while the disk is waited for.
            Some(scan) if scan.is_large() => std::thread::scope(|scope| {
                let waiting = scope.spawn(names);
                let unremembered = remember(scan);
                joined(waiting).map(|()| unremembered)
            })?,
            scan => {
                names()?;
                scan.and_then(remember)
            }
        };
        warnings.extend(unremembered.map(|error| error.to_string()));
        timings.lap("publish names");
        Ok(published)
    }

    /// Writes everything aside and syncs it, the pack included, in one wait for the disk and not seven.
    fn sync_contents(
        &self,
        workspace: &Workspace,
        committed: Option<&Committed>,
        begun: Option<Begun>,
        reference: &str,
    ) -> Result<Contents, Error> {
        let store = &workspace.store;
        let stage = |made: &Committed| made.stage_reference(&workspace.repo, reference);
        let mut contents = Contents {
            journal: store.stage_journal(self.journal)?,
            reference: committed.map(stage).transpose()?,
            record: store.stage_record(self.record)?,
            manifest: store.finish_manifest(self.manifest, begun)?,
            state: store.stage_state(&self.manifest.session_id, self.state)?,
        };
        let objects = committed.into_iter().flat_map(Committed::files);
        let reference = contents.reference.iter().map(StagedRef::file);
        Staged::sync_all(
            &mut [
                &mut contents.journal,
                &mut contents.record,
                &mut contents.manifest,
                &mut contents.state,
            ],
            &objects.chain(reference).collect::<Vec<_>>(),
            store.durability(),
        )
        .map_err(store::Error::from)?;
        Ok(contents)
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

fn joined<T>(handle: ScopedJoinHandle<'_, Result<T, Error>>) -> Result<T, Error> {
    let result = handle.join();
    result.expect("a thread that only writes files does not panic")
}

impl Workspace {
    /// What follows a complete checkpoint: pruned ones go, the pack is released, packs are merged. What fails here is a
    /// warning; the journal is left to the next command, which finishes it.
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
        let pack = published.map(PublishedSnapshot::release).transpose();
        let pack = pack.map_err(|error| warnings.push(error.to_string()));
        if warnings.len() == before
            && let Err(error) = self.store.drop_journal(session)
        {
            warnings.push(error.to_string());
        }
        timings.lap("clean up");
        let Ok(Some(pack)) = pack else { return };
        if let Err(error) = self.tidy_packs(&pack) {
            warnings.push(format!("could not merge packs: {error}"));
        }
        timings.lap("merge packs");
    }
}
