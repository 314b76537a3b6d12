//! Widths, colours, verbosity and hostile text.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use insta::assert_snapshot;
use support::TestRepo;

const HOSTILE: &str = "a\u{1b}[31m\nb\u{202e}c\u{200b}<script>";

#[test]
fn hostile_text_is_stored_exactly_and_shown_escaped() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["start", HOSTILE]), @"");
    repo.write(HOSTILE.replace('/', "-"), "x");
    let args = [
        "cp-create",
        HOSTILE,
        "--name",
        HOSTILE,
        "--phase",
        HOSTILE,
        "-v",
    ];
    assert_snapshot!(repo.run(&args), @"");
    let outputs = serde_json::json!({ HOSTILE: HOSTILE }).to_string();
    repo.run_with_input(&["cp-create", "--outputs", "-"], &outputs);
    for args in [
        &["cp-list", "-v"][..],
        &["cp-list", "--graph"],
        &["cp-show", "1", "-v"],
        &["cp-show", "2", "-v"],
        &["status", "-v"],
        &["session-info"],
        &["sessions"],
        &["state", "show"],
        &["cp-list", "--json"],
        &["cp-show", HOSTILE],
        &["cp-show", "nothing\u{1b}[31m"],
        &["state", "get", "nothing\u{1b}[31m"],
        &["nothing\u{1b}[31m"],
        &["--session", "\u{1b}[31m", "status"],
        &["-C", "\u{1b}[31m", "status"],
        &["cp-create", "--state", "\u{1b}[31m"],
        &["start", "x", "--workflow", "\u{1b}[31m"],
    ] {
        let output = repo.run(args);
        for text in [&output.stdout, &output.stderr] {
            let is_bad = |letter: char| letter.is_control() && letter != '\n';
            assert!(!text.contains(is_bad), "{args:?}: {output}");
            assert!(
                !text.contains(['\u{202e}', '\u{200b}']),
                "{args:?}: {output}"
            );
        }
    }
    let listed = repo.ok(&["cp-list", "--json"]).json();
    assert_eq!(listed["data"]["topic"], HOSTILE);
    assert_eq!(listed["data"]["checkpoints"][0]["name"], HOSTILE);
    assert_eq!(listed["data"]["checkpoints"][0]["description"], HOSTILE);
}

#[test]
fn a_branch_name_is_hostile_too() {
    let repo = TestRepo::with_commit();
    repo.git(&["checkout", "-q", "-b", "b\u{202e}x"]);
    assert_snapshot!(repo.run(&["cp-create"]), @"");
    assert_snapshot!(repo.run(&["status"]), @"");
}

#[test]
fn width_follows_the_terminal() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&[
        "cp-create",
        "a description that is long enough to need some room on a line",
        "--step",
        "3",
    ]);
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60")], &["cp-list"]), @"");
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60")], &["cp-list", "-v"]), @"");
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60")], &["cp-list", "--graph"]), @"");
    assert_snapshot!(repo.run_env(&[("COLUMNS", "160")], &["cp-list", "-v"]), @"");
    let widest = |output: &str| output.lines().map(|line| line.chars().count()).max();
    for columns in ["60", "80", "160"] {
        let output = repo.run_env(&[("COLUMNS", columns)], &["cp-list"]);
        let room = columns.parse().unwrap();
        assert!(widest(&output.stdout) <= Some(room), "{columns}: {output}");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-list", "--color", "always"]).stdout.escape_debug(), @"");
    let has_codes = |variables: &[(&str, &str)], args: &[&str]| {
        repo.run_env(variables, args).stdout.contains('\u{1b}')
    };
    assert!(!has_codes(&[], &["cp-list"]));
    assert!(has_codes(&[("CLICOLOR_FORCE", "1")], &["cp-list"]));
    assert!(!has_codes(&[("CLICOLOR_FORCE", "0")], &["cp-list"]));
    assert!(!has_codes(
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        &["cp-list"]
    ));
    assert!(has_codes(
        &[("NO_COLOR", "1")],
        &["cp-list", "--color", "always"]
    ));
    assert!(!has_codes(
        &[("CLICOLOR_FORCE", "1")],
        &["cp-list", "--color=never"]
    ));
    assert!(!has_codes(
        &[("CLICOLOR_FORCE", "1")],
        &["cp-list", "--json"]
    ));
    assert_snapshot!(
        repo.run(&["cp-show", "9", "--color", "always"]).stderr.escape_debug(),
        @""
    );
}

#[test]
fn help_names_what_there_is() {
    let repo = TestRepo::without_git();
    assert_snapshot!(repo.run(&["--help"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--help"]), @"");
    assert_snapshot!(repo.run(&["--version"]), @"");
}
