use proptest::prelude::*;
use serde_json::json;

use super::*;

fn text(old: &Value, new: &Value) -> String {
    let line = |change: &Change| {
        let path = &change.path;
        match &change.kind {
            ChangeKind::Added { new } => format!("+ {path} {new}\n"),
            ChangeKind::Removed { old } => format!("- {path} {old}\n"),
            ChangeKind::Changed { old, new } => format!("~ {path} {old} {new}\n"),
        }
    };
    compare_values(old, new).iter().map(line).collect()
}

#[test]
fn nested_objects_go_by_dotted_path() {
    let old = json!({"a": {"b": {"c": 1, "gone": null}}, "same": [1], "a.b": 1, "": 2});
    let new = json!({"a": {"b": {"c": 2, "new": {}}}, "same": [1], "a.b": 2, "": 3});
    assert_eq!(
        text(&old, &new),
        "~ \"\" 2 3\n~ a.b.c 1 2\n- a.b.gone null\n+ a.b.new {}\n~ \"a.b\" 1 2\n"
    );
    assert_eq!(text(&json!(1), &json!({})), "~  1 {}\n");
    assert_eq!(
        text(&json!({"x": 1}), &json!({"x": 1.0})),
        "~ x 1 1.0\n",
        "another text of a number is another value"
    );
}

#[test]
fn lists_are_aligned_by_what_both_have() {
    let of = |old: Value, new: Value| text(&json!({ "l": old }), &json!({ "l": new }));
    assert_eq!(of(json!([1, 2]), json!([1, 2, 3])), "+ l.2 3\n");
    assert_eq!(of(json!([1, 2, 3]), json!([2, 3])), "- l.0 1\n");
    assert_eq!(of(json!([1, 2, 3]), json!([1, 9, 3])), "~ l.1 2 9\n");
    assert_eq!(
        of(
            json!([{"id": 1, "ok": false}]),
            json!([{"id": 1, "ok": true}])
        ),
        "~ l.0.ok false true\n"
    );
    assert_eq!(
        of(json!(["a", "b", "c"]), json!(["x", "a", "c", "y"])),
        "+ l.0 \"x\"\n- l.1 \"b\"\n+ l.3 \"y\"\n"
    );
}

#[test]
fn very_long_lists_are_compared_item_by_item() {
    let old: Vec<u32> = (0..3000).collect();
    let new: Vec<u32> = (0..3000).rev().collect();
    let changes = compare_values(&json!(old), &json!(new));
    assert_eq!(changes.len(), 3000);
    assert_eq!(apply(&json!(old), &changes).unwrap(), json!(new));
}

#[test]
fn what_does_not_fit_is_refused() {
    let changes = compare_values(&json!({"a": [1]}), &json!({"a": [2]}));
    for other in [json!({"a": 1}), json!({"a": []}), json!([]), json!(null)] {
        assert!(apply(&other, &changes).is_err(), "{other}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..4_i64).prop_map(Value::from),
        (0..4_u8).prop_map(|number| Value::from(f64::from(number) / 2.0)),
        "[a.\"]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[ab.]{0,2}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn applying_the_difference_to_the_old_gives_the_new(old in value(), new in value()) {
        let changes = compare_values(&old, &new);
        prop_assert_eq!(changes.is_empty(), old == new);
        prop_assert_eq!(apply(&old, &changes).unwrap(), new);
    }
}
