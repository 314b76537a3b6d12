//! Sessions and their state, as a user sees them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use insta::assert_snapshot;
use support::TestRepo;

#[test]
fn start_begins_a_session_and_names_the_one_it_left() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["start", "auth system", "--workflow", "go-team"]), @"");
    assert_snapshot!(repo.run(&["start", "something else"]), @"");
    assert_snapshot!(repo.run(&["start", "third", "-q"]), @"");
    assert_snapshot!(repo.run(&["start", "fourth", "--json"]).pretty(), @"");
}

#[test]
fn sessions_are_listed_newest_first_and_by_workflow_and_status() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["start", "something else"]);
    assert_snapshot!(repo.run(&["sessions"]), @"");
    assert_snapshot!(repo.run(&["sessions", "--workflow", "go-team", "--status", "active"]), @"");
    assert_snapshot!(repo.run(&["sessions", "--status", "failed"]), @"");
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
    assert_snapshot!(repo.run(&["sessions"]), @"");
}

#[test]
fn session_info_says_everything() {
    let repo = TestRepo::with_checkpoints();
    let failed = repo.run(&["cp-create", "--step", "99"]);
    assert_eq!(failed.code, Some(1));
    assert_snapshot!(repo.run(&["session-info"]), @"");
    assert_snapshot!(repo.run(&["session-info", "--json"]).pretty(), @"");
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

#[test]
fn state_is_shown_looked_up_and_set() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(
        repo.run(&["state", "set", "phase=design", "metrics.test_coverage=81.50", "list=[1,2]"]),
        @""
    );
    assert_snapshot!(repo.run(&["state", "show"]), @"");
    assert_snapshot!(repo.run(&["state", "show", "--json"]).pretty(), @"");
    assert_snapshot!(repo.run(&["state", "get", "phase"]), @"");
    assert_snapshot!(repo.run(&["state", "get", "metrics"]), @"");
    assert_snapshot!(repo.run(&["state", "get", "list.1", "--json"]).pretty(), @"");
    assert_snapshot!(repo.run(&["state", "set", "a.b=c", "--json"]).json()["data"]["set"], @"");
    assert_eq!(repo.run(&["state", "set", "-q", "a.b=d"]).stdout, "");
}

#[test]
fn setting_is_all_or_nothing() {
    let repo = TestRepo::with_checkpoints();
    let before = repo.ok(&["state", "show"]).stdout;
    assert_snapshot!(repo.run(&["state", "set", "new=1", "topic.inner=2"]), @"");
    assert_snapshot!(repo.run(&["state", "set", "new=1", "checkpoint.checkpoint_count=9"]), @"");
    assert_eq!(repo.ok(&["state", "show"]).stdout, before);
}

#[test]
fn a_linked_state_is_shown_and_left_to_its_owner() {
    let repo = TestRepo::with_checkpoints();
    repo.write("go-team.toml", "[state]\nfile = \"flow.json\"\n");
    repo.write("flow.json", "{\"phase\": \"theirs\"}");
    assert_eq!(repo.ok(&["state", "get", "phase"]).stdout, "theirs\n");
    assert_snapshot!(repo.run(&["state", "set", "phase=mine"]), @"");
}

#[test]
fn values_go_to_a_program_as_they_are() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["state", "set", "text=\u{1b}[31m\u{202e}x"]);
    assert_eq!(
        repo.ok(&["state", "get", "text"]).stdout,
        "\u{1b}[31m\u{202e}x\n"
    );
    let shown = repo.ok(&["state", "show"]).stdout;
    assert!(shown.contains(r"\u001b[31m\u202ex"), "{shown}");
}
