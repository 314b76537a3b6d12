//! Who descends from whom across checkpoints that were pruned.
//!
//! An entry names the checkpoint that it was made on top of for good, as its record does. When that one is pruned, the
//! manifest remembers the nearest checkpoint below it that is still listed, so that the line does not break.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Entry, Manifest};
use crate::model::ids::CheckpointId;

/// A pruned checkpoint that a listed one was made on top of, and the nearest listed one below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrunedParent {
    /// The pruned checkpoint.
    pub id: CheckpointId,
    /// The nearest one below it that is listed.
    pub parent: CheckpointId,
}

impl Manifest {
    /// The checkpoint that another one was made on top of; when that was pruned, the nearest one below it.
    #[must_use]
    pub fn parent_of(&self, entry: &Entry) -> Option<&Entry> {
        let named = entry.parent.as_ref()?;
        let found = self.entry(named).or_else(|| {
            let mut pruned = self.pruned_parents.iter();
            let bridge = pruned.find(|pruned| pruned.id == *named)?;
            self.entry(&bridge.parent)
        });
        // A parent is older: a manifest that says otherwise must not lead in a circle.
        found.filter(|parent| parent.seq < entry.seq)
    }
}

/// What is to be remembered once `gone` have left the list.
pub(super) fn bridges(
    listed: &[Entry],
    gone: &[Entry],
    known: &[PrunedParent],
) -> Vec<PrunedParent> {
    let is_listed: HashSet<&CheckpointId> = listed.iter().map(|entry| &entry.id).collect();
    let mut below: HashMap<&CheckpointId, Option<&CheckpointId>> = HashMap::new();
    below.extend(
        known
            .iter()
            .map(|pruned| (&pruned.id, Some(&pruned.parent))),
    );
    below.extend(gone.iter().map(|entry| (&entry.id, entry.parent.as_ref())));
    let nearest = |from: &CheckpointId| {
        let mut at = below.get(from).copied().flatten();
        // Nothing is passed twice unless the parents lead in a circle.
        for _ in 0..=below.len() {
            match at {
                Some(id) if is_listed.contains(id) => return Some(id.clone()),
                Some(id) => at = below.get(id).copied().flatten(),
                None => break,
            }
        }
        None
    };
    let mut bridges = Vec::new();
    let mut seen = HashSet::new();
    for id in listed.iter().filter_map(|entry| entry.parent.as_ref()) {
        if !is_listed.contains(id) && seen.insert(id) {
            bridges.extend(nearest(id).map(|parent| PrunedParent {
                id: id.clone(),
                parent,
            }));
        }
    }
    bridges
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::sample;
    use crate::model::trigger::Trigger;

    fn line(manifest: &Manifest) -> Vec<u64> {
        let newest = manifest.newest();
        let up = std::iter::successors(newest, |entry| manifest.parent_of(entry));
        up.map(|entry| entry.seq).collect()
    }

    #[test]
    fn the_line_holds_whatever_is_pruned_in_whatever_order() {
        let mut whole = sample::manifest();
        for step in 1..=8 {
            sample::append(&mut whole, step, "s", Trigger::Auto);
        }
        let ids: Vec<_> = whole.checkpoints().iter().map(|e| e.id.clone()).collect();
        assert_eq!(line(&whole), [8, 7, 6, 5, 4, 3, 2, 1]);
        for order in [[2, 3, 4, 6], [6, 4, 3, 2], [4, 2, 6, 3]] {
            let mut manifest = whole.clone();
            let mut gone = BTreeSet::new();
            for seq in order {
                manifest.prune(&BTreeSet::from([ids[seq - 1].clone()]));
                gone.insert(seq as u64);
                let left: Vec<u64> = (1..=8).rev().filter(|seq| !gone.contains(seq)).collect();
                assert_eq!(line(&manifest), left, "{order:?}");
                let read = Manifest::from_file_bytes(&manifest.to_file_bytes()).unwrap();
                assert_eq!(line(&read), left, "{order:?}");
            }
            // The links that nobody needs are forgotten.
            assert_eq!(manifest.pruned_parents.len(), 2);
            manifest.prune(&BTreeSet::from([ids[0].clone(), ids[4].clone()]));
            assert_eq!(line(&manifest), [8, 7]);
            assert!(manifest.pruned_parents.is_empty());
        }
    }
}
