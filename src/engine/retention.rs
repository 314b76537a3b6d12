//! Applying the retention policy to a session.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::Workspace;
use crate::model::{CheckpointId, Entry, Manifest, Trigger};
use crate::plan::retention::{Candidate, Caps, Policy, Protected, Protection, Rule, Verdict, plan};
use crate::plan::rollback::{to_redo, to_undo};

impl Workspace {
    /// The checkpoints that the settings' policy lets go.
    #[must_use]
    pub fn retention(&self, manifest: &Manifest, now: DateTime<Utc>) -> BTreeSet<CheckpointId> {
        if !self.config.settings.retention.enabled {
            return BTreeSet::new();
        }
        let candidates: Vec<_> = manifest.checkpoints().iter().map(candidate).collect();
        let decisions = plan(&self.policy(), &candidates, &protected(manifest), now);
        let gone = decisions
            .into_iter()
            .filter(|decision| decision.verdict == Verdict::Remove);
        gone.map(|decision| decision.key.clone()).collect()
    }

    fn policy(&self) -> Policy<Trigger> {
        let settings = &self.config.settings.retention;
        let caps = Caps {
            max_age_days: settings.max_age_days.map(Into::into),
            max_checkpoints: settings.max_checkpoints.map(Into::into),
            max_size_bytes: settings.max_size_bytes(),
        };
        Policy::new(caps)
            .with(
                Trigger::BatchComplete,
                Rule::PerPhase(settings.keep_batch_complete),
            )
            .with(
                Trigger::AgentComplete,
                Rule::PerPhase(settings.keep_agent_complete),
            )
            .with(
                Trigger::UserInterrupt,
                Rule::Last(settings.keep_user_interrupt),
            )
            .with(Trigger::Safety, Rule::Last(settings.keep_safety))
            .with(Trigger::Auto, Rule::Last(settings.keep_auto))
    }
}

fn candidate(entry: &Entry) -> Candidate<'_, &CheckpointId, Trigger> {
    Candidate {
        key: &entry.id,
        seq: entry.seq,
        trigger: entry.trigger,
        phase: &entry.phase,
        created_at: entry.timestamp,
        valid: entry.valid,
        size_bytes: None,
    }
}

/// The current checkpoint, and what the next undo and the next redo would need.
pub(super) fn protected(manifest: &Manifest) -> Protected<&CheckpointId> {
    let mut protected = Protected::default();
    if let Some(current) = manifest.current() {
        protected.insert(&current.id, Protection::Current);
    }
    let history = &manifest.rollback_history;
    for event in [to_undo(history), to_redo(history)].into_iter().flatten() {
        let needed = [
            Some(&event.safety_checkpoint),
            event.from_checkpoint.as_ref(),
            Some(&event.to_checkpoint),
        ];
        for id in needed.into_iter().flatten() {
            if let Some(entry) = manifest.entry(id) {
                protected.insert(&entry.id, Protection::NeededByUndo);
            }
        }
    }
    protected
}
