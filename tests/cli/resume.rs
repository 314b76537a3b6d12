//! Taking a session up again: which one is found, what is answered, what becomes of it.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{ReadOnly, TestRepo};

/// A session whose third step was begun after its last checkpoint.
fn interrupted() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&[
        "state",
        "set",
        "current_step=3",
        "current_agent=gopher",
        "iteration_count=2",
        "max_iterations=5",
    ]);
    repo.write("docs/draft.md", "half\n");
    repo
}

fn data(output: &crate::support::Output) -> Value {
    output.json()["data"].clone()
}

fn status_of(repo: &TestRepo, session: &str) -> (String, bool) {
    let listed = repo.ok(&["sessions", "--json"]).json();
    let sessions = listed["data"]["sessions"].as_array().unwrap();
    let found = sessions.iter().find(|one| one["session_id"] == session);
    let found = found.unwrap();
    let status = found["status"].as_str().unwrap().to_owned();
    (status, found["active_here"].as_bool().unwrap())
}

#[test]
fn what_an_observer_sees() {
    let repo = interrupted();
    assert_snapshot!(repo.run(&["resume", "--view"]), @r"
    exit: 0
    --- stdout
    =================================================
    RESUME - Session: auth-system-504f
    =================================================
    Topic:       auth system
    Workflow:    go-team
    Status:      active
    Created:     2025-12-28 21:01:00
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Progress:    step 2 of 9, next is step 3 - architecture
    Verdict:     proceed with warning
                 1 file changed since (1 created, 0 modified, 0 deleted)
    Go on:       step 3 - architecture: carry on in the step that was interrupted
    Iteration:   2 of 5
    Agent:       gopher
    State:       changed since the checkpoint: current_agent, current_step, iteration_count,
                 max_iterations
    Files since the checkpoint:
      + docs/draft.md
    Commands:
      go-team resume auth-system-504f --resume   go-team resume auth-system-504f --fresh
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["resume", "--resume"]), @r"
    exit: 0
    --- stdout
    ✓ Resumed: auth-system-504f
    Topic:       auth system
    Workflow:    go-team
    Status:      active
    Created:     2025-12-28 21:01:00
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Progress:    step 2 of 9, next is step 3 - architecture
    Verdict:     proceed with warning
                 1 file changed since (1 created, 0 modified, 0 deleted)
    Go on:       step 3 - architecture: carry on in the step that was interrupted
    Iteration:   2 of 5
    Agent:       gopher
    State:       changed since the checkpoint: current_agent, current_step, iteration_count,
                 max_iterations
    Files since the checkpoint:
      + docs/draft.md
    Commands:
      go-team status   go-team state show   go-team cp-diff current
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["resume", "--resume", "-q"]), @r"
    exit: 0
    --- stdout
    auth-system-504f
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["resume", "--view", "-q"]), @r"
    exit: 0
    --- stdout
    proceed_with_warning
    --- stderr
    ---
    ");
}

