//! Importing a session from an archive: everything is checked before anything is written.
//!
//! The archive is read into a file without a name, and judged there; a refused one leaves nothing, whatever it held. Then,
//! under the lock, packs and the session's directory are staged and synced, a journal says what is about to happen, and
//! the session appears in three steps: objects, refs, directory. Killed before the last, the next command takes the refs
//! away again; after it, the session is complete.

mod check;
mod publish;
mod recover;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::recover::Recovered;
use super::{Error, Workspace};
use crate::git::bundle::BundleError;
use crate::git::snapshot::reference_of;
use crate::model::life::LifeChange;
use crate::model::path_text::quote_path;
use crate::model::{CheckpointId, SessionId, SessionStatus, Sha256Digest};
use crate::plan::import::{Arrival, Arriving, ImportPlan, Present, plan};
use crate::store::archive::ArchiveError;
use check::Checked;

/// What is imported, and how.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The archive.
    pub file: PathBuf,
    /// The session's name here, instead of its own.
    pub rename: Option<SessionId>,
    /// The digest that the archive must have.
    pub sha256: Option<Sha256Digest>,
    /// Whether it is only looked at.
    pub mode: Mode,
}

/// Whether an archive is only looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Check it and say what would happen.
    DryRun,
    /// Import it.
    Import,
}

/// What was imported, or would be.
#[derive(Debug, Clone, Serialize)]
pub struct ImportReport {
    /// The session, under its name here.
    pub session_id: SessionId,
    /// Its name in the archive, where that is another one.
    pub renamed_from: Option<SessionId>,
    /// What it is about.
    pub topic: String,
    /// The workflow's name.
    pub workflow: String,
    /// Where it is in its life.
    pub status: SessionStatus,
    /// The archive.
    pub file: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its digest.
    pub sha256: Sha256Digest,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// The checkpoints, by rising seq.
    pub checkpoints: Vec<CheckpointId>,
    /// How many refs were made.
    pub refs_created: usize,
    /// How many refs were there already.
    pub refs_kept: usize,
    /// How many objects came with the archive.
    pub objects: usize,
    /// Checkpoints whose commits are neither in the archive nor in the repository.
    pub git_missing: Vec<CheckpointId>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
}

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum Defect {
    /// The archive, or what is in it.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Its git bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Another file than the one that was meant.
    #[error("its SHA-256 is {found}, not {expected}")]
    Digest {
        /// What was asked for.
        expected: Sha256Digest,
        /// What it has.
        found: Sha256Digest,
    },
    /// There is no room for what it says it holds.
    #[error("it says that it holds {needed} bytes, and {free} are free")]
    NoRoom {
        /// What it says.
        needed: u64,
        /// What there is.
        free: u64,
    },
}

impl Defect {
    fn mismatch(what: impl Into<String>) -> Self {
        Self::Archive(ArchiveError::Mismatch { what: what.into() })
    }
}

/// Imports a session.
///
/// # Errors
/// When the archive is refused, or something of the session's name is there already; then nothing was written. When
/// writing fails, what was written is taken back.
pub fn import(workspace: &Workspace, options: &ImportOptions) -> Result<ImportReport, Error> {
    let checked = Checked::read(workspace, &options.file, options.sha256)?;
    let rename = options.rename.as_ref();
    let planned = workspace.plan_import(&checked, rename)?;
    let mut report = checked.report(&options.file, &planned, options.mode);
    if options.mode == Mode::DryRun {
        return Ok(report);
    }
    let _lock = workspace.lock("cp-import")?;
    report.recovered.extend(workspace.take_recovered());
    report.recovered.extend(workspace.recover_import()?);
    workspace.clean_up()?;
    // Somebody may have been quicker.
    let planned = workspace.plan_import(&checked, rename)?;
    workspace.publish_import(&checked, &planned)?;
    Ok(ImportReport {
        recovered: report.recovered,
        ..checked.report(&options.file, &planned, options.mode)
    })
}

