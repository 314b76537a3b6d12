//! Listing checkpoints, as a user sees it.

use go_team::model::{RollbackId, SessionId};
use go_team::store::{Durability, Store};
use insta::assert_snapshot;

use crate::support::TestRepo;

#[test]
fn cp_list_shows_the_table_of_the_design() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-list"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 2 of 9, next is step 3 - architecture
    ┌────┬───────────────────┬────────────────────────────────────┬─────────────────────┬─────────┐
    │ #  │ Step              │ Checkpoint ID                      │ Timestamp           │ Status  │
    ├────┼───────────────────┼────────────────────────────────────┼─────────────────────┼─────────┤
    │ 1  │ init              │ cp-01-init-20251228-210200         │ 2025-12-28 21:02:00 │ ✓       │
    │ 2  │ requirements      │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ ← curr  │
    └────┴───────────────────┴────────────────────────────────────┴─────────────────────┴─────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["checkpoints", "-v"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 2 of 9, next is step 3 - architecture
    ┌───┬──────────────┬────────────────────────────────────┬─────────────────────┬────────┬───────────┐
    │ # │ Step         │ Checkpoint ID                      │ Timestamp           │ Status │ Descript… │
    ├───┼──────────────┼────────────────────────────────────┼─────────────────────┼────────┼───────────┤
    │ 1 │ init         │ cp-01-init-20251228-210200         │ 2025-12-28 21:02:00 │ ✓      │ scaffold  │
    │ 2 │ requirements │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ ← curr │ spec agr… │
    └───┴──────────────┴────────────────────────────────────┴─────────────────────┴────────┴───────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "-q"]), @r"
    exit: 0
    --- stdout
    ┌────┬───────────────────┬────────────────────────────────────┬─────────────────────┬─────────┐
    │ #  │ Step              │ Checkpoint ID                      │ Timestamp           │ Status  │
    ├────┼───────────────────┼────────────────────────────────────┼─────────────────────┼─────────┤
    │ 1  │ init              │ cp-01-init-20251228-210200         │ 2025-12-28 21:02:00 │ ✓       │
    │ 2  │ requirements      │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ ← curr  │
    └────┴───────────────────┴────────────────────────────────────┴─────────────────────┴─────────┘
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "--json"]).pretty(), @r#"
    {
      "command": "cp-list",
      "data": {
        "active_here": true,
        "checkpoint_count": 2,
        "checkpoints": [
          {
            "checksum": "21ac87627e6ad8f11db304b2206ea9abbde2f49b48fa645a1ce0303e75ed391c",
            "commit_hash": "f6177707cc3e53d3b73ea124c59c326d98e3ee5a",
            "current": false,
            "description": "scaffold",
            "id": "cp-01-init-20251228-210200",
            "name": "init",
            "number": "1",
            "ordinal": 1,
            "phase": "init",
            "seq": 1,
            "step": 1,
            "timestamp": "2025-12-28T21:02:00.000Z",
            "trigger": "manual",
            "valid": true
          },
          {
            "checksum": "34e1173cca1b6b28cb2ac9cb6c1f9780ceb4d505197140b8b04330c7e8dcc58d",
            "commit_hash": "ed3dd7854426a7dc4ad6312b22084d15cffc9eb4",
            "current": true,
            "description": "spec agreed",
            "id": "cp-02-requirements-20251228-210300",
            "name": "requirements",
            "number": "2",
            "ordinal": 1,
            "parent": "cp-01-init-20251228-210200",
            "phase": "requirements",
            "seq": 2,
            "step": 2,
            "timestamp": "2025-12-28T21:03:00.000Z",
            "trigger": "manual",
            "valid": true
          }
        ],
        "created_at": "2025-12-28T21:01:00.000Z",
        "current_checkpoint": "cp-02-requirements-20251228-210300",
        "filtered": 0,
        "next_step": {
          "name": "architecture",
          "step": 3
        },
        "progress": {
          "name": "requirements",
          "step": 2,
          "total": 9,
          "unit": "step"
        },
        "session_id": "auth-system-504f",
        "status": "active",
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
}

#[test]
fn cp_list_without_checkpoints() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "nothing yet"]);
    assert_snapshot!(repo.run(&["cp-list"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: nothing-yet-9f38
    =================================================
    Topic: nothing yet     Workflow: free     Created: 2025-12-28 21:01:00
    Progress: not begun
    Commands:
      go-team cp-create   go-team status
    --- stderr
    No checkpoints yet. Make one: go-team cp-create
    ---
    ");
    assert_snapshot!(repo.run(&["status"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        branch main at af432a220c
    Session:     nothing-yet-9f38 (active, workflow free)
    Topic:       nothing yet
    Progress:    not begun
    Checkpoint:  none yet
    Commands:
      go-team cp-create   go-team session-info
    --- stderr
    ---
    ");
}

/// Makes a session look as if it had been rolled back from its last checkpoint to its first.
fn roll_back(repo: &TestRepo) {
    let store = Store::new(repo.store(), Durability::None);
    let name = repo
        .session_dir()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let mut manifest = store
        .load_manifest(&SessionId::parse(&name).unwrap())
        .unwrap();
    let first = manifest.checkpoints()[0].id.clone();
    let rollback = RollbackId::parse("rb-20251228-230000").unwrap();
    manifest.mark(|id, validity| {
        if *id != first {
            validity.valid = false;
            validity.invalidated_by = Some(rollback.clone());
        }
    });
    manifest.current_checkpoint = Some(first);
    store.stage_manifest(&manifest).unwrap().publish().unwrap();
}

#[test]
fn a_rollback_is_a_branch_of_the_tree() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["cp-create", "--step", "3"]);
    roll_back(&repo);
    repo.ok(&["cp-create", "--step", "2", "second try"]);
    assert_snapshot!(repo.run(&["cp-list"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 2 of 9, next is step 3 - architecture
    ┌─────┬───────────────────┬────────────────────────────────────┬─────────────────────┬─────────┐
    │ #   │ Step              │ Checkpoint ID                      │ Timestamp           │ Status  │
    ├─────┼───────────────────┼────────────────────────────────────┼─────────────────────┼─────────┤
    │ 1   │ init              │ cp-01-init-20251228-210200         │ 2025-12-28 21:02:00 │ ✓       │
    │ 2.1 │ requirements      │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ ✗ inval │
    │ 3   │ architecture      │ cp-03-architecture-20251228-210400 │ 2025-12-28 21:04:00 │ ✗ inval │
    │ 2   │ requirements      │ cp-02-requirements-20251228-210500 │ 2025-12-28 21:05:00 │ ← curr  │
    └─────┴───────────────────┴────────────────────────────────────┴─────────────────────┴─────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "--graph"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 2 of 9, next is step 3 - architecture
    ●  1 init  cp-01-init-20251228-210200  2025-12-28 21:02:00  ✓  scaffold
    ├─╮ rb-20251228-230000
    │ ○  2.1 requirements  cp-02-requirements-20251228-210300  2025-12-28 21:03:00  ✗ inval  spec agreed
    │ ○  3 architecture  cp-03-architecture-20251228-210400  2025-12-28 21:04:00  ✗ inval
    ◉  2 requirements  cp-02-requirements-20251228-210500  2025-12-28 21:05:00  ← curr  second try
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run_env(&[("LC_ALL", "de_DE.ISO-8859-1")], &["cp-list", "--graph"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 2 of 9, next is step 3 - architecture
    *  1 init  cp-01-init-20251228-210200  2025-12-28 21:02:00  ok  scaffold
    |-. rb-20251228-230000
    | o  2.1 requirements  cp-02-requirements-20251228-210300  2025-12-28 21:03:00  x inval  spec agreed
    | o  3 architecture  cp-03-architecture-20251228-210400  2025-12-28 21:04:00  x inval
    @  2 requirements  cp-02-requirements-20251228-210500  2025-12-28 21:05:00  <- curr  second try
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-show", "2.1"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINT - cp-02-requirements-20251228-210300
    =================================================
    Step:        2 - requirements
    Number:      2.1 (seq 2)
    Status:      ✗ invalid
                 left behind by rb-20251228-230000
    Phase:       requirements
    Trigger:     manual
    Created:     2025-12-28 21:03:00
    Session:     auth-system-504f
    Description: spec agreed
    Parent:      cp-01-init-20251228-210200 (1)
    Children:    cp-03-architecture-20251228-210400 (3)
    State
      2 fields (-v shows them)
    Outputs
      none
    Files
      2 changed since the parent (1 created, 1 modified, 0 deleted)
      + docs/spec.md (7 bytes)
      ~ main.go (29 bytes)
    Git
      Branch: main
      HEAD: af432a220c878bc3085aaf52dbe5b4ceb0136180
      Commit: ed3dd7854426a7dc4ad6312b22084d15cffc9eb4
      Tree: 32183ab2060e7ff94e5ab13b81162852dd28259b
      Index: 853694aae8816094a0d875fee7ea26278dbf5d0f
    Resume
      step 3
    Validation
      ✓ record
      ✓ checksum
      ✓ ref
      ✓ commit
    With git
      git show refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300:docs/spec.md
      git diff refs/go-team/auth-system-504f/cp-01-init-20251228-210200 refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300
      git diff refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300
    --- stderr
    ---
    ");
}

#[test]
fn filters_metrics_and_columns() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "auth system", "--workflow", "go-team"]);
    std::fs::write(
        repo.path("go-team.toml"),
        "[capture]\nconversation = \"talk.jsonl\"\n",
    )
    .unwrap();
    for (step, trigger, coverage) in [
        ("1", "manual", "40"),
        ("2", "step_complete", "62.5"),
        ("2", "manual", "55"),
        ("3", "step_complete", "90"),
    ] {
        let talk = "{\"from\":\"coder\"}\n".repeat(step.parse().unwrap());
        repo.write("talk.jsonl", talk);
        let metric = format!("test_coverage={coverage}");
        repo.ok(&[
            "cp-create",
            "--step",
            step,
            "--trigger",
            trigger,
            "--metric",
            &metric,
            "done",
        ]);
    }
    assert_snapshot!(repo.run_env(&[("COLUMNS", "140")], &["cp-list", "--metric", "test_coverage"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 3 of 9, next is step 4 - implementation
    ┌─────┬───────────────────┬────────────────────────────────────┬─────────────────────┬─────────┬───────┬───────────────┬─────────────┐
    │ #   │ Step              │ Checkpoint ID                      │ Timestamp           │ Status  │ Turns │ test_coverage │ Description │
    ├─────┼───────────────────┼────────────────────────────────────┼─────────────────────┼─────────┼───────┼───────────────┼─────────────┤
    │ 1   │ init              │ cp-01-init-20251228-210200         │ 2025-12-28 21:02:00 │ ✓       │ 1     │ 40            │ done        │
    │ 2.1 │ requirements      │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ ✓       │ 2     │ 62.5          │ done        │
    │ 2   │ requirements      │ cp-02-requirements-20251228-210400 │ 2025-12-28 21:04:00 │ ✓       │ 2     │ 55            │ done        │
    │ 3   │ architecture      │ cp-03-architecture-20251228-210500 │ 2025-12-28 21:05:00 │ ← curr  │ 3     │ 90            │ done        │
    └─────┴───────────────────┴────────────────────────────────────┴─────────────────────┴─────────┴───────┴───────────────┴─────────────┘
    test_coverage: ▁▄▃█ 40 → 90 (+50)
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "--trigger", "step_complete", "--graph", "--metric", "metrics.test_coverage"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 3 of 9, next is step 4 - implementation
    ●  2.1 requirements  cp-02-requirements-20251228-210300  2025-12-28 21:03:00  ✓  62.5 done (2 turns)
    ◉  3 architecture  cp-03-architecture-20251228-210500  2025-12-28 21:05:00  ← curr  90 done (3 turn…
    metrics.test_coverage: ▁█ 62.5 → 90 (+27.5)
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list
    --- stderr
    2 of 4 checkpoints are listed
    ---
    ");
    let ids = |args: &[&str]| -> Vec<String> {
        let mut all = vec!["cp-list", "--json"];
        all.extend(args);
        let json = repo.ok(&all).json();
        let listed = json["data"]["checkpoints"].as_array().unwrap().clone();
        listed
            .iter()
            .map(|one| one["number"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&["--step", "2"]), ["2.1", "2"]);
    assert_eq!(ids(&["--step", "init", "--step", "3"]), ["1", "3"]);
    assert_eq!(ids(&["--since", "2025-12-28T21:04:00Z"]), ["2", "3"]);
    assert_eq!(ids(&["--since", "2025-12-29"]), [""; 0]);
    assert_eq!(ids(&["--trigger", "manual", "--valid"]), ["1", "2"]);
    roll_back(&repo);
    assert_eq!(ids(&["--valid"]), ["1"]);
    assert_snapshot!(repo.run(&["cp-list", "--since", "yesterday"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: --since: "yesterday" is not a time
    hint: 2025-12-28, 2025-12-28T21:00:00Z, or an age such as 90m, 2h, 3d, 1w
    ---
    "#);
}
