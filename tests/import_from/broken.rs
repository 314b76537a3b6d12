//! Broken files are named one by one, and the rest comes.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::place::{busy_repo, photo, remarks, sample, sessions, untouched};

/// Imports a broken sample; everything that was said, and how many checkpoints came in each session.
fn import(name: &str) -> String {
    let repo = busy_repo();
    let from = sample(&repo, name);
    let before = (untouched(&repo), photo(&from));
    let answer = repo.run(&["import-from", from.to_str().unwrap(), "--json"]);
    assert_eq!(answer.code, Some(3), "{answer}");
    let answer = answer.json();
    assert_eq!(answer["error"]["kind"], "import-incomplete");
    assert_eq!((untouched(&repo), photo(&from)), before);
    let mut text = remarks(&answer, "broken").join("\n");
    text.push_str("\n--- and\n");
    text.push_str(&remarks(&answer, "remarks").join("\n"));
    text.push_str("\n--- came");
    for (nth, session) in sessions(&answer).iter().enumerate() {
        let came = answer["data"]["sessions"][nth]["checkpoints"]
            .as_array()
            .unwrap();
        for checkpoint in came {
            let _ = write!(text, "\n{session} {}", checkpoint["id"].as_str().unwrap());
        }
        repo.ok(&["cp-show", "latest", "--session", session]);
        let valid = repo.run(&["cp-validate", "--deep", "--session", session]);
        assert_eq!(valid.code, Some(0), "{valid}");
    }
    text
}

#[test]
fn of_the_directory_scheme() {
    assert_snapshot!(import("directory-broken"), @r#"
    login-form/checkpoints/2/state.json: is no JSON that can be used: unexpected end in a string at line 1 column 31
    login-form/checkpoints/3/state.json: is not there
    login-form/checkpoints/final: is no directory with a number for a name
    --- and
    login-form/checkpoints/5/state.json: says that its number is 6, its directory says 5
    login-form/checkpoints/5/state.json: "last Tuesday" is no time, so that of the file counts
    login-form/checkpoints/5/state.json: the trigger "moon phase" is not known, so it is manual
    --- came
    login-form-8527 cp-01-planning-20251103-091244
    login-form-8527 cp-05-review-20260101-000000
    "#);
}

#[test]
fn of_the_single_file_scheme() {
    assert_snapshot!(import("single-file-broken"), @r#"
    10/impl-checkpoint.json: is no JSON that can be used: unexpected end at line 1 column 1
    8/impl-checkpoint.json: its version is 9; 1 is known
    9/impl-checkpoint.json: its current_stage is "polish", not one of impl, review, pr, done, rebase, fatal
    --- and

    --- came
    issue-7-46cc cp-03-pr-20251022-080000
    "#);
}

#[test]
fn of_the_flat_scheme() {
    assert_snapshot!(import("flat-broken"), @r#"
    migration_webshop_20250915_101500.json: is no JSON that can be used: duplicate key "checkpoint_id" at line 1 column 31
    migration_webshop_20250916_101500.json: is no object
    notes.json: is not named {type}_{project}_{YYYYMMDD_HHMMSS}.json
    migration_webshop_20250917_101500.json: has none of checkpoint_id, workflow_type, current_phase, workflow_state
    --- and

    --- came
    move-the-webshop-7051 cp-01-phase-1-20250914-101500
    "#);
}

#[test]
fn of_the_index_scheme() {
    assert_snapshot!(import("index-broken"), @r#"
    CP-002.yaml: is no YAML that can be used: while parsing a flow sequence, expected ',' or ']' at line 3 column 1
    CP-003.yaml: is no YAML that can be used: more than 1048576 values
    index.yaml: lists "CP-004", of which there is no file
    --- and
    CP-005.yaml: is not in the index
    CP-005.yaml: "celebrating" is not one of the workflow's, so the step is 1
    --- came
    issue-318-search-forgets-the-filter-0925 cp-01-enrich-20251201-080000
    issue-318-search-forgets-the-filter-0925 cp-01-enrich-20251201-120000
    "#);
}

#[test]
fn a_person_reads_what_could_not_come() {
    let repo = busy_repo();
    sample(&repo, "single-file-broken");
    assert_snapshot!(repo.run(&["import-from", "../home/single-file-broken"]), @r#"
    exit: 3
    --- stdout
    ✓ Session imported: issue-7-46cc
      Topic: issue 7
      Workflow: impl
      Status: interrupted
      Scheme: single-file
      Contents: 1 checkpoint, without files
    Commands:
      go-team cp-list --session issue-7-46cc   go-team session-info issue-7-46cc
    --- stderr
    warning: not imported: 10/impl-checkpoint.json: is no JSON that can be used: unexpected end at line 1 column 1
    warning: not imported: 8/impl-checkpoint.json: its version is 9; 1 is known
    warning: not imported: 9/impl-checkpoint.json: its current_stage is "polish", not one of impl, review, pr, done, rebase, fatal
    ---
    "#);
}
