use super::*;
use crate::model::timestamp;

fn record(id: &str, kind: RollbackKind) -> RollbackRecord {
    RollbackRecord {
        branches: Vec::new(),
        from_checkpoint: None,
        from_step: None,
        id: RollbackId::parse(id).unwrap(),
        kind,
        paths: Vec::new(),
        reason: String::new(),
        reverses: None,
        safety_checkpoint: CheckpointId::parse(&format!("cp-{id}")).unwrap(),
        timestamp: timestamp::parse("2025-12-28T21:00:00.000Z").unwrap(),
        to_checkpoint: CheckpointId::parse("cp-1").unwrap(),
        to_step: 1,
        undone_at: None,
    }
}

fn next(kinds: &[RollbackKind]) -> (Option<usize>, Option<usize>) {
    let history: Vec<_> = kinds
        .iter()
        .enumerate()
        .map(|(nth, kind)| record(&format!("rb-{nth}"), *kind))
        .collect();
    let place = |found: Option<&RollbackRecord>| {
        let found = found?;
        history.iter().position(|record| record.id == found.id)
    };
    (place(to_undo(&history)), place(to_redo(&history)))
}

#[test]
fn undo_and_redo_form_two_stacks() {
    use RollbackKind::{Redo, Rollback, Undo};
    assert_eq!(next(&[]), (None, None));
    assert_eq!(next(&[Rollback]), (Some(0), None));
    assert_eq!(next(&[Rollback, Undo]), (None, Some(1)));
    assert_eq!(next(&[Rollback, Undo, Redo]), (Some(2), None));
    assert_eq!(next(&[Rollback, Rollback]), (Some(1), None));
    assert_eq!(next(&[Rollback, Rollback, Undo]), (Some(0), Some(2)));
    assert_eq!(next(&[Rollback, Rollback, Undo, Undo]), (None, Some(3)));
    assert_eq!(
        next(&[Rollback, Rollback, Undo, Undo, Redo]),
        (Some(4), Some(2))
    );
    assert_eq!(next(&[Rollback, Undo, Rollback]), (Some(2), None));
}
