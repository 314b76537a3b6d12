//! Gathering what is known of each checkpoint: record, ref, commit, objects, state.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::Objects;
use super::schema::Schema;
use crate::engine::failure::error_chain;
use crate::engine::{Error, Workspace};
use crate::git::reachable::{Broken, Census, Handles, Tracer};
use crate::git::snapshot::reference_of;
use crate::git::verify::commit::CheckpointCommit;
use crate::model::finding::{BrokenObject, Flaw};
use crate::model::json::Limits;
use crate::model::{CheckpointId, Entry, Manifest, ObjectId, Record, SessionId};
use crate::plan::validate::{CommitFact, Facts, FileFact, RefFact, Said};
use crate::store;

/// What was gathered.
pub(super) struct Gathered {
    /// In the manifest's order; none for what was not asked for.
    pub facts: Vec<Option<Facts>>,
    /// Why a commit could not be taken apart.
    pub flaws: HashMap<CheckpointId, Flaw>,
    /// The session's refs.
    pub references: HashMap<String, ObjectId>,
}

/// Looks at everything but the objects. The neighbour after one that was asked for is read as well, for its link.
pub(super) fn gather(
    workspace: &Workspace,
    manifest: &Manifest,
    chosen: &HashSet<CheckpointId>,
    schema: &Schema,
    objects: Objects,
) -> Result<Gathered, Error> {
    let session = &manifest.session_id;
    let prefix = format!("refs/go-team/{session}/");
    // One that cannot be read is missing here, and looked at by itself below.
    let references = workspace
        .repo
        .backend
        .references(&prefix)
        .unwrap_or_default();
    let references: HashMap<String, ObjectId> = references.into_iter().collect();
    let handles = Handles::new(&workspace.repo);
    let entries = manifest.checkpoints();
    let look = |nth: usize| -> Result<Option<(Facts, Option<Flaw>)>, Error> {
        let entry = &entries[nth];
        let is_after = nth > 0 && chosen.contains(&entries[nth - 1].id);
        if !chosen.contains(&entry.id) && !is_after {
            return Ok(None);
        }
        let (file, record) = read_file(workspace, session, entry);
        let committed = match entry.commit_hash {
            None => Ok(CommitFact::None),
            Some(_) if objects == Objects::LeaveAlone => Ok(CommitFact::None),
            Some(commit) => read_commit(&handles, &commit, record.as_ref())?,
        };
        let (committed, flaw) = match committed {
            Ok(fact) => (fact, None),
            Err(flaw) => (CommitFact::Unreadable, Some(flaw)),
        };
        let facts = Facts {
            file,
            committed,
            reference: reference(workspace, session, entry, &references),
            broken: (0, Vec::new()),
            misfits: record.map_or_else(Vec::new, |record| schema.misfits(&record.state)),
        };
        Ok(Some((facts, flaw)))
    };
    let looked: Vec<_> = (0..entries.len())
        .into_par_iter()
        .with_min_len(16)
        .map(look)
        .collect::<Result<_, Error>>()?;
    let mut flaws = HashMap::new();
    let mut facts = Vec::with_capacity(looked.len());
    for (entry, looked) in entries.iter().zip(looked) {
        facts.push(looked.map(|(facts, flaw)| {
            flaws.extend(flaw.map(|flaw| (entry.id.clone(), flaw)));
            facts
        }));
    }
    Ok(Gathered {
        facts,
        flaws,
        references,
    })
}

fn read_file(
    workspace: &Workspace,
    session: &SessionId,
    entry: &Entry,
) -> (FileFact, Option<Record>) {
    match workspace.store.load_record(session, &entry.id) {
        Ok(record) => (FileFact::Whole(Box::new(Said::of(&record))), Some(record)),
        Err(store::Error::Missing { .. }) => (FileFact::Missing, None),
        Err(store::Error::NewerVersion { found, .. }) => (FileFact::Newer(found), None),
        Err(error) => (FileFact::Damaged(reason(&error)), None),
    }
}

