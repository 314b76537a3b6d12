use proptest::prelude::*;

use super::*;
use crate::model::sample;
use crate::model::trigger::Trigger;

/// Steps 1, 2, 3, 2 again, a safety checkpoint in 2, 3 again and invalid.
fn manifest() -> Manifest {
    let mut manifest = sample::manifest();
    for (step, name, trigger) in [
        (1, "init", Trigger::StepComplete),
        (2, "requirements", Trigger::StepComplete),
        (3, "Architecture 1", Trigger::StepComplete),
        (2, "requirements", Trigger::Auto),
        (2, "requirements", Trigger::Safety),
        (3, "Architecture 1", Trigger::Auto),
        (4, "implementation", Trigger::Auto),
    ] {
        sample::append(&mut manifest, step, name, trigger);
    }
    manifest.mark(|id, validity| validity.valid = !id.as_str().starts_with("cp-04"));
    let last_of_3 = manifest.checkpoints()[5].id.clone();
    manifest.mark(|id, validity| validity.valid &= *id != last_of_3);
    manifest.current_checkpoint = Some(manifest.checkpoints()[1].id.clone());
    manifest
}

fn seq(text: &str) -> Result<u64, SelectorError> {
    let manifest = manifest();
    Selector::parse(text)?
        .resolve(&manifest)
        .map(|entry| entry.seq)
}

#[test]
fn each_rule_of_the_grammar_finds_its_checkpoint() {
    for (text, expected) in [
        ("1", 1),
        ("01", 1),
        ("2", 4),
        ("2.1", 2),
        ("2.3", 5),
        ("3", 3),
        ("3.2", 6),
        ("4", 7),
        ("requirements", 4),
        ("Architecture 1", 3),
        ("architecture-1", 3),
        ("implementation", 7),
        ("latest", 4),
        ("latest~0", 4),
        ("latest~2", 2),
        ("current", 2),
        ("cp-01", 1),
        ("cp-02-requirements-20251228-210500", 5),
        ("cp-02-requirements-202512282105", 0),
    ] {
        assert_eq!(seq(text).unwrap_or(0), expected, "{text}");
    }
}

#[test]
fn what_is_not_there_lists_what_is() {
    for text in [
        "9",
        "2.9",
        "latest~9",
        "none",
        "cp-09",
        "99999999999",
        "1.x",
        "LATEST",
    ] {
        let Err(SelectorError::NotFound { what, candidates }) = seq(text) else {
            panic!("{text}");
        };
        assert_eq!(what, text);
        let numbers: Vec<_> = candidates
            .listed
            .iter()
            .map(|one| one.number.as_str())
            .collect();
        assert_eq!(numbers, ["4", "3.2", "2.3", "2", "3", "2.1", "1"]);
    }
    for text in ["", "latest~", "latest~x", "latest~-1"] {
        assert!(
            matches!(seq(text), Err(SelectorError::Malformed { .. })),
            "{text}"
        );
    }
    let empty = sample::manifest();
    for text in ["latest", "current", "1"] {
        assert!(Selector::parse(text).unwrap().resolve(&empty).is_err());
    }
}

#[test]
fn what_may_be_several_lists_them() {
    let Err(SelectorError::Ambiguous { candidates, .. }) = seq("cp-02") else {
        panic!("three checkpoints begin so");
    };
    assert_eq!(candidates.listed.len(), 3);
    let mut manifest = sample::manifest();
    for step in 1..=30 {
        sample::append(&mut manifest, step, "checkpoint", Trigger::Auto);
    }
    let error = Selector::parse("checkpoint")
        .unwrap()
        .resolve(&manifest)
        .unwrap_err();
    let SelectorError::Ambiguous { candidates, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((candidates.listed.len(), candidates.more), (20, 10));
    assert_eq!(candidates.listed[0].number, "30");
}

proptest! {
    #[test]
    fn what_is_shown_selects_exactly_that(rows in prop::collection::vec((1_u32..5, 0_u8..3, any::<bool>()), 1..40)) {
        let mut manifest = sample::manifest();
        for (step, kind, _) in &rows {
            let trigger = if *kind == 0 { Trigger::Safety } else { Trigger::Auto };
            sample::append(&mut manifest, *step, "s", trigger);
        }
        let mut valid = rows.iter().map(|row| row.2);
        manifest.mark(|_, validity| validity.valid = valid.next().unwrap());
        let numbers = Numbers::of(&manifest);
        let mut shown = std::collections::HashSet::new();
        for entry in manifest.checkpoints() {
            let number = numbers.number(entry);
            let found = Selector::parse(&number).unwrap().resolve(&manifest).unwrap();
            prop_assert_eq!(&found.id, &entry.id, "{}", number);
            prop_assert_eq!(&number_of(&manifest, entry), &number);
            prop_assert!(shown.insert(number));
            let by_id = Selector::parse(entry.id.as_str()).unwrap();
            prop_assert_eq!(&by_id.resolve(&manifest).unwrap().id, &entry.id);
        }
    }
}
