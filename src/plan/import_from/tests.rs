//! Times, triggers and names as other programs write them. Whole samples of each scheme are in `tests/import_from`.

use serde_json::{Map, Value, json};

use super::*;
use crate::model::timestamp;

fn document(path: &str, value: Value) -> Document {
    let Value::Object(fields) = value else {
        panic!("an object");
    };
    Document {
        path: path.to_owned(),
        fields,
        modified: timestamp::parse("2026-01-01T00:00:00.000Z").unwrap(),
    }
}

fn time(value: &Value) -> Option<String> {
    read_time(value).map(timestamp::format)
}

#[test]
fn times_are_read_however_they_are_written() {
    let noon = Some("2025-12-28T12:00:00.000Z".to_owned());
    for text in [
        "2025-12-28T12:00:00Z",
        "2025-12-28T13:00:00+01:00",
        "2025-12-28T12:00:00",
        "2025-12-28 12:00:00",
        "2025-12-28 12:00:00.000000",
        "2025-12-28 13:00:00+01",
        "2025-12-28T12:00",
        "20251228_120000",
        "1766923200",
    ] {
        assert_eq!(time(&json!(text)), noon, "{text}");
    }
    assert_eq!(time(&json!(1_766_923_200)), noon);
    assert_eq!(time(&json!(1_766_923_200_000_u64)), noon);
    assert_eq!(
        time(&json!(1_766_923_200.25)).unwrap(),
        "2025-12-28T12:00:00.250Z"
    );
    assert_eq!(
        time(&json!("2025-12-28")).unwrap(),
        "2025-12-28T00:00:00.000Z"
    );
    for value in [
        json!("soon"),
        json!(""),
        json!(null),
        json!([]),
        json!(1e300),
        json!("+99999-01-01T00:00:00Z"),
        json!("2025-13-45T00:00:00Z"),
    ] {
        assert_eq!(time(&value), None, "{value}");
    }
}

#[test]
fn triggers_mean_the_same_or_something_like_it() {
    assert_eq!(
        read_trigger("step_complete"),
        Meaning::Same(Trigger::StepComplete)
    );
    assert_eq!(
        read_trigger("Step-Complete"),
        Meaning::Like(Trigger::StepComplete)
    );
    assert_eq!(read_trigger("periodic"), Meaning::Like(Trigger::Auto));
    assert_eq!(read_trigger("safety"), Meaning::Like(Trigger::Manual));
    assert_eq!(read_trigger("SAFETY"), Meaning::Like(Trigger::Manual));
    assert_eq!(read_trigger("full moon"), Meaning::Unknown);
    assert_eq!(read_trigger(""), Meaning::Unknown);
}

#[test]
fn names_of_flat_files_are_taken_apart() {
    let name = FlatName::parse("migration_web_shop_20250914_101500.json").unwrap();
    assert_eq!(
        (name.kind.as_str(), name.project.as_str()),
        ("migration", "web_shop")
    );
    assert_eq!(timestamp::format(name.time), "2025-09-14T10:15:00.000Z");
    assert_eq!(
        FlatName::parse("audit_20250914_101500.json")
            .unwrap()
            .project,
        ""
    );
    for name in [
        "x.json",
        "a_b.json",
        "a_b_20250914_1015.json",
        "a_b_20259914_101500.json",
        "_20250914_101500.json",
        "a_b_20250914_101500.yaml",
    ] {
        assert_eq!(FlatName::parse(name), None, "{name}");
    }
}

#[test]
fn what_a_document_says_stays_in_the_state() {
    let said = json!({
        "version": "1.0", "timestamp": "2025-01-01T00:00:00Z", "host": "ci-7",
        "state": {"issue_no": "A-1", "current_stage": "DONE", "own": {"deep": [1]}, "imported": "before"},
    });
    let understood = single_file(vec![document("x.json", said)]);
    assert_eq!(understood.broken, []);
    let session = &understood.sessions[0];
    assert_eq!(
        (session.topic.as_str(), session.status),
        ("issue A-1", SessionStatus::Completed)
    );
    let expected: Map<String, Value> = serde_json::from_value(json!({
        "issue_no": "A-1", "current_stage": "DONE", "own": {"deep": [1]},
        "imported": {"scheme": "single-file", "source": "x.json", "version": "1.0", "fields": {"host": "ci-7"}, "imported": "before"},
    }))
    .unwrap();
    assert_eq!(session.checkpoints[0].state, expected);
    assert_eq!(session.checkpoints[0].name, "done");
}

#[test]
fn an_index_lists_in_any_of_three_ways_and_keeps_issues_apart() {
    let file = |nth: u32, issue: u32| {
        let said = json!({"timestamp": "2025-01-01T00:00:00Z", "phase": "Implementation", "issue_snapshot": {"number": issue}});
        document(&format!("CP-{nth}.yaml"), said)
    };
    for list in [
        json!(["CP-2.yaml", "CP-1", "CP-3"]),
        json!([{"file": "CP-2.yaml"}, {"id": "CP-1"}, {"checkpoint_id": "CP-3"}]),
        json!({"CP-2": {"trigger": "auto"}, "CP-1": null, "x": {"file": "CP-3.yaml"}}),
    ] {
        let list = document("index.yaml", json!({"checkpoints": list}));
        let files = vec![file(1, 7), file(2, 7), file(3, 8)];
        let understood = index("team", Some(&list), files, &[]);
        assert_eq!(
            (&understood.broken[..], &understood.remarks[..]),
            (&[][..], &[][..])
        );
        let [first, second] = &understood.sessions[..] else {
            panic!("{understood:?}");
        };
        assert_eq!(
            (first.topic.as_str(), second.topic.as_str()),
            ("issue 7", "issue 8")
        );
        let sources: Vec<&str> = first
            .checkpoints
            .iter()
            .map(|one| one.source.as_str())
            .collect();
        assert_eq!(sources.len(), 2);
        assert_eq!(first.checkpoints[0].step, 3);
        assert_eq!(first.checkpoints[0].phase, "Implementation");
    }
    let alone = index(
        "team",
        None,
        vec![document(
            "CP-9.yaml",
            json!({"checkpoint": {"phase": "docs", "timestamp": 0, "id": "CP-9"}}),
        )],
        &[],
    );
    assert_eq!(alone.sessions[0].topic, "team");
    assert_eq!(alone.sessions[0].checkpoints[0].step, 5);
    assert_eq!(
        alone.sessions[0].checkpoints[0].state["imported"]["checkpoint"]["id"],
        "CP-9"
    );
    assert!(
        !alone.sessions[0].checkpoints[0]
            .state
            .contains_key("checkpoint"),
        "that is the engine's own"
    );
}
