//! Killed at any instant: each session comes whole or not at all, and doing it again brings the rest.

use std::process::Stdio;
use std::thread;
use std::time::Instant;

use crate::place::sample;
use crate::support::TestRepo;
use crate::{check, process};

/// How many instants are tried.
const ROUNDS: u32 = 12;

#[test]
fn a_session_is_absent_or_complete() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "own work"]);
    let from = sample(&repo, "directory");
    let import = |name: &str| {
        let mut command = process::go_team(&repo, &repo.root());
        command.args(["import-from", from.to_str().unwrap(), "--as", name]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let started = Instant::now();
    assert!(import("first").status().unwrap().success());
    let usual = started.elapsed();
    let mut killed = 0;
    for round in 0..ROUNDS {
        let name = format!("life-{round}");
        let mut child = import(&name).spawn().unwrap();
        thread::sleep(usual * round / ROUNDS);
        let _ = child.kill();
        let is_done = child.wait().unwrap().success();
        killed += u32::from(!is_done);
        let mut there = 0;
        for (nth, checkpoints) in [(1, 3), (2, 1)] {
            let session = format!("{name}-{nth}");
            let dir = repo.store().join("sessions").join(&session);
            if dir.exists() {
                there += 1;
                let refs = repo.git(&["for-each-ref", &format!("refs/go-team/{session}/")]);
                assert_eq!(
                    refs.lines().count(),
                    checkpoints,
                    "whole as soon as it is seen"
                );
                assert!(dir.join("state.json").exists() && dir.join("manifest.json").exists());
            }
        }
        assert!(!is_done || there == 2, "what was acknowledged is there");
        // What came stays, and the rest comes.
        let again = import(&name).status().unwrap();
        assert_eq!(
            again.code(),
            Some(i32::from(there == 2)),
            "{there} were there"
        );
        if there == 2 {
            repo.ok(&["cp-create", "--trigger", "auto", "-q"]);
        }
        check::no_residue(&repo.path(".git"));
        let sessions = check::complete(&repo, &repo.root());
        for nth in [1, 2] {
            let session = format!("{name}-{nth}");
            let found = sessions
                .iter()
                .find(|one| one.manifest.session_id.as_str() == session);
            assert!(found.is_some(), "{session}");
        }
    }
    assert!(killed > 0, "the delays are too long to kill anything");
}
