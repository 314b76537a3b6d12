//! What happened between two checkpoints, or between one and the work tree as it is now.

pub mod files;
pub mod outputs;
pub mod side;
pub mod state;

use std::path::Path;

use serde::Serialize;

use super::content::Content;
use super::failure::error_chain;
use super::summary::Unfinished;
use super::{Error, Progress, Workspace};
use crate::git::diff::commits::{self, Commit};
use crate::git::diff::pathspec::Pathspec;
use crate::git::diff::rename::Detect;
use crate::model::{CheckpointId, Manifest, ObjectId, RollbackRecord, Selector, SessionId};
use crate::plan::lineage::{self, Relation};

pub use crate::git::diff::commits::Commit as UserCommit;
pub use crate::git::diff::lines::LineCounts;
pub use crate::git::diff::measure::Measure;

use files::{Comparison, FileChanges};
use outputs::OutputChange;
use side::{Side, SideReport};
use state::{MetricChange, StateChanges};

/// What is compared, and how much of it is told.
#[derive(Debug, Clone)]
pub struct DiffOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// The old side.
    pub old: Selector,
    /// The new side; the work tree as it is now when absent.
    pub new: Option<Selector>,
    /// How much is told.
    pub view: View,
    /// Paths that the files are narrowed to, as they were typed; all when there are none.
    pub paths: Vec<Vec<u8>>,
    /// Where they were typed.
    pub start: std::path::PathBuf,
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Everything but contents.
    Sections,
    /// State and metrics.
    State,
    /// Paths with how much changed in each.
    Stat,
    /// Paths.
    NameOnly,
    /// Paths with what happened to each.
    NameStatus,
    /// A patch.
    Patch,
}

impl View {
    /// Whether it tells of more than files.
    #[must_use]
    pub fn has_sections(self) -> bool {
        self == Self::Sections
    }

    /// What is looked for: what git itself would look for, unless the answer is our own.
    fn detect(self) -> Detect {
        match self {
            Self::Sections => Detect::Copies,
            _ => Detect::Renames,
        }
    }
}

/// What happened. What was not asked for, or cannot be known, is absent.
#[derive(Debug, Clone, Serialize)]
pub struct DiffReport {
    /// The session.
    pub session_id: SessionId,
    /// How it is told.
    #[serde(skip)]
    pub view: View,
    /// The old side.
    pub old: SideReport,
    /// The new side.
    pub new: SideReport,
    /// How the two are related.
    pub lineage: LineageReport,
    /// What changed in the state.
    pub state: Option<StateChanges>,
    /// What changed in the metrics, which are a part of the state.
    pub metrics: Option<Vec<MetricChange>>,
    /// What changed in the outputs.
    pub outputs: Option<Vec<OutputChange>>,
    /// What changed in the files.
    pub files: Option<FileChanges>,
    /// The user's commits between the two.
    pub commits: Option<CommitChanges>,
    /// The patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Content>,
    /// An operation that has not come to its end.
    pub unfinished: Option<Unfinished>,
    /// Troubles that did not stop the report.
    pub warnings: Vec<String>,
}

/// How the two sides are related.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineageReport {
    /// In a word.
    pub relation: Relation,
    /// What selects the checkpoint where they part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_number: Option<String>,
    /// Rollbacks that went back to a checkpoint between them.
    pub rollbacks: Vec<RollbackRecord>,
}

/// The user's commits between two sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommitChanges {
    /// HEAD of the old side.
    pub old_head: Option<ObjectId>,
    /// HEAD of the new side.
    pub new_head: Option<ObjectId>,
    /// Commits that the new side has and the old one has not, newest first.
    pub added: Vec<Commit>,
    /// Commits that were left behind: those of the old side alone, and those that a rollback between the two took off.
    pub removed: Vec<Commit>,
}

