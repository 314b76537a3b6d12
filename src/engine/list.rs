//! Listing the checkpoints of a session.

use rayon::prelude::*;
use serde::Serialize;

use super::checkpoint::Checkpoint;
use super::summary::{SessionSummary, Unfinished};
use super::{Error, Workspace};
use crate::model::SessionId;
use crate::model::selector::Numbers;
use crate::plan::graph::{self, Row};

/// How much is read about each checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// What the manifest says.
    #[default]
    Manifest,
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
    /// Its checkpoints, oldest first.
    pub checkpoints: Vec<Checkpoint>,
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
    let mut checkpoints: Vec<Checkpoint> = manifest
        .checkpoints()
        .iter()
        .map(|entry| Checkpoint::of(&manifest, &numbers, entry))
        .collect();
    if options.detail == Detail::Records {
        checkpoints
            .par_iter_mut()
            .for_each(|checkpoint| checkpoint.read(workspace, &manifest));
    }
    let mut warnings = Vec::new();
    for checkpoint in &checkpoints {
        warnings.extend(checkpoint.record_error.clone());
    }
    let graph = (options.shape == Shape::Graph).then(|| graph::rows(&manifest));
    Ok(ListReport {
        session: workspace.summarize(&manifest),
        checkpoints,
        graph,
        unfinished: workspace.look_for_unfinished(&session, &mut warnings),
        warnings,
    })
}
