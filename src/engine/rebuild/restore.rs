//! Putting records, refs and the live state back.

use std::path::Path;

use super::{RebuildReport, RebuiltRecord};
use crate::engine::summary::path_text;
use crate::engine::{Error, Workspace};
use crate::git::reachable::{Census, Tracer};
use crate::git::snapshot::reference_of;
use crate::model::{Manifest, Record, SessionId, State};
use crate::plan::rebuild::Proof;
use crate::store;

/// Keeps a damaged file, and says where.
pub(super) fn set_aside(
    workspace: &Workspace,
    session: &SessionId,
    path: &Path,
    report: &mut RebuildReport,
) -> Result<(), Error> {
    let kept = workspace.store.set_aside(session, path)?;
    report.set_aside.extend(kept.as_deref().map(path_text));
    Ok(())
}

/// Writes a record unless its file is as it should be.
pub(super) fn restore_record(
    workspace: &Workspace,
    record: &Record,
    proof: Proof,
    report: &mut RebuildReport,
) -> Result<(), Error> {
    let (store, session) = (&workspace.store, &record.session_id);
    match store.load_record(session, &record.id) {
        Ok(there) if there.checksum() == record.checksum() => return Ok(()),
        Err(error @ (store::Error::NewerVersion { .. } | store::Error::Io(_))) => {
            return Err(error.into());
        }
        _ => {}
    }
    set_aside(
        workspace,
        session,
        &store.layout().record(session, &record.id),
        report,
    )?;
    let staged = store.stage_record(record)?;
    staged.publish().map_err(store::Error::from)?;
    store.sync_session(session)?;
    let id = record.id.clone();
    report.records.push(RebuiltRecord { id, proof });
    Ok(())
}

/// Puts back the refs of commits that are there with all that they need.
pub(super) fn restore_refs(
    workspace: &Workspace,
    records: &[(Record, Proof)],
    report: &mut RebuildReport,
) -> Result<(), Error> {
    let backend = &workspace.repo.backend;
    let mut lost = Vec::new();
    for (record, _) in records {
        if let Some(commit) = record.git.commit_hash {
            let name = reference_of(&record.session_id, &record.id);
            if !backend
                .reference(&name)
                .is_ok_and(|found| found == Some(commit))
            {
                lost.push((name, commit));
            }
        }
    }
    if lost.is_empty() {
        return Ok(());
    }
    let commits: Vec<_> = lost.iter().map(|(_, commit)| *commit).collect();
    let census = Census::take(&workspace.repo, &commits)?;
    let mut tracer = Tracer::new(&workspace.repo, &census)?;
    for (name, commit) in lost {
        if tracer.trace(commit).0 == 0 {
            backend.put_reference(&name, commit, workspace.sync())?;
            report.refs.push(name);
        }
    }
    Ok(())
}

/// Takes the live state from the current checkpoint when it is damaged, and points `latest` at the newest record.
pub(super) fn restore_state(
    workspace: &Workspace,
    session: &SessionId,
    report: &mut RebuildReport,
) -> Result<(), Error> {
    let store = &workspace.store;
    let manifest = store.load_manifest(session)?;
    let Some(newest) = manifest.newest() else {
        return Ok(());
    };
    if store.latest(session).as_ref() != Some(&newest.id) {
        store.point_latest(session, &newest.id)?;
        store.sync_session(session)?;
    }
    match store.load_state(session) {
        Ok(Some(_)) => return Ok(()),
        Err(error @ store::Error::Io(_)) => return Err(error.into()),
        Ok(None) | Err(_) => {}
    }
    let Some(mut state) = state_of(workspace, &manifest) else {
        return Ok(());
    };
    state.maintain_checkpoint(
        manifest.current_checkpoint.as_ref(),
        manifest.checkpoints().len(),
        newest.timestamp,
    );
    state.maintain_rollbacks(&manifest.rollback_history);
    set_aside(workspace, session, &store.layout().state(session), report)?;
    let staged = store.stage_state(session, &state)?;
    staged.publish().map_err(store::Error::from)?;
    store.sync_session(session)?;
    report.state_rebuilt = true;
    Ok(())
}

fn state_of(workspace: &Workspace, manifest: &Manifest) -> Option<State> {
    let entry = manifest.current().or(manifest.newest())?;
    let record = workspace
        .store
        .load_listed(&manifest.session_id, entry)
        .ok()?;
    Some(record.state.clone())
}
