//! What cannot be brought back wants the word yes: `complete --delete`, `cleanup` and `cp-prune` on a terminal.

use std::os::unix::process::ExitStatusExt as _;

use insta::assert_snapshot;

use crate::pty::Terminal;
use crate::support::TestRepo;

/// A session that could be completed and deleted, an ended one beside it, and checkpoints that the policy does not keep.
fn repo() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["abandon"]);
    repo.ok(&["start", "many"]);
    repo.write(
        "go-team.toml",
        "[retention]\nenabled = false\nkeep_auto = 1\n",
    );
    repo.ok(&["cp-create", "-q", "first"]);
    for nth in 0..3 {
        repo.write("file", format!("{nth}\n"));
        repo.ok(&["cp-create", "-q", "--trigger", "auto"]);
    }
    repo
}

const COMMANDS: [&[&str]; 3] = [
    &["complete", "--delete"],
    &["cleanup", "--older-than", "0"],
    &["cp-prune"],
];

/// Every session, its status and its checkpoints, and the refs that hold them.
fn all(repo: &TestRepo) -> (Vec<String>, String) {
    let listed = repo.ok(&["sessions", "--json"]).json();
    let sessions = listed["data"]["sessions"].as_array().unwrap().iter();
    let told = |one: &serde_json::Value| {
        format!(
            "{} {} {}",
            one["session_id"], one["status"], one["checkpoint_count"]
        )
    };
    (
        sessions.map(told).collect(),
        repo.git(&["for-each-ref", "refs/go-team"]),
    )
}

/// What a terminal shows before the answer, without what depends on the moment.
fn question(repo: &TestRepo, args: &[&str]) -> (Terminal, String) {
    let mut terminal = Terminal::run(repo, args);
    terminal.wait_for("yes");
    let shown = terminal.shown.replace("\r\n", "\n");
    (terminal, shown)
}

#[test]
fn what_is_at_stake_is_said() {
    let repo = repo();
    let shown = COMMANDS.map(|args| question(&repo, args).1);
    assert_snapshot!(shown[0], @r"
    This will be removed for good, with all its checkpoints:
      many-c1b6 (many, active, changed 2025-12-28 21:09:00, 4 checkpoints)
    Nothing can bring it back.
    Type yes to go on:
    ");
    assert_snapshot!(shown[1], @r"
    These sessions will be removed for good, with all their checkpoints:
      auth-system-504f (auth system, 2 checkpoints): abandoned sessions are kept for 0 days; it has not changed for 0 days
    Nothing can bring them back.
    Type yes to go on:
    ");
    assert_snapshot!(shown[2], @r"
    These checkpoints will be removed for good:
      cp-02-checkpoint-20251228-210700 (2, checkpoint): only the last 1 auto are kept
      cp-03-checkpoint-20251228-210800 (3, checkpoint): only the last 1 auto are kept
    2 will be left. Nothing can bring them back.
    Type yes to go on:
    ");
}

#[test]
fn anything_but_yes_changes_nothing() {
    let repo = repo();
    let before = all(&repo);
    for args in COMMANDS {
        for typed in ["y\n", "\n", "no\n", "yes please\n", "\u{4}", "\u{3}"] {
            let (mut terminal, _) = question(&repo, args);
            terminal.type_in(typed);
            let status = terminal.end();
            let shown = &terminal.shown;
            if typed == "\u{3}" {
                let is_interrupted = status.signal() == Some(2) || status.code() == Some(130);
                assert!(is_interrupted, "{args:?}: {status:?}\n{shown}");
            } else {
                assert_eq!(status.code(), Some(5), "{args:?} {typed:?}\n{shown}");
                assert!(shown.contains("cancelled; nothing was changed"), "{shown}");
            }
            assert_eq!(all(&repo), before, "{args:?} {typed:?}");
        }
    }
}

#[test]
fn yes_in_any_case_does_it() {
    for (args, typed, left) in [
        (
            COMMANDS[0],
            "yes\n",
            &[r#""auth-system-504f" "abandoned" 2"#][..],
        ),
        (COMMANDS[1], "YES\n", &[r#""many-" "active" 4"#]),
        (
            COMMANDS[2],
            " Yes \n",
            &[
                r#""auth-system-504f" "abandoned" 2"#,
                r#""many-" "active" 2"#,
            ],
        ),
    ] {
        let repo = repo();
        let (mut terminal, _) = question(&repo, args);
        terminal.type_in(typed);
        assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
        let (mut sessions, refs) = all(&repo);
        sessions.sort();
        let sessions: Vec<String> = sessions
            .into_iter()
            .map(|one| match one.split_once("many-") {
                Some((_, rest)) => format!("\"many-{}", &rest[4..]),
                None => one,
            })
            .collect();
        assert_eq!(sessions, left, "{args:?}");
        let counts = left.iter().map(|one| one[one.len() - 1..].parse::<usize>());
        let count: usize = counts.map(Result::unwrap).sum();
        assert_eq!(refs.lines().count(), count, "{args:?}\n{refs}");
    }
}
