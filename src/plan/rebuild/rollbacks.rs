//! The rollbacks of a session that is rebuilt, which checkpoints they left behind, and which one is current.
//!
//! They are told, in this order, by the manifest, by the live state, by the newest record's copy of the state, and by
//! the safety checkpoints: one was taken on top of the checkpoint that was current before, and the next checkpoint was
//! made on top of the one that was rolled back to.

use std::collections::HashSet;

use super::{Loss, Proof, Trust, keep_marks, noted};
use crate::model::manifest::Salvage;
use crate::model::{CheckpointId, Entry, Manifest, Record, RollbackId, RollbackRecord, State};

pub(super) fn restore(
    manifest: &mut Manifest,
    records: &[(Record, Proof)],
    salvage: &Salvage,
    trust: Trust,
    live: Option<&State>,
    losses: &mut Vec<Loss>,
) {
    let newest_state = records.last().map(|(record, _)| &record.state);
    let mut history = salvage.rollback_history.clone();
    if trust != Trust::Proven {
        for state in [live, newest_state].into_iter().flatten() {
            for rollback in told_by(state) {
                if history.iter().all(|known| known.id != rollback.id) {
                    history.push(rollback);
                }
            }
        }
    }
    let current = current(manifest, salvage, live, &history);
    if trust != Trust::Proven {
        history.extend(derive(manifest, &history, current.as_ref(), losses));
        let place = |id: &CheckpointId| manifest.entry(id).map_or(0, |entry| entry.seq);
        history.sort_by_key(|rollback| place(&rollback.safety_checkpoint));
    }
    manifest.current_checkpoint = current;
    let marked = keep_marks(manifest, salvage);
    if trust != Trust::Proven {
        for event in history.iter().filter(|event| is_told(&history, event)) {
            repeat(manifest, event, &marked);
        }
    }
    manifest.rollback_history = history;
}

/// The rollbacks that a state notes.
fn told_by(state: &State) -> Vec<RollbackRecord> {
    let list = noted(state, "rollback_history").and_then(|list| list.as_array());
    let list = list.into_iter().flatten();
    list.filter_map(|item| serde_json::from_value(item.clone()).ok())
        .collect()
}

/// The checkpoint that the work tree descends from.
fn current(
    manifest: &Manifest,
    salvage: &Salvage,
    live: Option<&State>,
    history: &[RollbackRecord],
) -> Option<CheckpointId> {
    let told = live.and_then(|state| noted(state, "current_checkpoint")?.as_str());
    let told = told.and_then(|id| CheckpointId::parse(id).ok());
    let listed = |id: &CheckpointId| manifest.entry(id).is_some_and(|entry| !entry.is_safety());
    let newest = manifest.checkpoints().iter().rev().find(|e| !e.is_safety());
    // A rollback after the newest checkpoint leads back from it.
    let seq_of = |id: &CheckpointId| manifest.entry(id).map_or(0, |entry| entry.seq);
    let last = history.last().filter(|last| {
        last.undone_at.is_none()
            && seq_of(&last.safety_checkpoint) > newest.map_or(0, |entry| entry.seq)
    });
    salvage
        .current_checkpoint
        .clone()
        .or(told)
        .or_else(|| last.map(|last| last.to_checkpoint.clone()))
        .filter(listed)
        .or_else(|| newest.map(|entry| entry.id.clone()))
}

/// The rollbacks that safety checkpoints tell of and nothing else does.
fn derive(
    manifest: &Manifest,
    known: &[RollbackRecord],
    current: Option<&CheckpointId>,
    losses: &mut Vec<Loss>,
) -> Vec<RollbackRecord> {
    let known: HashSet<&CheckpointId> = known.iter().map(|r| &r.safety_checkpoint).collect();
    let entries = manifest.checkpoints();
    let mut derived = Vec::new();
    let unknown = |entry: &&Entry| entry.is_safety() && !known.contains(&entry.id);
    for (nth, safety) in entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| unknown(entry))
    {
        let next = entries.get(nth + 1);
        let target = next.map_or(current, |next| next.parent.as_ref());
        let from = safety.parent.as_ref();
        let target = target.and_then(|id| manifest.entry(id));
        let found = target.filter(|target| {
            Some(&target.id) != from && from.is_some_and(|from| descends(manifest, from, target))
        });
        let Some(target) = found else {
            // What continued where it was, or went forward, was no rollback, or has been undone.
            if target.is_none() {
                losses.push(Loss::Rollback {
                    safety_checkpoint: safety.id.clone(),
                });
            }
            continue;
        };
        derived.push(RollbackRecord {
            branches: Vec::new(),
            kind: crate::model::RollbackKind::Rollback,
            paths: Vec::new(),
            reverses: None,
            from_checkpoint: from.cloned(),
            from_step: from
                .and_then(|id| manifest.entry(id))
                .map(|entry| entry.step),
            id: RollbackId::compose(safety.timestamp, 1),
            reason: "rebuilt from its safety checkpoint".to_owned(),
            safety_checkpoint: safety.id.clone(),
            timestamp: safety.timestamp,
            to_checkpoint: target.id.clone(),
            to_step: target.step,
            undone_at: None,
        });
    }
    for nth in 1..derived.len() {
        let (before, rest) = derived.split_at_mut(nth);
        let twins = before
            .iter()
            .filter(|other| other.timestamp == rest[0].timestamp);
        let twins = u32::try_from(twins.count()).unwrap_or(0);
        if twins > 0 {
            rest[0].id = RollbackId::compose(rest[0].timestamp, twins + 1);
        }
    }
    derived
}

/// Whether a checkpoint was made on top of another, however far.
fn descends(manifest: &Manifest, from: &CheckpointId, target: &Entry) -> bool {
    lineage(manifest, from).any(|entry| entry.id == target.id)
}

/// A checkpoint and those it was made on top of.
fn lineage<'m>(manifest: &'m Manifest, from: &CheckpointId) -> impl Iterator<Item = &'m Entry> {
    std::iter::successors(manifest.entry(from), |entry| manifest.parent_of(entry))
}

/// Whether an event counts: one that was undone does, if what undid it is there to be repeated too.
fn is_told(history: &[RollbackRecord], event: &RollbackRecord) -> bool {
    let mut later = history.iter();
    event.paths.is_empty()
        && (event.undone_at.is_none()
            || later.any(|later| later.reverses.as_ref() == Some(&event.id)))
}

/// Does to the validity of checkpoints what an event did: those that were there then are valid if they are on the line of
/// the one that became current.
fn repeat(manifest: &mut Manifest, event: &RollbackRecord, marked: &HashSet<CheckpointId>) {
    if manifest.entry(&event.to_checkpoint).is_none() {
        return;
    }
    let line: HashSet<CheckpointId> = lineage(manifest, &event.to_checkpoint)
        .map(|entry| entry.id.clone())
        .collect();
    let safety = manifest.entry(&event.safety_checkpoint);
    let until = safety.map_or(u64::MAX, |entry| entry.seq);
    let were_there = manifest.checkpoints().iter();
    let were_there: HashSet<CheckpointId> = were_there
        .filter(|entry| entry.seq < until && !entry.is_safety() && !marked.contains(&entry.id))
        .map(|entry| entry.id.clone())
        .collect();
    manifest.mark(|id, validity| {
        if !were_there.contains(id) || validity.corrupted_at.is_some() {
            return;
        }
        if line.contains(id) {
            validity.valid = true;
            validity.invalidated_by = None;
        } else if validity.valid {
            validity.valid = false;
            validity.invalidated_by = Some(event.id.clone());
        }
    });
}
