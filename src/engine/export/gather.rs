//! The members of an export, each checked, in a file without a name.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use super::{Cut, ExportReport, ExportedBundle, GitData, Incomplete, at};
use crate::engine::{Error, Workspace};
use crate::git::bundle::{self, BundleRef};
use crate::git::open::Note;
use crate::git::snapshot::reference_of;
use crate::model::archive::{MemberKind, RollbackHistory};
use crate::model::chain::{Link, check_chain};
use crate::model::{CheckpointId, Manifest, State};
use crate::store::archive::{Spool, SpoolWriter};

impl Workspace {
    /// Gathers the members, each checked.
    pub(super) fn spool(
        &self,
        manifest: &Manifest,
        git: GitData,
        scratch: File,
        report: &mut ExportReport,
    ) -> Result<Spool, Error> {
        let session = &manifest.session_id;
        let writing = at("write", Path::new("temporary file"));
        let mut spool = SpoolWriter::new(scratch);
        let history = RollbackHistory {
            session_id: session.clone(),
            rollback_history: manifest.rollback_history.clone(),
        };
        let state = self.exported_state(manifest)?;
        for (kind, bytes) in [
            (MemberKind::Manifest, manifest.to_file_bytes()),
            (MemberKind::RollbackHistory, history.to_file_bytes()),
            (MemberKind::State, state.to_file_bytes()),
        ] {
            spool.add(kind, &bytes).map_err(&writing)?;
        }
        let mut links = HashMap::new();
        for entry in manifest.checkpoints() {
            let file = self.store.load_record_file(session, entry)?;
            let link = Link {
                checksum: file.record.checksum(),
                prev_checksum: file.record.prev_checksum,
            };
            links.insert(entry.id.clone(), link);
            let kind = MemberKind::Record(entry.id.clone());
            spool.add(kind, &file.bytes).map_err(&writing)?;
        }
        let breaks = check_chain(manifest.checkpoints(), manifest.pruned(), |entry| {
            links.get(&entry.id).copied()
        });
        if !breaks.is_empty() {
            return Err(Error::BrokenChain { breaks });
        }
        if git == GitData::Include {
            self.spool_bundle(manifest, &mut spool, report)?;
        } else if manifest
            .checkpoints()
            .iter()
            .any(|entry| entry.commit_hash.is_some())
        {
            report.warnings.push(
                "the archive has no git data: its checkpoints can be looked at elsewhere, not rolled back to".to_owned(),
            );
        }
        spool.finish().map_err(&writing)
    }

    /// The live state, made to fit the manifest: another command may have gone on since that was read.
    fn exported_state(&self, manifest: &Manifest) -> Result<State, Error> {
        let mut state = self
            .store
            .load_state(&manifest.session_id)?
            .unwrap_or_default();
        let current = manifest.current_checkpoint.as_ref();
        let told = state.get("checkpoint.current_checkpoint");
        let told = told.and_then(serde_json::Value::as_str);
        if told != current.map(CheckpointId::as_str) {
            let newest = manifest.newest().map(|entry| entry.timestamp);
            let newest = newest.unwrap_or(manifest.created_at);
            state.maintain_checkpoint(current, manifest.checkpoints().len(), newest);
            state.maintain_rollbacks(&manifest.rollback_history);
        }
        Ok(state)
    }

    fn spool_bundle(
        &self,
        manifest: &Manifest,
        spool: &mut SpoolWriter,
        report: &mut ExportReport,
    ) -> Result<(), Error> {
        let session = &manifest.session_id;
        let mut refs = Vec::new();
        for entry in manifest.checkpoints() {
            refs.extend(entry.commit_hash.map(|commit| BundleRef {
                name: reference_of(session, &entry.id),
                commit,
            }));
        }
        // What a clone checks out: the current checkpoint, else the newest that there is.
        let current = manifest.current().and_then(|entry| entry.commit_hash);
        let Some(head) = current.or_else(|| refs.last().map(|last| last.commit)) else {
            return Ok(());
        };
        let tips: Vec<_> = refs.iter().map(|listed| listed.commit).collect();
        let objects = bundle::collect(&self.repo, &tips)?;
        if let Some(missing) = objects.missing {
            let notes = self.repo.notes()?;
            let cut = if notes.contains(&Note::PartialClone) {
                Cut::Partial
            } else if notes.contains(&Note::Shallow) {
                Cut::Shallow
            } else {
                Cut::Unknown
            };
            return Err(Error::Incomplete(Incomplete { missing, cut }));
        }
        if let Some(odd) = &objects.odd {
            report.warnings.push(format!(
                "plain git can use the bundle, cp-import will refuse it: {odd}"
            ));
        }
        let count = refs.len();
        refs.insert(
            0,
            BundleRef {
                name: bundle::HEAD.to_owned(),
                commit: head,
            },
        );
        spool.begin(MemberKind::Bundle);
        bundle::write(
            &self.repo,
            &refs,
            &objects,
            spool,
            Path::new("temporary file"),
        )?;
        spool.end();
        report.bundle = Some(ExportedBundle {
            refs: count,
            objects: objects.len(),
            size: 0,
        });
        Ok(())
    }
}