impl Workspace {
    fn plan_import(
        &self,
        checked: &Checked,
        rename: Option<&SessionId>,
    ) -> Result<ImportPlan, Error> {
        let name = rename.unwrap_or(&checked.manifest.session_id);
        let present = self.present(name)?;
        let arrival = Arrival {
            session: &checked.manifest.session_id,
            rename,
            checkpoints: &checked.arriving,
        };
        Ok(plan(&arrival, &present)?)
    }

    /// What is there under a session's name.
    pub(in crate::engine) fn present(&self, name: &SessionId) -> Result<Present, Error> {
        // A ref may be called what the directory of the refs would be.
        let prefix = format!("refs/go-team/{name}");
        let found = self.repo.backend.references(&prefix)?;
        let mut refs = BTreeMap::new();
        for (full, commit) in found {
            match full.strip_prefix(&prefix) {
                Some("") => _ = refs.insert(String::new(), commit),
                Some(rest) => {
                    if let Some(rest) = rest.strip_prefix('/') {
                        refs.insert(rest.to_owned(), commit);
                    }
                }
                None => {}
            }
        }
        // What is being removed is gone before anything else happens.
        let life = self.store.load_life_journal()?;
        let is_going =
            life.is_some_and(|life| life.session == *name && life.change == LifeChange::Remove);
        if is_going {
            refs.clear();
        }
        let layout = self.store.layout();
        let is_there = |path: PathBuf| !is_going && path.symlink_metadata().is_ok();
        Ok(Present {
            session: is_there(layout.open_session(name)),
            archived: is_there(layout.failed_session(name)),
            refs: self.without_unfinished(name, refs)?,
        })
    }

    /// Leaves out the refs of an import that was cut short: they go before anything else happens.
    fn without_unfinished(
        &self,
        session: &SessionId,
        mut refs: BTreeMap<String, crate::model::ObjectId>,
    ) -> Result<BTreeMap<String, crate::model::ObjectId>, Error> {
        let journal = self.store.load_import_journal()?;
        if let Some(journal) = journal.filter(|journal| journal.session == *session) {
            refs.retain(|name, commit| {
                let id = CheckpointId::parse(name).ok();
                id.and_then(|id| journal.refs.get(&id)) != Some(commit)
            });
        }
        Ok(refs)
    }

    /// Removes what killed processes left. The caller holds the lock.
    pub(in crate::engine) fn clean_up(&self) -> Result<(), Error> {
        self.store.clean_work_temps(&self.worktree)?;
        self.store.clean_temps(None)?;
        crate::git::pack::clean_temps(&self.repo)?;
        Ok(self.repo.backend.recover_locks()?)
    }
}

impl Checked {
    fn report(&self, file: &Path, plan: &ImportPlan, mode: Mode) -> ImportReport {
        let manifest = &self.manifest;
        ImportReport {
            session_id: plan.session.clone(),
            renamed_from: plan.renamed_from.clone(),
            topic: manifest.topic.clone(),
            workflow: manifest.workflow.clone(),
            status: manifest.status,
            file: quote_path(file.as_os_str().as_encoded_bytes()),
            size: self.size,
            sha256: self.sha256,
            dry_run: mode == Mode::DryRun,
            checkpoints: self
                .arriving
                .iter()
                .map(|one: &Arriving| one.id.clone())
                .collect(),
            refs_created: plan.create.len(),
            refs_kept: plan.keep.len(),
            objects: self
                .pack
                .as_ref()
                .map_or(0, crate::git::bundle::VerifiedPack::len),
            git_missing: plan.missing.clone(),
            recovered: Vec::new(),
        }
    }
}

/// The refs of checkpoints.
fn named(
    session: &SessionId,
    refs: &BTreeMap<CheckpointId, crate::model::ObjectId>,
) -> Vec<(String, crate::model::ObjectId)> {
    let refs = refs.iter();
    refs.map(|(id, commit)| (reference_of(session, id), *commit))
        .collect()
}
