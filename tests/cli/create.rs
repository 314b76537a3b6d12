//! Making checkpoints, as a user sees it.

use insta::assert_snapshot;

use crate::support::TestRepo;

#[test]
fn cp_create_prints_four_lines() {
    let repo = TestRepo::with_commit();
    repo.write("a.txt", "1\n");
    assert_snapshot!(repo.run(&["cp-create", "first thoughts"]), @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-01-first-thoughts-20251228-210100
      Step: 1 - first-thoughts
      Files: 1 changed since HEAD af432a220c (1 created, 0 modified, 0 deleted)
      Commit: f18871201a
    --- stderr
    Started session main-cf97 (topic: main, workflow: free)
    ---
    ");
    repo.write("a.txt", "2\n");
    repo.write("b.txt", "1\n");
    std::fs::remove_file(repo.path("README.md")).unwrap();
    assert_snapshot!(
        repo.run(&["checkpoint", "--step", "2", "--name", "requirements", "--phase", "early",
            "--trigger", "step_complete", "--metric", "test_coverage=81.5", "--metric", "build_pass=true"]),
        @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-02-requirements-20251228-210200
      Step: 2 - requirements
      Files: 3 changed since cp-01-first-thoughts-20251228-210100 (1 created, 1 modified, 1 deleted)
      Commit: be6e863952
    --- stderr
    ---
    "
    );
    assert_snapshot!(repo.run(&["cp-create"]), @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-03-checkpoint-20251228-210300
      Step: 3 - checkpoint
      Files: nothing changed since cp-02-requirements-20251228-210200; it shares all objects
      Commit: d66c7be7ce
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--no-git"]), @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-04-checkpoint-20251228-210400
      Step: 4 - checkpoint
      Files: not captured
      Commit: none
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "-q"]), @r"
    exit: 0
    --- stdout
    cp-05-checkpoint-20251228-210500
    --- stderr
    ---
    ");
    repo.write("c.txt", "1\n");
    assert_snapshot!(repo.run(&["cp-create", "-v"]), @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-06-checkpoint-20251228-210600
      Step: 6 - checkpoint
      Files: 1 changed since cp-05-checkpoint-20251228-210500 (1 created, 0 modified, 0 deleted)
      Commit: 957924261a
    --- stderr
    The repository grew by 8 objects, 1421 bytes
      + c.txt
    ---
    ");
}

#[test]
fn cp_create_in_an_empty_repository() {
    let repo = TestRepo::new();
    assert_snapshot!(repo.run(&["cp-create"]), @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-01-checkpoint-20251228-210100
      Step: 1 - checkpoint
      Files: 0 changed since the empty tree (0 created, 0 modified, 0 deleted)
      Commit: 45f7fc03fa
    --- stderr
    Started session main-cf97 (topic: main, workflow: free)
    ---
    ");
}

#[test]
fn cp_create_as_json() {
    let repo = TestRepo::with_commit();
    repo.write("a.txt", "1\n");
    repo.git(&["init", "-q", "empty"]);
    assert_snapshot!(repo.run(&["cp-create", "first", "--json"]).pretty(), @r#"
    {
      "command": "cp-create",
      "data": {
        "checksum": "bb5a814bac42fd7d3a36d237d0ee8e46680a30357dde93a0c41a8c13674a2a7c",
        "commit_hash": "3bca501a6d9bf487f1441dff17fe1a41e96c2113",
        "created": true,
        "current": true,
        "current_checkpoint": "cp-01-first-20251228-210100",
        "description": "first",
        "growth": {
          "bytes": 1398,
          "objects": 8
        },
        "id": "cp-01-first-20251228-210100",
        "name": "first",
        "nested": [],
        "number": "1",
        "ordinal": 1,
        "phase": "first",
        "pruned": [],
        "record": {
          "checksum": "bb5a814bac42fd7d3a36d237d0ee8e46680a30357dde93a0c41a8c13674a2a7c",
          "created_at": "2025-12-28T21:01:00.000Z",
          "description": "first",
          "files": {
            "created": [
              "a.txt"
            ],
            "deleted": [],
            "modified": [],
            "totals": {
              "created": 1,
              "deleted": 0,
              "modified": 0
            },
            "truncated": false
          },
          "git": {
            "branch": "main",
            "commit_hash": "3bca501a6d9bf487f1441dff17fe1a41e96c2113",
            "enabled": true,
            "head": "af432a220c878bc3085aaf52dbe5b4ceb0136180",
            "index_tree": "853694aae8816094a0d875fee7ea26278dbf5d0f",
            "tree": "6d39e810fd3cac0f1c03191ea75b539bd9651143"
          },
          "id": "cp-01-first-20251228-210100",
          "ordinal": 1,
          "outputs": {},
          "phase": "first",
          "recovery": {
            "can_resume": true,
            "prerequisites_met": true,
            "resume_from": "step 2",
            "warnings": [
              "not captured: empty (a nested repository without a commit)"
            ]
          },
          "seq": 1,
          "session_id": "main-cf97",
          "state": {
            "checkpoint": {
              "checkpoint_count": 0,
              "current_checkpoint": null,
              "last_checkpoint_at": "2025-12-28T21:01:00.000Z",
              "rollback_history": []
            },
            "topic": "main"
          },
          "step_name": "first",
          "step_number": 1,
          "trigger": "manual",
          "version": 1
        },
        "recovered": [],
        "seq": 1,
        "session_id": "main-cf97",
        "session_started": true,
        "skipped": [
          {
            "path": "empty",
            "reason": "nested-without-commit"
          }
        ],
        "step": 1,
        "timestamp": "2025-12-28T21:01:00.000Z",
        "trigger": "manual",
        "unchanged": false,
        "valid": true,
        "warnings": []
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
    let timed = repo.run(&["cp-create", "--json", "--timings"]).json();
    let timings = timed["data"]["timings"].as_object().unwrap();
    assert!(
        timings.keys().all(|name| name.ends_with("_ms")),
        "{timings:?}"
    );
    let timed = repo.run(&["cp-create", "--timings"]);
    assert!(timed.stderr.contains("total "), "{timed}");
    assert_eq!(timed.stdout.lines().count(), 4);
}

#[test]
fn what_is_left_out_is_said() {
    let repo = TestRepo::with_commit();
    let big = vec![b'x'; (1 << 20) + 1];
    repo.write("big.bin", &big);
    repo.git(&["init", "-q", "empty"]);
    repo.git(&["clone", "-q", ".", "inner"]);
    let small = [("GO_TEAM_CAPTURE_MAX_FILE_MB", "1")];
    assert_snapshot!(repo.run_env(&small, &["cp-create"]), @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-01-checkpoint-20251228-210100
      Step: 1 - checkpoint
      Files: 1 changed since HEAD af432a220c (1 created, 0 modified, 0 deleted)
      Commit: 04456b2dec
    --- stderr
    Started session main-cf97 (topic: main, workflow: free)
    warning: skipped big.bin: larger than capture.max_file_mb
    warning: skipped empty: a nested repository without a commit
    nested repository inner is recorded as commit af432a220c and left alone
    ---
    ");
    assert_snapshot!(repo.run_env(&small, &["cp-create", "-q"]), @r"
    exit: 0
    --- stdout
    cp-02-checkpoint-20251228-210200
    --- stderr
    warning: skipped big.bin: larger than capture.max_file_mb
    warning: skipped empty: a nested repository without a commit
    ---
    ");
    assert_snapshot!(repo.run_env(&small, &["status"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        branch main at af432a220c
    Session:     main-cf97 (active, workflow free)
    Topic:       main
    Progress:    step 2, next is step 3
    Checkpoint:  cp-02-checkpoint-20251228-210200 (checkpoint, 2025-12-28 21:02:00)
    Files:       nothing changed since
    Rollback:    possible: to 2 checkpoints, from 2 back to 1
    Resume:      possible: step 3
    Commands:
      go-team cp-list   go-team cp-show current   go-team rollback N
    --- stderr
    warning: a checkpoint would skip big.bin: larger than capture.max_file_mb
    warning: a checkpoint would skip empty: a nested repository without a commit
    ---
    ");
}

#[test]
fn state_and_outputs_come_from_files_and_stdin() {
    let repo = TestRepo::with_commit();
    repo.write("out/state.json", r#"{"phase": "design", "iteration_count": 2, "max_iterations": 5, "big": 1.50,
        "current_agent": "reviewer",
        "metrics": {"build_pass": true, "test_coverage": 81.5, "lint_clean": false, "race_free": true}}"#);
    let outputs = r#"{"spec": "docs/spec.md", "code_files": ["a.go", "b.go"], "notes": {"a": 1}}"#;
    let args = [
        "cp-create",
        "--state",
        "out/state.json",
        "--outputs",
        "-",
        "--name",
        "design",
    ];
    assert_eq!(repo.run_with_input(&args, outputs).code, Some(0));
    assert_snapshot!(repo.run(&["cp-show", "latest"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINT - cp-01-design-20251228-210100
    =================================================
    Step:        1 - design
    Number:      1 (seq 1)
    Status:      ← current
    Phase:       design
    Trigger:     manual
    Created:     2025-12-28 21:01:00
    Session:     main-cf97
    Parent:      none
    State
      Phase: design
      Agent: reviewer
      Iteration: 2 of 5
      Build passes: yes
      Coverage: 81.5 %
      Lint clean: no
      Race free: yes
    Outputs
      code_files: 2 items
      notes: 1 field
      spec: docs/spec.md
    Files
      1 changed since HEAD (1 created, 0 modified, 0 deleted)
      + out/state.json (216 bytes)
    Git
      Branch: main
      HEAD: af432a220c878bc3085aaf52dbe5b4ceb0136180
      Commit: 90bc2c9f6e17c6de856897da314c4c3afb3f1628
      Tree: a2ff2d771107fb6b33143343408ad7580003d141
      Index: 853694aae8816094a0d875fee7ea26278dbf5d0f
    Resume
      step 2
    Validation
      ✓ record
      ✓ checksum
      ✓ ref
      ✓ commit
    With git
      git show refs/go-team/main-cf97/cp-01-design-20251228-210100:out/state.json
      git diff refs/go-team/main-cf97/cp-01-design-20251228-210100
    --- stderr
    ---
    ");
    let shown = repo.run(&["cp-show", "design", "--json"]);
    assert!(shown.stdout.contains("\"big\":1.50"), "{shown}");
}
