//! One step following another, and the refusal of it.

use std::fmt;

use super::{DefinitionError, Step, number_in};

/// One step may follow another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The number of the step that is left.
    pub from: u32,
    /// The number of the step that is entered.
    pub to: u32,
}

impl Transition {
    /// Reads a chain of step names, `impl -> review -> pr`, as the transitions along it.
    pub(super) fn parse_chain(chain: &str, steps: &[Step]) -> Result<Vec<Self>, DefinitionError> {
        let find = |name: &str| {
            number_in(steps, name).ok_or_else(|| DefinitionError::UnknownStage {
                stage: name.to_owned(),
            })
        };
        let arrows = chain.replace('→', "->");
        let numbers = arrows
            .split("->")
            .map(|name| find(name.trim()))
            .collect::<Result<Vec<_>, _>>()?;
        if numbers.len() < 2 {
            return Err(DefinitionError::NoArrow {
                chain: chain.to_owned(),
            });
        }
        let pairs = numbers.windows(2);
        Ok(pairs
            .map(|pair| Self {
                from: pair[0],
                to: pair[1],
            })
            .collect())
    }
}

/// A step that may not follow the one before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct IllegalTransition {
    /// The workflow that says so.
    pub workflow: String,
    /// Where the session is; none before its first checkpoint.
    pub from: Option<Step>,
    /// Where it was to go; without a name when the workflow has no such step.
    pub to: Step,
    /// The steps that may follow; empty when the workflow is open, where any number from 1 up may.
    pub legal: Vec<Step>,
    /// The last number that may follow, where the workflow is open and the state says how many there are.
    pub last: Option<u32>,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "workflow {}: ", self.workflow)?;
        match &self.from {
            Some(from) if !self.to.name.is_empty() => {
                write!(f, "step {} cannot follow step {from}", self.to)?;
            }
            _ => write!(f, "there is no step {}", self.to)?,
        }
        f.write_str("; legal: ")?;
        match self.last {
            Some(last) => return write!(f, "any number from 1 to {last}"),
            None if self.legal.is_empty() => return f.write_str("any number from 1 up"),
            None => {}
        }
        for (i, step) in self.legal.iter().enumerate() {
            write!(f, "{}{step}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
