//! Each scheme's sample: imported, listed, shown, compared, validated, and gone back to where it has files.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::place::{busy_repo, photo, remarks, sample, sessions, untouched};
use crate::support::TestRepo;

/// Imports a sample with nothing of the user's or of the sample's changed; says what came.
fn import(repo: &TestRepo, name: &str) -> Value {
    let from = sample(repo, name);
    let before = (untouched(repo), photo(&from));
    let path = from.to_str().unwrap();
    let dry = repo
        .ok(&["import-from", path, "--dry-run", "--json"])
        .json();
    assert_eq!(dry["data"]["dry_run"], true);
    assert_eq!(repo.git(&["for-each-ref", "refs/go-team"]), "");
    let answer = repo.ok(&["import-from", path, "--json"]).json();
    assert_eq!((untouched(repo), photo(&from)), before);
    for field in ["sessions", "broken", "remarks", "scheme"] {
        assert_eq!(
            answer["data"][field], dry["data"][field],
            "the dry run says what happens: {field}"
        );
    }
    repo.git(&["fsck", "--strict"]);
    for session in sessions(&answer) {
        let valid = repo.run(&["cp-validate", "--deep", "--session", &session]);
        assert_eq!(valid.code, Some(0), "{valid}");
        repo.ok(&["cp-list", "--session", &session, "--graph"]);
        repo.ok(&["session-info", &session]);
        repo.ok(&["cp-show", "latest", "--session", &session]);
        repo.ok(&["cp-export", "--session", &session]);
    }
    answer
}

/// Takes a session up; the answer must say all of this.
fn resume(repo: &TestRepo, session: &str, expected: &[&str]) {
    repo.ok(&["resume", session, "--view"]);
    let resumed = repo.ok(&["resume", session, "--resume"]);
    for text in expected {
        assert!(resumed.stdout.contains(text), "{text}: {resumed}");
    }
    let status = repo.ok(&["status", "--json"]).json();
    assert_eq!(status["data"]["session"]["session_id"], session);
}

fn record(repo: &TestRepo, session: &str, name: &str) -> Value {
    let shown = repo
        .ok(&["cp-show", name, "--session", session, "--json"])
        .json();
    shown["data"]["record"].clone()
}

