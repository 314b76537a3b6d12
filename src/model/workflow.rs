//! Workflows as data: numbered, named steps, and which step may follow which.
//!
//! A workflow is valid by construction: every transition and every terminal stage names one of its steps. Where its
//! steps come from is no business of this module: [`built_in`] holds those that ship, [`Workflow::define`] checks those
//! that a user wrote.

mod built_in;
mod define;
mod transition;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::state::State;

pub use built_in::{UnknownWorkflow, built_in, find};
pub use define::{Definition, DefinitionError};
pub use transition::{IllegalTransition, Transition};

/// A numbered, named stage of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Counted from 1.
    pub number: u32,
    /// Unique in its workflow, whatever the case of its letters.
    pub name: String,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.name.is_empty() {
            return write!(f, "{}", self.number);
        }
        write!(f, "{} {}", self.number, self.name)
    }
}

/// Which step may follow which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// The steps are meant in order, but loops occur (a review sends the work back): any step may follow any other.
    Loops,
    /// Only these transitions, and staying where one is.
    Listed(Vec<Transition>),
    /// No fixed steps: any number from 1 up.
    Open,
}

/// What a workflow counts its progress in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Steps, as its definition numbers them.
    Step,
    /// Phases, of which the state says how many there are.
    Phase,
}

impl Unit {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Phase => "phase",
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a workflow moves through its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    name: String,
    steps: Vec<Step>,
    unit: Unit,
    flow: Flow,
    terminal: Vec<u32>,
    schema: Option<PathBuf>,
}

/// Where in its workflow a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is counted.
    pub unit: Unit,
    /// The step, with its name where the workflow has one for it.
    pub step: Step,
    /// The number of steps on the main line, unless the workflow is open or the step is a detour.
    pub total: Option<u32>,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.unit, self.step.number)?;
        match self.total {
            Some(total) => write!(f, " of {total}"),
            None if self.step.name.is_empty() => Ok(()),
            None => write!(f, " ({})", self.step.name),
        }
    }
}

impl Workflow {
    /// The name that a session is started with.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The steps by number; empty when the workflow is open.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What progress is counted in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Which step may follow which.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// The JSON Schema that the state of a session must satisfy.
    #[must_use]
    pub fn schema(&self) -> Option<&Path> {
        self.schema.as_deref()
    }

    /// Whether the work is finished once this step is.
    #[must_use]
    pub fn is_terminal(&self, number: u32) -> bool {
        self.terminal.contains(&number)
    }

    /// The name of a step.
    #[must_use]
    pub fn step_name(&self, number: u32) -> Option<&str> {
        self.step(number).map(|step| step.name.as_str())
    }

    /// The number of the step of this name, whatever the case of its letters.
    #[must_use]
    pub fn step_number(&self, name: &str) -> Option<u32> {
        number_in(&self.steps, name)
    }

    /// The step that comes next when all goes well; none after a terminal stage.
    #[must_use]
    pub fn next_step(&self, number: u32) -> Option<Step> {
        if self.is_terminal(number) {
            return None;
        }
        let next = match &self.flow {
            Flow::Loops | Flow::Open => number.checked_add(1)?,
            Flow::Listed(transitions) => transitions.iter().find(|t| t.from == number)?.to,
        };
        match self.flow {
            Flow::Open => Some(self.label(next)),
            Flow::Loops | Flow::Listed(_) => self.step(next).cloned(),
        }
    }

    /// Where a session at this step is.
    #[must_use]
    pub fn progress(&self, number: u32) -> Progress {
        let line = self.main_line();
        let on_it = line.contains(&number);
        Progress {
            unit: Unit::Step,
            step: self.label(number),
            total: u32::try_from(line.len()).ok().filter(|_| on_it),
        }
    }

    /// Where a session is by what its state says; none when the workflow does not count phases, or the state says
    /// nothing about them.
    #[must_use]
    pub fn phase_progress(&self, state: &State) -> Option<Progress> {
        let phases = state.phases().filter(|_| self.unit == Unit::Phase)?;
        Some(Progress {
            unit: Unit::Phase,
            step: Step {
                number: phases.current,
                name: phases.name,
            },
            total: phases.total,
        })
    }

    /// Says whether a checkpoint of phase `to` may be made when the state says how many phases there are.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn check_phase(&self, state: &State, to: u32) -> Result<(), IllegalTransition> {
        let total = self.phase_progress(state).and_then(|phases| phases.total);
        match total {
            Some(total) if to > total => Err(IllegalTransition {
                workflow: self.name.clone(),
                from: None,
                to: self.label(to),
                legal: Vec::new(),
                last: Some(total),
            }),
            _ => Ok(()),
        }
    }

    /// Says whether a checkpoint of step `to` may follow one of step `from`.
    ///
    /// Staying in a step is always legal. So is starting at any step, and going on from a step that the workflow does
    /// not know: a session may be taken up half way, and must never be locked in.
    ///
    /// # Errors
    /// When `to` is not a step of the workflow, or the workflow lists no such transition.
    pub fn check_transition(&self, from: Option<u32>, to: u32) -> Result<(), IllegalTransition> {
        let known_from = from.filter(|&from| self.step(from).is_some());
        let legal = match (&self.flow, known_from) {
            (Flow::Open, _) => to >= 1,
            (Flow::Loops, _) | (Flow::Listed(_), None) => self.step(to).is_some(),
            (Flow::Listed(list), Some(from)) => {
                from == to || list.contains(&Transition { from, to })
            }
        };
        if legal {
            return Ok(());
        }
        Err(IllegalTransition {
            workflow: self.name.clone(),
            from: from.map(|from| self.label(from)),
            to: self.label(to),
            legal: self.legal_from(known_from),
            last: None,
        })
    }

    /// The steps that may follow `from`, itself included, by number.
    fn legal_from(&self, from: Option<u32>) -> Vec<Step> {
        let may_follow = |step: &&Step| match (&self.flow, from) {
            (Flow::Listed(list), Some(from)) => {
                let to = step.number;
                from == to || list.contains(&Transition { from, to })
            }
            _ => true,
        };
        self.steps.iter().filter(may_follow).cloned().collect()
    }

    /// The steps that are passed when all goes well.
    fn main_line(&self) -> Vec<u32> {
        let mut line = Vec::with_capacity(self.steps.len());
        let mut at = self.steps.first().cloned();
        while let Some(step) = at.filter(|step| !line.contains(&step.number)) {
            line.push(step.number);
            at = self.next_step(step.number);
        }
        line
    }

    fn step(&self, number: u32) -> Option<&Step> {
        self.steps.iter().find(|step| step.number == number)
    }

    fn label(&self, number: u32) -> Step {
        self.step(number).cloned().unwrap_or(Step {
            number,
            name: String::new(),
        })
    }
}

fn number_in(steps: &[Step], name: &str) -> Option<u32> {
    let same = |step: &&Step| step.name.eq_ignore_ascii_case(name);
    steps.iter().find(same).map(|step| step.number)
}

#[cfg(test)]
mod tests;
