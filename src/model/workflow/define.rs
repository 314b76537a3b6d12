//! A workflow in the words of whoever wrote it, checked into a [`Workflow`].

use std::path::PathBuf;

use super::{Flow, Step, Transition, Unit, Workflow, built_in, number_in};

/// The longest name of a workflow.
const MAX_NAME: usize = 80;

/// What a user says of a workflow of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definition {
    /// The names of the steps, which are numbered from 1 in this order.
    pub steps: Vec<String>,
    /// Chains of step names, `impl -> review -> pr`. The first that leaves a step is what comes next when all goes
    /// well. Without any, every step may follow every other.
    pub transitions: Vec<String>,
    /// The names of the steps after which the work is finished; the last step when none is named.
    pub terminal: Vec<String>,
    /// A JSON Schema for the state.
    pub schema: Option<PathBuf>,
}

/// What is wrong with a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// Names of workflows are used as words on the command line.
    #[error("a workflow's name is 1 to {MAX_NAME} of a-z, 0-9 and -, not {name:?}")]
    BadName {
        /// The name.
        name: String,
    },
    /// The workflows that ship mean the same everywhere.
    #[error(
        "the workflow {name:?} is built in and cannot be defined anew; only a schema can be added"
    )]
    BuiltIn {
        /// The name.
        name: String,
    },
    /// A workflow of no steps.
    #[error("a workflow needs at least one step")]
    NoSteps,
    /// A step's name that could not be typed or shown.
    #[error("a step's name is text without arrows or control characters, not {name:?}")]
    BadStepName {
        /// The name.
        name: String,
    },
    /// Two steps of one name.
    #[error("two steps are named {name:?}")]
    DuplicateStep {
        /// The name.
        name: String,
    },
    /// A stage that is none of the steps.
    #[error("{stage:?} is not one of the steps")]
    UnknownStage {
        /// The name.
        stage: String,
    },
    /// A transition that leads nowhere.
    #[error("a transition is written \"from -> to\", not {chain:?}")]
    NoArrow {
        /// The text.
        chain: String,
    },
    /// A terminal stage that is left again.
    #[error("the terminal stage {stage:?} has a transition that leaves it")]
    LeavesTerminal {
        /// The stage.
        stage: String,
    },
}

impl Workflow {
    /// Makes a workflow of a user's, or gives a built-in one a schema.
    ///
    /// # Errors
    /// When the definition contradicts itself, or would give a built-in workflow anything but a schema.
    pub fn define(name: &str, definition: &Definition) -> Result<Self, DefinitionError> {
        let name_char = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let spelled = !name.starts_with('-') && name.bytes().all(name_char);
        if name.is_empty() || name.len() > MAX_NAME || !spelled {
            return Err(DefinitionError::BadName {
                name: name.to_owned(),
            });
        }
        if let Some(shipped) = built_in().iter().find(|workflow| workflow.name == name) {
            let schema = definition.schema.clone();
            let only_schema = Definition {
                schema: schema.clone(),
                ..Definition::default()
            };
            if schema.is_some() && *definition == only_schema {
                return Ok(Self {
                    schema,
                    ..shipped.clone()
                });
            }
            return Err(DefinitionError::BuiltIn {
                name: name.to_owned(),
            });
        }
        Self::assemble(name, definition)
    }

    /// Everything [`Workflow::define`] does but the checks of the workflow's own name.
    pub(super) fn assemble(name: &str, definition: &Definition) -> Result<Self, DefinitionError> {
        let steps = number_steps(&definition.steps)?;
        let mut transitions = Vec::new();
        for chain in &definition.transitions {
            transitions.extend(Transition::parse_chain(chain, &steps)?);
        }
        let mut terminal = Vec::new();
        for stage in &definition.terminal {
            let number = number_in(&steps, stage);
            terminal.push(number.ok_or_else(|| DefinitionError::UnknownStage {
                stage: stage.clone(),
            })?);
        }
        if let Some(left) = transitions.iter().find(|t| terminal.contains(&t.from)) {
            let stage = &steps[left.from as usize - 1].name;
            return Err(DefinitionError::LeavesTerminal {
                stage: stage.clone(),
            });
        }
        if terminal.is_empty() {
            terminal.extend(ends(&steps, &transitions));
        }
        let flow = if transitions.is_empty() {
            Flow::Loops
        } else {
            Flow::Listed(transitions)
        };
        Ok(Self {
            name: name.to_owned(),
            steps,
            unit: Unit::Step,
            flow,
            terminal,
            schema: definition.schema.clone(),
        })
    }

    /// A workflow without fixed steps.
    pub(super) fn open(name: &str, unit: Unit) -> Self {
        Self {
            name: name.to_owned(),
            steps: Vec::new(),
            unit,
            flow: Flow::Open,
            terminal: Vec::new(),
            schema: None,
        }
    }
}

fn number_steps(names: &[String]) -> Result<Vec<Step>, DefinitionError> {
    if names.is_empty() {
        return Err(DefinitionError::NoSteps);
    }
    let mut steps: Vec<Step> = Vec::with_capacity(names.len());
    for (number, name) in (1..).zip(names) {
        let name = name.trim();
        let arrow = name.contains("->") || name.contains('→');
        if name.is_empty() || arrow || name.chars().any(char::is_control) {
            return Err(DefinitionError::BadStepName {
                name: name.to_owned(),
            });
        }
        if number_in(&steps, name).is_some() {
            return Err(DefinitionError::DuplicateStep {
                name: name.to_owned(),
            });
        }
        let name = name.to_owned();
        steps.push(Step { number, name });
    }
    Ok(steps)
}

/// The steps that nothing leaves; the last one when transitions are not listed.
fn ends(steps: &[Step], transitions: &[Transition]) -> Vec<u32> {
    let mut numbers = steps.iter().map(|step| step.number);
    if transitions.is_empty() {
        return numbers.next_back().into_iter().collect();
    }
    let left = |number: u32| transitions.iter().any(|t| t.from == number);
    numbers.filter(|&number| !left(number)).collect()
}