#[test]
fn the_directory_scheme_has_files_that_can_be_gone_back_to() {
    let repo = busy_repo();
    let answer = import(&repo, "directory");
    let ids = sessions(&answer);
    assert_eq!(ids.len(), 2, "one each iteration");
    let (login, second) = (ids[0].as_str(), ids[1].as_str());
    assert_eq!(answer["data"]["sessions"][1]["topic"], "iteration 2");
    assert_eq!(answer["data"]["sessions"][1]["status"], "completed");
    assert_snapshot!(remarks(&answer, "remarks").join("\n"), @r#"login-form/checkpoints/3/state.json: the trigger "turn_limit" is not known, so it is manual"#);
    assert_snapshot!(repo.ok(&["cp-list", "--session", login]).stdout, @"
    =================================================
    CHECKPOINTS - Session: login-form-7f1e
    =================================================
    Topic: login-form     Workflow: free     Created: 2025-11-03 09:12:44
    Progress: step 3, next is step 4
    ┌───┬────────────────┬──────────────────────────────────────┬─────────────────────┬────────┬───────┐
    │ # │ Step           │ Checkpoint ID                        │ Timestamp           │ Status │ Turns │
    ├───┼────────────────┼──────────────────────────────────────┼─────────────────────┼────────┼───────┤
    │ 1 │ planning       │ cp-01-planning-20251103-091244       │ 2025-11-03 09:12:44 │ ✓      │ 6     │
    │ 2 │ implementation │ cp-02-implementation-20251103-104002 │ 2025-11-03 10:40:02 │ ✓      │ 21    │
    │ 3 │ review         │ cp-03-review-20251103-110531         │ 2025-11-03 11:05:31 │ ← curr │ 30    │
    └───┴────────────────┴──────────────────────────────────────┴─────────────────────┴────────┴───────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    ");
    assert_snapshot!(repo.ok(&["cp-show", "2", "--session", login]).stdout, @"
    =================================================
    CHECKPOINT - cp-02-implementation-20251103-104002
    =================================================
    Step:        2 - implementation
    Number:      2 (seq 2)
    Status:      ✓ valid
    Phase:       implementation
    Trigger:     agent_complete
    Created:     2025-11-03 10:40:02
    Session:     login-form-7f1e
    Description: parser and tests
    Turns:       21
    Parent:      cp-01-planning-20251103-091244 (1)
    Children:    cp-03-review-20251103-110531 (3)
    State
      Phase: implementation
    Outputs
      none
    Files
      3 changed since the parent (2 created, 1 modified, 0 deleted)
      + run.sh (24 bytes)
      + src/form.go (56 bytes)
      ~ PLAN.md (44 bytes)
    Git
      Branch: main
      HEAD: af432a220c878bc3085aaf52dbe5b4ceb0136180
      Commit: 1be0f9f43da8a250fe76c2e6f7c52f3d16602a58
      Tree: fb77bcc40136ab8f5f6b8bc4b5d88a60de8bc358
      Index: 853694aae8816094a0d875fee7ea26278dbf5d0f
    Resume
      step 3
      imported: only the files that were copied are in it; rollback removes others, rollback --path restores some
    Validation
      ✓ record
      ✓ checksum
      ✓ ref
      ✓ commit
    With git
      git show refs/go-team/login-form-7f1e/cp-02-implementation-20251103-104002:run.sh
      git diff refs/go-team/login-form-7f1e/cp-01-planning-20251103-091244 refs/go-team/login-form-7f1e/cp-02-implementation-20251103-104002
      git diff refs/go-team/login-form-7f1e/cp-02-implementation-20251103-104002
    ");
    let third = record(&repo, login, "3");
    assert_eq!(third["trigger"], "manual", "not known here");
    assert_eq!(third["state"]["trigger"], "turn_limit", "and kept");
    assert_eq!(third["state"]["imported"]["trigger"], "turn_limit");
    assert_eq!(third["turn_count"], 30);
    assert_eq!(third["created_at"], "2025-11-03T11:05:31.500Z");
    assert_eq!(third["files"]["deleted"], json!(["run.sh"]));
    assert_snapshot!(repo.ok(&["cp-diff", "1", "2", "--session", login]).stdout, @r#"
    =================================================
    DIFF - 1 → 2
    =================================================
    Old: cp-01-planning-20251103-091244 (planning, 2025-11-03 09:12:44)
    New: cp-02-implementation-20251103-104002 (implementation, 2025-11-03 10:40:02)
    STATE CHANGES
      Phase:     planning → implementation
      Step:      1 - planning → 2 - implementation
      ~ description: "plan agreed" → "parser and tests"
      ~ imported.source: "login-form/checkpoints/1/state.json" → "login-form/checkpoints/2/state.json"
      - imported.trigger: "phase_complete"
      ~ number: 1 → 2
      ~ timestamp: "2025-11-03T09:12:44.120000" → "2025-11-03T10:40:02.000000"
      ~ trigger: "phase_complete" → "agent_complete"
      ~ turn_count: 6 → 21
    METRICS CHANGES
      none
    OUTPUT CHANGES
      none
    FILE CHANGES
      ~ PLAN.md  +1 -1
      + run.sh  +2, executable
      + src/form.go  +3
      3 changed: 2 created, 1 modified; +6 -1 lines
    GIT COMMITS
      none
    Commands:
      go-team cp-diff 1 2 --patch   go-team cp-show 1   go-team rollback 1
    "#);
    let script = repo.ok(&["cp-show", "2:run.sh", "--session", login]).stdout;
    assert_eq!(script, "#!/bin/sh\ngo test ./...\n");
    assert_eq!(
        repo.ok(&["cp-show", "1:notes.txt", "--session", second])
            .stdout,
        "nothing to do\n"
    );

    let before = untouched(&repo);
    repo.ok(&[
        "rollback",
        "2",
        "--session",
        login,
        "--yes",
        "--path",
        "src",
    ]);
    assert_eq!(
        fs::read_to_string(repo.path("new.txt")).unwrap(),
        "new\n",
        "others stay"
    );
    assert!(repo.path("src/form.go").exists());
    repo.ok(&["undo", "--session", login, "--yes"]);
    assert_eq!(untouched(&repo), before);
    repo.ok(&["rollback", "2", "--session", login, "--yes"]);
    assert!(repo.path("run.sh").exists() && !repo.path("new.txt").exists());
    assert_eq!(
        fs::metadata(repo.path("run.sh"))
            .map(|found| std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777)
            .unwrap(),
        0o755
    );
    repo.ok(&["undo", "--session", login, "--yes"]);
    assert_eq!(untouched(&repo).0, before.0);
    assert_eq!(untouched(&repo).4, before.4);
    repo.ok(&["cp-rebuild", "--all", "--session", login]);
    repo.ok(&["cp-validate", "--session", login]);
    resume(&repo, login, &["Go on:       step 4"]);
}

#[test]
fn the_single_file_scheme_is_the_workflow_impl() {
    let repo = busy_repo();
    let answer = import(&repo, "single-file");
    let ids = sessions(&answer);
    let [session] = &ids[..] else {
        panic!("{ids:?}")
    };
    assert_eq!(answer["data"]["remarks"], json!([]));
    assert_snapshot!(repo.ok(&["cp-list", "--session", session]).stdout, @"
    =================================================
    CHECKPOINTS - Session: issue-42-d3c3
    =================================================
    Topic: issue 42     Workflow: impl     Created: 2025-10-21 14:33:10
    Progress: step 2 of 4, next is step 3 - pr
    ┌────┬───────────────────┬──────────────────────────────┬─────────────────────┬─────────┐
    │ #  │ Step              │ Checkpoint ID                │ Timestamp           │ Status  │
    ├────┼───────────────────┼──────────────────────────────┼─────────────────────┼─────────┤
    │ 2  │ review            │ cp-02-review-20251021-143310 │ 2025-10-21 14:33:10 │ ← curr  │
    └────┴───────────────────┴──────────────────────────────┴─────────────────────┴─────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    ");
    assert_snapshot!(repo.ok(&["cp-show", "review", "--session", session]).stdout, @"
    =================================================
    CHECKPOINT - cp-02-review-20251021-143310
    =================================================
    Step:        2 - review
    Number:      2 (seq 1)
    Status:      ← current
    Phase:       review
    Trigger:     manual
    Created:     2025-10-21 14:33:10
    Session:     issue-42-d3c3
    Description: review, iteration 2
    Parent:      none
    State
      9 fields (-v shows them)
    Outputs
      none
    Files
      not captured
    Git
      no files were captured
    Resume
      step 2
    Validation
      ✓ record
      ✓ checksum
      – ref: no files were captured
      – commit: no files were captured
    ");
    let made = record(&repo, session, "latest");
    assert_eq!(made["state"]["last_feedback"], "handle the empty password");
    assert_eq!(made["state"]["history"][1]["result"], "retry");
    assert_eq!(made["state"]["imported"]["version"], 1);
    assert_eq!(made["git"]["enabled"], false);
    assert_eq!(
        made["recovery"]["resume_from"], "step 2",
        "the review is under way"
    );
    let live = repo
        .ok(&["state", "get", "issue_no", "--session", session])
        .stdout;
    assert_eq!(live, "42\n");
    repo.ok(&["cp-diff", "2", "--session", session]);
    let file = sample(&repo, "single-file").join("impl-checkpoint.json");
    let again = repo.run(&["import-from", file.to_str().unwrap()]);
    assert_eq!(again.code, Some(1), "the same by its file: {again}");
    let expected = [
        "repeat the review that was interrupted",
        "handle the empty password",
    ];
    resume(&repo, session, &expected);
}

#[test]
fn the_flat_scheme_is_the_workflow_phases() {
    let repo = busy_repo();
    let answer = import(&repo, "flat");
    assert_snapshot!(remarks(&answer, "remarks").join("\n"), @"");
    let topics: Vec<(&Value, &Value, usize)> = answer["data"]["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                &one["topic"],
                &one["status"],
                one["checkpoints"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(
        topics,
        [
            (&json!("Move the blog"), &json!("failed"), 1),
            (&json!("refactor api"), &json!("completed"), 1),
            (
                &json!("Move the webshop to PostgreSQL 17"),
                &json!("interrupted"),
                2
            ),
        ]
    );
    let ids = sessions(&answer);
    assert_snapshot!(repo.ok(&["cp-list", "--session", &ids[2]]).stdout, @"
    =================================================
    CHECKPOINTS - Session: move-the-webshop-to-postgresql-17-37bb
    =================================================
    Topic: Move the webshop to PostgreSQL 17     Workflow: phases     Created: 2025-09-14 10:15:00
    Progress: phase 3 of 5, next is phase 4
    ┌────┬───────────────────┬───────────────────────────────┬─────────────────────┬─────────┐
    │ #  │ Step              │ Checkpoint ID                 │ Timestamp           │ Status  │
    ├────┼───────────────────┼───────────────────────────────┼─────────────────────┼─────────┤
    │ 1  │ phase-1           │ cp-01-phase-1-20250914-101500 │ 2025-09-14 10:15:00 │ ✓       │
    │ 3  │ phase-3           │ cp-03-phase-3-20250914-123000 │ 2025-09-14 12:30:00 │ ← curr  │
    └────┴───────────────────┴───────────────────────────────┴─────────────────────┴─────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    ");
    assert_snapshot!(repo.ok(&["cp-diff", "1", "3", "--session", &ids[2]]).stdout, @r#"
    =================================================
    DIFF - 1 → 3
    =================================================
    Old: cp-01-phase-1-20250914-101500 (phase-1, 2025-09-14 10:15:00)
    New: cp-03-phase-3-20250914-123000 (phase-3, 2025-09-14 12:30:00)
    STATE CHANGES
      Phase:     phase-1 → phase-3
      Step:      1 - phase-1 → 3 - phase-3
      + completed_phases.0: "inventory"
      + completed_phases.1: "schema"
      ~ current_phase: 1 → 3
      ~ imported.source: "migration_webshop_20250914_101500.json" → "migration_webshop_20250914_123000.…
      ~ last_error: null → "lock timeout on orders"
      ~ updated_at: "2025-09-14T10:15:00" → "2025-09-14T12:30:00.250"
      ~ workflow_state.dry_run: true → false
      + workflow_state.tables.0: "orders"
      + workflow_state.tables.1: "customers"
    METRICS CHANGES
      none
    OUTPUT CHANGES
      none
    FILE CHANGES
      not captured
    GIT COMMITS
      not known
    Commands:
      go-team cp-diff 1 3 --patch   go-team cp-show 1   go-team rollback 1
    "#);
    let blog = record(&repo, &ids[0], "latest");
    assert_eq!(
        blog["state"]["completed_phases"],
        json!([1]),
        "a count stands for the phases"
    );
    assert_eq!(blog["state"]["imported"]["completed_phases"], 1);
    assert_eq!(blog["state"]["last_error"], "disk full");
    assert_eq!(blog["state"]["imported"]["last_error"]["phase"], 2);
    assert_eq!(
        record(&repo, &ids[2], "latest")["recovery"]["resume_from"],
        "phase 3"
    );
    let expected = [
        "phase 3: do the phase again that failed",
        "lock timeout on orders",
    ];
    resume(&repo, &ids[2], &expected);
}

#[test]
fn the_index_scheme_is_the_workflow_crunch() {
    let repo = busy_repo();
    let answer = import(&repo, "index");
    assert_eq!(answer["data"]["remarks"], json!([]));
    let ids = sessions(&answer);
    let [session] = &ids[..] else {
        panic!("{ids:?}")
    };
    assert_snapshot!(repo.ok(&["cp-list", "--session", session]).stdout, @"
    =================================================
    CHECKPOINTS - Session: issue-318-search-forgets-the-filter-0925
    =================================================
    Topic: issue 318: Search forgets the filter     Workflow: crunch     Created: 2025-12-01 08:00:00
    Progress: step 3 of 5, next is step 4 - validation
    ┌─────┬───────────────────┬────────────────────────────────────┬─────────────────────┬─────────┐
    │ #   │ Step              │ Checkpoint ID                      │ Timestamp           │ Status  │
    ├─────┼───────────────────┼────────────────────────────────────┼─────────────────────┼─────────┤
    │ 1   │ enrich            │ cp-01-enrich-20251201-080000       │ 2025-12-01 08:00:00 │ ✓       │
    │ 3.1 │ implementing      │ cp-03-implementing-20251201-093000 │ 2025-12-01 09:30:00 │ ✓       │
    │ 3   │ implementing      │ cp-03-implementing-20251201-091500 │ 2025-12-01 09:15:00 │ ← curr  │
    └─────┴───────────────────┴────────────────────────────────────┴─────────────────────┴─────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    ");
    assert_snapshot!(repo.ok(&["cp-diff", "1", "3", "--session", session]).stdout, @r#"
    =================================================
    DIFF - 1 → 3
    =================================================
    Old: cp-01-enrich-20251201-080000 (enrich, 2025-12-01 08:00:00)
    New: cp-03-implementing-20251201-091500 (implementing, 2025-12-01 09:15:00)
    STATE CHANGES
      Phase:     enrich → implementing
      Step:      1 - enrich → 3 - implementing
      + agent_outputs.finn: "Kept the filter in the query string.\n"
      + execution_graph.edges.0: {"from":"a","to":"b"}
      + execution_graph.nodes.0: {"agent":"finn","id":"a","state":"completed","title":"keep the filter"}
      + execution_graph.nodes.1: {"agent":"maeve","id":"b","state":"in_progress","title":"test it"}
      ~ id: "CP-001" → "CP-003"
      ~ imported.source: "CP-001.yaml" → "CP-003.yaml"
      + knowledge_entries.1: {"text":"fixtures are in testdata/","topic":"tests"}
      + pending_messages.0: {"from":"finn","text":"please test the empty filter","to":"maeve"}
      ~ timestamp: "2025-12-01T08:00:00Z" → "2025-12-01T10:15:00+01:00"
      ~ trigger: "phase_transition" → "user_interrupt"
    METRICS CHANGES
      none
    OUTPUT CHANGES
      none
    FILE CHANGES
      not captured
    GIT COMMITS
      not known
    Commands:
      go-team cp-diff 1 3 --patch   go-team cp-show 1   go-team rollback 1
    "#);
    let last = record(&repo, session, "latest");
    assert_eq!(
        last["seq"], 3,
        "in the order of the index, whatever the clock said"
    );
    assert_eq!(last["trigger"], "user_interrupt");
    assert_eq!(last["created_at"], "2025-12-01T09:15:00.000Z");
    assert_eq!(
        last["state"]["execution_graph"]["nodes"][1]["state"],
        "in_progress"
    );
    assert_eq!(last["state"]["pending_messages"][0]["to"], "maeve");
    assert_eq!(
        last["state"]["issue_snapshot"]["body"],
        "Steps:\n1. choose a filter\n2. search again\n"
    );
    assert_eq!(last["recovery"]["resume_from"], "step 3");
    let expected = ["2 nodes: 1 done, 1 running", "Messages:    1 pending"];
    resume(&repo, session, &expected);
}

#[test]
fn an_unborn_branch_takes_them_too() {
    let repo = TestRepo::new();
    let from = sample(&repo, "directory");
    let answer = repo
        .ok(&["import-from", from.to_str().unwrap(), "--json"])
        .json();
    let session = &sessions(&answer)[0];
    repo.ok(&["cp-validate", "--deep", "--session", session]);
    repo.ok(&["rollback", "1", "--session", session, "--yes"]);
    assert!(repo.path("PLAN.md").exists());
    repo.git(&["fsck", "--strict"]);
}
