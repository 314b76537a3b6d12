//! One checkpoint, as a user sees it.

use insta::assert_snapshot;

use crate::support::TestRepo;

#[test]
fn cp_show_says_everything() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-show", "2"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINT - cp-02-requirements-20251228-210300
    =================================================
    Step:        2 - requirements
    Number:      2 (seq 2)
    Status:      ← current
    Phase:       requirements
    Trigger:     manual
    Created:     2025-12-28 21:03:00
    Session:     auth-system-504f
    Description: spec agreed
    Parent:      cp-01-init-20251228-210200 (1)
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
    assert_snapshot!(repo.run(&["cp-show", "init", "--json"]).pretty(), @r#"
    {
      "command": "cp-show",
      "data": {
        "checksum": "21ac87627e6ad8f11db304b2206ea9abbde2f49b48fa645a1ce0303e75ed391c",
        "commit_hash": "f6177707cc3e53d3b73ea124c59c326d98e3ee5a",
        "current": false,
        "description": "scaffold",
        "id": "cp-01-init-20251228-210200",
        "lineage": {
          "children": [
            {
              "id": "cp-02-requirements-20251228-210300",
              "number": "2"
            }
          ],
          "invalidated_by": null,
          "parent": null,
          "rollbacks": [],
          "safety_of": null
        },
        "name": "init",
        "number": "1",
        "ordinal": 1,
        "phase": "init",
        "record": {
          "checksum": "21ac87627e6ad8f11db304b2206ea9abbde2f49b48fa645a1ce0303e75ed391c",
          "created_at": "2025-12-28T21:02:00.000Z",
          "description": "scaffold",
          "files": {
            "created": [
              "main.go"
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
            "commit_hash": "f6177707cc3e53d3b73ea124c59c326d98e3ee5a",
            "enabled": true,
            "head": "af432a220c878bc3085aaf52dbe5b4ceb0136180",
            "index_tree": "853694aae8816094a0d875fee7ea26278dbf5d0f",
            "tree": "d001c01ed4d5c4d7268abe2a5a935c0f3bc334ec"
          },
          "id": "cp-01-init-20251228-210200",
          "ordinal": 1,
          "outputs": {},
          "phase": "init",
          "recovery": {
            "can_resume": true,
            "prerequisites_met": true,
            "resume_from": "step 2",
            "warnings": []
          },
          "seq": 1,
          "session_id": "auth-system-504f",
          "state": {
            "checkpoint": {
              "checkpoint_count": 0,
              "current_checkpoint": null,
              "last_checkpoint_at": "2025-12-28T21:01:00.000Z",
              "rollback_history": []
            },
            "topic": "auth system"
          },
          "step_name": "init",
          "step_number": 1,
          "trigger": "manual",
          "version": 1
        },
        "ref": "refs/go-team/auth-system-504f/cp-01-init-20251228-210200",
        "seq": 1,
        "session": {
          "active_here": true,
          "checkpoint_count": 2,
          "created_at": "2025-12-28T21:01:00.000Z",
          "current_checkpoint": "cp-02-requirements-20251228-210300",
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
          "updated_at": "2025-12-28T21:03:00.000Z",
          "workflow": "go-team"
        },
        "sizes": [
          {
            "id": "06ab7d0f9a35a7d1070711496d6ca1cb892a258f",
            "kind": "file",
            "mode": "100644",
            "path": "main.go",
            "raw": false,
            "size": 13
          }
        ],
        "step": 1,
        "timestamp": "2025-12-28T21:02:00.000Z",
        "trigger": "manual",
        "unfinished": null,
        "valid": true,
        "validation": [
          {
            "check": "file",
            "result": "ok"
          },
          {
            "check": "hash",
            "result": "ok"
          },
          {
            "check": "ref",
            "result": "ok"
          },
          {
            "check": "commit",
            "result": "ok"
          }
        ],
        "warnings": []
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
    repo.ok(&["cp-create", "--step", "3", "--no-git"]);
    assert_snapshot!(repo.run(&["cp-show", "3"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINT - cp-03-architecture-20251228-210600
    =================================================
    Step:        3 - architecture
    Number:      3 (seq 3)
    Status:      ← current
    Phase:       architecture
    Trigger:     manual
    Created:     2025-12-28 21:06:00
    Session:     auth-system-504f
    Parent:      cp-02-requirements-20251228-210300 (2)
    State
      2 fields (-v shows them)
    Outputs
      none
    Files
      not captured
    Git
      no files were captured
    Resume
      step 4
    Validation
      ✓ record
      ✓ checksum
      – ref: no files were captured
      – commit: no files were captured
    --- stderr
    ---
    ");
}

#[test]
fn what_cp_show_says_about_git_works() {
    let repo = TestRepo::with_checkpoints();
    let shown = repo.ok(&["cp-show", "2"]).stdout;
    let command = shown
        .lines()
        .find(|line| line.starts_with("  git show "))
        .unwrap();
    let args: Vec<&str> = command.split_whitespace().skip(1).collect();
    assert_eq!(repo.git(&args), "# Spec\n");
    let command = shown
        .lines()
        .find(|line| line.starts_with("  git diff "))
        .unwrap();
    let args: Vec<&str> = command.split_whitespace().skip(1).collect();
    assert!(repo.git(&args).contains("+# Spec\n"));
}

#[test]
fn damage_is_shown_and_stops_nothing() {
    let repo = TestRepo::with_checkpoints();
    let dir = repo.session_dir();
    let session = dir.file_name().unwrap().to_str().unwrap().to_owned();
    let record = "cp-02-requirements-20251228-210300";
    std::fs::write(dir.join(format!("{record}.json")), "{").unwrap();
    repo.git(&[
        "update-ref",
        "-d",
        &format!("refs/go-team/{session}/{record}"),
    ]);
    assert_snapshot!(repo.run(&["cp-show", "2"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINT - cp-02-requirements-20251228-210300
    =================================================
    Step:        2 - requirements
    Number:      2 (seq 2)
    Status:      ← current
    Phase:       requirements
    Trigger:     manual
    Created:     2025-12-28 21:03:00
    Session:     auth-system-504f
    Parent:      cp-01-init-20251228-210200 (1)
    Validation
      ✗ record: $TMP/work/.git/go-team/sessions/auth-system-504f/cp-02-requirements-20251228-210300.json is damaged: unexpected end at line 1 column 2
      – checksum: the record cannot be read
      ✗ ref: refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300 does not exist
      ✓ commit
    With git
      git show refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300:PATH
      git diff refs/go-team/auth-system-504f/cp-01-init-20251228-210200 refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300
      git diff refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "-v"]), @r"
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
    │ 2 │ requirements │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ ← curr │ (the rec… │
    └───┴──────────────┴────────────────────────────────────┴─────────────────────┴────────┴───────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    --- stderr
    warning: $TMP/work/.git/go-team/sessions/auth-system-504f/cp-02-requirements-20251228-210300.json is damaged: unexpected end at line 1 column 2
    ---
    ");
    assert!(repo.run(&["cp-list"]).stderr.contains("is damaged"));
    assert_snapshot!(repo.run(&["status"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        branch main at af432a220c
    Session:     auth-system-504f (active, workflow go-team)
    Topic:       auth system
    Progress:    step 2 of 9, next is step 3 - architecture
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Files:       nothing changed since
    Rollback:    possible: to 2 checkpoints, from 2 back to 1
    Resume:      not now: the record of the current checkpoint cannot be read
    Commands:
      go-team cp-list   go-team cp-show current   go-team rollback N
    --- stderr
    warning: $TMP/work/.git/go-team/sessions/auth-system-504f/cp-02-requirements-20251228-210300.json is damaged: unexpected end at line 1 column 2
    ---
    ");
}

/// A file whose bytes git would give back, one whose bytes it would not, a link, and one that is no text.
fn with_contents() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write(".gitattributes", "*.crlf text eol=crlf\n*.txt text\n");
    repo.write("back.crlf", "a\r\nb\r\n");
    repo.write("mixed.txt", "a\r\nb\n");
    repo.write("dir/data.bin", b"\0\xff\x01");
    std::os::unix::fs::symlink("back.crlf", repo.path("link")).unwrap();
    repo.ok(&["cp-create", "--metric", "test_coverage=50"]);
    repo
}

#[test]
fn one_file_comes_back_byte_for_byte() {
    let repo = with_contents();
    // What the attributes say now does not matter.
    repo.write(".gitattributes", "");
    let bytes = |path: &str| {
        let output = repo.go_team().args(["cp-show", path]).output().unwrap();
        assert!(output.status.success(), "{path}: {output:?}");
        output.stdout
    };
    assert_eq!(bytes("1:back.crlf"), b"a\r\nb\r\n");
    assert_eq!(bytes("1:mixed.txt"), b"a\r\nb\n");
    assert_eq!(bytes("current:dir/data.bin"), b"\0\xff\x01");
    assert_eq!(bytes("1:link"), b"back.crlf");
    assert_eq!(bytes("1:README.md"), b"hello\n");
    assert_snapshot!(repo.run(&["cp-show", "1:mixed.txt", "--json"]).pretty(), @r#"
    {
      "command": "cp-show",
      "data": {
        "bytes": 5,
        "content": "a\r\nb\n",
        "encoding": "utf-8",
        "file": {
          "id": "422c2b7ab3b3c668038da977e4e93a5fc623169c",
          "kind": "file",
          "mode": "100644",
          "path": "mixed.txt",
          "raw": true,
          "size": 5
        },
        "id": "cp-01-checkpoint-20251228-210100",
        "number": "1",
        "session_id": "main-cf97"
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
    let json = repo.ok(&["cp-show", "1:dir/data.bin", "--json"]).json();
    assert_eq!(json["data"]["encoding"], "hex");
    assert_eq!(json["data"]["content"], "00ff01");
    assert_snapshot!(repo.run(&["cp-show", "1:dir"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: dir is a directory in checkpoint cp-01-checkpoint-20251228-210100
    hint: go-team cp-show cp-01-checkpoint-20251228-210100 --tree lists its files
    hint: paths begin at the root of the work tree
    ---
    ");
    assert_snapshot!(repo.run(&["cp-show", "1:no/such"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: checkpoint cp-01-checkpoint-20251228-210100 has no file no/such
    hint: go-team cp-show cp-01-checkpoint-20251228-210100 --tree lists its files
    hint: paths begin at the root of the work tree
    ---
    ");
    repo.ok(&["cp-create", "--no-git"]);
    assert_snapshot!(repo.run(&["cp-show", "2:README.md"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: checkpoint cp-02-checkpoint-20251228-211100 was made without files
    hint: go-team cp-show cp-02-checkpoint-20251228-211100 shows what it has
    ---
    ");
}

#[test]
fn a_step_with_a_colon_in_its_name_is_still_found() {
    let repo = TestRepo::with_commit();
    repo.ok(&["cp-create", "--name", "a:b"]);
    assert!(
        repo.ok(&["cp-show", "a:b"])
            .stdout
            .contains("CHECKPOINT - cp-01-a-b-")
    );
    assert_eq!(repo.ok(&["cp-show", "1:README.md"]).stdout, "hello\n");
}

#[test]
fn the_files_and_the_state_are_listed() {
    let repo = with_contents();
    assert_snapshot!(repo.run(&["cp-show", "1", "--tree"]), @r"
    exit: 0
    --- stdout
    100644 32 .gitattributes
    100644  6 README.md
    100644  6 back.crlf  (exact bytes kept)
    100644  3 dir/data.bin
    120000  9 link
    100644  5 mixed.txt  (exact bytes kept)
    --- stderr
    6 files, 61 bytes in cp-01-checkpoint-20251228-210100
    ---
    ");
    let json = repo.ok(&["cp-show", "1", "--tree", "--json"]).json();
    assert_eq!(json["data"]["files"].as_array().unwrap().len(), 6);
    assert_eq!(json["data"]["files"][5]["raw"], true);
    let state = repo.ok(&["cp-show", "1", "--state"]).stdout;
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["metrics"]["test_coverage"], 50);
    let json = repo.ok(&["cp-show", "1", "--state", "--json"]).json();
    assert_eq!(json["data"]["state"], state);
}
