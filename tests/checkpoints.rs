//! Making, listing and showing checkpoints, as a user sees it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use go_team::model::{RollbackId, SessionId};
use go_team::store::{Durability, Store};
use insta::assert_snapshot;
use support::TestRepo;

#[test]
fn cp_create_prints_four_lines() {
    let repo = TestRepo::with_commit();
    repo.write("a.txt", "1\n");
    assert_snapshot!(repo.run(&["cp-create", "first thoughts"]), @"");
    repo.write("a.txt", "2\n");
    repo.write("b.txt", "1\n");
    std::fs::remove_file(repo.path("README.md")).unwrap();
    assert_snapshot!(
        repo.run(&["checkpoint", "--step", "2", "--name", "requirements", "--phase", "early",
            "--trigger", "step_complete", "--metric", "test_coverage=81.5", "--metric", "build_pass=true"]),
        @""
    );
    assert_snapshot!(repo.run(&["cp-create"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--no-git"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "-q"]), @"");
    repo.write("c.txt", "1\n");
    assert_snapshot!(repo.run(&["cp-create", "-v"]), @"");
}

#[test]
fn cp_create_in_an_empty_repository() {
    let repo = TestRepo::new();
    assert_snapshot!(repo.run(&["cp-create"]), @"");
}

#[test]
fn cp_create_as_json() {
    let repo = TestRepo::with_commit();
    repo.write("a.txt", "1\n");
    repo.git(&["init", "-q", "empty"]);
    assert_snapshot!(repo.run(&["cp-create", "first", "--json"]).pretty(), @"");
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
    assert_snapshot!(repo.run_env(&small, &["cp-create"]), @"");
    assert_snapshot!(repo.run_env(&small, &["cp-create", "-q"]), @"");
    assert_snapshot!(repo.run_env(&small, &["status"]), @"");
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
    assert_snapshot!(repo.run(&["cp-show", "latest"]), @"");
    let shown = repo.run(&["cp-show", "design", "--json"]);
    assert!(shown.stdout.contains("\"big\":1.50"), "{shown}");
}

#[test]
fn cp_list_shows_the_table_of_the_design() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-list"]), @"");
    assert_snapshot!(repo.run(&["checkpoints", "-v"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "-q"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "--json"]).pretty(), @"");
}

#[test]
fn cp_list_without_checkpoints() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "nothing yet"]);
    assert_snapshot!(repo.run(&["cp-list"]), @"");
    assert_snapshot!(repo.run(&["status"]), @"");
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
    assert_snapshot!(repo.run(&["cp-list"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "--graph"]), @"");
    assert_snapshot!(repo.run_env(&[("LC_ALL", "de_DE.ISO-8859-1")], &["cp-list", "--graph"]), @"");
    assert_snapshot!(repo.run(&["cp-show", "2.1"]), @"");
}

#[test]
fn cp_show_says_everything() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-show", "2"]), @"");
    assert_snapshot!(repo.run(&["cp-show", "init", "--json"]).pretty(), @"");
    repo.ok(&["cp-create", "--step", "3", "--no-git"]);
    assert_snapshot!(repo.run(&["cp-show", "3"]), @"");
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
    assert_eq!(repo.git(&args), "");
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
    assert_snapshot!(repo.run(&["cp-show", "2"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "-v"]), @"");
    assert_eq!(repo.run(&["cp-list"]).stderr, "");
    assert_snapshot!(repo.run(&["status"]), @"");
}

#[test]
fn status_says_where_one_is() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["status"]), @"");
    let repo = TestRepo::with_checkpoints();
    repo.write("main.go", "package other\n");
    repo.write("new.go", "package main\n");
    std::fs::remove_file(repo.path("docs/spec.md")).unwrap();
    assert_snapshot!(repo.run(&["status"]), @"");
    assert_snapshot!(repo.run(&["status", "-v"]), @"");
    assert_snapshot!(repo.run(&["status", "--json"]).pretty(), @"");
    repo.git(&["checkout", "-q", "--detach"]);
    std::fs::write(repo.path(".git/MERGE_HEAD"), "").unwrap();
    assert_snapshot!(repo.run(&["status", "-q"]), @"");
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
    assert_snapshot!(repo.run(&["state", "set", "a=1"]), @"");
    assert!(!dir.join("journal.json").exists());
}
