//! The ordinals of a step's checkpoints, of which none is given twice.
//!
//! While nothing is pruned the listed checkpoints say what comes next. Pruning would forget it, so it notes for each
//! step what the next ordinal is, in the manifest's field `next_ordinals`. Sessions without a workflow have a step per
//! checkpoint: neighbouring steps with the same next ordinal share a range, so that the field stays short.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Entry;

/// Neighbouring steps whose next ordinal is at least `next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrdinalRange {
    /// The first step.
    pub from_step: u32,
    /// The lowest ordinal that has never been given.
    pub next: u32,
    /// The last step.
    pub to_step: u32,
}

/// The next ordinal of a step.
pub(super) fn next(entries: &[Entry], noted: &[OrdinalRange], step: u32) -> u32 {
    let listed = entries.iter().filter(|entry| entry.step == step);
    let listed = listed.map(|entry| entry.ordinal.saturating_add(1));
    let noted = noted
        .iter()
        .filter(|range| (range.from_step..=range.to_step).contains(&step));
    listed
        .chain(noted.map(|range| range.next))
        .max()
        .unwrap_or(1)
}

/// The ranges that note the next ordinals of all steps that have been used.
pub(super) fn ranges(entries: &[Entry], noted: &[OrdinalRange]) -> Vec<OrdinalRange> {
    // A noted range may span any number of steps, so it is split only at the steps that are listed.
    let mut listed: BTreeMap<u32, u32> = BTreeMap::new();
    for entry in entries {
        let next = listed.entry(entry.step).or_insert(1);
        *next = (*next).max(entry.ordinal.saturating_add(1));
    }
    let mut split = Vec::new();
    for range in noted {
        let mut from_step = range.from_step;
        for (&step, &next) in listed.range(range.from_step..=range.to_step) {
            if next <= range.next {
                continue;
            }
            if from_step < step {
                split.push(OrdinalRange {
                    from_step,
                    next: range.next,
                    to_step: step - 1,
                });
            }
            from_step = step.saturating_add(1);
        }
        let is_last_taken = from_step > range.to_step
            || listed
                .get(&range.to_step)
                .is_some_and(|&next| next > range.next);
        if !is_last_taken {
            split.push(OrdinalRange {
                from_step,
                ..*range
            });
        }
    }
    let is_noted = |step: u32, next: u32| {
        noted
            .iter()
            .any(|range| (range.from_step..=range.to_step).contains(&step) && range.next >= next)
    };
    for (step, next) in listed {
        if !is_noted(step, next) {
            split.push(OrdinalRange {
                from_step: step,
                next,
                to_step: step,
            });
        }
    }
    split.sort_unstable_by_key(|range| range.from_step);
    let mut merged: Vec<OrdinalRange> = Vec::new();
    for range in split {
        match merged.last_mut() {
            Some(last)
                if last.next == range.next && last.to_step.saturating_add(1) >= range.from_step =>
            {
                last.to_step = last.to_step.max(range.to_step);
            }
            _ => merged.push(range),
        }
    }
    merged
}
