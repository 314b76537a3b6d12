//! Where one is, and what is unfinished.

use insta::assert_snapshot;

use crate::support::TestRepo;

#[test]
fn status_says_where_one_is() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["status"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        branch main at af432a220c
    Session:     none yet
    Commands:
      go-team start TOPIC   go-team cp-create
    --- stderr
    ---
    ");
    let repo = TestRepo::with_checkpoints();
    repo.write("main.go", "package other\n");
    repo.write("new.go", "package main\n");
    std::fs::remove_file(repo.path("docs/spec.md")).unwrap();
    assert_snapshot!(repo.run(&["status"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        branch main at af432a220c
    Session:     auth-system-504f (active, workflow go-team)
    Topic:       auth system
    Progress:    step 2 of 9, next is step 3 - architecture
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Files:       3 changed since (1 created, 1 modified, 1 deleted)
    Rollback:    possible: to 2 checkpoints, from 2 back to 1
    Resume:      possible: step 3
    Commands:
      go-team cp-diff current   go-team cp-create   go-team cp-list
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["status", "-v"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        branch main at af432a220c
    Session:     auth-system-504f (active, workflow go-team)
    Topic:       auth system
    Progress:    step 2 of 9, next is step 3 - architecture
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Files:       3 changed since (1 created, 1 modified, 1 deleted)
                 + new.go
                 ~ main.go
                 - docs/spec.md
    Rollback:    possible: to 2 checkpoints, from 2 back to 1
    Resume:      possible: step 3
    Commands:
      go-team cp-diff current   go-team cp-create   go-team cp-list
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["status", "--json"]).pretty(), @r#"
    {
      "command": "status",
      "data": {
        "current": {
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
        },
        "files": {
          "created": [
            "new.go"
          ],
          "deleted": [
            "docs/spec.md"
          ],
          "modified": [
            "main.go"
          ],
          "totals": {
            "created": 1,
            "deleted": 1,
            "modified": 1
          },
          "truncated": false
        },
        "repository": {
          "branch": "main",
          "head": "af432a220c878bc3085aaf52dbe5b4ceb0136180",
          "notes": [],
          "storage": "$TMP/work/.git/go-team",
          "work_tree": "$TMP/work"
        },
        "resume": {
          "detail": "step 3",
          "possible": true
        },
        "rollback": {
          "detail": "to 2 checkpoints, from 2 back to 1",
          "possible": true
        },
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
        "skipped": [],
        "unfinished": null,
        "warnings": []
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
    repo.git(&["checkout", "-q", "--detach"]);
    std::fs::write(repo.path(".git/MERGE_HEAD"), "").unwrap();
    assert_snapshot!(repo.run(&["status", "-q"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        af432a220c
                 HEAD is detached
                 a merge is in progress
    Session:     auth-system-504f (active, workflow go-team)
    Topic:       auth system
    Progress:    step 2 of 9, next is step 3 - architecture
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Files:       3 changed since (1 created, 1 modified, 1 deleted)
    Rollback:    not now: a merge is in progress
    Resume:      possible: step 3
    --- stderr
    ---
    ");
}

#[test]
fn reading_commands_say_what_is_unfinished_and_change_nothing() {
    let repo = TestRepo::with_checkpoints();
    let dir = repo.session_dir();
    let session = dir.file_name().unwrap().to_str().unwrap();
    let journal = format!(
        "{{\"version\": 1, \"op\": \"create\", \"session\": \"{session}\", \
         \"checkpoint\": \"cp-03-architecture-20251228-220000\", \"started_at\": \"2025-12-28T22:00:00.000Z\"}}"
    );
    std::fs::write(dir.join("journal.json"), &journal).unwrap();
    for args in [
        &["cp-list"][..],
        &["cp-show", "1"],
        &["status"],
        &["session-info"],
    ] {
        let output = repo.ok(args);
        assert!(
            output.stderr.contains("an operation (create) is under way"),
            "{output}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(dir.join("journal.json")).unwrap(),
        journal
    );
    assert_snapshot!(repo.run(&["state", "set", "a=1"]), @r"
    exit: 0
    --- stdout
    ✓ State of auth-system-504f set:
      a = 1
    --- stderr
    warning: an earlier command was interrupted before its checkpoint cp-03-architecture-20251228-220000 was made; what it left is cleared away
    ---
    ");
    assert!(!dir.join("journal.json").exists());
}
