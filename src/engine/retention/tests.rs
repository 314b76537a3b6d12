//! The policy on whole sessions: whatever happened in one, pruning keeps what is needed and breaks no line of descent.

use proptest::prelude::*;

use super::*;
use crate::model::{RollbackId, RollbackKind, RollbackRecord, sample};
use crate::plan::rollback::{line, settle};

/// Something that happens in a session.
#[derive(Debug, Clone)]
enum Event {
    Create(usize),
    Rollback(usize),
    Undo,
    Redo,
    Prune,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..Trigger::ALL.len()).prop_map(Event::Create),
        1 => (0..20_usize).prop_map(Event::Rollback),
        1 => Just(Event::Undo),
        1 => Just(Event::Redo),
        2 => Just(Event::Prune),
    ]
}

/// A rollback, an undo or a redo, with the safety checkpoint that comes before it.
fn go(
    manifest: &mut Manifest,
    kind: RollbackKind,
    to: &CheckpointId,
    reverses: Option<RollbackId>,
) {
    let from = manifest.current_checkpoint.clone();
    let step = manifest.current().map_or(1, |entry| entry.step);
    let safety = sample::append(manifest, step, "safety", Trigger::Safety);
    let count = manifest.rollback_history.len();
    let at = sample::at(100_000 + count as u64);
    let record = RollbackRecord {
        branches: Vec::new(),
        from_checkpoint: from,
        from_step: None,
        id: RollbackId::compose(at, 1),
        kind,
        paths: Vec::new(),
        reason: String::new(),
        reverses,
        safety_checkpoint: safety.id.clone(),
        timestamp: at,
        to_checkpoint: to.clone(),
        to_step: 1,
        undone_at: None,
    };
    settle(manifest, record);
}

fn decide(manifest: &Manifest, caps: Caps) -> BTreeSet<CheckpointId> {
    let settings = Retention {
        keep_auto: 3,
        keep_safety: 2,
        ..Retention::default()
    };
    let entries = manifest.checkpoints().iter();
    let candidates: Vec<_> = entries.map(|entry| candidate(entry, &|_| None)).collect();
    let policy = policy(&settings, caps);
    let decisions = plan(
        &policy,
        &candidates,
        &shielded(manifest),
        sample::at(200_000),
    );
    let gone = decisions.into_iter();
    let gone = gone.filter(|decision| decision.verdict == Verdict::Remove);
    gone.map(|decision| decision.key.clone()).collect()
}

fn ids(line: &[&Entry]) -> Vec<CheckpointId> {
    line.iter().map(|entry| entry.id.clone()).collect()
}

proptest! {
    #[test]
    fn nothing_that_is_needed_goes_and_no_line_breaks(
        events in proptest::collection::vec(event(), 1..60),
        max_checkpoints in proptest::option::of(1..8_u64),
    ) {
        let caps = Caps { max_checkpoints, ..Caps::default() };
        let mut manifest = sample::manifest();
        for event in events {
            let history = manifest.rollback_history.clone();
            match event {
                Event::Create(nth) => {
                    let trigger = Trigger::ALL[nth];
                    if trigger != Trigger::Safety {
                        sample::append(&mut manifest, 1, "s", trigger);
                    }
                }
                Event::Rollback(back) => {
                    let current = manifest.current_checkpoint.clone();
                    let on_line = current.map(|id| ids(&line(&manifest, &id)));
                    let on_line = on_line.unwrap_or_default();
                    if let Some(to) = on_line.get(back % on_line.len().max(1)) {
                        go(&mut manifest, RollbackKind::Rollback, to, None);
                    }
                }
                Event::Undo | Event::Redo => {
                    let (last, kind) = if matches!(event, Event::Undo) {
                        (to_undo(&history), RollbackKind::Undo)
                    } else {
                        (to_redo(&history), RollbackKind::Redo)
                    };
                    if let Some(last) = last && let Some(to) = &last.from_checkpoint
                        && manifest.entry(to).is_some()
                    {
                        go(&mut manifest, kind, to, Some(last.id.clone()));
                    }
                }
                Event::Prune => {
                    let before = manifest.clone();
                    let gone = decide(&manifest, caps);
                    manifest.prune(&gone);
                    prop_assert_eq!(&manifest.current_checkpoint, &before.current_checkpoint);
                    let newest = before.newest_valid().map(|entry| &entry.id);
                    prop_assert!(newest.is_none_or(|id| manifest.entry(id).is_some()));
                    for last in [to_undo(&history), to_redo(&history)].into_iter().flatten() {
                        let needed = [Some(&last.safety_checkpoint), last.from_checkpoint.as_ref()];
                        for id in needed.into_iter().flatten() {
                            prop_assert!(!gone.contains(id), "{id} is needed by undo or redo");
                        }
                        for entry in before.checkpoints() {
                            let revived = entry.invalidated_by.as_ref() == Some(&last.id);
                            prop_assert!(!(revived && gone.contains(&entry.id)), "{}", entry.id);
                        }
                    }
                    for entry in manifest.checkpoints() {
                        let mut expected = ids(&line(&before, &entry.id));
                        expected.retain(|id| !gone.contains(id));
                        prop_assert_eq!(ids(&line(&manifest, &entry.id)), expected);
                    }
                    prop_assert!(decide(&manifest, caps).is_empty(), "a second run removes more");
                }
            }
        }
    }
}
