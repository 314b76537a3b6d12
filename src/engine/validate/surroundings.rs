//! What lies around the checkpoints: refs and records that nobody lists, stray files, the live state, an interrupted
//! operation.

use std::collections::{HashMap, HashSet};

use super::Objects;
use super::facts::reason;
use crate::engine::rebuild::evidence;
use crate::engine::{Error, Workspace};
use crate::git::snapshot::reference_of;
use crate::model::finding::{Defect, Finding};
use crate::model::path_text::quote_path;
use crate::model::{CheckpointId, Journal, Manifest, ObjectId};
use crate::store;

/// Everything around the checkpoints that is not as it should be.
pub(super) fn findings(
    workspace: &Workspace,
    manifest: &Manifest,
    references: &HashMap<String, ObjectId>,
    objects: Objects,
) -> Result<Vec<Finding>, Error> {
    let (store, session) = (&workspace.store, &manifest.session_id);
    let mut defects = Vec::new();
    let mut is_publishing = false;
    for journal in store.load_journals(session) {
        match journal {
            Ok(None) => {}
            Ok(Some(journal)) => {
                is_publishing |= !matches!(journal, Journal::Rollback(_));
                defects.push(Defect::Interrupted {
                    operation: journal.op().to_owned(),
                });
            }
            Err(error @ store::Error::Io(_)) => return Err(error.into()),
            Err(error) => defects.push(Defect::JournalDamaged {
                reason: reason(&error),
            }),
        }
    }
    match store.load_state(session) {
        Ok(Some(_)) => {}
        Ok(None) => defects.push(Defect::LiveStateDamaged {
            reason: "it is missing".to_owned(),
        }),
        Err(error @ store::Error::Io(_)) => return Err(error.into()),
        Err(error) => defects.push(Defect::LiveStateDamaged {
            reason: reason(&error),
        }),
    }
    if let Some(newest) = manifest.newest()
        && store.latest(session).as_ref() != Some(&newest.id)
    {
        let expected = newest.id.clone();
        defects.push(Defect::LatestElsewhere { expected });
    }
    // What an interrupted operation left is its own to clear away.
    if !is_publishing && objects == Objects::Read {
        defects.extend(orphans(workspace, manifest, references)?);
    }
    for name in store.stray_names(session)? {
        let name = quote_path(name.as_encoded_bytes());
        defects.push(Defect::StrayFile { name });
    }
    Ok(defects.into_iter().map(Finding::of_session).collect())
}

/// Refs and records of checkpoints that nobody lists. One that has both is named once.
fn orphans(
    workspace: &Workspace,
    manifest: &Manifest,
    references: &HashMap<String, ObjectId>,
) -> Result<Vec<Defect>, Error> {
    let session = &manifest.session_id;
    let listed: HashSet<String> = manifest
        .checkpoints()
        .iter()
        .filter(|entry| entry.commit_hash.is_some())
        .map(|entry| reference_of(session, &entry.id))
        .collect();
    let mut names: Vec<&String> = references.keys().collect();
    names.retain(|name| !listed.contains(*name));
    names.sort();
    let mut defects = Vec::new();
    let backend = workspace.repo.backend.reopen()?;
    for name in &names {
        let reference = quote_path(name.as_bytes());
        let id = name
            .rsplit('/')
            .next()
            .and_then(|id| CheckpointId::parse(id).ok());
        let held = id.map(|id| evidence::from_commit(&*backend, session, &id, &references[*name]));
        defects.push(match held {
            Some(Ok(_)) => Defect::OrphanRef { reference },
            _ => Defect::ForeignRef { reference },
        });
    }
    let entries = manifest.checkpoints().iter();
    let known: HashSet<&CheckpointId> = entries.map(|entry| &entry.id).collect();
    for checkpoint in workspace.store.record_ids(session)? {
        let has_ref = || references.contains_key(&reference_of(session, &checkpoint));
        if !known.contains(&checkpoint) && !has_ref() {
            defects.push(match workspace.store.load_record(session, &checkpoint) {
                Ok(_) => Defect::OrphanRecord { checkpoint },
                Err(_) => Defect::StrayFile {
                    name: format!("{checkpoint}.json"),
                },
            });
        }
    }
    Ok(defects)
}
