//! Killed at any instant, a change in a session's life is finished by the next command.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::TestRepo;

const SESSION: &str = "auth-system-504f";

fn journal(repo: &TestRepo, body: &str) {
    let text = format!(
        "{{\"version\":1,{body},\"session\":\"{SESSION}\",\"started_at\":\"2025-12-28T21:10:00.000Z\"}}"
    );
    fs::write(repo.store().join("life.json"), text).unwrap();
}

fn refs(repo: &TestRepo) -> usize {
    let listed = repo.git(&["for-each-ref", &format!("refs/go-team/{SESSION}/")]);
    listed.lines().count()
}

fn nothing_left(repo: &TestRepo) {
    assert!(!repo.store().join("life.json").exists());
    for dir in ["", "sessions", "failed", "worktrees/main"] {
        let entries = fs::read_dir(repo.store().join(dir))
            .into_iter()
            .flatten()
            .flatten();
        for entry in entries {
            let name = entry.file_name().into_string().unwrap();
            assert!(!name.starts_with(".tmp-"), "{dir}/{name}");
        }
    }
    assert!(!repo.path(".git/packed-refs.lock").exists());
    repo.git(&["fsck", "--strict"]);
}

#[test]
fn a_removal_is_finished_from_wherever_it_was_cut_short() {
    for stage in 0..5 {
        let repo = TestRepo::with_checkpoints();
        if stage % 2 == 1 {
            repo.git(&["pack-refs", "--all"]);
        }
        journal(&repo, "\"op\":\"remove\"");
        let dir = repo.session_dir();
        if stage >= 1 {
            // Renamed, and half gone.
            let temp = repo.store().join("sessions/.tmp-1-1");
            fs::rename(&dir, &temp).unwrap();
            fs::remove_file(temp.join("state.json")).unwrap();
        }
        if stage >= 3 {
            let one = repo.git(&["for-each-ref", "--format=%(refname)", "refs/go-team/"]);
            repo.git(&["update-ref", "-d", one.lines().next().unwrap()]);
        }
        if stage >= 4 {
            fs::remove_file(repo.store().join("worktrees/main/current")).unwrap();
        }
        // Those that only read do not mind.
        repo.ok(&["sessions"]);
        repo.ok(&["doctor"]);
        let next = repo.run(&["cp-create", "-q", "--json"]);
        assert_eq!(next.code, Some(0), "{stage}: {}", next.stderr);
        let next = next.json();
        assert_eq!(
            next["data"]["recovered"][0]["kind"], "removed",
            "{stage}: {next}"
        );
        assert_eq!(next["data"]["session_started"], true);
        assert_eq!(refs(&repo), 0);
        assert!(!dir.exists());
        nothing_left(&repo);
    }
}

#[test]
fn nothing_brings_a_session_back_that_is_being_removed() {
    for args in [
        &["cp-create", "--session", SESSION][..],
        &["cp-rebuild", "--all", "--session", SESSION],
        &["cp-delete", "1", "--yes", "--session", SESSION],
        &["state", "set", "a=1", "--session", SESSION],
        &["cp-prune", "--yes", "--session", SESSION],
        &["complete", "--session", SESSION],
        &["start", "auth system", "--workflow", "go-team"],
    ] {
        let repo = TestRepo::with_checkpoints();
        journal(&repo, "\"op\":\"remove\"");
        let code = repo.run(args).code;
        let expected = if args[0] == "start" { Some(0) } else { Some(4) };
        // Pruning finds nothing to do, and so takes no lock.
        let expected = if args[0] == "cp-prune" {
            Some(0)
        } else {
            expected
        };
        assert_eq!(code, expected, "{args:?}");
        repo.ok(&["start", "another"]);
        assert_eq!(refs(&repo), 0, "{args:?}");
        assert!(
            !repo.store().join("sessions").join(SESSION).exists(),
            "{args:?}"
        );
        nothing_left(&repo);
    }
}

