//! The question on a terminal: letters, words, wrong answers, the end of input, Ctrl-C, little room.

use std::os::unix::process::ExitStatusExt as _;

use crate::pty::Terminal;
use crate::support::TestRepo;

const QUESTION: &str = "(r)esume (s)tart fresh (v)iew details (d)elete: ";

fn asked(repo: &TestRepo) -> Terminal {
    let mut terminal = Terminal::run(repo, &["resume"]);
    terminal.wait_for(QUESTION);
    terminal
}

/// Each session with its status.
fn sessions(repo: &TestRepo) -> Vec<(String, String)> {
    let listed = repo.ok(&["sessions", "--json"]).json();
    let sessions = listed["data"]["sessions"].as_array().unwrap();
    let mut all: Vec<(String, String)> = sessions
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap().to_owned();
            (text("session_id"), text("status"))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn what_is_asked() {
    let repo = TestRepo::with_checkpoints();
    repo.write("new.go", "package main\n");
    let mut terminal = asked(&repo);
    let shown = terminal.shown.replace("\r\n", "\n");
    insta::assert_snapshot!(shown, @r#"
    Found existing checkpoint for "auth system"
    Created:     2025-12-28 21:03:00 (cp-02-requirements-20251228-210300)
    Progress:    step 2 of 9, next is step 3 - architecture
    Verdict:     proceed with warning
                 1 file changed since (1 created, 0 modified, 0 deleted)
    (r)esume (s)tart fresh (v)iew details (d)elete:
    "#);
    terminal.type_in("r\n");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(
        terminal.shown.contains("Resumed: auth-system-504f"),
        "{}",
        terminal.shown
    );
}

#[test]
fn letters_and_words_in_any_case_take_it_up() {
    let repo = TestRepo::with_checkpoints();
    for answer in ["r\n", "R\n", "resume\n", "  ReSuMe \n"] {
        let mut terminal = asked(&repo);
        terminal.type_in(answer);
        assert_eq!(terminal.end().code(), Some(0), "{answer:?}");
        assert!(terminal.shown.contains("Resumed: "), "{answer:?}");
    }
}

#[test]
fn letters_and_words_start_fresh() {
    for answer in ["s\n", "Start\n", "START FRESH\n", "fresh\n"] {
        let repo = TestRepo::with_checkpoints();
        let mut terminal = asked(&repo);
        terminal.type_in(answer);
        assert_eq!(terminal.end().code(), Some(0), "{answer:?}");
        assert!(
            terminal
                .shown
                .contains("Back to it: go-team resume auth-system-504f --resume")
        );
        let found = sessions(&repo);
        assert_eq!(found.len(), 2, "{answer:?}");
        assert!(found.contains(&("auth-system-504f".to_owned(), "abandoned".to_owned())));
    }
}

#[test]
fn details_and_wrong_answers_ask_again() {
    let repo = TestRepo::with_checkpoints();
    let before = sessions(&repo);
    let mut terminal = asked(&repo);
    for (nth, answer) in ["x\n", "\n", "yes\n", "rr\n"].into_iter().enumerate() {
        terminal.type_in(answer);
        terminal.wait_for("Please type one of the letters");
        let times = terminal.shown.matches("Please type one").count();
        assert_eq!(times, nth + 1, "{}", terminal.shown);
    }
    for answer in ["v\n", "View Details\n"] {
        terminal.shown.clear();
        terminal.type_in(answer);
        terminal.wait_for(QUESTION);
        assert!(
            terminal
                .shown
                .contains("RESUME - Session: auth-system-504f"),
            "{}",
            terminal.shown
        );
    }
    // The end of input changes nothing.
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end().code(), Some(5));
    assert!(
        terminal.shown.contains("nothing was changed"),
        "{}",
        terminal.shown
    );
    assert_eq!(sessions(&repo), before);
}

#[test]
fn deleting_wants_a_typed_yes() {
    let repo = TestRepo::with_checkpoints();
    for answer in ["y\n", "\n", "\u{4}"] {
        let mut terminal = asked(&repo);
        terminal.type_in("d\n");
        terminal.wait_for("Type yes to go on: ");
        terminal.type_in(answer);
        assert_eq!(terminal.end().code(), Some(5), "{answer:?}");
        assert_eq!(sessions(&repo).len(), 1);
    }
    let mut terminal = asked(&repo);
    terminal.type_in("DELETE\n");
    terminal.wait_for("Type yes to go on: ");
    terminal.type_in("Yes\n");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(
        terminal.shown.contains("Deleted session auth-system-504f"),
        "{}",
        terminal.shown
    );
    assert_eq!(sessions(&repo), []);
    assert_eq!(repo.git(&["for-each-ref", "refs/go-team/"]), "");
}

#[test]
fn an_interruption_changes_nothing() {
    let repo = TestRepo::with_checkpoints();
    let before = sessions(&repo);
    let mut terminal = asked(&repo);
    terminal.type_in("\u{3}");
    let status = terminal.end();
    assert!(
        status.signal() == Some(2) || status.code() == Some(130),
        "{status:?}"
    );
    assert_eq!(sessions(&repo), before);
}

#[test]
fn a_narrow_terminal_has_room_for_everything() {
    let repo = TestRepo::with_checkpoints();
    repo.write("a-file-with-quite-a-long-name-that-has-no-room.go", "x");
    repo.git(&["checkout", "-q", "-b", "other"]);
    let mut terminal = Terminal::run_in(&repo, &["resume"], 30);
    terminal.wait_for("(d)elete: ");
    let too_long = terminal.shown.lines().find(|line| {
        let is_one_word = line.trim().split(' ').count() <= 1;
        line.trim_end().chars().count() > 30 && !is_one_word
    });
    // What was found is told before it by a sentence of the design.
    assert!(
        too_long.is_none_or(|line| line.starts_with("Found existing")),
        "{}",
        terminal.shown
    );
    terminal.type_in("r\n");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn what_cannot_be_taken_up_is_not_offered() {
    let repo = TestRepo::with_checkpoints();
    std::fs::write(
        repo.session_dir()
            .join("cp-02-requirements-20251228-210300.json"),
        "{",
    )
    .unwrap();
    let mut terminal = Terminal::run(&repo, &["resume"]);
    terminal.wait_for("(s)tart fresh (v)iew details (d)elete: ");
    assert!(!terminal.shown.contains("(r)esume"), "{}", terminal.shown);
    terminal.type_in("r\n");
    terminal.wait_for("go-team cp-rebuild cp-02");
    terminal.type_in("s\n");
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(sessions(&repo).len(), 2);
}
