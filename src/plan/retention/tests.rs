//! Examples of the default policy, and properties that hold for every policy.

use std::collections::HashMap;

use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;

type Entry = Candidate<'static, u64, &'static str>;
const PHASES: [&str; 3] = ["design", "build", ""];
const TRIGGERS: [&str; 6] = [
    "manual",
    "batch_complete",
    "agent_complete",
    "user_interrupt",
    "safety",
    "auto",
];

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_000_000, 0).expect("a time")
}

fn default_policy(caps: Caps) -> Policy<&'static str> {
    Policy::new(caps)
        .with("batch_complete", Rule::PerPhase(3))
        .with("agent_complete", Rule::PerPhase(1))
        .with("user_interrupt", Rule::Last(1))
        .with("safety", Rule::Last(10))
        .with("auto", Rule::Last(50))
}

fn entry(seq: u64, trigger: &'static str) -> Entry {
    let age = TimeDelta::hours(1_000 - i64::try_from(seq).expect("small"));
    Candidate {
        key: seq,
        seq,
        trigger,
        phase: "design",
        created_at: now() - age,
        valid: true,
        size_bytes: None,
    }
}

fn kept(policy: &Policy<&'static str>, entries: &[Entry]) -> Vec<u64> {
    let decisions = plan(policy, entries, &Protected::default(), now());
    decisions
        .iter()
        .filter(|d| d.verdict == Verdict::Keep)
        .map(|d| d.key)
        .collect()
}

#[test]
fn each_trigger_has_its_rule() {
    let policy = default_policy(Caps::default());
    let mut entries: Vec<_> = (1..=60).map(|seq| entry(seq, "auto")).collect();
    assert_eq!(kept(&policy, &entries), (11..=60).collect::<Vec<_>>());

    entries = (1..=5).map(|seq| entry(seq, "batch_complete")).collect();
    entries[0].phase = "build";
    entries.extend([
        entry(6, "user_interrupt"),
        entry(7, "agent_complete"),
        entry(8, "manual"),
    ]);
    entries.extend([
        entry(9, "user_interrupt"),
        entry(10, "agent_complete"),
        entry(11, "step_complete"),
    ]);
    assert_eq!(kept(&policy, &entries), [1, 3, 4, 5, 8, 9, 10, 11]);
}

#[test]
fn what_a_rollback_invalidated_never_pushes_out_what_is_valid() {
    let mut entries: Vec<_> = (4..=7).map(|seq| entry(seq, "batch_complete")).collect();
    entries[1].valid = false;
    entries[2].valid = false;
    assert_eq!(kept(&default_policy(Caps::default()), &entries), [4, 6, 7]);
}

#[test]
fn caps_take_the_oldest_of_what_is_not_protected() {
    let mut entries: Vec<_> = (1..=6).map(|seq| entry(seq, "manual")).collect();
    for entry in &mut entries {
        entry.size_bytes = Some(10);
    }
    let caps = |max_checkpoints, max_size_bytes| Caps {
        max_age_days: None,
        max_checkpoints,
        max_size_bytes,
    };
    assert_eq!(kept(&default_policy(caps(Some(2), None)), &entries), [5, 6]);
    assert_eq!(
        kept(&default_policy(caps(None, Some(30))), &entries),
        [4, 5, 6]
    );
    assert_eq!(
        kept(&default_policy(caps(Some(0), Some(0))), &entries),
        [6],
        "the newest valid one stays"
    );

    entries[0].created_at = now() - TimeDelta::days(8);
    let week = Caps {
        max_age_days: Some(7),
        ..Caps::default()
    };
    entries
        .iter_mut()
        .skip(1)
        .for_each(|entry| entry.created_at = now() - TimeDelta::days(7));
    assert_eq!(kept(&default_policy(week), &entries), [2, 3, 4, 5, 6]);

    let mut protected = Protected::default();
    protected.insert(1, Protection::Current);
    let decisions = plan(
        &default_policy(caps(Some(2), None)),
        &entries,
        &protected,
        now(),
    );
    assert_eq!(
        decisions[0].reasons[0],
        Reason::Protected(Protection::Current)
    );
    let left = decisions
        .iter()
        .filter(|d| d.verdict == Verdict::Keep)
        .map(|d| d.key);
    assert_eq!(left.collect::<Vec<_>>(), [1, 6]);
}