#[test]
fn what_an_orchestrator_gets() {
    let repo = interrupted();
    assert_snapshot!(repo.run(&["resume", "--resume", "--json"]).pretty(), @r#"
    {
      "command": "resume",
      "data": {
        "checkpoint": {
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
        "freshness": {
          "branch_now": "main",
          "branch_then": "main",
          "commits": {
            "added": [],
            "added_total": 0,
            "removed": [],
            "removed_total": 0
          },
          "files": {
            "created": [
              "docs/draft.md"
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
          "head_now": "af432a220c878bc3085aaf52dbe5b4ceb0136180",
          "head_then": "af432a220c878bc3085aaf52dbe5b4ceb0136180",
          "work_tree": "$TMP/work"
        },
        "in_flight": {
          "failed": null,
          "operation": null,
          "state": [
            "current_agent",
            "current_step",
            "iteration_count",
            "max_iterations"
          ]
        },
        "outputs": {},
        "problem": null,
        "reasons": [
          {
            "calls_for": "proceed_with_warning",
            "kind": "files-changed",
            "totals": {
              "created": 1,
              "deleted": 0,
              "modified": 0
            }
          }
        ],
        "recovered": [],
        "resume_point": {
          "action": "carry_on",
          "agent": "gopher",
          "feedback": null,
          "iteration": 2,
          "last_error": null,
          "max_iterations": 5,
          "next_iteration": null,
          "phase": null,
          "score": null,
          "stage": "architecture",
          "step": 3,
          "total": 9,
          "unit": "step"
        },
        "resumed": {
          "left": null,
          "was": "active",
          "was_here": true
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
        "session_id": "auth-system-504f",
        "state": {
          "checkpoint": {
            "checkpoint_count": 2,
            "current_checkpoint": "cp-02-requirements-20251228-210300",
            "last_checkpoint_at": "2025-12-28T21:03:00.000Z",
            "rollback_history": []
          },
          "current_agent": "gopher",
          "current_step": 3,
          "iteration_count": 2,
          "max_iterations": 5,
          "topic": "auth system"
        },
        "validation": {
          "findings": [],
          "last_valid": {
            "id": "cp-02-requirements-20251228-210300",
            "number": "2"
          },
          "valid": true
        },
        "verdict": "proceed_with_warning",
        "warnings": []
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
}

#[test]
fn without_a_terminal_somebody_has_to_say_what_to_do() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["resume"]), @r"
    exit: 5
    --- stdout
    =================================================
    RESUME - Session: auth-system-504f
    =================================================
    Topic:       auth system
    Workflow:    go-team
    Status:      active
    Created:     2025-12-28 21:01:00
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Progress:    step 2 of 9, next is step 3 - architecture
    Verdict:     resume: everything is as it was
    Go on:       step 3 - architecture: go on with the next step
    Commands:
      go-team resume auth-system-504f --resume   go-team resume auth-system-504f --fresh
    --- stderr
    error: session auth-system-504f is there to be taken up (resume), and there is nobody to ask
    hint: go-team resume auth-system-504f --resume takes it up
    hint: go-team resume auth-system-504f --fresh puts it away and begins another one
    hint: go-team resume auth-system-504f --view shows everything about it
    hint: go-team resume auth-system-504f --delete --yes deletes it for good
    ---
    ");
    let asked = repo.run(&["resume", "--json"]);
    assert_eq!(asked.code, Some(5));
    let answer = asked.json();
    assert_eq!(answer["error"]["kind"], "needs-choice");
    assert_eq!(answer["data"]["verdict"], "resume");
    assert_eq!(answer["data"]["resume_point"]["step"], 3);
    assert_eq!(answer["data"]["resumed"], Value::Null);
    for two in [["--resume", "--fresh"], ["--view", "--delete"]] {
        let refused = repo.run(&["resume", two[0], two[1]]);
        assert_eq!(refused.code, Some(2), "{refused}");
    }
    assert_eq!(repo.run(&["resume", "--yes", "--resume"]).code, Some(2));
    let unsure = repo.run(&["resume", "--delete"]);
    assert_eq!(unsure.code, Some(5), "{unsure}");
    assert!(unsure.stderr.contains("--delete --yes"), "{unsure}");
}

#[test]
fn there_may_be_nothing_to_take_up() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["resume", "--view"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: no session is active or interrupted
    hint: go-team start TOPIC begins another one
    ---
    ");
    let unknown = repo.run(&["resume", "nobody", "--view"]);
    assert_eq!(unknown.code, Some(4), "{unknown}");
    repo.ok(&["start", "work"]);
    // A session without a checkpoint begins where its workflow begins.
    let begun = data(&repo.ok(&["resume", "--resume", "--json"]));
    assert_eq!(begun["checkpoint"], Value::Null);
    assert_eq!(begun["resume_point"]["action"], "begin");
    assert_eq!(begun["verdict"], "resume");
}

#[test]
fn a_new_start_keeps_the_old_session_and_says_how_to_get_back() {
    let repo = TestRepo::with_checkpoints();
    let old = repo.session_of("auth system");
    let refs = repo.git(&["for-each-ref", "refs/go-team/"]);
    let before = fs::read(repo.path("main.go")).unwrap();
    let fresh = repo.run(&["resume", "--fresh"]);
    assert_snapshot!(fresh, @r"
    exit: 0
    --- stdout
    ✓ Started fresh: auth-system-5ba4
      Topic: auth system
      Workflow: go-team
      Put away: auth-system-504f (abandoned)
      Its files: $TMP/work/.git/go-team/sessions/auth-system-504f
      Back to it: go-team resume auth-system-504f --resume
    --- stderr
    ---
    ");
    assert_eq!(status_of(&repo, &old), ("abandoned".to_owned(), false));
    assert_eq!(repo.git(&["for-each-ref", "refs/go-team/"]), refs);
    assert_eq!(fs::read(repo.path("main.go")).unwrap(), before);
    repo.ok(&["cp-validate", "--deep", "--session", &old]);
    // The new one is empty, of the same topic and workflow, and this work tree's own.
    let info = data(&repo.ok(&["session-info", "--json"]));
    assert_eq!(
        (&info["topic"], &info["workflow"]),
        (&"auth system".into(), &"go-team".into())
    );
    assert_eq!(
        (&info["checkpoint_count"], &info["active_here"]),
        (&0.into(), &true.into())
    );
    let new = info["session_id"].as_str().unwrap().to_owned();
    assert_ne!(new, old);
    // The old one is not found by itself any more, but by name.
    assert_eq!(
        data(&repo.run(&["resume", "--view", "--json"]))["session_id"],
        new
    );
    let looked = data(&repo.ok(&["resume", &old, "--view", "--json"]));
    assert_eq!(looked["verdict"], "start_fresh");
    assert_eq!(looked["reasons"][0]["kind"], "ended");
    let back = repo.ok(&["resume", &old, "--resume", "--json"]);
    let back = data(&back);
    assert_eq!(back["resumed"]["was"], "abandoned");
    assert_eq!(back["resumed"]["left"], new);
    assert_eq!(back["session"]["status"], "active");
    assert_eq!(status_of(&repo, &old), ("active".to_owned(), true));
    repo.ok(&["cp-create", "--step", "3"]);
    assert_eq!(
        data(&repo.ok(&["session-info", "--json"]))["checkpoint_count"],
        3
    );
    let json = data(&repo.ok(&["resume", "--fresh", "--json"]));
    assert_eq!(json["put_away"]["session_id"], old);
    assert_eq!(
        json["put_away"]["resume_with"],
        format!("go-team resume {old} --resume")
    );
}

#[test]
fn deleting_takes_the_session_and_nothing_else() {
    let repo = TestRepo::with_checkpoints();
    let old = repo.session_of("auth system");
    repo.ok(&["start", "other"]);
    repo.ok(&["cp-create"]);
    let gone = repo.run(&["resume", &old, "--delete", "--yes"]);
    assert_snapshot!(gone, @r"
    exit: 0
    --- stdout
    ✓ Deleted session auth-system-504f
      2 checkpoints, 2 refs removed
    Commands:
      go-team sessions   go-team start TOPIC
    --- stderr
    ---
    ");
    assert_eq!(repo.run(&["session-info", &old]).code, Some(4));
    let refs = repo.git(&["for-each-ref", "refs/go-team/"]);
    assert!(!refs.contains(&old) && refs.contains("other"), "{refs}");
    assert!(repo.path("main.go").exists());
    repo.ok(&["cp-validate", "--deep"]);
}

#[test]
fn the_newest_open_session_is_found_unless_this_work_tree_is_in_one() {
    let repo = TestRepo::with_commit();
    for topic in ["first", "second", "third"] {
        repo.ok(&["start", topic]);
        repo.ok(&["cp-create"]);
    }
    let found =
        |repo: &TestRepo| data(&repo.ok(&["resume", "--view", "--json"]))["session_id"].clone();
    let ids = ["first", "second", "third"].map(|topic| repo.session_of(topic));
    repo.ok(&["cp-create", "--session", &ids[0]]);
    // The first changed last, but the work tree is in the third.
    assert_eq!(found(&repo), ids[2]);
    fs::remove_file(repo.store().join("worktrees/main/current")).unwrap();
    assert_eq!(found(&repo), ids[0]);
    let resumed = data(&repo.ok(&["resume", "--resume", "--json"]));
    assert_eq!(resumed["resumed"]["was_here"], false);
    assert_eq!(found(&repo), ids[0]);
    assert_eq!(
        data(&repo.ok(&["resume", &ids[1], "--view", "--json"]))["session_id"],
        ids[1]
    );
    let by_option = repo.ok(&["resume", "--session", &ids[1], "--view", "--json"]);
    assert_eq!(data(&by_option)["session_id"], ids[1]);
    // One that has ended is passed over, and named when nothing else is left.
    for id in &ids {
        repo.ok(&["resume", id, "--fresh"]);
    }
    let open = repo
        .ok(&["sessions", "--status", "active", "--json"])
        .json();
    for session in open["data"]["sessions"].as_array().unwrap() {
        let id = session["session_id"].as_str().unwrap();
        repo.ok(&["resume", id, "--delete", "--yes"]);
    }
    let nothing = repo.run(&["resume", "--view"]);
    assert_eq!(nothing.code, Some(4), "{nothing}");
    assert!(
        nothing
            .stderr
            .contains(&format!("go-team resume {}", ids[2])),
        "{nothing}"
    );
}

#[test]
fn another_work_tree_keeps_its_session_until_it_is_gone() {
    let repo = TestRepo::with_commit();
    repo.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    let linked = repo.root().join("../linked");
    let linked = linked.to_str().unwrap();
    repo.ok(&["start", "side work", "-C", linked]);
    repo.ok(&["cp-create", "-C", linked]);
    let session = repo.session_of("side work");
    let nothing = repo.run(&["resume", "--view"]);
    assert_eq!(nothing.code, Some(4), "{nothing}");
    assert!(
        nothing
            .stderr
            .contains("linked resume goes on with side-work"),
        "{nothing}"
    );
    for choice in [&["--resume"][..], &["--fresh"], &["--delete", "--yes"]] {
        let args = [&["resume", &*session][..], choice].concat();
        let refused = repo.run(&args);
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(
            refused.stderr.contains("belongs to another work tree"),
            "{refused}"
        );
    }
    assert_eq!(
        data(&repo.ok(&["resume", "--view", "--json", "-C", linked]))["verdict"],
        "resume"
    );
    // The directory alone is gone: git still lists the work tree.
    fs::remove_dir_all(linked).unwrap();
    let found = data(&repo.ok(&["resume", "--view", "--json"]));
    assert_eq!(found["session_id"], session);
    assert_eq!(found["verdict"], "prompt_user");
    assert_eq!(found["reasons"][0]["kind"], "work-tree-missing");
    let text = repo.ok(&["resume", "--view"]).stdout;
    assert!(text.contains("/linked is gone"), "{text}");
    repo.git(&["worktree", "prune"]);
    assert_eq!(
        data(&repo.ok(&["resume", "--view", "--json"]))["reasons"][0]["kind"],
        "work-tree-missing"
    );
    let taken = data(&repo.ok(&["resume", "--resume", "--json"]));
    assert_eq!(taken["session"]["active_here"], true);
    repo.ok(&["cp-create"]);
}

#[test]
fn what_was_cut_short_is_finished_first() {
    let repo = TestRepo::with_checkpoints();
    let session = repo.session_of("auth system");
    let journal = format!(
        "{{\"version\": 1, \"op\": \"create\", \"session\": \"{session}\", \
         \"checkpoint\": \"cp-03-architecture-20251228-220000\", \"started_at\": \"2025-12-28T22:00:00.000Z\"}}"
    );
    let path = repo.session_dir().join("journal.json");
    fs::write(&path, &journal).unwrap();
    let looked = data(&repo.ok(&["resume", "--view", "--json"]));
    assert_eq!(looked["in_flight"]["operation"]["operation"], "create");
    assert_eq!(looked["verdict"], "resume");
    assert!(path.exists());
    let taken = data(&repo.ok(&["resume", "--resume", "--json"]));
    assert_eq!(taken["recovered"][0]["kind"], "retracted");
    assert_eq!(taken["in_flight"]["operation"], Value::Null);
    assert!(!path.exists());
}

#[test]
fn looking_needs_no_right_to_write() {
    let repo = TestRepo::with_checkpoints();
    let Some(read_only) = ReadOnly::new(&repo) else {
        return;
    };
    let looked = read_only.run(&["resume", "--view", "--json"]);
    assert_eq!(looked.code, Some(0), "{looked}");
    let refused = read_only.run(&["resume", "--resume"]);
    assert_eq!(refused.code, Some(1), "{refused}");
}
