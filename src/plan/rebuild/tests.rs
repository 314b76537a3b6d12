//! Sessions taken apart and put together again.

use super::*;
use crate::model::sample;
use crate::model::{RollbackId, RollbackRecord, Trigger};

fn session() -> (Manifest, Vec<Record>) {
    let mut manifest = sample::manifest();
    let mut records = Vec::new();
    for (step, name) in [(1, "init"), (2, "requirements"), (3, "architecture")] {
        records.push(sample::append(
            &mut manifest,
            step,
            name,
            Trigger::StepComplete,
        ));
    }
    // A rollback from 3 to 1, then new work on top of 1.
    let safety = sample::draft(&manifest, 3, "architecture", Trigger::Safety);
    let safety = safety.seal();
    manifest.append(&safety).unwrap();
    let rollback = RollbackRecord {
        branches: Vec::new(),
        kind: crate::model::RollbackKind::Rollback,
        paths: Vec::new(),
        reverses: None,
        from_checkpoint: Some(records[2].id.clone()),
        from_step: Some(3),
        id: RollbackId::compose(safety.created_at, 1),
        reason: String::new(),
        safety_checkpoint: safety.id.clone(),
        timestamp: safety.created_at,
        to_checkpoint: records[0].id.clone(),
        to_step: 1,
        undone_at: None,
    };
    manifest.current_checkpoint = Some(records[0].id.clone());
    let behind = [records[1].id.clone(), records[2].id.clone()];
    manifest.mark(|id, validity| {
        if behind.contains(id) {
            validity.valid = false;
            validity.invalidated_by = Some(rollback.id.clone());
        }
    });
    manifest.rollback_history.push(rollback);
    records.push(safety);
    records.push(sample::append(
        &mut manifest,
        2,
        "requirements",
        Trigger::Manual,
    ));
    (manifest, records)
}

fn candidates(records: &[Record]) -> Vec<Candidate> {
    let one = |record: &Record| Candidate {
        from_commit: Some(record.clone()),
        from_file: None,
    };
    // In no particular order.
    records.iter().rev().map(one).collect()
}

fn rebuilt(records: &[Record], salvage: &Salvage, trust: Trust) -> Rebuilt {
    let id = sample::manifest().session_id;
    rebuild(Evidence {
        session: &id,
        candidates: candidates(records),
        salvage,
        trust,
        live: None,
        workflows: &[],
        now: sample::at(0),
    })
}

#[test]
fn a_whole_manifest_comes_back_byte_for_byte() {
    let (manifest, records) = session();
    let salvage = Salvage::of_manifest(&manifest);
    for trust in [Trust::Proven, Trust::Unproven] {
        let again = rebuilt(&records, &salvage, trust);
        assert_eq!(again.manifest.to_file_bytes(), manifest.to_file_bytes());
    }
}

#[test]
fn without_a_manifest_the_records_tell_order_lineage_and_rollbacks() {
    let (manifest, records) = session();
    let again = rebuilt(&records, &Salvage::default(), Trust::Nothing);
    assert_eq!(again.manifest.checkpoints(), manifest.checkpoints());
    assert_eq!(
        again.manifest.current_checkpoint,
        manifest.current_checkpoint
    );
    assert_eq!(again.manifest.workflow, "go-team");
    let mut history = again.manifest.rollback_history;
    assert_eq!(history[0].reason, "rebuilt from its safety checkpoint");
    history[0].reason = String::new();
    assert_eq!(history, manifest.rollback_history);
    let fields: Vec<_> = again.losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        fields,
        [
            "nothing tells the session's topic; it is \"auth-system-1f3c\" now",
            "nothing tells the session's status; it is \"active\" now"
        ]
    );
    assert_eq!(again.records[0].1, Proof::Linked);
    assert_eq!(again.records[4].1, Proof::None);
}

#[test]
fn what_is_gone_is_said_and_the_chain_stays_checkable() {
    let (_, mut records) = session();
    records.remove(1);
    let again = rebuilt(&records, &Salvage::default(), Trust::Nothing);
    assert!(again.losses.contains(&Loss::Gone {
        from_seq: 2,
        to_seq: 2
    }));
    assert_eq!(again.manifest.pruned().len(), 1);
    let facts = crate::plan::validate::gaps(&again.manifest);
    assert_eq!(facts, []);
}

#[test]
fn an_edited_record_gives_way_to_the_one_that_the_next_links_to() {
    let (manifest, records) = session();
    let mut forged = records[1].clone().into_draft();
    forged.description = "forged".to_owned();
    let forged = forged.seal();
    let mut all = candidates(&records);
    for (from_commit, from_file) in [
        (Some(&forged), Some(&records[1])),
        (Some(&records[1]), Some(&forged)),
    ] {
        all[3] = Candidate {
            from_commit: from_commit.cloned(),
            from_file: from_file.cloned(),
        };
        let id = sample::manifest().session_id;
        let again = rebuild(Evidence {
            session: &id,
            candidates: all.clone(),
            salvage: &Salvage::of_manifest(&manifest),
            trust: Trust::Proven,
            live: None,
            workflows: &[],
            now: sample::at(0),
        });
        assert_eq!(again.manifest.to_file_bytes(), manifest.to_file_bytes());
    }
}

#[test]
fn two_with_one_seq_cannot_both_be_listed() {
    let (manifest, mut records) = session();
    let mut twin = records[4].clone().into_draft();
    twin.id = CheckpointId::parse("cp-02-twin-20251228-210000").unwrap();
    records.push(twin.seal());
    let again = rebuilt(&records, &Salvage::of_manifest(&manifest), Trust::Proven);
    assert_eq!(again.manifest.to_file_bytes(), manifest.to_file_bytes());
    assert!(
        matches!(&again.losses[..], [Loss::Conflict { checkpoint, .. }] if checkpoint.as_str().contains("twin"))
    );
}