#[test]
fn a_new_status_is_finished_from_wherever_it_was_cut_short() {
    for stage in 0..3 {
        let repo = TestRepo::with_checkpoints();
        let open = repo.session_dir();
        let failed = repo.store().join("failed").join(SESSION);
        if stage >= 1 {
            // As it is after the manifest was written, and after the directory was moved.
            let (old, now) = (repo.copy(), [("GO_TEAM_TEST_NOW", "2025-12-28T21:10:00Z")]);
            old.run_env(&now, &["fail", "why"]);
            let manifest = old
                .store()
                .join("failed")
                .join(SESSION)
                .join("manifest.json");
            fs::copy(manifest, open.join("manifest.json")).unwrap();
        }
        if stage >= 2 {
            fs::create_dir(repo.store().join("failed")).unwrap();
            fs::rename(&open, &failed).unwrap();
        }
        journal(
            &repo,
            "\"op\":\"settle\",\"status\":\"failed\",\"reason\":\"why\"",
        );
        let info = repo.ok(&["session-info", "--json"]).json();
        assert_eq!(info["data"]["unfinished"]["operation"], "settle");
        let next = repo.ok(&["cp-create", "-q", "--json"]).json();
        assert_eq!(next["data"]["recovered"][0]["kind"], "settled", "{next}");
        assert_eq!(
            next["data"]["session_started"], true,
            "the failed one is closed"
        );
        let info = repo.ok(&["session-info", SESSION, "--json"]).json();
        assert_eq!(info["data"]["status"], "failed");
        assert_eq!(info["data"]["status_history"].as_array().unwrap().len(), 1);
        assert!(failed.is_dir() && !open.exists());
        nothing_left(&repo);
        repo.ok(&["cp-validate", "--deep", "--session", SESSION]);
    }
}

#[test]
fn a_damaged_journal_stands_in_nobodys_way() {
    let repo = TestRepo::with_checkpoints();
    fs::write(
        repo.store().join("life.json"),
        "{\"version\":1,\"op\":\"mel",
    )
    .unwrap();
    let next = repo.run(&["cp-create", "-q"]);
    assert_eq!(next.code, Some(0), "{}", next.stderr);
    assert!(next.stderr.contains("life.json.damaged"), "{}", next.stderr);
    nothing_left(&repo);
    fs::write(repo.store().join("life.json"), "{\"version\":2}").unwrap();
    let newer = repo.run(&["cp-create"]);
    assert_eq!(newer.code, Some(1), "{}", newer.stdout);
    assert!(newer.stderr.contains("newer go-team"), "{}", newer.stderr);
    assert!(repo.store().join("life.json").exists());
}

/// Starts a command, and kills it after a part of the time that it usually takes.
fn kill(repo: &TestRepo, args: &[&str], after: Duration) {
    let mut command = repo.go_team();
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    thread::sleep(after.saturating_sub(started.elapsed()));
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn whatever_the_instant_the_next_command_makes_it_whole() {
    let commands: [&[&str]; 4] = [
        &["complete"],
        &["fail", "no budget"],
        &["complete", "--delete", "--yes"],
        &["cp-prune", "--yes"],
    ];
    let origin = TestRepo::with_checkpoints();
    origin.write(
        "go-team.toml",
        "[retention]\nenabled = false\nkeep_auto = 0\n",
    );
    for nth in 0..3 {
        origin.write("file", format!("{nth}"));
        origin.ok(&["cp-create", "-q", "--trigger", "auto"]);
    }
    origin.write("file", "changed");
    for args in commands {
        let timed = origin.copy();
        let started = Instant::now();
        timed.ok(args);
        let usual = started.elapsed();
        for nth in 1..=6_u32 {
            let repo = origin.copy();
            kill(&repo, args, usual * nth / 7);
            let before = repo.ok(&["sessions", "--json"]).json();
            repo.ok(&["start", "another"]);
            let has_session = before["data"]["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["session_id"] == SESSION);
            // Seen once, a session that was not being removed stays; its checkpoints are whole.
            if repo.store().join("sessions").join(SESSION).exists()
                || repo.store().join("failed").join(SESSION).exists()
            {
                assert!(has_session);
                repo.ok(&["cp-rebuild", "--all", "--session", SESSION]);
                repo.ok(&["cp-validate", "--deep", "--session", SESSION]);
                let info = repo.ok(&["session-info", SESSION, "--json"]).json();
                let listed = info["data"]["counts"]["checkpoints"].as_u64().unwrap();
                assert_eq!(refs(&repo) as u64, listed, "{args:?} {nth}");
            } else {
                assert_eq!(refs(&repo), 0, "{args:?} {nth}");
            }
            nothing_left(&repo);
        }
    }
}
