//! Where work goes on: the step or stage, what was in flight, and what to do about it, by the rules of each workflow.
//!
//! A checkpoint says which step was done; the live state may say more, because it is written while work goes on. Where
//! the two differ, the live state is where the work was interrupted.

use serde::Serialize;
use serde_json::Value;

use super::batches::Execution;
use crate::model::workflow::{Step, Unit, Workflow};
use crate::model::{State, Trigger};

/// The stage of `crunch` that its execution graph is about.
const IMPLEMENTING: &str = "implementing";

/// The checkpoint that work goes on from.
#[derive(Debug, Clone, Copy)]
pub struct From<'a> {
    /// The step that was done, or was being done.
    pub step: u32,
    /// Its name.
    pub name: &'a str,
    /// Where the workflow was.
    pub phase: &'a str,
    /// Why it was made.
    pub trigger: Trigger,
    /// The state that it recorded; absent when the record cannot be read.
    pub state: Option<&'a State>,
}

/// What to do first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing has been done yet: begin.
    Begin,
    /// The last step is done: go on with the next.
    NextStep,
    /// The step was interrupted: carry on in it.
    CarryOn,
    /// The implementation was interrupted: restart this iteration.
    RestartIteration,
    /// The review was interrupted before it said anything: repeat it.
    RepeatReview,
    /// The review has spoken: implement again, with its feedback.
    ApplyFeedback,
    /// A pull request was being made: check whether it exists before making one.
    CheckPullRequest,
    /// A rebase was under way: check how far it got.
    CheckRebase,
    /// The phase failed: do it again.
    RetryPhase,
    /// Run what is left of the execution graph, batch after batch.
    RunBatches,
    /// Nothing of the execution graph can run: see to what failed first.
    Unblock,
    /// Nothing is left to do.
    Finish,
}

impl Action {
    /// In words, for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Begin => "begin with the first step",
            Self::NextStep => "go on with the next step",
            Self::CarryOn => "carry on in the step that was interrupted",
            Self::RestartIteration => "restart the iteration that was interrupted",
            Self::RepeatReview => "repeat the review that was interrupted",
            Self::ApplyFeedback => "implement again, with the feedback of the review",
            Self::CheckPullRequest => "check whether the pull request exists before you make one",
            Self::CheckRebase => "check how far the rebase got (git status)",
            Self::RetryPhase => "do the phase again that failed",
            Self::RunBatches => "run what is left of the graph, batch after batch",
            Self::Unblock => "see to what failed: nothing of the graph can run",
            Self::Finish => "nothing is left to do",
        }
    }
}

/// Where work goes on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// What to do first.
    pub action: Action,
    /// What the workflow counts.
    pub unit: Unit,
    /// The number of the step or phase to work on; absent when nothing is left.
    pub step: Option<u32>,
    /// Its name, where it has one.
    pub stage: Option<String>,
    /// How many steps or phases there are, where that is known.
    pub total: Option<u32>,
    /// The phase as the state or the checkpoint calls it.
    pub phase: Option<String>,
    /// The iteration that the state tells of.
    pub iteration: Option<u64>,
    /// The iteration to begin, where it is another one.
    pub next_iteration: Option<u64>,
    /// How many there may be.
    pub max_iterations: Option<u64>,
    /// Who was working on it.
    pub agent: Option<String>,
    /// What the last review said.
    pub feedback: Option<String>,
    /// What it scored.
    pub score: Option<Value>,
    /// What failed last, in the workflow's own words.
    pub last_error: Option<Value>,
    /// The phases that are completed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completed_phases: Vec<Value>,
    /// The execution graph and what is left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// Messages that were not delivered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending_messages: Vec<Value>,
}

/// Finds where work goes on.
#[must_use]
pub fn point(workflow: Option<&Workflow>, from: Option<From<'_>>, live: &State) -> Point {
    let graph = live.get("execution_graph").filter(|graph| !graph.is_null());
    let is_team = |workflow: &&Workflow| workflow.name() == "crunch";
    let execution = workflow
        .filter(is_team)
        .and_then(|_| graph.map(Execution::of));
    let (action, step) = place(workflow, from, live, execution.as_ref());
    let phases = workflow.and_then(|workflow| workflow.phase_progress(live));
    let unit = phases.as_ref().map_or(Unit::Step, |phases| phases.unit);
    let total = match (&phases, workflow, &step) {
        (Some(phases), _, _) => phases.total,
        (None, Some(workflow), Some(step)) => workflow.progress(step.number).total,
        _ => None,
    };
    let text = |value: Option<&str>| value.map(str::to_owned);
    let is_same = |from: &From<'_>| step.as_ref().is_some_and(|step| step.number == from.step);
    let of_same_step = from.filter(is_same).map(|from| from.phase);
    let mut point = Point {
        action,
        unit,
        total,
        phase: text(live.phase().or(of_same_step)),
        iteration: live.iteration(),
        next_iteration: None,
        max_iterations: live.max_iterations(),
        agent: text(live.current_agent()),
        feedback: text(live.last_feedback()),
        score: live.last_score().cloned(),
        last_error: live.get("last_error").filter(|e| !e.is_null()).cloned(),
        completed_phases: Vec::new(),
        execution,
        pending_messages: Vec::new(),
        stage: step.as_ref().map(|step| step.name.clone()),
        step: step.map(|step| step.number),
    };
    point.stage = point.stage.filter(|name| !name.is_empty());
    if point.action == Action::ApplyFeedback {
        point.next_iteration = point.iteration.and_then(|nth| nth.checked_add(1));
    }
    match workflow.map(Workflow::name) {
        Some("phases") => point.completed_phases = live.completed_phases(),
        Some("crunch") => team(&mut point, live),
        _ => {}
    }
    point
}

