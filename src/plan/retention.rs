//! Which checkpoints of a session to keep, and why.
//!
//! Two passes. The **rules** say how many of each trigger are kept; among those that compete, valid ones go before
//! invalidated ones and newer before older. Then the **caps** (age, count, size) take the oldest of what is left, whatever
//! the rules said. What is protected, and the newest valid checkpoint, neither pass can take; it still counts.
//!
//! Order is by `seq`, never by clock; only the age cap looks at times. Applying a plan and planning again removes
//! nothing more.

mod reason;

use std::collections::HashMap;
use std::hash::Hash;

use chrono::{DateTime, TimeDelta, Utc};

pub use reason::{Protection, Reason};

/// How many checkpoints of one trigger are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// All of them.
    Always,
    /// The last so many of each phase.
    PerPhase(u64),
    /// The last so many.
    Last(u64),
}

/// Limits on a session as a whole; none means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Older ones go.
    pub max_age_days: Option<u64>,
    /// The oldest go until no more are left than this.
    pub max_checkpoints: Option<u64>,
    /// The oldest go until the rest is no larger than this.
    pub max_size_bytes: Option<u64>,
}

/// What to keep: a rule for each trigger, and caps. A trigger without a rule is always kept.
#[derive(Debug, Clone)]
pub struct Policy<T> {
    rules: HashMap<T, Rule>,
    caps: Caps,
}

impl<T: Eq + Hash> Policy<T> {
    /// A policy that keeps everything within the caps.
    #[must_use]
    pub fn new(caps: Caps) -> Self {
        Self {
            rules: HashMap::new(),
            caps,
        }
    }

    /// The same policy with a rule for one trigger.
    #[must_use]
    pub fn with(mut self, trigger: T, rule: Rule) -> Self {
        self.rules.insert(trigger, rule);
        self
    }

    /// The rule for a trigger.
    #[must_use]
    pub fn rule(&self, trigger: &T) -> Rule {
        self.rules.get(trigger).copied().unwrap_or(Rule::Always)
    }
}

/// What retention needs to know of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate<'a, K, T> {
    /// What the caller calls it.
    pub key: K,
    /// Its place in the session's order.
    pub seq: u64,
    /// Why it was made.
    pub trigger: T,
    /// Where the workflow was.
    pub phase: &'a str,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Whether no rollback has invalidated it.
    pub valid: bool,
    /// What removing it would free, as far as that is known; nothing counts as 0.
    pub size_bytes: Option<u64>,
}

/// The checkpoints that must stay, each with what it is needed for.
#[derive(Debug, Clone)]
pub struct Protected<K>(HashMap<K, Vec<Protection>>);

impl<K> Default for Protected<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash> Protected<K> {
    /// Adds a need for one checkpoint.
    pub fn insert(&mut self, key: K, protection: Protection) {
        let needs = self.0.entry(key).or_default();
        if !needs.contains(&protection) {
            needs.push(protection);
        }
    }

    /// What one checkpoint is needed for.
    #[must_use]
    pub fn needs(&self, key: &K) -> &[Protection] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

/// What happens to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
}

/// A verdict on one checkpoint, and the reasons for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'a, K, T> {
    /// Which checkpoint.
    pub key: K,
    /// What happens to it.
    pub verdict: Verdict,
    /// Why; never empty.
    pub reasons: Vec<Reason<'a, T>>,
}

/// Decides on every candidate; the decisions come in the candidates' order.
#[must_use]
pub fn plan<'a, K, T>(
    policy: &Policy<T>,
    candidates: &[Candidate<'a, K, T>],
    protected: &Protected<K>,
    now: DateTime<Utc>,
) -> Vec<Decision<'a, K, T>>
where
    K: Clone + Eq + Hash,
    T: Copy + Eq + Hash,
{
    let mut oldest_first: Vec<usize> = (0..candidates.len()).collect();
    oldest_first.sort_by_key(|&i| (candidates[i].seq, i));

    let mut decisions = apply_rules(policy, candidates, &oldest_first);
    let shielded = shield(candidates, &oldest_first, protected, &mut decisions);
    apply_caps(
        policy.caps,
        candidates,
        &oldest_first,
        &shielded,
        now,
        &mut decisions,
    );
    decisions
}

