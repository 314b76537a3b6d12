//! Workflows as data: which step a checkpoint is of, what may follow it, how far the session is.

use insta::assert_snapshot;

use crate::support::{Output, TestRepo};

fn start(workflow: &str) -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "work", "--workflow", workflow]);
    repo
}

fn create(repo: &TestRepo, state: &str) -> Output {
    repo.run_with_input(&["cp-create", "--state", "-", "--json"], state)
}

fn made(output: &Output) -> (u64, String, String) {
    assert_eq!(output.code, Some(0), "{output}");
    let data = &output.json()["data"];
    let text = |name: &str| data[name].as_str().unwrap().to_owned();
    (data["step"].as_u64().unwrap(), text("name"), text("phase"))
}

/// Where each command says that the session is.
fn progress(repo: &TestRepo) -> Vec<String> {
    let commands = [
        &["cp-list"][..],
        &["status"],
        &["session-info"],
        &["sessions"],
    ];
    let lines = commands.iter().map(|args| {
        let shown = repo.ok(args).stdout;
        let line = shown
            .lines()
            .find(|line| line.contains("Progress:") || line.contains("│ work"));
        let line = line.unwrap_or_default();
        match line.split('│').nth(4) {
            Some(cell) => cell.trim().to_owned(),
            None => line.replace("Progress:", "").trim().to_owned(),
        }
    });
    lines.collect()
}

#[test]
fn phases_are_counted_as_the_state_counts_them() {
    let repo = start("phases");
    assert_eq!(progress(&repo)[0], "not begun");
    let state = r#"{"current_phase": 2, "total_phases": 5, "completed_phases": [1]}"#;
    let (step, name, phase) = made(&create(&repo, state));
    assert_eq!((step, &*name, &*phase), (2, "checkpoint", "phase 2"));
    assert_eq!(
        progress(&repo),
        [
            "phase 2 of 5, next is phase 3",
            "phase 2 of 5, next is phase 3",
            "phase 2 of 5",
            "phase 2 of 5"
        ]
    );
    let shown = repo.ok(&["status", "--json"]).json();
    let expected = serde_json::json!({"unit": "phase", "step": 2, "name": "", "total": 5});
    assert_eq!(shown["data"]["session"]["progress"], expected);
    assert_eq!(shown["data"]["resume"]["detail"], "phase 3");
    // The live state is where the session is, whatever the last checkpoint says.
    repo.ok(&["state", "set", "current_phase=3"]);
    assert_eq!(progress(&repo)[3], "phase 3 of 5");
    let named = r#"{"current_phase": "ship", "total_phases": 2, "completed_phases": ["build"]}"#;
    assert_eq!(
        made(&create(&repo, named)),
        (2, "ship".to_owned(), "ship".to_owned())
    );
    assert_eq!(progress(&repo)[1], "phase 2 of 2");
    // Without a word about phases, checkpoints count.
    assert_eq!(made(&create(&repo, "{}")).0, 3);
    assert_eq!(progress(&repo)[1], "step 3, next is step 4");
}

