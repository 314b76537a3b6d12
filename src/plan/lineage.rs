//! How two checkpoints of a session are related, and which rollbacks lie between them.

use std::collections::HashSet;

use serde::Serialize;

use crate::model::{CheckpointId, Entry, Manifest, RollbackRecord};

/// How a checkpoint is related to another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Relation {
    /// They are the same.
    Same,
    /// The new one was made on top of the old one.
    Descends,
    /// The old one was made on top of the new one.
    GoesBack,
    /// They were made on top of a third one.
    Branches {
        /// Where they part.
        at: CheckpointId,
    },
    /// Nothing that both were made on top of is listed.
    Apart,
}

/// How two checkpoints are related.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage<'m> {
    /// In a word.
    pub relation: Relation,
    /// Rollbacks that went back to a checkpoint between them, oldest first; those that were undone do not count.
    pub rollbacks: Vec<&'m RollbackRecord>,
}

/// Looks at how `new` came to be, seen from `old`.
#[must_use]
pub fn lineage<'m>(manifest: &'m Manifest, old: &Entry, new: &Entry) -> Lineage<'m> {
    let up = |entry: &Entry| ancestors(manifest, entry);
    let (of_old, of_new) = (up(old), up(new));
    let known: HashSet<&CheckpointId> = of_old.iter().collect();
    let at = of_new.iter().position(|id| known.contains(id));
    let relation = match at.map(|at| &of_new[at]) {
        _ if old.id == new.id => Relation::Same,
        None => Relation::Apart,
        Some(at) if *at == old.id => Relation::Descends,
        Some(at) if *at == new.id => Relation::GoesBack,
        Some(at) => Relation::Branches { at: at.clone() },
    };
    let common = at.map(|at| &of_new[at]);
    let mut between: HashSet<&CheckpointId> = HashSet::new();
    for line in [&of_old, &of_new] {
        let end = line.iter().position(|id| Some(id) == common);
        // A rollback to the newer end left nothing between the two.
        between.extend(line.iter().take(end.map_or(0, |end| end + 1)).skip(1));
    }
    let is_between = |rollback: &&RollbackRecord| {
        rollback.undone_at.is_none() && between.contains(&rollback.to_checkpoint)
    };
    let (first, last) = (old.seq.min(new.seq), old.seq.max(new.seq));
    let happened = |rollback: &&RollbackRecord| {
        // By the safety checkpoint that each of them takes; a pruned one may have been any time.
        let safety = manifest.entry(&rollback.safety_checkpoint);
        safety.is_none_or(|safety| (first..=last).contains(&safety.seq))
    };
    let rollbacks = manifest.rollback_history.iter();
    Lineage {
        relation,
        rollbacks: rollbacks.filter(is_between).filter(happened).collect(),
    }
}

/// The checkpoint and those below it, the nearest first. The last one may not be listed any more.
fn ancestors(manifest: &Manifest, entry: &Entry) -> Vec<CheckpointId> {
    let mut line = vec![entry.id.clone()];
    let mut at = Some(entry);
    while let Some(entry) = at {
        let Some(parent) = &entry.parent else { break };
        line.push(parent.clone());
        at = manifest.parent_of(entry);
        // Below one that was pruned the line goes on.
        line.extend(at.map(|below| below.id.clone()).filter(|id| id != parent));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;
    use crate::model::{RollbackId, Trigger};

    /// 1 – 2 – 3, then a rollback to 1 with safety checkpoint 4, then 5 on top of 1.
    fn session() -> Manifest {
        let mut manifest = sample::manifest();
        for step in 1..=3 {
            sample::append(&mut manifest, step, "s", Trigger::Manual);
        }
        let safety = sample::append(&mut manifest, 3, "s", Trigger::Safety);
        let to = manifest.checkpoints()[0].id.clone();
        manifest.rollback_history.push(RollbackRecord {
            branches: Vec::new(),
            kind: crate::model::RollbackKind::Rollback,
            paths: Vec::new(),
            reverses: None,
            from_checkpoint: manifest.current_checkpoint.clone(),
            from_step: Some(3),
            id: RollbackId::compose(sample::at(1000), 1),
            reason: String::new(),
            safety_checkpoint: safety.id.clone(),
            timestamp: sample::at(1000),
            to_checkpoint: to.clone(),
            to_step: 1,
            undone_at: None,
        });
        manifest.current_checkpoint = Some(to);
        sample::append(&mut manifest, 2, "s", Trigger::Manual);
        manifest
    }

    #[test]
    fn says_where_two_lines_part_and_which_rollback_parted_them() {
        let mut manifest = session();
        let ids: Vec<Entry> = manifest.checkpoints().to_vec();
        let of = |manifest: &Manifest, old: usize, new: usize| {
            let lineage = lineage(manifest, &ids[old - 1], &ids[new - 1]);
            (lineage.relation.clone(), lineage.rollbacks.len())
        };
        assert_eq!(of(&manifest, 1, 3), (Relation::Descends, 0));
        assert_eq!(of(&manifest, 3, 1), (Relation::GoesBack, 0));
        assert_eq!(of(&manifest, 2, 2), (Relation::Same, 0));
        assert_eq!(of(&manifest, 1, 5), (Relation::Descends, 1));
        let at = ids[0].id.clone();
        assert_eq!(
            of(&manifest, 3, 5),
            (Relation::Branches { at: at.clone() }, 1)
        );
        manifest.rollback_history[0].undone_at = Some(sample::at(2000));
        assert_eq!(of(&manifest, 3, 5), (Relation::Branches { at }, 0));
    }
}
