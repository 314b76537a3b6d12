//! Sessions, as a user sees them.

use insta::assert_snapshot;

use crate::support::TestRepo;

#[test]
fn start_begins_a_session_and_names_the_one_it_left() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["start", "auth system", "--workflow", "go-team"]), @r"
    exit: 0
    --- stdout
    ✓ Session started: auth-system-504f
      Topic: auth system
      Workflow: go-team
      First step: step 1 - init
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["start", "something else"]), @r"
    exit: 0
    --- stdout
    ✓ Session started: something-else-99d8
      Topic: something else
      Workflow: free
    --- stderr
    Left session auth-system-504f: it stays as it is; go on in it with --session auth-system-504f
    ---
    ");
    assert_snapshot!(repo.run(&["start", "third", "-q"]), @r"
    exit: 0
    --- stdout
    third-a2fd
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["start", "fourth", "--json"]).pretty(), @r#"
    {
      "command": "start",
      "data": {
        "active_here": true,
        "checkpoint_count": 0,
        "created_at": "2025-12-28T21:04:00.000Z",
        "current_checkpoint": null,
        "left": "third-a2fd",
        "next_step": null,
        "progress": null,
        "recovered": [],
        "session_id": "fourth-d2a7",
        "status": "active",
        "topic": "fourth",
        "updated_at": "2025-12-28T21:04:00.000Z",
        "warnings": [],
        "workflow": "free"
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
}

#[test]
fn sessions_are_listed_newest_first_and_by_workflow_and_status() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["start", "something else"]);
    assert_snapshot!(repo.run(&["sessions"]), @r"
    exit: 0
    --- stdout
    ┌─────────────────────┬────────────────┬──────────┬─────────────┬─────────────────────┬──────────┐
    │ Session             │ Topic          │ Workflow │ Progress    │ Changed             │ Status   │
    ├─────────────────────┼────────────────┼──────────┼─────────────┼─────────────────────┼──────────┤
    │ something-else-b7f5 │ something else │ free     │ not begun   │ 2025-12-28 21:04:00 │ ← active │
    │ auth-system-504f    │ auth system    │ go-team  │ step 2 of 9 │ 2025-12-28 21:03:00 │ active   │
    └─────────────────────┴────────────────┴──────────┴─────────────┴─────────────────────┴──────────┘
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["sessions", "--workflow", "go-team", "--status", "active"]), @r"
    exit: 0
    --- stdout
    ┌──────────────────┬─────────────┬──────────┬─────────────┬─────────────────────┬────────┐
    │ Session          │ Topic       │ Workflow │ Progress    │ Changed             │ Status │
    ├──────────────────┼─────────────┼──────────┼─────────────┼─────────────────────┼────────┤
    │ auth-system-504f │ auth system │ go-team  │ step 2 of 9 │ 2025-12-28 21:03:00 │ active │
    └──────────────────┴─────────────┴──────────┴─────────────┴─────────────────────┴────────┘
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["sessions", "--status", "failed"]), @r"
    exit: 0
    --- stdout
    --- stderr
    No sessions to list. Begin one: go-team start TOPIC
    ---
    ");
    let listed = repo.run(&["sessions", "--json"]).json();
    let sessions = listed["data"]["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0]["topic"], "something else");
    assert_eq!(listed["data"]["current_session"], sessions[0]["session_id"]);
    assert_eq!(sessions[1]["checkpoint_count"], 2);
    assert_eq!(sessions[1]["progress"]["total"], 9);
}