/// Compares.
///
/// # Errors
/// When there is no such session or checkpoint, a path leads out of the work tree, or trees and contents cannot be
/// read. A damaged record costs what only it says.
pub fn diff(
    workspace: &Workspace,
    options: &DiffOptions,
    progress: &Progress,
) -> Result<DiffReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let manifest = workspace.store.load_manifest(&session)?;
    let paths = narrowed(workspace, &options.paths, &options.start)?;
    let old_entry = options.old.resolve(&manifest)?;
    let new_entry = match &options.new {
        Some(selector) => Some(selector.resolve(&manifest)?),
        None => None,
    };
    let mut warnings = Vec::new();
    let old = Side::checkpoint(workspace, &manifest, old_entry, &mut warnings);
    let looks_at_files = options.view != View::State;
    let new = match new_entry {
        Some(entry) => Side::checkpoint(workspace, &manifest, entry, &mut warnings),
        None => Side::work_tree(
            workspace,
            &manifest,
            looks_at_files,
            progress,
            &mut warnings,
        )?,
    };
    let lineage = lineage_of(&manifest, &old, &new);
    let view = options.view;
    let mut files = if looks_at_files {
        Comparison::of(workspace, &old, &new, &paths, view.detect(), &mut warnings)?
    } else {
        None
    };
    let tells_state = matches!(view, View::Sections | View::State);
    let states = old.state.as_ref().zip(new.state.as_ref());
    let states = states.filter(|_| tells_state);
    let mut report = DiffReport {
        session_id: session.clone(),
        view,
        state: states.map(|_| StateChanges::between(&old, &new)),
        metrics: states.map(|(old, new)| state::metrics(old, new)),
        outputs: None,
        files: None,
        commits: None,
        patch: None,
        unfinished: workspace.look_for_unfinished(&session, &mut warnings),
        lineage,
        old: old.report.clone(),
        new: new.report.clone(),
        warnings: Vec::new(),
    };
    if let Some(files) = &mut files {
        if view == View::Patch {
            report.patch = Some(Content::new(files.patch()?));
        }
        let needs_measures = !matches!(view, View::NameOnly | View::NameStatus | View::Patch);
        report.files = Some(files.report(needs_measures, &mut warnings));
    }
    if view.has_sections() {
        // The work tree has the outputs of its last checkpoint; the files that they name may have changed.
        let goes_on = new.report.is_work_tree().then_some(&old.outputs);
        let newer = goes_on.unwrap_or(&new.outputs).as_ref();
        let outputs = old.outputs.as_ref().zip(newer);
        report.outputs =
            outputs.map(|(old, new)| outputs::compare(old, new, report.files.as_ref()));
        match commit_changes(workspace, &old, &new, &manifest, &report.lineage.rollbacks) {
            Ok(commits) => report.commits = commits,
            Err(error) => {
                let reason = error_chain(&error);
                warnings.push(format!("the commits in between are not known: {reason}"));
            }
        }
    }
    report.warnings = warnings;
    Ok(report)
}

/// The paths that were typed, seen from the root of the work tree.
fn narrowed(workspace: &Workspace, typed: &[Vec<u8>], start: &Path) -> Result<Pathspec, Error> {
    if typed.is_empty() {
        return Ok(Pathspec::default());
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let within = real(start);
    let within = within.strip_prefix(real(&workspace.repo.work_dir));
    let within = within.map_or(&[][..], |path| path.as_os_str().as_encoded_bytes());
    Ok(Pathspec::parse(typed, within)?)
}

fn lineage_of(manifest: &Manifest, old: &Side, new: &Side) -> LineageReport {
    let apart = LineageReport {
        relation: Relation::Apart,
        branch_number: None,
        rollbacks: Vec::new(),
    };
    let entry = |id: &Option<CheckpointId>| id.as_ref().and_then(|id| manifest.entry(id));
    let (Some(a), Some(b)) = (entry(&old.entry), entry(&new.entry)) else {
        return apart;
    };
    let lineage = lineage::lineage(manifest, a, b);
    let branch_number = match &lineage.relation {
        Relation::Branches { at } => manifest
            .entry(at)
            .map(|entry| crate::model::selector::number_of(manifest, entry)),
        _ => None,
    };
    LineageReport {
        relation: match lineage.relation {
            // The work tree goes on from its checkpoint.
            Relation::Same if new.report.is_work_tree() => Relation::Descends,
            relation => relation,
        },
        branch_number,
        rollbacks: lineage.rollbacks.into_iter().cloned().collect(),
    }
}

fn commit_changes(
    workspace: &Workspace,
    old: &Side,
    new: &Side,
    manifest: &Manifest,
    rollbacks: &[RollbackRecord],
) -> Result<Option<CommitChanges>, Error> {
    let (Some(old_head), Some(new_head)) = (old.head, new.head) else {
        return Ok(None);
    };
    let backend = &*workspace.repo.backend;
    let between = commits::between(backend, old_head, new_head)?;
    let mut changes = CommitChanges {
        old_head,
        new_head,
        added: between.added,
        removed: between.removed,
    };
    for rollback in rollbacks {
        // What HEAD was at before the rollback: commits that neither side has were taken off by it.
        let safety = manifest.entry(&rollback.safety_checkpoint);
        let record = safety.and_then(|entry| {
            let loaded = workspace.store.load_listed(&manifest.session_id, entry);
            loaded.ok()
        });
        let Some(head) = record.and_then(|record| record.git.head) else {
            continue;
        };
        let not_in_old = commits::between(backend, old_head, Some(head))?.added;
        let not_in_new = commits::between(backend, new_head, Some(head))?.added;
        let lost = not_in_new.into_iter().filter(|commit| {
            not_in_old.contains(commit) && !changes.removed.iter().any(|known| known == commit)
        });
        let lost: Vec<Commit> = lost.collect();
        changes.removed.extend(lost);
    }
    Ok(Some(changes))
}
