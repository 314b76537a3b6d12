//! What each workflow gets back when it is taken up.

use serde_json::{Value, json};

use crate::support::TestRepo;

fn taken_up(workflow: &str, args: &[&str], state: &Value) -> (TestRepo, Value) {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "work", "--workflow", workflow]);
    let args = [&["cp-create", "--state", "-"], args].concat();
    let made = repo.run_with_input(&args, &state.to_string());
    assert_eq!(made.code, Some(0), "{made}");
    let point = repo.ok(&["resume", "--resume", "--json"]).json()["data"].clone();
    (repo, point)
}

#[test]
fn impl_restarts_its_iteration() {
    let state = json!({"issue_no": 7, "current_stage": "impl", "iteration": 2, "worktree": ".", "plan_file": "plan.md",
        "last_feedback": "too long", "last_score": 55});
    let (repo, data) = taken_up("impl", &[], &state);
    let point = &data["resume_point"];
    assert_eq!(point["action"], "restart_iteration");
    assert_eq!(
        (&point["stage"], &point["iteration"]),
        (&json!("impl"), &json!(2))
    );
    assert_eq!(
        (&point["feedback"], &point["score"]),
        (&json!("too long"), &json!(55))
    );
    assert_eq!(data["state"]["plan_file"], "plan.md");
    assert_eq!(data["verdict"], "resume");
    repo.ok(&["state", "set", "worktree=../nowhere"]);
    let gone = repo.ok(&["resume", "--view", "--json"]).json()["data"].clone();
    assert_eq!(gone["reasons"][0]["kind"], "work-tree-missing");
}