#[test]
fn a_damaged_session_hides_no_other() {
    let repo = TestRepo::with_checkpoints();
    std::fs::write(repo.session_dir().join("manifest.json"), "{").unwrap();
    repo.ok(&["start", "second"]);
    assert_snapshot!(repo.run(&["sessions"]), @r"
    exit: 0
    --- stdout
    ┌─────────────┬────────┬──────────┬───────────┬─────────────────────┬──────────┐
    │ Session     │ Topic  │ Workflow │ Progress  │ Changed             │ Status   │
    ├─────────────┼────────┼──────────┼───────────┼─────────────────────┼──────────┤
    │ second-11cb │ second │ free     │ not begun │ 2025-12-28 21:04:00 │ ← active │
    └─────────────┴────────┴──────────┴───────────┴─────────────────────┴──────────┘
    --- stderr
    warning: session auth-system-504f cannot be read: $TMP/work/.git/go-team/sessions/auth-system-504f/manifest.json is damaged: EOF while parsing an object at line 1 column 1
    ---
    ");
}

#[test]
fn session_info_says_everything() {
    let repo = TestRepo::with_checkpoints();
    let failed = repo.run(&["cp-create", "--step", "99"]);
    assert_eq!(failed.code, Some(1));
    assert_snapshot!(repo.run(&["session-info"]), @r"
    exit: 0
    --- stdout
    =================================================
    SESSION - auth-system-504f
    =================================================
    Topic:       auth system
    Workflow:    go-team
    Status:      active (this work tree's)
    Created:     2025-12-28 21:01:00
    Changed:     2025-12-28 21:03:00
    Progress:    step 2 of 9
    Next:        step 3 - architecture
    Current:     cp-02-requirements-20251228-210300
    Checkpoints: 2 (2 valid, 0 invalid, 0 pruned)
                 2 manual
    Rollbacks:   0
    Failures:    1
                 2025-12-28 21:04:00 cp-create: workflow go-team: there is no step 99; legal: 1 init, 2…
    Files:       $TMP/work/.git/go-team/sessions/auth-system-504f
    Refs:        refs/go-team/auth-system-504f/
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["session-info", "--json"]).pretty(), @r#"
    {
      "command": "session-info",
      "data": {
        "active_here": true,
        "checkpoint_count": 2,
        "counts": {
          "by_trigger": {
            "manual": 2
          },
          "checkpoints": 2,
          "errors": 1,
          "invalid": 0,
          "pruned": 0,
          "rollbacks": 0,
          "valid": 2
        },
        "created_at": "2025-12-28T21:01:00.000Z",
        "current_checkpoint": "cp-02-requirements-20251228-210300",
        "last_error": {
          "error": "workflow go-team: there is no step 99; legal: 1 init, 2 requirements, 3 architecture, 4 implementation, 5 testing, 6 review, 7 optimization, 8 release, 9 synthesis",
          "operation": "cp-create",
          "step": 99,
          "timestamp": "2025-12-28T21:04:00.000Z"
        },
        "next_step": {
          "name": "architecture",
          "step": 3
        },
        "places": {
          "directory": "$TMP/work/.git/go-team/sessions/auth-system-504f",
          "errors": "$TMP/work/.git/go-team/sessions/auth-system-504f/errors.jsonl",
          "manifest": "$TMP/work/.git/go-team/sessions/auth-system-504f/manifest.json",
          "refs": "refs/go-team/auth-system-504f/",
          "state": "$TMP/work/.git/go-team/sessions/auth-system-504f/state.json"
        },
        "progress": {
          "name": "requirements",
          "step": 2,
          "total": 9,
          "unit": "step"
        },
        "rollback_history": [],
        "session_id": "auth-system-504f",
        "status": "active",
        "status_history": [],
        "topic": "auth system",
        "unfinished": null,
        "updated_at": "2025-12-28T21:03:00.000Z",
        "warnings": [],
        "workflow": "go-team"
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
    let other = repo.ok(&["start", "other", "-q"]).stdout;
    let first =
        repo.ok(&["sessions", "--json"]).json()["data"]["sessions"][1]["session_id"].clone();
    let shown = repo
        .ok(&["session-info", first.as_str().unwrap(), "--json"])
        .json();
    assert_eq!(shown["data"]["topic"], "auth system");
    assert_eq!(shown["data"]["active_here"], false);
    let flagged = repo
        .run_env(
            &[("GO_TEAM_SESSION", other.trim())],
            &["session-info", "--json"],
        )
        .json();
    assert_eq!(flagged["data"]["topic"], "other");
}
