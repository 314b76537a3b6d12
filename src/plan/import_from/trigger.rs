//! Triggers as programs name them.

use crate::model::Trigger;

/// What a word for a trigger means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It is the same word.
    Same(Trigger),
    /// It is another word for it.
    Like(Trigger),
    /// Nobody knows.
    Unknown,
}

/// Reads a trigger. `safety` means something of its own here, so a foreign one is `manual`.
pub(super) fn read_trigger(said: &str) -> Meaning {
    if let Ok(trigger) = said.parse::<Trigger>()
        && trigger != Trigger::Safety
    {
        return Meaning::Same(trigger);
    }
    let word = said.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    if let Ok(trigger) = word.parse::<Trigger>()
        && trigger != Trigger::Safety
    {
        return Meaning::Like(trigger);
    }
    Meaning::Like(match word.as_str() {
        "user" | "user_request" | "requested" | "on_demand" | "safety" => Trigger::Manual,
        "automatic" | "timer" | "periodic" | "scheduled" | "interval" => Trigger::Auto,
        "step_completed" | "step_done" | "task_complete" => Trigger::StepComplete,
        "phase_change" | "phase_complete" | "phase_completed" | "stage_transition"
        | "stage_change" => Trigger::PhaseTransition,
        "batch_completed" | "batch_done" | "batch" => Trigger::BatchComplete,
        "agent_completed" | "agent_done" => Trigger::AgentComplete,
        "conflict" | "conflict_detected" => Trigger::ConflictStart,
        "conflict_settled" => Trigger::ConflictResolved,
        "interrupt" | "interrupted" | "sigint" | "ctrl_c" => Trigger::UserInterrupt,
        "session_ended" | "end" | "shutdown" | "exit" => Trigger::SessionEnd,
        _ => return Meaning::Unknown,
    })
}