#[test]
fn reasons_read_as_sentences() {
    let mut entries: Vec<_> = (1..=4).map(|seq| entry(seq, "batch_complete")).collect();
    entries.extend([entry(5, "manual"), entry(6, "auto")]);
    let mut protected = Protected::default();
    protected.insert(2, Protection::NeededByUndo);
    let caps = Caps {
        max_age_days: None,
        max_checkpoints: Some(4),
        max_size_bytes: Some(1 << 20),
    };
    let decisions = plan(&default_policy(caps), &entries, &protected, now());
    let said: Vec<_> = decisions
        .iter()
        .map(|d| {
            let reasons: Vec<_> = d.reasons.iter().map(ToString::to_string).collect();
            format!("{} {:?}: {}", d.key, d.verdict, reasons.join("; "))
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    1 Remove: only the last 3 batch_complete in phase "design" are kept
    2 Keep: undo needs it; number 3 of the last 3 batch_complete in phase "design"
    3 Remove: it was the oldest while more than 4 checkpoints were left
    4 Keep: number 1 of the last 3 batch_complete in phase "design"
    5 Keep: every manual checkpoint is kept
    6 Keep: it is the newest valid checkpoint; number 1 of the last 50 auto
    "#);
}

#[test]
fn ten_thousand_entries_are_planned_at_once() {
    let entries: Vec<_> = (0..10_000)
        .map(|seq| entry(seq, TRIGGERS[(seq % 6) as usize]))
        .collect();
    let start = std::time::Instant::now();
    let decisions = plan(
        &default_policy(Caps::default()),
        &entries,
        &Protected::default(),
        now(),
    );
    assert_eq!(decisions.len(), 10_000);
    // A quadratic plan takes minutes in a debug build; this leaves room for a slow machine.
    assert!(start.elapsed().as_secs() < 2);
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let one = (
        0..TRIGGERS.len(),
        0..PHASES.len(),
        0..40_i64,
        any::<bool>(),
        proptest::option::of(0..50_u64),
    );
    proptest::collection::vec(one, 0..60).prop_map(|all| {
        let entry = |(seq, (trigger, phase, days, valid, size_bytes))| Candidate {
            key: seq,
            seq,
            trigger: TRIGGERS[trigger],
            phase: PHASES[phase],
            created_at: now() - TimeDelta::days(days),
            valid,
            size_bytes,
        };
        let mut entries: Vec<_> = (1..).zip(all).map(entry).collect();
        entries.reverse();
        entries
    })
}

prop_compose! {
    fn caps()(
        max_age_days in proptest::option::of(0..40_u64),
        max_checkpoints in proptest::option::of(0..40_u64),
        max_size_bytes in proptest::option::of(0..900_u64),
    ) -> Caps {
        Caps { max_age_days, max_checkpoints, max_size_bytes }
    }
}

fn protected() -> impl Strategy<Value = Protected<u64>> {
    proptest::collection::vec(1..60_u64, 0..6).prop_map(|keys| {
        let mut protected = Protected::default();
        for key in keys {
            protected.insert(key, Protection::Current);
        }
        protected
    })
}

/// Checks that every reason supports its verdict and is true of the entries.
fn assert_true(
    entries: &[Entry],
    protected: &Protected<u64>,
    decisions: &[Decision<'_, u64, &str>],
    caps: Caps,
) {
    let by_key: HashMap<_, _> = entries.iter().map(|entry| (entry.key, entry)).collect();
    let verdict: HashMap<_, _> = decisions.iter().map(|d| (d.key, d.verdict)).collect();
    for decision in decisions {
        let entry = by_key[&decision.key];
        let older_than_kept =
            |other: &&&Entry| other.seq < entry.seq && verdict[&other.key] == Verdict::Keep;
        assert!(!decision.reasons.is_empty());
        for reason in &decision.reasons {
            let (supports, holds) = match *reason {
                Reason::Protected(_) => (Verdict::Keep, protected.0.contains_key(&entry.key)),
                Reason::NewestValid => {
                    let newest = !entries
                        .iter()
                        .any(|other| other.valid && other.seq > entry.seq);
                    (Verdict::Keep, entry.valid && newest)
                }
                Reason::Always { trigger } => (
                    Verdict::Keep,
                    trigger == "manual" && entry.trigger == trigger,
                ),
                Reason::AmongLast {
                    trigger,
                    rank,
                    limit,
                    phase,
                }
                | Reason::BeyondLast {
                    trigger,
                    rank,
                    limit,
                    phase,
                } => {
                    let competes = |o: &&Entry| {
                        o.trigger == trigger && phase.is_none_or(|phase| o.phase == phase)
                    };
                    let before = |o: &&Entry| (o.valid, o.seq) > (entry.valid, entry.seq);
                    let ahead = entries.iter().filter(competes).filter(before).count();
                    let among = matches!(reason, Reason::AmongLast { .. });
                    let supports = if among {
                        Verdict::Keep
                    } else {
                        Verdict::Remove
                    };
                    (
                        supports,
                        rank == ahead as u64 + 1 && among == (rank <= limit) && competes(&entry),
                    )
                }
                Reason::OlderThan { days } => {
                    let old =
                        now() - entry.created_at > TimeDelta::days(days.try_into().expect("small"));
                    (Verdict::Remove, old && caps.max_age_days == Some(days))
                }
                Reason::OverCount { limit } => (
                    Verdict::Remove,
                    caps.max_checkpoints == Some(limit)
                        && stays_first(entries, protected, older_than_kept),
                ),
                Reason::OverSize { limit } => (
                    Verdict::Remove,
                    caps.max_size_bytes == Some(limit)
                        && stays_first(entries, protected, older_than_kept),
                ),
            };
            assert_eq!(supports, decision.verdict, "{reason:?} of {entry:?}");
            assert!(holds, "{reason:?} of {entry:?}");
        }
    }
}

/// Whether every kept entry that is older is one that must stay.
fn stays_first(
    entries: &[Entry],
    protected: &Protected<u64>,
    older: impl Fn(&&&Entry) -> bool,
) -> bool {
    let newest_valid = entries
        .iter()
        .filter(|entry| entry.valid)
        .map(|entry| entry.seq)
        .max();
    let refs: Vec<&Entry> = entries.iter().collect();
    refs.iter()
        .filter(older)
        .all(|entry| protected.0.contains_key(&entry.key) || Some(entry.seq) == newest_valid)
}

proptest! {
    #[test]
    fn every_plan_keeps_its_promises(entries in entries(), caps in caps(), protected in protected()) {
        let policy = default_policy(caps);
        let decisions = plan(&policy, &entries, &protected, now());
        prop_assert!(decisions.iter().map(|d| d.key).eq(entries.iter().map(|e| e.key)));
        assert_true(&entries, &protected, &decisions, caps);

        let kept: Vec<Entry> = entries.iter().zip(&decisions)
            .filter(|(_, decision)| decision.verdict == Verdict::Keep)
            .map(|(entry, _)| entry.clone())
            .collect();
        let newest_valid = entries.iter().filter(|e| e.valid).max_by_key(|e| e.seq);
        let must_stay = |e: &&Entry| protected.0.contains_key(&e.key) || newest_valid.is_some_and(|n| n.key == e.key);
        for entry in entries.iter().filter(must_stay) {
            prop_assert!(kept.contains(entry), "{entry:?} must stay");
        }

        let free: Vec<&Entry> = kept.iter().filter(|e| !must_stay(e)).collect();
        let count = |trigger: &str, phase: Option<&str>| {
            free.iter().filter(|e| e.trigger == trigger && phase.is_none_or(|p| p == e.phase)).count()
        };
        for phase in PHASES {
            prop_assert!(count("batch_complete", Some(phase)) <= 3);
            prop_assert!(count("agent_complete", Some(phase)) <= 1);
        }
        prop_assert!(count("user_interrupt", None) <= 1);
        prop_assert!(count("safety", None) <= 10);
        if !free.is_empty() {
            prop_assert!(caps.max_checkpoints.is_none_or(|max| kept.len() as u64 <= max));
            let size: u64 = kept.iter().filter_map(|e| e.size_bytes).sum();
            prop_assert!(caps.max_size_bytes.is_none_or(|max| size <= max));
        }

        let again = plan(&policy, &kept, &protected, now());
        prop_assert!(again.iter().all(|d| d.verdict == Verdict::Keep), "a second run removes more");
    }

    #[test]
    fn the_order_of_the_entries_does_not_matter(mut entries in entries(), caps in caps(), protected in protected()) {
        let policy = default_policy(caps);
        let mut one = plan(&policy, &entries, &protected, now());
        entries.reverse();
        entries.sort_by_key(|e| e.seq % 7);
        let mut other = plan(&policy, &entries, &protected, now());
        one.sort_by_key(|d| d.key);
        other.sort_by_key(|d| d.key);
        prop_assert_eq!(one, other);
    }
}
