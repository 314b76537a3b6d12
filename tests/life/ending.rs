//! `complete`, `fail` and `abandon`, as a user sees them.

use std::fs;

use insta::assert_snapshot;

use crate::support::TestRepo;

/// How many checkpoints the session of a topic has.
fn count(repo: &TestRepo, session: &str) -> u64 {
    let info = repo.ok(&["session-info", session, "--json"]).json();
    info["data"]["counts"]["checkpoints"].as_u64().unwrap()
}

#[test]
fn complete_takes_a_last_checkpoint_of_what_changed() {
    let repo = TestRepo::with_checkpoints();
    repo.write("notes.txt", "the last thing\n");
    assert_snapshot!(repo.run(&["complete"]), @r"
    exit: 0
    --- stdout
    ✓ Session completed: auth-system-504f
      Last checkpoint: cp-02-requirements-20251228-210400
      Kept: 3 checkpoints
    Commands:
      go-team cp-list --session auth-system-504f   go-team resume auth-system-504f   go-team start TOPIC
    --- stderr
    ---
    ");
    let last = repo.ok(&["cp-show", "latest", "--json"]).json();
    assert_eq!(last["data"]["record"]["trigger"], "session_end");
    assert_eq!(last["data"]["record"]["step_number"], 2);
    assert_snapshot!(repo.run(&["complete", "-q"]), @r"
    exit: 0
    --- stdout
    auth-system-504f
    --- stderr
    ---
    ");
    assert_eq!(
        count(&repo, "auth-system-504f"),
        3,
        "the second one changes nothing"
    );
    let ended = repo.run(&["cp-create", "--session", "auth-system-504f"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .contains("session auth-system-504f is completed"),
        "{}",
        ended.stderr
    );
    // Without a name, work goes on in a session of its own.
    repo.ok(&["cp-create", "-q", "something new"]);
    assert_eq!(count(&repo, "auth-system-504f"), 3);
    let sessions = repo.ok(&["sessions", "--json"]).json();
    assert_eq!(sessions["data"]["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn complete_makes_no_checkpoint_when_nothing_changed_or_nobody_wants_one() {
    let repo = TestRepo::with_checkpoints();
    let report = repo.ok(&["complete", "--json"]).json();
    assert_eq!(report["data"]["status"], "completed");
    assert_eq!(report["data"]["was"], "active");
    assert_eq!(report["data"]["changed"], true);
    assert_eq!(report["data"]["no_checkpoint"], "unchanged");
    assert_eq!(report["data"]["checkpoint_count"], 2);

    let repo = TestRepo::with_checkpoints();
    repo.write("notes.txt", "x");
    let off = [("GO_TEAM_TRIGGERS_SESSION_END", "false")];
    let report = repo.run_env(&off, &["complete", "--json"]).json();
    assert_eq!(report["data"]["no_checkpoint"], "switched_off");
    assert_eq!(report["data"]["checkpoint_count"], 2);

    // A bit, an empty directory, the state: each is a change.
    for change in 0..3 {
        let repo = TestRepo::with_checkpoints();
        match change {
            0 => {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = fs::Permissions::from_mode(0o600);
                fs::set_permissions(repo.path("main.go"), mode).unwrap();
            }
            1 => fs::create_dir(repo.path("empty")).unwrap(),
            _ => _ = repo.ok(&["state", "set", "current_agent=analyst"]),
        }
        let report = repo.ok(&["complete", "--json"]).json();
        assert_eq!(report["data"]["checkpoint_count"], 3, "{change}");
        assert_eq!(report["data"]["checkpoint"]["trigger"], "session_end");
    }
}

#[test]
fn complete_deletes_at_once_where_the_settings_or_the_user_say_so() {
    let gone = |repo: &TestRepo| {
        assert!(repo.git(&["for-each-ref", "refs/go-team/"]).is_empty());
        assert!(
            fs::read_dir(repo.store().join("sessions"))
                .unwrap()
                .next()
                .is_none()
        );
        let status = repo.ok(&["status", "--json"]).json();
        assert!(status["data"]["session"].is_null());
    };
    let none = [("GO_TEAM_RETENTION_COMPLETED_DAYS", "0")];
    let repo = TestRepo::with_checkpoints();
    repo.write("notes.txt", "x");
    assert_snapshot!(repo.run_env(&none, &["complete"]), @r"
    exit: 0
    --- stdout
    ✓ Session completed: auth-system-504f
      Deleted: 2 refs and all it held
    --- stderr
    ---
    ");
    gone(&repo);

    let repo = TestRepo::with_checkpoints();
    repo.run_env(&none, &["complete", "--keep"]);
    assert_eq!(count(&repo, "auth-system-504f"), 2);

    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["complete", "--delete"]), @r"
    exit: 5
    --- stdout
    --- stderr
    error: complete --delete has to be confirmed, and there is nobody to ask
    hint: go-team complete --delete --yes says it beforehand
    ---
    ");
    let status = repo.ok(&["status", "--json"]).json();
    assert_eq!(status["data"]["session"]["status"], "active");
    let report = repo.ok(&["complete", "--delete", "--yes", "--json"]).json();
    assert_eq!(report["data"]["removed"]["refs"], 2);
    assert_eq!(report["data"]["removed"]["work_trees"], 1);
    gone(&repo);
}

#[test]
fn a_failed_session_is_archived_and_still_whole() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["fail", "the budget is \u{1b}[31mspent"]), @r"
    exit: 0
    --- stdout
    ✓ Session failed: auth-system-504f
      Reason: the budget is \x1b[31mspent
      Kept: 2 checkpoints
      Archived: $TMP/work/.git/go-team/failed/auth-system-504f
    Commands:
      go-team cp-list --session auth-system-504f   go-team resume auth-system-504f   go-team start TOPIC
    --- stderr
    ---
    ");
    assert!(!repo.store().join("sessions/auth-system-504f").exists());
    for args in [
        &["cp-validate", "--deep"][..],
        &["cp-show", "2"],
        &["cp-diff", "1", "2"],
        &["cp-list", "--graph"],
        &["cp-export"],
        &["cp-rebuild", "--all"],
        &["session-info"],
    ] {
        for session in [&[][..], &["--session", "auth-system-504f"]] {
            let output = repo.run(&[args, session].concat());
            assert_eq!(output.code, Some(0), "{args:?}: {}", output.stderr);
        }
    }
    let listed = repo
        .ok(&["sessions", "--status", "failed", "--json"])
        .json();
    assert_eq!(
        listed["data"]["sessions"][0]["session_id"],
        "auth-system-504f"
    );
    let info = repo.ok(&["session-info", "--json"]).json();
    let last = &info["data"]["status_history"][0];
    assert_eq!(last["status"], "failed");
    assert_eq!(last["reason"], "the budget is \u{1b}[31mspent");
    assert_eq!(info["data"]["last_error"]["operation"], "fail");
    // A manifest that is lost is rebuilt where the session is, and as what it is.
    fs::remove_file(repo.store().join("failed/auth-system-504f/manifest.json")).unwrap();
    repo.ok(&["cp-rebuild", "--all"]);
    let listed = repo
        .ok(&["sessions", "--status", "failed", "--json"])
        .json();
    assert_eq!(listed["data"]["sessions"][0]["checkpoint_count"], 2);
    assert!(!repo.store().join("sessions/auth-system-504f").exists());

    for args in [
        &["cp-create", "--session", "auth-system-504f"][..],
        &["complete"],
        &["rollback", "1", "--yes"],
        &["abandon"],
    ] {
        let refused = repo.run(args);
        assert_eq!(refused.code, Some(1), "{args:?}: {}", refused.stdout);
        assert!(refused.stderr.contains("is failed"), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("go-team resume auth-system-504f"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn a_session_is_given_up_by_name_and_work_goes_on_in_another() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["start", "second"]);
    let report = repo
        .ok(&[
            "abandon",
            "auth-system-504f",
            "--reason",
            "no need",
            "--json",
        ])
        .json();
    assert_eq!(report["data"]["status"], "abandoned");
    assert_eq!(report["data"]["reason"], "no need");
    let status = repo.ok(&["status", "--json"]).json();
    assert_eq!(status["data"]["session"]["topic"], "second");
    assert_eq!(count(&repo, "auth-system-504f"), 2);
    assert_eq!(repo.run(&["abandon", "nobody"]).code, Some(4));
    assert_eq!(repo.run(&["abandon", "../x"]).code, Some(2));
}

#[test]
fn the_session_of_another_work_tree_is_left_alone_while_that_is_there() {
    let repo = TestRepo::with_checkpoints();
    let other = repo.path("../other");
    let other = other.to_str().unwrap();
    repo.git(&["worktree", "add", "-q", other, "-b", "side"]);
    let there = |args: &[&str]| repo.run(&[&["-C", other], args].concat());
    assert_eq!(there(&["start", "side work"]).code, Some(0));
    let session = repo.session_of("side work");
    for args in [
        &["abandon", &session][..],
        &["fail", "--session", &session],
        &["complete", "--session", &session],
    ] {
        let refused = repo.run(args);
        assert_eq!(refused.code, Some(1), "{args:?}");
        assert!(
            refused.stderr.contains("belongs to another work tree"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(there(&["complete"]).code, Some(0));
    // Its time is over; but somebody may look at it there.
    let held = repo.ok(&["cleanup", "--older-than", "0", "--yes"]).stdout;
    assert!(held.contains("another work tree is in it"), "{held}");
    repo.git(&["worktree", "remove", "--force", other]);
    let report = repo
        .ok(&["cleanup", "--older-than", "0", "--yes", "--json"])
        .json();
    assert_eq!(report["data"]["removed"][0]["session_id"], session.as_str());
}
