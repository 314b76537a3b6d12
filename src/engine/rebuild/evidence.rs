//! What is left of a session: its refs and commits, its records, its manifest as far as it can be read.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::engine::summary::path_text;
use crate::engine::{Error, Workspace};
use crate::git;
use crate::git::reachable::Handles;
use crate::git::snapshot::reference_of;
use crate::git::verify::commit::CheckpointCommit;
use crate::git::verify::packs;
use crate::model::json::Limits;
use crate::model::manifest::Salvage;
use crate::model::path_text::quote_path;
use crate::model::{CheckpointId, ObjectId, Record, SessionId, SessionStatus};
use crate::plan::rebuild::{Candidate, Evidence, Loss, Rebuilt, Trust, rebuild};
use crate::store::{self, durable};

/// Puts a session together from what is left of it. Nothing is written.
///
/// # Errors
/// When the manifest is of a newer version, or something cannot be read that may well be whole.
pub(in crate::engine) fn rebuilt(
    workspace: &Workspace,
    session: &SessionId,
) -> Result<Rebuilt, Error> {
    let (mut salvage, trust) = salvage(workspace, session)?;
    if workspace.store.is_archived(session) {
        salvage.status.get_or_insert(SessionStatus::Failed);
    }
    let (candidates, mut losses) = candidates(workspace, session, &salvage)?;
    let live = workspace.store.load_state(session).ok().flatten();
    let mut rebuilt = rebuild(Evidence {
        session,
        candidates,
        salvage: &salvage,
        trust,
        live: live.as_ref(),
        workflows: &workspace.config.settings.workflows,
        now: workspace.clock.now(),
    });
    losses.append(&mut rebuilt.losses);
    rebuilt.losses = losses;
    Ok(rebuilt)
}

/// The manifest, or what can be read of it.
pub(super) fn salvage(
    workspace: &Workspace,
    session: &SessionId,
) -> Result<(Salvage, Trust), Error> {
    match workspace.store.load_manifest(session) {
        Ok(manifest) => Ok((Salvage::of_manifest(&manifest), Trust::Proven)),
        Err(error @ (store::Error::NewerVersion { .. } | store::Error::Io(_))) => Err(error.into()),
        Err(store::Error::Missing { .. }) => Ok((Salvage::default(), Trust::Nothing)),
        Err(_) => {
            let path = workspace.store.layout().manifest(session);
            let bytes = durable::read_limited(&path, Limits::MANIFEST.bytes)?;
            let bytes = bytes.unwrap_or_default();
            Ok((Salvage::of_bytes(&bytes), Trust::Unproven))
        }
    }
}

/// What is left of each checkpoint, and the refs that are of no checkpoint.
fn candidates(
    workspace: &Workspace,
    session: &SessionId,
    salvage: &Salvage,
) -> Result<(Vec<Candidate>, Vec<Loss>), Error> {
    if let Some(file) = packs::damaged_indexes(&workspace.repo)?.first() {
        let what = format!("{}: {}", path_text(&file.path), file.reason);
        return Err(git::Error::Damaged { what }.into());
    }
    let prefix = format!("refs/go-team/{session}/");
    let references = workspace.repo.backend.references(&prefix)?;
    let mut commits: BTreeMap<CheckpointId, BTreeSet<ObjectId>> = BTreeMap::new();
    let mut losses = Vec::new();
    for (name, commit) in references {
        match name.strip_prefix(&prefix).map(CheckpointId::parse) {
            Some(Ok(id)) => {
                commits.entry(id).or_default().insert(commit);
            }
            _ => losses.push(Loss::NotACheckpoint {
                reference: quote_path(name.as_bytes()),
                reason: "its name is none of a checkpoint".to_owned(),
            }),
        }
    }
    // A commit may still be there though its ref is gone or points elsewhere.
    for entry in &salvage.entries {
        if let Some(commit) = entry.commit_hash {
            commits.entry(entry.id.clone()).or_default().insert(commit);
        }
    }
    let files = match workspace.store.record_ids(session) {
        Ok(files) => files,
        Err(store::Error::Missing { .. }) => BTreeSet::new(),
        Err(error) => return Err(error.into()),
    };
    let ids: BTreeSet<&CheckpointId> = commits.keys().chain(&files).collect();
    let handles = Handles::new(&workspace.repo);
    let listed = |id: &CheckpointId| {
        let entry = salvage.entries.iter().find(|entry| entry.id == *id);
        entry.and_then(|entry| entry.commit_hash)
    };
    let read = |id: &&CheckpointId| -> Result<(Candidate, Vec<Loss>), Error> {
        let mut candidate = Candidate {
            from_commit: None,
            from_file: workspace.store.load_record(session, id).ok(),
        };
        let mut losses = Vec::new();
        let mut tried: Vec<&ObjectId> = commits.get(*id).into_iter().flatten().collect();
        let preferred = if tried.len() > 1 { listed(id) } else { None };
        tried.sort_by_key(|commit| Some(**commit) != preferred);
        for commit in tried {
            match handles.lend(|backend| from_commit(backend, session, id, commit))? {
                Ok(record) => {
                    candidate.from_commit = Some(record);
                    losses.clear();
                    break;
                }
                Err(reason) => losses.push(Loss::NotACheckpoint {
                    reference: reference_of(session, id),
                    reason,
                }),
            }
        }
        Ok((candidate, losses))
    };
    let ids: Vec<&CheckpointId> = ids.into_iter().collect();
    let all = ids.par_iter().with_min_len(16).map(read);
    let all: Vec<_> = all.collect::<Result<_, Error>>()?;
    let mut candidates = Vec::with_capacity(all.len());
    for (candidate, mut lost) in all {
        losses.append(&mut lost);
        candidates.push(candidate);
    }
    Ok((candidates, losses))
}

/// The record that a commit holds, if it is that of this checkpoint.
pub(in crate::engine) fn from_commit(
    backend: &dyn crate::git::backend::Backend,
    session: &SessionId,
    id: &CheckpointId,
    commit: &ObjectId,
) -> Result<Record, String> {
    let held = CheckpointCommit::read(backend, commit, Limits::RECORD.bytes);
    let held = held.map_err(|flaw| format!("commit {} {flaw}", commit.short()))?;
    let record = Record::from_sidecar(&held.record, *commit).map_err(|error| error.to_string())?;
    if record.id == *id && record.session_id == *session {
        Ok(record)
    } else {
        let (id, session) = (&record.id, &record.session_id);
        Err(format!("it holds the record of {id} of session {session}"))
    }
}
