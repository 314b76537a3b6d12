//! A session in short, as several reports show it.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Workspace;
use super::failure::error_chain;
use crate::model::path_text::quote_path;
use crate::model::timestamp;
use crate::model::workflow::{self, Step, Unit, Workflow};
use crate::model::{CheckpointId, Manifest, SessionId, SessionStatus};

/// A session in short.
#[derive(Debug, Clone, Serialize)]
pub struct SessionSummary {
    /// The session.
    pub session_id: SessionId,
    /// What it is about.
    pub topic: String,
    /// The workflow's name.
    pub workflow: String,
    /// Where it is in its life.
    pub status: SessionStatus,
    /// When it began.
    #[serde(with = "timestamp")]
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    #[serde(with = "timestamp")]
    pub updated_at: DateTime<Utc>,
    /// The checkpoint that the work tree descends from.
    pub current_checkpoint: Option<CheckpointId>,
    /// How many checkpoints it has.
    pub checkpoint_count: usize,
    /// Where in its workflow it is; absent before the first checkpoint.
    pub progress: Option<Progress>,
    /// What comes next when all goes well.
    pub next_step: Option<StepName>,
    /// Whether this work tree is in it.
    pub active_here: bool,
}

/// Where in its workflow a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// What is counted: steps, or the phases that the state tells of.
    pub unit: Unit,
    /// The step or phase.
    pub step: u32,
    /// Its name.
    pub name: String,
    /// How many steps there are, where that is known.
    pub total: Option<u32>,
}

/// A step with its name; the name is empty where the workflow has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepName {
    /// The number.
    pub step: u32,
    /// The name.
    pub name: String,
}

impl From<Step> for StepName {
    fn from(step: Step) -> Self {
        Self {
            step: step.number,
            name: step.name,
        }
    }
}

/// An operation that began and has not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// Which operation.
    pub operation: String,
}

impl Workspace {
    /// Puts a session in short. A workflow that is not configured any more costs the progress, nothing else.
    #[must_use]
    pub fn summarize(&self, manifest: &Manifest) -> SessionSummary {
        let workflow = workflow::find(&manifest.workflow, &self.config.settings.workflows).ok();
        let current = manifest.current();
        let active = self.store.load_current(&self.worktree).ok().flatten();
        let active_here = active.is_some_and(|active| active.session_id == manifest.session_id);
        let phases = workflow.and_then(|workflow| self.phases(workflow, manifest, active_here));
        let progress = phases.clone().or_else(|| {
            let entry = current?;
            Some(Progress {
                unit: Unit::Step,
                step: entry.step,
                name: entry.name.clone(),
                total: workflow.and_then(|workflow| workflow.progress(entry.step).total),
            })
        });
        let next_step = match (workflow, current, &phases) {
            (_, _, Some(phases)) => next_phase(phases),
            (Some(workflow), Some(entry), _) => workflow.next_step(entry.step),
            (Some(workflow), None, _) => workflow.steps().first().cloned(),
            (None, _, _) => None,
        };
        SessionSummary {
            session_id: manifest.session_id.clone(),
            topic: manifest.topic.clone(),
            workflow: manifest.workflow.clone(),
            status: manifest.status,
            created_at: manifest.created_at,
            updated_at: manifest.updated_at,
            current_checkpoint: manifest.current_checkpoint.clone(),
            checkpoint_count: manifest.checkpoints().len(),
            progress,
            next_step: next_step.map(StepName::from),
            active_here,
        }
    }

    /// Where a session is by the phases of its live state, which is read only where the workflow counts phases.
    fn phases(
        &self,
        workflow: &Workflow,
        manifest: &Manifest,
        active_here: bool,
    ) -> Option<Progress> {
        if workflow.unit() != Unit::Phase {
            return None;
        }
        let session = &manifest.session_id;
        // The file that the settings link is about the session of this work tree.
        let state = if active_here {
            self.live_state(session).ok()?
        } else {
            self.store.load_state(session).ok()??
        };
        let progress = workflow.phase_progress(&state)?;
        Some(Progress {
            unit: progress.unit,
            step: progress.step.number,
            name: progress.step.name,
            total: progress.total,
        })
    }

    /// For commands that only read: what was left unfinished. A journal that cannot be read is a warning.
    pub(super) fn look_for_unfinished(
        &self,
        session: &SessionId,
        warnings: &mut Vec<String>,
    ) -> Option<Unfinished> {
        let life = self.store.load_life_journal();
        if let Ok(Some(life)) = life.map(|life| life.filter(|life| life.session == *session)) {
            let operation = life.op().to_owned();
            return Some(Unfinished { operation });
        }
        match self.unfinished(session) {
            Ok(journal) => journal.map(|journal| Unfinished {
                operation: journal.op().to_owned(),
            }),
            Err(error) => {
                warnings.push(error_chain(&error));
                None
            }
        }
    }
}

fn next_phase(phases: &Progress) -> Option<Step> {
    let number = phases.step.checked_add(1)?;
    let is_over = phases.total.is_some_and(|total| number > total);
    (!is_over).then(|| Step {
        number,
        name: String::new(),
    })
}

/// A path as text that loses nothing.
pub(super) fn path_text(path: &Path) -> String {
    quote_path(path.as_os_str().as_encoded_bytes())
}
