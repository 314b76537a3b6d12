//! Which kinds of checkpoints the settings switch off.

use serde::Serialize;

use super::Workspace;
use crate::model::Trigger;

/// That a checkpoint was not made, because its kind is switched off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SwitchedOff {
    /// Always false.
    pub created: bool,
    /// Why it would have been made.
    pub trigger: Trigger,
    /// The setting that is off.
    pub setting: String,
}

impl SwitchedOff {
    /// For one kind.
    #[must_use]
    pub fn new(trigger: Trigger) -> Self {
        Self {
            created: false,
            trigger,
            setting: format!("triggers.{trigger}"),
        }
    }
}

impl Workspace {
    /// Whether checkpoints of this kind are made. Those that a person asks for always are, and so are those that make a
    /// rollback reversible.
    #[must_use]
    pub fn wants(&self, trigger: Trigger) -> bool {
        let triggers = &self.config.settings.triggers;
        match trigger {
            Trigger::Manual | Trigger::Safety => true,
            Trigger::Auto => triggers.auto,
            Trigger::StepComplete => triggers.step_complete,
            Trigger::PhaseTransition => triggers.phase_transition,
            Trigger::BatchComplete => triggers.batch_complete,
            Trigger::AgentComplete => triggers.agent_complete,
            Trigger::ConflictStart => triggers.conflict_start,
            Trigger::ConflictResolved => triggers.conflict_resolved,
            Trigger::UserInterrupt => triggers.user_interrupt,
            Trigger::SessionEnd => triggers.session_end,
        }
    }
}