#[test]
fn impl_keeps_what_the_review_said() {
    let state = json!({"current_stage": "review", "iteration": 2, "last_feedback": "too long", "last_score": 55,
        "history": [{"stage": "review", "iteration": 2, "timestamp": "2025-12-28T21:00:00Z", "result": "retry", "score": 55}]});
    let (repo, data) = taken_up("impl", &[], &state);
    let point = &data["resume_point"];
    assert_eq!(point["action"], "apply_feedback");
    assert_eq!(
        (&point["stage"], &point["next_iteration"]),
        (&json!("impl"), &json!(3))
    );
    assert_eq!(point["feedback"], "too long");
    let shown = repo.ok(&["resume", "--view"]).stdout;
    for text in [
        "Go on:       step 1 - impl: implement again, with the feedback of the review",
        "Iteration:   2, now 3",
        "Feedback:    too long",
        "Score:       55",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn impl_asks_whether_the_pull_request_exists() {
    let state = json!({"current_stage": "pr", "iteration": 1});
    let (repo, data) = taken_up("impl", &[], &state);
    assert_eq!(data["resume_point"]["action"], "check_pull_request");
    let shown = repo.ok(&["resume", "--view"]).stdout;
    assert!(
        shown.contains("check whether the pull request exists"),
        "{shown}"
    );
}

#[test]
fn phases_go_on_in_theirs() {
    let state = json!({"current_phase": 2, "total_phases": 5, "completed_phases": [1], "workflow_state": {"k": 1},
        "last_error": {"code": 3}});
    let (repo, data) = taken_up("phases", &[], &state);
    let point = &data["resume_point"];
    assert_eq!(point["action"], "retry_phase");
    assert_eq!(
        (&point["unit"], &point["step"], &point["total"]),
        (&json!("phase"), &json!(2), &json!(5))
    );
    assert_eq!(
        (&point["last_error"], &point["completed_phases"]),
        (&json!({"code": 3}), &json!([1]))
    );
    let shown = repo.ok(&["resume", "--view"]).stdout;
    assert!(
        shown.contains("Progress:    phase 2 of 5, next is phase 3"),
        "{shown}"
    );
    assert!(
        shown.contains("Go on:       phase 2: do the phase again that failed"),
        "{shown}"
    );
}

#[test]
fn crunch_gets_its_graph_its_batches_and_its_messages() {
    let state = json!({
        "issue_snapshot": {"number": 7, "title": "t", "body": "b", "labels": []},
        "team_state": {"lead": "ada"},
        "execution_graph": {"nodes": [
            {"id": "api", "status": "completed"},
            {"id": "db", "status": "in_progress", "depends_on": ["api"]},
            {"id": "ui", "status": "pending", "depends_on": ["api"]},
            {"id": "e2e", "status": "pending", "depends_on": ["db", "ui"]},
            {"id": "old", "status": "failed"},
            {"id": "new", "depends_on": ["old"]},
        ]},
        "agent_outputs": {"api": "done"},
        "pending_messages": [{"from": "ada", "to": "bob", "text": "hurry"}],
        "knowledge_entries": [{"k": "v"}],
    });
    let (repo, data) = taken_up(
        "crunch",
        &["--name", "implementing", "--trigger", "batch_complete"],
        &state,
    );
    let point = &data["resume_point"];
    assert_eq!(
        (&point["action"], &point["stage"]),
        (&json!("run_batches"), &json!("implementing"))
    );
    let execution = &point["execution"];
    assert_eq!(execution["batches"], json!([["db", "ui"], ["e2e"]]));
    assert_eq!(
        (&execution["in_flight"], &execution["failed"]),
        (&json!(["db"]), &json!(["old"]))
    );
    assert_eq!(
        execution["blocked"],
        json!([{"id": "new", "waits_for": ["old"]}])
    );
    assert_eq!(
        execution["nodes"][1],
        json!({"id": "db", "status": "in_progress", "state": "running", "depends_on": ["api"]})
    );
    assert_eq!(point["pending_messages"], state["pending_messages"]);
    for name in [
        "team_state",
        "agent_outputs",
        "knowledge_entries",
        "issue_snapshot",
    ] {
        assert_eq!(data["state"][name], state[name]);
    }
    let shown = repo.ok(&["resume", "--view"]).stdout;
    for text in [
        "Graph:       6 nodes: 1 done, 1 running, 1 failed, 3 waiting",
        "Batch 1:     db, ui",
        "Batch 2:     e2e",
        "Blocked:     new waits for old",
        "Messages:    1 pending",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn a_workflow_of_the_users_own_goes_by_its_list() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[workflow.press]\nsteps = ['draft', 'edit', 'ship']\ntransitions = ['draft -> edit -> ship', 'edit -> draft']\n");
    repo.ok(&["start", "book", "--workflow", "press"]);
    repo.ok(&["cp-create", "--name", "draft"]);
    let data = repo.ok(&["resume", "--resume", "--json"]).json()["data"].clone();
    assert_eq!(
        (
            &data["resume_point"]["stage"],
            &data["resume_point"]["total"]
        ),
        (&json!("edit"), &json!(3))
    );
    // Nobody defines it any more: the session is found, validated, and stays where it is.
    repo.write("go-team.toml", "");
    let data = repo.ok(&["resume", "--resume", "--json"]).json()["data"].clone();
    assert_eq!(
        (
            &data["resume_point"]["stage"],
            &data["resume_point"]["action"]
        ),
        (&json!("draft"), &json!("carry_on"))
    );
    let fresh = repo.ok(&["resume", "--fresh"]);
    assert!(
        fresh.stderr.contains("the new session is of free"),
        "{fresh}"
    );
}

#[test]
fn hostile_text_is_returned_exactly_and_shown_escaped() {
    let hostile = "a\u{1b}[31m\nb\u{202e}c\u{200b}<script>";
    let state = json!({"current_stage": "review", "iteration": 1, "last_feedback": hostile, "current_agent": hostile,
        "last_error": hostile, hostile: 1});
    let (repo, data) = taken_up("impl", &[], &state);
    assert_eq!(data["resume_point"]["feedback"], hostile);
    repo.run_with_input(&["state", "set", &format!("{hostile}=2")], "");
    let shown = repo.run(&["resume", "--view"]);
    let harmless = |letter: char| {
        letter == '\n' || (!letter.is_control() && !"\u{202e}\u{200b}".contains(letter))
    };
    assert!(shown.stdout.chars().all(harmless), "{shown:?}");
    assert!(
        shown
            .stdout
            .contains(r"Feedback:    a\x1b[31m\nb\u{202e}c\u{200b}<script>"),
        "{shown}"
    );
    let graph = json!({"execution_graph": [{"id": hostile, "depends_on": [hostile, "x\u{9b}"]}], "pending_messages": []});
    let (repo, _) = taken_up("crunch", &["--name", "implementing"], &graph);
    let shown = repo.run(&["resume", "--view"]);
    assert!(shown.stdout.chars().all(harmless), "{shown:?}");
    assert!(shown.stdout.contains(r"\x9b"), "{shown}");
}
