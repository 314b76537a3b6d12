//! What a checkpoint's record is made of, before any file is looked at: step, name, phase, state, outputs, parent.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::create::CreateOptions;
use super::{Error, Workspace};
use crate::git::snapshot::tree_of;
use crate::model::ids::slug;
use crate::model::workflow::{Flow, Workflow};
use crate::model::{
    CheckpointId, Files, GitSnapshot, Manifest, ObjectId, Record, RecordDraft, Recovery, State,
    Trigger,
};

/// The checkpoint that the new one descends from.
#[derive(Default)]
pub(super) struct Parent {
    pub id: Option<CheckpointId>,
    /// Its tree, when it has one that can be read.
    pub tree: Option<ObjectId>,
    /// What the repository looked like then, without the commit itself.
    pub git: Option<GitSnapshot>,
    outputs: Map<String, Value>,
}

impl Parent {
    /// Reads as much of the parent as can be read; a damaged one does not stop new checkpoints.
    pub fn of(workspace: &Workspace, manifest: &Manifest, warnings: &mut Vec<String>) -> Self {
        let Some(entry) = manifest.current() else {
            return Self::default();
        };
        let mut parent = Self {
            id: Some(entry.id.clone()),
            ..Self::default()
        };
        // A checkpoint that recorded no files changed none: what counts is the nearest one that did.
        let mut base = Some(entry);
        while let Some(without) = base.filter(|entry| entry.commit_hash.is_none()) {
            base = manifest.parent_of(without);
        }
        let commit = base.and_then(|entry| entry.commit_hash);
        parent.tree = commit.and_then(|commit| tree_of(&workspace.repo, &commit).ok());
        if commit.is_some() && parent.tree.is_none() {
            warnings.push(format!(
                "the commit of the parent {} cannot be read; files are compared with HEAD",
                entry.id
            ));
        }
        match workspace
            .store
            .load_listed(&manifest.session_id, entry)
            .map(Record::into_draft)
        {
            Ok(draft) => {
                parent.git = Some(GitSnapshot {
                    commit_hash: None,
                    ..draft.git
                });
                parent.outputs = draft.outputs;
            }
            Err(error) => warnings.push(format!(
                "the record of the parent {} cannot be used: {error}",
                entry.id
            )),
        }
        parent
    }
}

/// What the maker and the workflow say.
pub(super) struct Inputs {
    pub step: u32,
    pub name: String,
    pub slug: String,
    phase: String,
    trigger: Trigger,
    description: String,
    state: State,
    outputs: Map<String, Value>,
    turn_count: Option<u64>,
    next: Option<String>,
}

