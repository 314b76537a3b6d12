//! Why a checkpoint was made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a checkpoint was made; retention keeps each kind differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Somebody asked for it.
    Manual,
    /// A timer, a hook or a harness asked for it.
    Auto,
    /// A step of the workflow was finished.
    StepComplete,
    /// The workflow went from one phase to another.
    PhaseTransition,
    /// A batch of work within a phase was finished.
    BatchComplete,
    /// One agent finished its part.
    AgentComplete,
    /// Agents began to disagree.
    ConflictStart,
    /// The disagreement was settled.
    ConflictResolved,
    /// The user interrupted the work.
    UserInterrupt,
    /// The session ended.
    SessionEnd,
    /// Taken before a rollback or an undo, so that it can be reversed.
    Safety,
}

/// Text that names no trigger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a trigger: {text:?} (one of {})", Trigger::ALL.map(Trigger::as_str).join(", "))]
pub struct TriggerError {
    /// The beginning of the text.
    pub text: String,
}

impl Trigger {
    /// All triggers, in the order in which they are documented.
    pub const ALL: [Self; 11] = [
        Self::Manual,
        Self::Auto,
        Self::StepComplete,
        Self::PhaseTransition,
        Self::BatchComplete,
        Self::AgentComplete,
        Self::ConflictStart,
        Self::ConflictResolved,
        Self::UserInterrupt,
        Self::SessionEnd,
        Self::Safety,
    ];

    /// The text that records and options carry.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::StepComplete => "step_complete",
            Self::PhaseTransition => "phase_transition",
            Self::BatchComplete => "batch_complete",
            Self::AgentComplete => "agent_complete",
            Self::ConflictStart => "conflict_start",
            Self::ConflictResolved => "conflict_resolved",
            Self::UserInterrupt => "user_interrupt",
            Self::SessionEnd => "session_end",
            Self::Safety => "safety",
        }
    }

    /// Whether the step goes on after such a checkpoint; after any other it is done.
    #[must_use]
    pub const fn is_within_a_step(self) -> bool {
        matches!(
            self,
            Self::Auto
                | Self::BatchComplete
                | Self::AgentComplete
                | Self::ConflictStart
                | Self::ConflictResolved
                | Self::UserInterrupt
        )
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Trigger {
    type Err = TriggerError;

    fn from_str(text: &str) -> Result<Self, TriggerError> {
        let known = Self::ALL
            .into_iter()
            .find(|trigger| trigger.as_str() == text);
        known.ok_or_else(|| TriggerError {
            text: text.chars().take(80).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_same_text_everywhere() {
        for trigger in Trigger::ALL {
            assert_eq!(trigger.as_str().parse(), Ok(trigger));
            let json = serde_json::to_string(&trigger).unwrap();
            assert_eq!(json, format!("\"{trigger}\""));
            assert_eq!(serde_json::from_str::<Trigger>(&json).unwrap(), trigger);
        }
    }

    #[test]
    fn an_unknown_one_names_the_legal_ones() {
        let error = "Manual".parse::<Trigger>().unwrap_err().to_string();
        assert!(error.contains("step_complete, phase_transition"), "{error}");
    }
}