/// What to do first, and in which step.
fn place(
    workflow: Option<&Workflow>,
    from: Option<From<'_>>,
    live: &State,
    execution: Option<&Execution>,
) -> (Action, Option<Step>) {
    let Some(workflow) = workflow else {
        let step = from.map(|from| Step {
            number: from.step,
            name: from.name.to_owned(),
        });
        return match step {
            Some(step) => (Action::CarryOn, Some(step)),
            None => (Action::Begin, None),
        };
    };
    if let Some(found) = phase(workflow, live) {
        return found;
    }
    let stage = working_on(workflow, from, live);
    if let Some(stage) = stage {
        return match workflow.name() {
            "impl" => implementation(workflow, &stage, live),
            _ => (Action::CarryOn, Some(stage)),
        };
    }
    let Some(from) = from else {
        return (Action::Begin, workflow.steps().first().cloned());
    };
    let step = workflow.progress(from.step).step;
    let has_rest = step.name == IMPLEMENTING && execution.is_some_and(|graph| !graph.is_done());
    if has_rest || (from.trigger.is_within_a_step() && !workflow.steps().is_empty()) {
        return match workflow.name() {
            "impl" => implementation(workflow, &step, live),
            _ => (Action::CarryOn, Some(step)),
        };
    }
    match workflow.next_step(from.step) {
        Some(next) => (Action::NextStep, Some(next)),
        None => (Action::Finish, None),
    }
}

/// The step that the live state says is being worked on, where it says more than the checkpoint does.
fn working_on(workflow: &Workflow, from: Option<From<'_>>, live: &State) -> Option<Step> {
    let by_stage = |state: &State| workflow.step_number(state.current_stage()?);
    let number = match live
        .current_step()
        .filter(|n| workflow.step_name(*n).is_some())
    {
        Some(number) => {
            // The number goes along with checkpoints: only one that was set since says more than they do.
            let recorded = from.and_then(|from| from.state?.current_step());
            let is_new = from.is_none_or(|from| recorded != Some(number) && from.step != number);
            is_new.then_some(number)
        }
        None => by_stage(live),
    }?;
    let is_done = from.is_some_and(|from| {
        let is_complete = matches!(
            from.trigger,
            Trigger::StepComplete | Trigger::PhaseTransition
        );
        is_complete && from.step == number
    });
    (!is_done).then(|| workflow.progress(number).step)
}

/// Where a workflow of phases goes on, if the state tells of its phases.
fn phase(workflow: &Workflow, live: &State) -> Option<(Action, Option<Step>)> {
    let progress = workflow.phase_progress(live)?;
    let phases = live.phases()?;
    if live.get("last_error").is_some_and(|error| !error.is_null()) && !phases.is_completed {
        return Some((Action::RetryPhase, Some(progress.step)));
    }
    if !phases.is_completed && phases.current > 0 {
        return Some((Action::CarryOn, Some(progress.step)));
    }
    let next = phases.current.saturating_add(1);
    if phases.total.is_some_and(|total| next > total) {
        return Some((Action::Finish, None));
    }
    let action = if phases.current == 0 {
        Action::Begin
    } else {
        Action::NextStep
    };
    let name = String::new();
    Some((action, Some(Step { number: next, name })))
}

/// The rules of `impl`.
fn implementation(workflow: &Workflow, stage: &Step, live: &State) -> (Action, Option<Step>) {
    let to = |name: &str| {
        let number = workflow.step_number(name);
        number.map(|number| workflow.progress(number).step)
    };
    match stage.name.as_str() {
        "impl" => (Action::RestartIteration, Some(stage.clone())),
        "review" => match review(live) {
            Review::Open => (Action::RepeatReview, Some(stage.clone())),
            Review::Content => (Action::NextStep, to("pr")),
            Review::WantsMore => (Action::ApplyFeedback, to("impl")),
        },
        "pr" => (Action::CheckPullRequest, Some(stage.clone())),
        "rebase" => (Action::CheckRebase, Some(stage.clone())),
        _ => (Action::Finish, None),
    }
}

/// What a review came to.
enum Review {
    /// It did not come to its end.
    Open,
    /// It was passed.
    Content,
    /// It was not.
    WantsMore,
}

/// What the review of this iteration came to, by the history, or by the feedback where there is no history of reviews.
fn review(live: &State) -> Review {
    let reviews = live
        .history()
        .iter()
        .filter(|item| item["stage"] == "review");
    let reviews: Vec<&Value> = reviews.collect();
    if reviews.is_empty() {
        return match live.last_feedback() {
            Some(_) => Review::WantsMore,
            None => Review::Open,
        };
    }
    let iteration = live.iteration();
    let is_this = |item: &&&Value| {
        let nth = item["iteration"].as_u64();
        nth.is_none() || iteration.is_none() || nth == iteration
    };
    match reviews.iter().rev().find(is_this) {
        None => Review::Open,
        Some(item) if item["result"] == "success" => Review::Content,
        Some(_) => Review::WantsMore,
    }
}

/// The rules of `crunch`: what is left of the graph is computed anew, and nothing that was said is lost.
fn team(point: &mut Point, live: &State) {
    let messages = live.get("pending_messages").and_then(Value::as_array);
    point.pending_messages = messages.cloned().unwrap_or_default();
    let Some(execution) = &point.execution else {
        return;
    };
    if point.stage.as_deref() != Some(IMPLEMENTING) || execution.is_done() {
        return;
    }
    point.action = if execution.batches.is_empty() {
        Action::Unblock
    } else {
        Action::RunBatches
    };
}

#[cfg(test)]
mod tests;
