//! What a rollback, an undo or a redo is about: which checkpoint is restored, and which becomes current.

use super::{Error, RollbackError, RollbackOptions, What, Workspace};
use crate::git::backend::Head;
use crate::model::manifest::RollbackKind;
use crate::model::path_text::unquote_path;
use crate::model::{CheckpointId, Entry, Manifest, Record, RollbackRecord, Selector};
use crate::plan::rollback::{line, to_redo, to_undo};

/// Whether targets off the current line are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Forward {
    /// Only the current checkpoint and those it descends from.
    #[default]
    Refuse,
    /// Any.
    Accept,
}

/// What it is about.
pub(super) struct Goal {
    pub kind: RollbackKind,
    /// The record of the checkpoint whose files and state are restored.
    pub source: Record,
    pub source_commit: crate::model::ObjectId,
    /// The checkpoint that becomes current.
    pub to: Entry,
    /// The event that is undone or done again.
    pub reverses: Option<RollbackRecord>,
    /// The only paths that are restored; all when there are none.
    pub paths: Vec<Vec<u8>>,
}

impl Goal {
    pub fn of(
        workspace: &Workspace,
        manifest: &Manifest,
        options: &RollbackOptions,
    ) -> Result<Self, Error> {
        let entry = |id: &CheckpointId| {
            let found = manifest.entry(id);
            found.ok_or_else(|| RollbackError::Gone {
                checkpoint: id.clone(),
            })
        };
        let back_to = |record: &RollbackRecord| -> Result<(Entry, Entry), Error> {
            let source = entry(&record.safety_checkpoint)?;
            let to = match &record.from_checkpoint {
                Some(id) => entry(id)?,
                None => source,
            };
            Ok((source.clone(), to.clone()))
        };
        let history = &manifest.rollback_history;
        let (kind, (source, to), reverses) = match &options.what {
            What::To(text) => {
                let found = Selector::parse(text)?.resolve(manifest)?;
                refuse_forward(manifest, found, options)?;
                let both = (found.clone(), found.clone());
                (RollbackKind::Rollback, both, None)
            }
            What::Undo => {
                let last = to_undo(history).ok_or(RollbackError::NothingToUndo)?;
                (RollbackKind::Undo, back_to(last)?, Some(last.clone()))
            }
            What::Redo => {
                let last = to_redo(history).ok_or(RollbackError::NothingToRedo)?;
                (RollbackKind::Redo, back_to(last)?, Some(last.clone()))
            }
        };
        let paths = match &reverses {
            Some(earlier) => {
                let paths = earlier.paths.iter().map(|path| unquote_path(path));
                paths
                    .collect::<Result<_, _>>()
                    .map_err(|_| RollbackError::Unusable {
                        checkpoint: source.id.clone(),
                        reason: "the rollback's paths cannot be read".to_owned(),
                    })?
            }
            None => options.paths.clone(),
        };
        let (record, source_commit) = trusted(workspace, manifest, &source)?;
        Ok(Self {
            kind,
            source: record,
            source_commit,
            to,
            reverses,
            paths,
        })
    }

    /// Where HEAD was when the checkpoint was made.
    pub fn head(&self) -> Result<Head, Error> {
        head_of(&self.source)
    }
}

/// Where HEAD was when a checkpoint was made.
pub(super) fn head_of(record: &Record) -> Result<Head, Error> {
    let git = &record.git;
    let unusable = || RollbackError::Unusable {
        checkpoint: record.id.clone(),
        reason: "its record does not say where HEAD was".to_owned(),
    };
    match (&git.branch, git.head) {
        (Some(branch), commit) => {
            let branch = unquote_path(branch).map_err(|_| unusable())?;
            let name = if branch.starts_with(b"refs/") {
                branch
            } else {
                [b"refs/heads/".as_slice(), &branch].concat()
            };
            Ok(Head::Branch { name, commit })
        }
        (None, Some(commit)) => Ok(Head::Detached { commit }),
        (None, None) => Err(unusable().into()),
    }
}

fn refuse_forward(
    manifest: &Manifest,
    target: &Entry,
    options: &RollbackOptions,
) -> Result<(), Error> {
    let Some(current) = manifest.current() else {
        return Ok(());
    };
    let mut on_line = line(manifest, &current.id).into_iter();
    let is_on_line = on_line.any(|entry| entry.id == target.id);
    // Some paths of any checkpoint are no step back or forth.
    if is_on_line || options.forward == Forward::Accept || !options.paths.is_empty() {
        return Ok(());
    }
    Err(RollbackError::Forward {
        target: target.id.clone(),
        current: current.id.clone(),
    }
    .into())
}

/// The record of a checkpoint, if everything that can be checked quickly is as it should be.
fn trusted(
    workspace: &Workspace,
    manifest: &Manifest,
    entry: &Entry,
) -> Result<(Record, crate::model::ObjectId), Error> {
    let unusable = |reason: String| RollbackError::Unusable {
        checkpoint: entry.id.clone(),
        reason,
    };
    if entry.corrupted_at.is_some() {
        return Err(unusable("it was found to be corrupt".to_owned()).into());
    }
    let record = workspace.store.load_listed(&manifest.session_id, entry);
    let record = record.map_err(|error| unusable(super::super::failure::error_chain(&error)))?;
    let Some(commit) = entry.commit_hash else {
        let mut before = line(manifest, &entry.id).into_iter().skip(1);
        return Err(RollbackError::NoFiles {
            checkpoint: entry.id.clone(),
            nearest: before
                .find(|entry| entry.commit_hash.is_some())
                .map(|entry| entry.id.clone()),
        }
        .into());
    };
    let tree = crate::git::snapshot::tree_of(&workspace.repo, &commit)
        .map_err(|error| unusable(error.to_string()))?;
    if record.git.tree != Some(tree) {
        return Err(
            unusable("its commit holds another tree than its record says".to_owned()).into(),
        );
    }
    Ok((record, commit))
}