/// Why a file is damaged, without its path, which the finding tells.
pub(super) fn reason(error: &store::Error) -> String {
    match error {
        store::Error::Damaged { source, .. } => source.to_string(),
        store::Error::TooLarge { limit, .. } => format!("it is larger than {limit} bytes"),
        store::Error::Misplaced { found, .. } => format!("it is that of {found}"),
        error => error_chain(error),
    }
}

/// Takes a commit apart; when that fails, once more through a fresh handle.
fn read_commit(
    handles: &Handles<'_>,
    commit: &ObjectId,
    record: Option<&Record>,
) -> Result<Result<CommitFact, Flaw>, Error> {
    let limit = Limits::RECORD.bytes;
    let read = handles.lend(|backend| {
        CheckpointCommit::read(backend, commit, limit).or_else(|_| match backend.reopen() {
            Ok(fresh) => CheckpointCommit::read(&*fresh, commit, limit),
            Err(error) => Err(Flaw::Unreadable {
                reason: error.to_string(),
            }),
        })
    })?;
    Ok(read.map(|held| {
        // The bytes are compared first: that is far quicker than reading a record.
        let same = record.filter(|record| {
            record.git.commit_hash == Some(*commit) && record.sidecar_json() == held.record
        });
        let again = || {
            let record = Record::from_sidecar(&held.record, *commit).ok();
            record.map(|record| record.checksum())
        };
        let checksum = same.map(Record::checksum).or_else(again);
        CommitFact::Holds {
            checksum,
            tree: held.tree,
            staged: held.staged,
            head: held.head,
        }
    }))
}

fn reference(
    workspace: &Workspace,
    session: &SessionId,
    entry: &Entry,
    references: &HashMap<String, ObjectId>,
) -> RefFact {
    let Some(commit) = entry.commit_hash else {
        return RefFact::Fine;
    };
    let name = reference_of(session, &entry.id);
    if references.get(&name) == Some(&commit) {
        return RefFact::Fine;
    }
    let again = workspace.repo.backend.reopen();
    match again.and_then(|backend| backend.reference(&name)) {
        Ok(Some(found)) if found == commit => RefFact::Fine,
        Ok(Some(found)) => RefFact::Elsewhere(name, found),
        Ok(None) => RefFact::Missing(name),
        Err(error) => RefFact::Unreadable(name, error_chain(&error)),
    }
}

/// Every object that the checkpoints need that were looked at.
pub(super) fn census(
    workspace: &Workspace,
    manifest: &Manifest,
    facts: &[Option<Facts>],
) -> Result<Census, Error> {
    let looked_at = manifest.checkpoints().iter().zip(facts);
    let commits: Vec<ObjectId> = looked_at
        .filter(|(_, facts)| facts.is_some())
        .filter_map(|(entry, _)| entry.commit_hash)
        .collect();
    Ok(Census::take(&workspace.repo, &commits)?)
}

/// Tells each checkpoint which broken objects it needs.
pub(super) fn attribute(
    workspace: &Workspace,
    manifest: &Manifest,
    census: &Census,
    flaws: &HashMap<CheckpointId, Flaw>,
    facts: &mut [Option<Facts>],
) -> Result<(), Error> {
    if census.broken.is_empty() && flaws.is_empty() {
        return Ok(());
    }
    let mut tracer = Tracer::new(&workspace.repo, census)?;
    for (entry, facts) in manifest.checkpoints().iter().zip(facts) {
        let (Some(facts), Some(commit)) = (facts, entry.commit_hash) else {
            continue;
        };
        let (count, broken) = tracer.trace(commit);
        facts.broken = (count, broken.into_iter().map(shown).collect());
        if let Some(flaw) = flaws.get(&entry.id).filter(|_| count == 0) {
            let object = BrokenObject {
                id: commit,
                object: "commit",
                path: String::new(),
                flaw: flaw.clone(),
            };
            facts.broken = (1, vec![object]);
        }
    }
    Ok(())
}

fn shown(broken: Broken) -> BrokenObject {
    BrokenObject {
        id: broken.id,
        object: broken.role.kind().as_str(),
        path: broken.place,
        flaw: broken.flaw,
    }
}
