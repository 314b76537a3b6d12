//! The retention policy of the settings, and what it says about a session.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::Workspace;
use crate::config::settings::Retention;
use crate::model::{CheckpointId, Entry, Manifest, Trigger};
use crate::plan::retention::{
    Candidate, Caps, Decision, Policy, Protected, Protection, Rule, Verdict, plan,
};
use crate::plan::rollback::{to_redo, to_undo};

impl Workspace {
    /// The checkpoints that the settings' policy lets go whenever one is made. The cap on the size has its own time, as
    /// sizes have to be measured.
    #[must_use]
    pub fn retention(&self, manifest: &Manifest, now: DateTime<Utc>) -> BTreeSet<CheckpointId> {
        if !self.config.settings.retention.enabled {
            return BTreeSet::new();
        }
        let caps = Caps {
            max_size_bytes: None,
            ..self.caps()
        };
        let decisions = self.decide(manifest, caps, &|_| None, now);
        let gone = decisions
            .into_iter()
            .filter(|decision| decision.verdict == Verdict::Remove);
        gone.map(|decision| decision.key.clone()).collect()
    }

    /// What the policy says about each checkpoint, by rising seq, within these caps.
    pub(super) fn decide<'m>(
        &self,
        manifest: &'m Manifest,
        caps: Caps,
        size: &dyn Fn(&CheckpointId) -> Option<u64>,
        now: DateTime<Utc>,
    ) -> Vec<Decision<'m, &'m CheckpointId, Trigger>> {
        let entries = manifest.checkpoints().iter();
        let candidates: Vec<_> = entries.map(|entry| candidate(entry, size)).collect();
        let settings = &self.config.settings.retention;
        plan(
            &policy(settings, caps),
            &candidates,
            &shielded(manifest),
            now,
        )
    }

    /// The limits on a session as a whole.
    pub(super) fn caps(&self) -> Caps {
        let settings = &self.config.settings.retention;
        Caps {
            max_age_days: settings.max_age_days.map(Into::into),
            max_checkpoints: settings.max_checkpoints.map(Into::into),
            max_size_bytes: settings.max_size_bytes(),
        }
    }
}

fn policy(settings: &Retention, caps: Caps) -> Policy<Trigger> {
    let per_phase = [
        (Trigger::BatchComplete, settings.keep_batch_complete),
        (Trigger::AgentComplete, settings.keep_agent_complete),
    ];
    let last = [
        (Trigger::UserInterrupt, settings.keep_user_interrupt),
        (Trigger::Safety, settings.keep_safety),
        (Trigger::Auto, settings.keep_auto),
    ];
    let rules = per_phase.map(|(trigger, count)| (trigger, Rule::PerPhase(count)));
    let rules = rules
        .into_iter()
        .chain(last.map(|(trigger, count)| (trigger, Rule::Last(count))));
    rules.fold(Policy::new(caps), |policy, (trigger, rule)| {
        policy.with(trigger, rule)
    })
}

fn candidate<'m>(
    entry: &'m Entry,
    size: &dyn Fn(&CheckpointId) -> Option<u64>,
) -> Candidate<'m, &'m CheckpointId, Trigger> {
    Candidate {
        key: &entry.id,
        seq: entry.seq,
        trigger: entry.trigger,
        phase: &entry.phase,
        created_at: entry.timestamp,
        valid: entry.valid,
        size_bytes: size(&entry.id),
    }
}

/// The current checkpoint, and what the next undo and the next redo would need. They cannot be deleted by hand either.
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

/// What no policy may take: what is [`protected`], what the next undo or redo would make valid again, and the newest
/// valid one that is no safety checkpoint.
fn shielded(manifest: &Manifest) -> Protected<&CheckpointId> {
    let mut shielded = protected(manifest);
    let mut newest_first = manifest.checkpoints().iter().rev();
    let newest_of_all = newest_first.find(|entry| entry.valid);
    if let Some(newest) = manifest.newest_valid()
        && newest_of_all.is_some_and(|of_all| of_all.id != newest.id)
    {
        shielded.insert(&newest.id, Protection::NewestWork);
    }
    let history = &manifest.rollback_history;
    for event in [to_undo(history), to_redo(history)].into_iter().flatten() {
        for entry in manifest.checkpoints() {
            if entry.invalidated_by.as_ref() == Some(&event.id) {
                shielded.insert(&entry.id, Protection::RevivedByUndo);
            }
        }
    }
    shielded
}

#[cfg(test)]
mod tests;