impl Inputs {
    pub fn gather(
        workspace: &Workspace,
        options: &CreateOptions,
        manifest: &Manifest,
        parent: &Parent,
    ) -> Result<Self, Error> {
        let workflow = workspace.workflow(&manifest.workflow)?;
        let mut state = match &options.state {
            Some(state) => state.clone(),
            None => workspace.live_state(&manifest.session_id)?,
        };
        // The live state's phase is that of an earlier step; one that comes with the checkpoint is meant.
        let given_phase = options
            .state
            .as_ref()
            .and_then(State::phase)
            .map(str::to_owned);
        for (name, value) in &options.metrics {
            state.set(&format!("metrics.{name}"), value.clone())?;
        }
        let step = step_of(options, manifest, workflow, &state);
        // A safety checkpoint records where things are; it is no move of the workflow's.
        if options.trigger != Trigger::Safety {
            workflow.check_transition(manifest.current().map(|entry| entry.step), step)?;
            workflow.check_phase(&state, step)?;
        }
        let described = || {
            options
                .description
                .split_whitespace()
                .take(6)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let of_description = || Some(slug(&described())).filter(|slug| !slug.is_empty());
        let counted = workflow.phase_progress(&state);
        let phase_name =
            || Some(counted.as_ref()?.step.name.clone()).filter(|name| !name.is_empty());
        let named = options
            .name
            .clone()
            .or_else(|| workflow.step_name(step).map(str::to_owned))
            .or_else(phase_name)
            .or_else(of_description);
        let name = named.unwrap_or_else(|| "checkpoint".to_owned());
        let phase_number = || counted.as_ref().map(|_| format!("phase {step}"));
        let phase = options
            .phase
            .clone()
            .or_else(|| given_phase.clone())
            .or_else(phase_name)
            .or_else(phase_number)
            .unwrap_or_else(|| name.clone());
        let outputs = options
            .outputs
            .clone()
            .or_else(|| state.get("outputs").and_then(Value::as_object).cloned());
        let next = next_step(workflow, step, options.trigger, &state);
        Ok(Self {
            step,
            slug: Some(slug(&name))
                .filter(|slug| !slug.is_empty())
                .unwrap_or_else(|| "checkpoint".to_owned()),
            name,
            phase,
            trigger: options.trigger,
            description: options.description.clone(),
            state,
            outputs: outputs.unwrap_or_else(|| parent.outputs.clone()),
            turn_count: workspace.turn_count()?,
            next,
        })
    }

    pub fn draft(
        self,
        manifest: &Manifest,
        parent: &Parent,
        id: CheckpointId,
        now: DateTime<Utc>,
    ) -> RecordDraft {
        RecordDraft {
            id,
            session_id: manifest.session_id.clone(),
            seq: manifest.next_seq(),
            step_number: self.step,
            ordinal: manifest.ordinal_for(self.step),
            step_name: self.name,
            phase: self.phase,
            trigger: self.trigger,
            description: self.description,
            created_at: now,
            parent: parent.id.clone(),
            prev_checksum: manifest.last_checksum(),
            turn_count: self.turn_count,
            state: self.state,
            outputs: self.outputs,
            files: Files::default(),
            git: GitSnapshot::default(),
            recovery: Recovery {
                can_resume: true,
                resume_from: self.next,
                prerequisites_met: true,
                warnings: Vec::new(),
            },
        }
    }
}

/// The step asked for by number or name, else the state's, else where the session is; sessions without a workflow count.
fn step_of(
    options: &CreateOptions,
    manifest: &Manifest,
    workflow: &Workflow,
    state: &State,
) -> u32 {
    let by_name = || {
        options
            .name
            .as_deref()
            .and_then(|name| workflow.step_number(name))
    };
    let asked = options.step.or_else(by_name);
    let numbered = workflow.steps().is_empty() && matches!(workflow.flow(), Flow::Open);
    let at = || manifest.current().map(|entry| entry.step);
    let by_stage = || workflow.step_number(state.current_stage()?);
    let by_phase = || {
        let phases = workflow.phase_progress(state)?;
        Some(phases.step.number).filter(|number| *number > 0)
    };
    match asked {
        Some(step) => step,
        None if options.trigger == Trigger::Safety => at().unwrap_or(0),
        None if numbered => by_phase().unwrap_or_else(|| manifest.next_number()),
        None => state
            .current_step()
            .or_else(by_stage)
            .or_else(at)
            .unwrap_or(1),
    }
}

/// Where work goes on after the checkpoint: in the step that is not done, else in the one after it.
pub(super) fn next_step(
    workflow: &Workflow,
    step: u32,
    trigger: Trigger,
    state: &State,
) -> Option<String> {
    if let Some(phases) = workflow.phase_progress(state) {
        let is_done = !trigger.is_within_a_step();
        let next = step.saturating_add(u32::from(is_done));
        let is_over = phases.total.is_some_and(|total| next > total);
        return (!is_over).then(|| format!("{} {next}", phases.unit));
    }
    if workflow.steps().is_empty() {
        return Some(format!("step {}", step.saturating_add(1)));
    }
    if trigger.is_within_a_step() {
        return Some(format!("step {step}"));
    }
    workflow
        .next_step(step)
        .map(|next| format!("step {}", next.number))
}
