//! One side of a comparison: a checkpoint, or the work tree as it is now.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};

use super::super::failure::error_chain;
use super::super::{Error, Progress, Workspace};
use crate::git::snapshot::{Snapshot, tree_of};
use crate::model::path_text::quote_path;
use crate::model::selector::number_of;
use crate::model::timestamp;
use crate::model::{CheckpointId, Entry, Manifest, ObjectId, State};

/// Which side it is, in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SideReport {
    /// A checkpoint.
    Checkpoint {
        /// What selects it.
        number: String,
        /// The checkpoint.
        id: CheckpointId,
        /// Its step.
        step: u32,
        /// The step's name.
        name: String,
        /// Where the workflow was.
        phase: String,
        /// When it was made.
        #[serde(with = "timestamp")]
        timestamp: DateTime<Utc>,
        /// Whether it can be rolled back to.
        valid: bool,
        /// Its files as a tree.
        tree: Option<ObjectId>,
        /// The ref that holds it.
        #[serde(rename = "ref")]
        reference: Option<String>,
    },
    /// The work tree.
    WorkTree {
        /// The checkpoint it descends from.
        current_checkpoint: Option<CheckpointId>,
        /// Its files as a tree, which is not in the repository.
        tree: Option<ObjectId>,
        /// The branch.
        branch: Option<String>,
    },
}

impl SideReport {
    /// Whether it is the work tree.
    #[must_use]
    pub fn is_work_tree(&self) -> bool {
        matches!(self, Self::WorkTree { .. })
    }
}

/// One side with all that is compared.
#[allow(
    clippy::option_option,
    reason = "an empty tree and a missing HEAD are known, which is not the same as unknown"
)]
pub(super) struct Side {
    pub report: SideReport,
    /// The checkpoint, or the one that the work tree descends from.
    pub entry: Option<CheckpointId>,
    /// Step and its name.
    pub step: Option<(u32, String)>,
    pub phase: Option<String>,
    pub state: Option<State>,
    pub outputs: Option<Map<String, Value>>,
    /// The tree; the inner none is the empty tree, the outer one a side without files.
    pub tree: Option<Option<ObjectId>>,
    /// HEAD's commit; the inner none before the first commit, the outer one when it is not known.
    pub head: Option<Option<ObjectId>>,
    pub snapshot: Option<Snapshot>,
}

impl Side {
    /// A checkpoint. What cannot be read of it is a warning.
    pub fn checkpoint(
        workspace: &Workspace,
        manifest: &Manifest,
        entry: &Entry,
        warnings: &mut Vec<String>,
    ) -> Self {
        let record = workspace.store.load_listed(&manifest.session_id, entry);
        let record = record
            .map_err(|error| warnings.push(error_chain(&error)))
            .ok();
        let recorded = record.as_ref().and_then(|record| record.git.tree);
        let of_commit = |commit: ObjectId, warnings: &mut Vec<String>| {
            tree_of(&workspace.repo, &commit)
                .map_err(|error| warnings.push(error_chain(&error)))
                .ok()
        };
        let tree = recorded.or_else(|| of_commit(entry.commit_hash?, warnings));
        let reference = entry
            .commit_hash
            .map(|_| crate::git::snapshot::reference_of(&manifest.session_id, &entry.id));
        let enabled = record.as_ref().filter(|record| record.git.enabled);
        Self {
            report: SideReport::Checkpoint {
                number: number_of(manifest, entry),
                id: entry.id.clone(),
                step: entry.step,
                name: entry.name.clone(),
                phase: entry.phase.clone(),
                timestamp: entry.timestamp,
                valid: entry.valid,
                tree,
                reference,
            },
            entry: Some(entry.id.clone()),
            step: Some((entry.step, entry.name.clone())),
            phase: Some(entry.phase.clone()),
            head: enabled.map(|record| record.git.head),
            state: record.as_ref().map(|record| record.state.clone()),
            outputs: record.map(|record| record.outputs.clone()),
            tree: tree.map(Some),
            snapshot: None,
        }
    }

    /// The work tree as it is now, with the live state.
    pub fn work_tree(
        workspace: &Workspace,
        manifest: &Manifest,
        looks_at_files: bool,
        progress: &Progress,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let snapshot = if looks_at_files {
            Some(workspace.look_closely(progress)?)
        } else {
            None
        };
        if let Some(snapshot) = &snapshot {
            warnings.extend(snapshot.extras().skipped.iter().map(|skipped| {
                format!("{} is left out: {}", skipped.path, skipped.reason.as_str())
            }));
        }
        let state = workspace.live_state(&manifest.session_id);
        let state = state
            .map_err(|error| warnings.push(error_chain(&error)))
            .ok();
        let current = manifest.current();
        let phase = state.as_ref().and_then(State::phase).map(str::to_owned);
        let step = state.as_ref().and_then(State::current_step);
        let head = workspace.repo.backend.head()?;
        Ok(Self {
            report: SideReport::WorkTree {
                current_checkpoint: manifest.current_checkpoint.clone(),
                tree: snapshot.as_ref().and_then(Snapshot::root),
                branch: head.branch().map(quote_path),
            },
            entry: manifest.current_checkpoint.clone(),
            step: step
                .map(|step| (step, String::new()))
                .or_else(|| current.map(|entry| (entry.step, entry.name.clone()))),
            phase: phase.or_else(|| current.map(|entry| entry.phase.clone())),
            state,
            // Outputs come with a checkpoint; between checkpoints there are none to compare.
            outputs: None,
            tree: snapshot.as_ref().map(Snapshot::root),
            head: Some(head.commit()),
            snapshot,
        })
    }
}
