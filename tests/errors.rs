//! Every mistake a user can make, with what is said about it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs::{self, File};

use insta::assert_snapshot;
use support::TestRepo;

#[test]
fn repositories_that_are_refused() {
    let nowhere = TestRepo::without_git();
    assert_snapshot!(nowhere.run(&["cp-create"]), @"");
    assert_snapshot!(nowhere.run(&["cp-create", "--json"]).pretty(), @"");
    assert_snapshot!(TestRepo::init(&["init", "-q", "--bare"]).run(&["status"]), @"");
    let sha256 = TestRepo::init(&["init", "-q", "--object-format=sha256"]);
    assert_snapshot!(sha256.run(&["status"]), @"");
    let reftable = TestRepo::init(&["init", "-q", "--ref-format=reftable"]);
    assert_snapshot!(reftable.run(&["status"]), @"");
}

#[test]
fn the_home_directory_is_refused_without_force() {
    let repo = TestRepo::with_commit();
    let home = repo.root();
    let home = [("HOME", home.to_str().unwrap())];
    assert_snapshot!(repo.run_env(&home, &["cp-create"]), @"");
    assert_eq!(repo.run_env(&home, &["cp-create", "--force"]).code, Some(0));
}

#[test]
fn a_repository_of_somebody_else_is_refused() {
    let repo = TestRepo::with_commit();
    for path in [repo.root(), repo.path(".git")] {
        if std::os::unix::fs::chown(path, Some(54321), None).is_err() {
            return; // only root can give a directory away
        }
    }
    assert_snapshot!(repo.run(&["status"]), @"");
}

#[test]
fn a_directory_that_is_not_there() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["-C", "nowhere", "status"]), @"");
    fs::create_dir(repo.path("sub")).unwrap();
    assert_eq!(repo.run(&["-C", "sub", "status"]).code, Some(0));
}

#[test]
fn names_that_mean_nothing() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["cp-list"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "--session", "no-such"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "--session", "../x"]), @"");
    repo.ok(&["start", "topic"]);
    assert_snapshot!(repo.run(&["cp-show", "1"]), @"");
    assert_snapshot!(repo.run(&["session-info", "no-such"]), @"");
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-show", "7"]), @"");
    assert_snapshot!(repo.run(&["cp-show", "cp-0"]), @"");
    assert_snapshot!(repo.run(&["cp-show", "latest~x"]), @"");
    assert_snapshot!(repo.run(&["cp-show", "7", "--json"]).pretty(), @"");
    assert_snapshot!(repo.run(&["state", "get", "metrics.none"]), @"");
    assert_snapshot!(repo.run(&["start", "topic", "--workflow", "waterfall"]), @"");
}

