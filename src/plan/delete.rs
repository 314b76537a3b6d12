//! Which checkpoints may be deleted by hand.

use crate::model::manifest::Entry;
use crate::model::{CheckpointId, Manifest};
use crate::plan::retention::{Protected, Protection};

/// A checkpoint that must stay, and what it is needed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// Why; never empty.
    pub protections: Vec<Protection>,
}

/// What deleting some checkpoints comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletePlan {
    /// Those that go, by rising seq.
    pub goes: Vec<Entry>,
    /// Those that must stay.
    pub refused: Vec<Refused>,
}

/// Plans to delete checkpoints; one that is named twice goes once.
#[must_use]
pub fn plan(
    manifest: &Manifest,
    wanted: &[CheckpointId],
    protected: &Protected<&CheckpointId>,
) -> DeletePlan {
    let mut plan = DeletePlan {
        goes: Vec::new(),
        refused: Vec::new(),
    };
    for entry in manifest.checkpoints() {
        if !wanted.contains(&entry.id) {
            continue;
        }
        match protected.needs(&&entry.id) {
            [] => plan.goes.push(entry.clone()),
            needs => plan.refused.push(Refused {
                checkpoint: entry.id.clone(),
                protections: needs.to_vec(),
            }),
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Trigger;
    use crate::model::sample;

    #[test]
    fn what_is_needed_stays_and_the_rest_goes_once() {
        let mut manifest = sample::manifest();
        for step in 1..=3 {
            sample::append(&mut manifest, step, "x", Trigger::Manual);
        }
        let ids: Vec<_> = manifest
            .checkpoints()
            .iter()
            .map(|e| e.id.clone())
            .collect();
        let mut protected = Protected::default();
        protected.insert(&ids[2], Protection::Current);
        let wanted = [ids[2].clone(), ids[0].clone(), ids[0].clone()];
        let plan = plan(&manifest, &wanted, &protected);
        assert_eq!(plan.goes.len(), 1);
        assert_eq!(plan.goes[0].id, ids[0]);
        assert_eq!(plan.refused[0].checkpoint, ids[2]);
        assert_eq!(plan.refused[0].protections, [Protection::Current]);
    }
}
