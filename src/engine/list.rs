//! Listing the checkpoints of a session.

use chrono::{DateTime, Utc};
use rayon::prelude::*;
use serde::Serialize;

use super::checkpoint::Checkpoint;
use super::summary::{SessionSummary, Unfinished};
use super::{Error, Workspace};
use crate::model::selector::Numbers;
use crate::model::{Entry, SessionId, Trigger};
use crate::plan::graph::{self, Row};

/// The most records that are read only because their descriptions are good to see.
const FEW: usize = 200;
/// More records than this are read by several threads.
const SHARE_FROM: usize = 50;

/// How much is read about each checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// What the manifest says.
    #[default]
    Manifest,
    /// What the records say as well, unless there are very many.
    Few,
    /// What the records say as well.
    Records,
}

/// What is listed, and how.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// How much is read.
    pub detail: Detail,
    /// In which shape.
    pub shape: Shape,
    /// Which of them.
    pub filter: Filter,
    /// A metric to show for each: its name, or a dotted path in the state.
    pub metric: Option<String>,
}

/// Which checkpoints are listed: those that meet every condition.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of one of these steps, by number or name; of any when empty.
    pub steps: Vec<String>,
    /// Made for one of these reasons; for any when empty.
    pub triggers: Vec<Trigger>,
    /// Made at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Whether they can be rolled back to.
    pub validity: ValidityFilter,
}

/// Whether invalid checkpoints are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidityFilter {
    /// All are.
    #[default]
    Any,
    /// Only those that can be rolled back to.
    Valid,
}

impl Filter {
    fn takes(&self, entry: &Entry) -> bool {
        let number = entry.step.to_string();
        let is_step = |wanted: &String| *wanted == number || *wanted == entry.name;
        (self.steps.is_empty() || self.steps.iter().any(is_step))
            && (self.triggers.is_empty() || self.triggers.contains(&entry.trigger))
            && self.since.is_none_or(|since| entry.timestamp >= since)
            && (self.validity == ValidityFilter::Any || entry.valid)
    }
}

/// In which shape checkpoints are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// One after the other.
    #[default]
    Table,
    /// As a tree that branches where work was rolled back.
    Graph,
}

/// A session's checkpoints.
#[derive(Debug, Clone, Serialize)]
pub struct ListReport {
    /// The session.
    #[serde(flatten)]
    pub session: SessionSummary,
    /// Its checkpoints, oldest first; those that were asked for.
    pub checkpoints: Vec<Checkpoint>,
    /// How many were not asked for.
    pub filtered: usize,
    /// The metric that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The lines of the tree, when it was asked for; `parent` says the same.
    #[serde(skip)]
    pub graph: Option<Vec<Row>>,
    /// An operation that has not come to its end.
    pub unfinished: Option<Unfinished>,
    /// Troubles that did not stop the report.
    pub warnings: Vec<String>,
}

/// Lists checkpoints.
///
/// # Errors
/// When there is no such session, or its manifest cannot be read.
pub fn list(workspace: &Workspace, options: &ListOptions) -> Result<ListReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let manifest = workspace.store.load_manifest(&session)?;
    let numbers = Numbers::of(&manifest);
    let entries: Vec<&Entry> = manifest
        .checkpoints()
        .iter()
        .filter(|entry| options.filter.takes(entry))
        .collect();
    let mut checkpoints: Vec<Checkpoint> = entries
        .iter()
        .map(|entry| Checkpoint::of(&manifest, &numbers, entry))
        .collect();
    let reads = match options.detail {
        Detail::Manifest => options.metric.is_some(),
        Detail::Few => options.metric.is_some() || checkpoints.len() <= FEW,
        Detail::Records => true,
    };
    if reads {
        let metric = options.metric.as_deref();
        let read = |checkpoint: &mut Checkpoint| checkpoint.read_with(workspace, &manifest, metric);
        if checkpoints.len() > SHARE_FROM {
            checkpoints.par_iter_mut().for_each(read);
        } else {
            checkpoints.iter_mut().for_each(read);
        }
    }
    let mut warnings = Vec::new();
    for checkpoint in &checkpoints {
        warnings.extend(checkpoint.record_error.clone());
    }
    let graph = (options.shape == Shape::Graph).then(|| graph::rows(&manifest, &entries));
    Ok(ListReport {
        session: workspace.summarize(&manifest),
        filtered: manifest.checkpoints().len() - checkpoints.len(),
        metric: options.metric.clone(),
        checkpoints,
        graph,
        unfinished: workspace.look_for_unfinished(&session, &mut warnings),
        warnings,
    })
}