#[test]
fn there_are_no_more_phases_than_the_state_says() {
    let repo = start("phases");
    let refused = repo.run_with_input(
        &["cp-create", "--state", "-"],
        r#"{"current_phase": 6, "total_phases": 5}"#,
    );
    assert_snapshot!(refused, @r"
    exit: 1
    --- stdout
    --- stderr
    error: workflow phases: there is no step 6; legal: any number from 1 to 5
    hint: go-team cp-create --step N, with one of the legal steps
    ---
    ");
    repo.ok(&["state", "set", "current_phase=1", "total_phases=2"]);
    assert_eq!(repo.run(&["cp-create", "--step", "3"]).code, Some(1));
    repo.ok(&["cp-create", "--step", "2"]);
}

#[test]
fn impl_is_in_the_stage_that_its_state_names() {
    let repo = start("impl");
    let stage = |stage: &str| format!(r#"{{"current_stage": "{stage}", "iteration": 1}}"#);
    assert_eq!(made(&create(&repo, &stage("impl"))).1, "impl");
    assert_eq!(made(&create(&repo, &stage("review"))).1, "review");
    assert_eq!(progress(&repo)[0], "step 2 of 4, next is step 3 - pr");
    let done = stage("done");
    assert_snapshot!(repo.run_with_input(&["cp-create", "--state", "-"], &done), @r"
    exit: 1
    --- stdout
    --- stderr
    error: workflow impl: step 4 done cannot follow step 2 review; legal: 1 impl, 2 review, 3 pr
    hint: go-team cp-create --step N, with one of the legal steps
    ---
    ");
    // Asked for by number or name, the stage is that one.
    repo.ok(&["cp-create", "--name", "pr"]);
    repo.ok(&["cp-create", "--step", "5"]);
    assert_eq!(
        progress(&repo)[..2],
        [
            "step 5, next is step 1 - impl",
            "step 5, next is step 1 - impl"
        ]
    );
}

#[test]
fn a_step_that_is_not_done_is_where_work_goes_on() {
    let repo = start("go-team");
    repo.ok(&["cp-create", "--step", "4", "--trigger", "user_interrupt"]);
    let shown = repo.ok(&["status", "--json"]).json();
    assert_eq!(shown["data"]["resume"]["detail"], "step 4");
    repo.ok(&["cp-create", "--step", "4", "--trigger", "step_complete"]);
    let shown = repo.ok(&["status", "--json"]).json();
    assert_eq!(shown["data"]["resume"]["detail"], "step 5");
}

#[test]
fn each_workflow_knows_its_fields() {
    for (workflow, state, misfits) in [
        (
            "impl",
            r#"{"issue_no": 7, "current_stage": "impl", "iteration": 1, "worktree": "w", "plan_file": "p.md",
                "last_feedback": "f", "last_score": 100, "history": [{"stage": "impl", "iteration": 1,
                "timestamp": "2025-12-28T21:00:00Z", "result": "retry", "score": 0}]}"#,
            &[][..],
        ),
        (
            "impl",
            r#"{"last_score": -1, "plan_file": 2, "history": ["x", {"result": "maybe", "score": 101}]}"#,
            &[
                "plan_file",
                "last_score",
                "history.0",
                "history.1.result",
                "history.1.score",
            ],
        ),
        (
            "phases",
            r#"{"current_phase": 1, "total_phases": 2, "completed_phases": [], "workflow_state": {"a": 1},
                "last_error": {"code": 1}}"#,
            &[],
        ),
        (
            "phases",
            r#"{"total_phases": "two", "completed_phases": 1, "last_error": 3}"#,
            &["total_phases", "completed_phases", "last_error"],
        ),
        (
            "crunch",
            r#"{"issue_snapshot": {"number": 7, "title": "t", "body": "b", "labels": ["a"]}, "team_state": {},
                "execution_graph": {"nodes": []}, "agent_outputs": {}, "pending_messages": [],
                "knowledge_entries": []}"#,
            &[],
        ),
        (
            "crunch",
            r#"{"issue_snapshot": {"labels": "a"}, "pending_messages": {}, "execution_graph": "x"}"#,
            &[
                "issue_snapshot.labels",
                "execution_graph",
                "pending_messages",
            ],
        ),
    ] {
        let repo = start(workflow);
        assert_eq!(create(&repo, state).code, Some(0), "{state}");
        let found = repo.run(&["cp-validate", "--json"]).json();
        let findings = found["data"]["findings"].as_array().unwrap().iter();
        let paths: Vec<&str> = findings
            .map(|finding| finding["defect"]["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, misfits, "{workflow} {state}");
    }
}

#[test]
fn a_built_in_workflow_takes_a_schema_and_nothing_else() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[workflow.impl]\nschema = 's.json'\n");
    repo.write("s.json", r#"{"required": ["issue_no"]}"#);
    repo.ok(&["start", "work", "--workflow", "impl"]);
    repo.ok(&["cp-create", "--name", "impl"]);
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(found.code, Some(3));
    assert!(found.stdout.contains("issue_no"), "{found}");
    // It is still the one that ships, with its fields and its transitions.
    repo.ok(&["state", "set", "issue_no=7", "last_score=900"]);
    repo.ok(&["cp-create"]);
    let found = repo.run(&["cp-validate", "--json"]);
    assert!(found.stdout.contains("\"path\":\"last_score\""), "{found}");
    assert_eq!(repo.run(&["cp-create", "--name", "done"]).code, Some(1));
    repo.write(
        "go-team.toml",
        "[workflow.impl]\nsteps = ['a']\nschema = 's.json'\n",
    );
    let refused = repo.run(&["status"]);
    assert!(
        refused.stderr.contains("only a schema can be added"),
        "{refused}"
    );
}