#[test]
fn arguments_that_are_not_understood() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["cp-lst"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "--grap"]), @"");
    assert_snapshot!(repo.run(&["cp-list", "--grap", "--json"]).pretty(), @"");
    assert_snapshot!(repo.run(&["cp-show"]), @"");
    assert_snapshot!(repo.run(&["start", ""]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--step", "0"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--step", "two", "--json"]).pretty(), @"");
    assert_snapshot!(repo.run(&["cp-create", "--trigger", "whim"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--metric", "coverage"]), @"");
    assert_snapshot!(repo.run(&["sessions", "--status", "done"]), @"");
    assert_snapshot!(repo.run(&["state", "set", "phase"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "-q", "-v"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--state", "-", "--outputs", "-"]), @"");
    assert_eq!(repo.run::<&str>(&[]).code, Some(2));
}

#[test]
fn json_that_is_not_acceptable() {
    let repo = TestRepo::with_commit();
    repo.write("bad.json", "{\n  \"phase\": design\n}\n");
    repo.write("list.json", "[1]");
    repo.write("twice.json", "{\"a\": 1,\n \"a\": 2}");
    assert_snapshot!(repo.run(&["cp-create", "--state", "bad.json"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--outputs", "list.json"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--state", "twice.json"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--state", "none.json"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--state", "."]), @"");
    assert_snapshot!(repo.run_with_input(&["cp-create", "--state", "-"], "{\"a\": "), @"");
    let deep = "[".repeat(200_000);
    assert_snapshot!(repo.run_with_input(&["cp-create", "--state", "-"], &deep), @"");
    assert!(!repo.store().join("sessions").exists(), "nothing was begun");
}

#[test]
fn input_that_is_too_large_is_refused_without_reading_it() {
    let repo = TestRepo::with_commit();
    File::create(repo.path("huge.json"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let before = std::time::Instant::now();
    assert_snapshot!(repo.run(&["cp-create", "--state", "huge.json"]), @"");
    assert!(before.elapsed().as_secs() < 20);
    let endless = |command: &mut std::process::Command| {
        command.args(["--state", "/dev/zero"]);
    };
    assert_eq!(repo.run_with(&["cp-create"], endless, "").code, Some(2));
}

#[test]
fn a_step_that_may_not_follow() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "issue 7", "--workflow", "impl"]);
    repo.ok(&["cp-create", "--name", "impl"]);
    assert_snapshot!(repo.run(&["cp-create", "--name", "done"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--step", "99", "--json"]).pretty(), @"");
    let log = fs::read_to_string(repo.session_dir().join("errors.jsonl")).unwrap();
    assert_snapshot!(log, @"");
}

#[test]
fn another_command_is_at_work() {
    let repo = TestRepo::with_checkpoints();
    let lock = repo.store().join("lock");
    fs::write(
        &lock,
        "{\"pid\":4711,\"command\":\"cp-create\",\"started_at\":\"2025-12-28T21:00:00.000Z\"}\n",
    )
    .unwrap();
    let file = File::options().write(true).open(&lock).unwrap();
    file.lock().unwrap();
    let at_once = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", "0")];
    assert_snapshot!(repo.run_env(&at_once, &["cp-create"]), @"");
    assert_snapshot!(repo.run_env(&at_once, &["state", "set", "a=1", "--json"]).pretty(), @"");
    assert_eq!(repo.run_env(&at_once, &["start", "x"]).code, Some(6));
    for args in [
        &["cp-list"][..],
        &["cp-show", "1"],
        &["status"],
        &["state", "show"],
        &["sessions"],
    ] {
        assert_eq!(repo.run_env(&at_once, args).code, Some(0), "{args:?}");
    }
}

#[test]
fn files_that_are_damaged_or_newer() {
    let repo = TestRepo::with_checkpoints();
    let manifest = repo.session_dir().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    assert_snapshot!(repo.run(&["cp-list"]), @"");
    assert_snapshot!(repo.run(&["cp-create", "--json"]).pretty(), @"");
    fs::write(&manifest, text.replacen("auth system", "auth sistem", 1)).unwrap();
    assert_eq!(repo.run(&["cp-list"]).code, Some(1));
    fs::remove_file(&manifest).unwrap();
    assert_snapshot!(repo.run(&["cp-list"]), @"");
    let newer = text.replacen("\"version\": 1", "\"version\": 2", 1);
    assert_ne!(newer, text);
    fs::write(&manifest, &newer).unwrap();
    assert_snapshot!(repo.run(&["cp-list"]), @"");
    assert_eq!(fs::read_to_string(&manifest).unwrap(), newer);
    fs::write(&manifest, &text).unwrap();
    fs::write(repo.session_dir().join("state.json"), "no").unwrap();
    assert_snapshot!(repo.run(&["state", "show"]), @"");
}

#[test]
fn settings_that_are_wrong() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[capture]\nmax_file_mbs = 5\n");
    assert_snapshot!(repo.run(&["status"]), @"");
    repo.write("go-team.toml", "[capture]\nmax_file_mb = \"many\"\n");
    assert_snapshot!(repo.run(&["status"]), @"");
    repo.write("go-team.toml", "[capture\n");
    assert_snapshot!(repo.run(&["status"]), @"");
    repo.write("go-team.toml", "");
    assert_snapshot!(repo.run_env(&[("GO_TEAM_LOCK_TIMEOUT", "5")], &["status"]), @"");
    assert_snapshot!(repo.run_env(&[("GO_TEAM_TEST_NOW", "noon")], &["status"]), @"");
}

#[test]
fn a_full_stdout_is_a_failure_and_a_closed_one_is_not() {
    let repo = TestRepo::with_checkpoints();
    let mut command = repo.go_team();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.arg("cp-list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = repo
        .go_team()
        .arg("cp-list")
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