/// Ranks each checkpoint among those that compete with it.
fn apply_rules<'a, K: Clone, T: Copy + Eq + Hash>(
    policy: &Policy<T>,
    candidates: &[Candidate<'a, K, T>],
    oldest_first: &[usize],
) -> Vec<Decision<'a, K, T>> {
    let mut ranks = vec![0; candidates.len()];
    let mut counts: HashMap<(T, Option<&str>), u64> = HashMap::new();
    for valid in [true, false] {
        for &i in oldest_first.iter().rev() {
            let candidate = &candidates[i];
            if candidate.valid == valid {
                let per_phase = matches!(policy.rule(&candidate.trigger), Rule::PerPhase(_));
                let group = (candidate.trigger, per_phase.then_some(candidate.phase));
                let count = counts.entry(group).or_default();
                *count += 1;
                ranks[i] = *count;
            }
        }
    }
    let decide = |(candidate, rank): (&Candidate<'a, K, T>, u64)| {
        let trigger = candidate.trigger;
        let (limit, phase) = match policy.rule(&trigger) {
            Rule::Always => (None, None),
            Rule::PerPhase(n) => (Some(n), Some(candidate.phase)),
            Rule::Last(n) => (Some(n), None),
        };
        let (verdict, reason) = match limit {
            None => (Verdict::Keep, Reason::Always { trigger }),
            Some(limit) if rank <= limit => {
                let reason = Reason::AmongLast {
                    trigger,
                    rank,
                    limit,
                    phase,
                };
                (Verdict::Keep, reason)
            }
            Some(limit) => {
                let reason = Reason::BeyondLast {
                    trigger,
                    rank,
                    limit,
                    phase,
                };
                (Verdict::Remove, reason)
            }
        };
        Decision {
            key: candidate.key.clone(),
            verdict,
            reasons: vec![reason],
        }
    };
    candidates.iter().zip(ranks).map(decide).collect()
}

/// Takes back the removal of what must stay; says which those are.
fn shield<K: Eq + Hash, T>(
    candidates: &[Candidate<'_, K, T>],
    oldest_first: &[usize],
    protected: &Protected<K>,
    decisions: &mut [Decision<'_, K, T>],
) -> Vec<bool> {
    let newest_valid = oldest_first
        .iter()
        .rev()
        .copied()
        .find(|&i| candidates[i].valid);
    let mut shielded = vec![false; candidates.len()];
    for (i, decision) in decisions.iter_mut().enumerate() {
        let needs = protected.0.get(&candidates[i].key).into_iter().flatten();
        let mut reasons: Vec<_> = needs.map(|need| Reason::Protected(need.clone())).collect();
        if newest_valid == Some(i) {
            reasons.push(Reason::NewestValid);
        }
        if reasons.is_empty() {
            continue;
        }
        shielded[i] = true;
        if decision.verdict == Verdict::Keep {
            reasons.append(&mut decision.reasons);
        }
        decision.verdict = Verdict::Keep;
        decision.reasons = reasons;
    }
    shielded
}

/// Removes the oldest of what may go until every cap holds, or nothing that may go is left.
fn apply_caps<K, T: Copy>(
    caps: Caps,
    candidates: &[Candidate<'_, K, T>],
    oldest_first: &[usize],
    shielded: &[bool],
    now: DateTime<Utc>,
    decisions: &mut [Decision<'_, K, T>],
) {
    let kept = |&i: &usize| decisions[i].verdict == Verdict::Keep;
    let mut left: Vec<usize> = oldest_first.iter().copied().filter(kept).collect();
    let mut cut =
        |left: &mut Vec<usize>, reason: Reason<'static, T>, goes: &mut dyn FnMut(usize) -> bool| {
            left.retain(|&i| {
                let cut = !shielded[i] && goes(i);
                if cut {
                    decisions[i].verdict = Verdict::Remove;
                    decisions[i].reasons = vec![reason.clone()];
                }
                !cut
            });
        };
    if let Some(days) = caps.max_age_days {
        // A cap beyond what time can express is one that nothing exceeds.
        let limit = i64::try_from(days).ok().and_then(TimeDelta::try_days);
        let age = |i: usize| now.signed_duration_since(candidates[i].created_at);
        let old = |i: usize| limit.is_some_and(|limit| age(i) > limit);
        cut(&mut left, Reason::OlderThan { days }, &mut { old });
    }
    if let Some(limit) = caps.max_checkpoints {
        let mut excess = (left.len() as u64).saturating_sub(limit);
        cut(&mut left, Reason::OverCount { limit }, &mut |_| {
            let over = excess > 0;
            excess -= u64::from(over);
            over
        });
    }
    if let Some(limit) = caps.max_size_bytes {
        let size = |i: usize| u128::from(candidates[i].size_bytes.unwrap_or(0));
        let mut total: u128 = left.iter().map(|&i| size(i)).sum();
        cut(&mut left, Reason::OverSize { limit }, &mut |i| {
            let over = total > u128::from(limit);
            total -= if over { size(i) } else { 0 };
            over
        });
    }
}

#[cfg(test)]
mod tests;
