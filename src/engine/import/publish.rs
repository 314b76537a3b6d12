//! The order in which an import becomes visible: objects, refs, the session's directory, each on the disk before the
//! next.

use std::collections::{BTreeMap, HashMap};

use super::check::Checked;
use super::named;
use crate::engine::{Error, Workspace};
use crate::git;
use crate::git::backend::Sync;
use crate::git::bundle::rename;
use crate::git::pack::{PackWriter, StagedPack};
use crate::model::archive::{ImportJournal, MemberKind};
use crate::model::{CheckpointId, Manifest, ObjectId, SessionId, Sha256Digest};
use crate::plan::import::ImportPlan;
use crate::store::archive::StagedSession;

/// The name that a session has here, and what its records and commits became under it.
struct Resealed {
    by_id: HashMap<CheckpointId, (Sha256Digest, Option<ObjectId>)>,
    pack: Option<StagedPack>,
}

impl Workspace {
    /// Imports what was checked. The caller holds the lock.
    pub(super) fn publish_import(&self, checked: &Checked, plan: &ImportPlan) -> Result<(), Error> {
        let mut staged = self.store.stage_session(&plan.session)?;
        let mut packs = Vec::new();
        if let Some(pack) = &checked.pack {
            packs.push(pack.stage(&self.repo).map_err(of_bundle)?);
        }
        let mut manifest = if plan.renamed_from.is_some() {
            let resealed = self.reseal(checked, plan, &mut staged)?;
            packs.extend(resealed.pack);
            let listed = checked.manifest.clone();
            listed.renamed(plan.session.clone(), |entry| resealed.by_id[&entry.id])
        } else {
            for entry in checked.manifest.checkpoints() {
                let kind = MemberKind::Record(entry.id.clone());
                staged.write(&kind.name(), &checked.bytes(&kind)?)?;
            }
            checked.manifest.clone()
        };
        self.mark_missing(&mut manifest, plan);
        let state = MemberKind::State;
        staged.write(&state.name(), &checked.bytes(&state)?)?;
        staged.write(&MemberKind::Manifest.name(), &manifest.to_file_bytes())?;
        if let Some(newest) = manifest.newest() {
            staged.point_latest(&newest.id)?;
        }
        let mut refs: BTreeMap<CheckpointId, ObjectId> = BTreeMap::new();
        for id in &plan.create {
            let commit = manifest.entry(id).and_then(|entry| entry.commit_hash);
            refs.extend(commit.map(|commit| (id.clone(), commit)));
        }
        self.publish_session(&plan.session, staged, packs, refs)
    }

    /// Lets a session appear that is ready: all of it, or nothing. The caller holds the lock and knows that there is none
    /// of that name.
    pub(in crate::engine) fn publish_session(
        &self,
        session: &SessionId,
        staged: StagedSession,
        packs: Vec<StagedPack>,
        refs: BTreeMap<CheckpointId, ObjectId>,
    ) -> Result<(), Error> {
        staged.sync()?;
        if self.sync() == Sync::Durable {
            for pack in &packs {
                pack.sync()?;
            }
        }
        let journal = ImportJournal {
            session: session.clone(),
            started_at: crate::model::timestamp::to_millis(self.clock.now()),
            keep: packs.iter().map(|pack| pack.name().to_owned()).collect(),
            refs,
        };
        self.store.write_import_journal(&journal)?;
        let appeared = self.appear(packs, &journal, staged);
        // Whatever this cannot finish or take back, the journal lets the next command.
        let settled = self.recover_import();
        appeared?;
        settled?;
        Ok(())
    }

    /// What others see: objects, refs, the session.
    fn appear(
        &self,
        packs: Vec<StagedPack>,
        journal: &ImportJournal,
        staged: StagedSession,
    ) -> Result<(), Error> {
        let permissions = 0o444 | (self.repo.settings.shared_bits & 0o444);
        for pack in packs {
            pack.publish(permissions)?;
        }
        if self.sync() == Sync::Durable {
            git::pack::sync_dir_of(&self.repo)?;
        }
        let refs = named(&journal.session, &journal.refs);
        self.repo.backend.create_references(&refs, self.sync())?;
        Ok(staged.publish()?)
    }

    /// Checkpoints whose commits are nowhere cannot be rolled back to, and the manifest says so.
    fn mark_missing(&self, manifest: &mut Manifest, plan: &ImportPlan) {
        let now = self.clock.now();
        let missing: std::collections::HashSet<&CheckpointId> = plan.missing.iter().collect();
        manifest.mark(|id, validity| {
            if missing.contains(id) {
                validity.valid = false;
                validity.corrupted_at.get_or_insert(now);
            }
        });
    }

    /// Writes the records under the session's new name. Each names its session and the checksum of the one before it, so
    /// all of them are sealed again, in order; and so is the copy of each in its commit's sidecar.
    fn reseal(
        &self,
        checked: &Checked,
        plan: &ImportPlan,
        staged: &mut StagedSession,
    ) -> Result<Resealed, Error> {
        let pack = PackWriter::new(&self.repo.pack_dir(), self.repo.backend.format());
        let mut by_id = HashMap::new();
        let mut checksums: HashMap<Sha256Digest, Sha256Digest> = HashMap::new();
        let refused = |defect| Error::Refused {
            path: "the archive".into(),
            defect: Box::new(defect),
        };
        for entry in checked.manifest.checkpoints() {
            let mut draft = checked.record(entry)?.into_draft();
            draft.session_id = plan.session.clone();
            // What a pruned range says of its last record stays as it is.
            if let Some(before) = draft.prev_checksum.and_then(|old| checksums.get(&old)) {
                draft.prev_checksum = Some(*before);
            }
            let found = match entry.commit_hash {
                Some(_) => checked.inspect(self, entry, &refused)?,
                None => None,
            };
            if let Some(old) = found {
                let from = &checked.manifest.session_id;
                let json = draft.sidecar_json();
                let commit = rename(&pack, &old, &json, from, &plan.session)?;
                draft.git.commit_hash = Some(commit);
            }
            let record = draft.seal();
            checksums.insert(entry.checksum, record.checksum());
            by_id.insert(
                entry.id.clone(),
                (record.checksum(), record.git.commit_hash),
            );
            let name = MemberKind::Record(entry.id.clone()).name();
            staged.write(&name, &record.to_file_bytes())?;
        }
        Ok(Resealed {
            by_id,
            pack: pack.finish()?,
        })
    }
}

/// A bundle that was checked fails only where the disk does.
fn of_bundle(error: git::bundle::BundleError) -> Error {
    match error {
        git::bundle::BundleError::Git(error) => error.into(),
        other => Error::Git(git::Error::Damaged {
            what: other.to_string(),
        }),
    }
}
