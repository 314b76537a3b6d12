//! `observe`: star commands as arguments, as lines, and at a prompt.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::Value;

use crate::pty::Terminal;
use crate::support::TestRepo;

#[test]
fn a_star_command_is_the_command_it_stands_for() {
    let repo = TestRepo::with_checkpoints();
    repo.write("main.go", "package other\n");
    for (star, words) in [
        ("*checkpoints", &["cp-list"][..]),
        ("*cp-list", &["cp-list"]),
        ("*cp-show:2", &["cp-show", "2"]),
        ("*cp-show:1:main.go", &["cp-show", "1:main.go"]),
        ("*cp-diff:1", &["cp-diff", "1"]),
        ("*cp-diff:1:requirements", &["cp-diff", "1", "requirements"]),
        ("*CP-Diff 1 2", &["cp-diff", "1", "2"]),
        ("*cp-validate", &["cp-validate"]),
        ("*cp-validate:1", &["cp-validate", "1"]),
        ("*sessions", &["sessions"]),
        ("*session-info", &["session-info"]),
        ("*status", &["status"]),
        ("*cp-rebuild:2", &["cp-rebuild", "2"]),
        ("*cp-show:7", &["cp-show", "7"]),
        ("*undo", &["undo", "--yes"]),
    ] {
        let asked = repo.run(&["observe", "--yes", star]);
        let meant = repo.run(words);
        assert_eq!(asked, meant, "{star}");
        assert_ne!(asked.stdout.len() + asked.stderr.len(), 0, "{star}");
        let mut words = words.to_vec();
        words.push("--json");
        let asked = repo.run(&["observe", "--yes", "--json", star]);
        assert_eq!(asked.json(), repo.run(&words).json(), "{star}");
    }
    let exported = repo.run(&["observe", "*cp-export", "--json"]).json();
    assert_eq!(exported["command"], "cp-export");
    assert_snapshot!(repo.run(&["observe", "*help"]), @r"
    exit: 0
    --- stdout
      *checkpoints        lists the checkpoints
      *cp-list            the same
      *cp-show:N          shows everything about one
      *cp-diff:A[:B]      shows what happened between two, or since one
      *rollback:N         goes back to one, after a typed yes
      *undo               reverses the last rollback, after a typed yes
      *redo               reverses the last undo, after a typed yes
      *cp-validate[:N]    checks whether they can be relied on
      *cp-export          writes the session to one file
      *cp-rebuild:N       makes a damaged record anew
      *sessions           lists the sessions
      *session-info[:ID]  shows everything about a session
      *resume[:ID]        takes a session up again
      *abandon:ID         gives a session up
      *cleanup            puts away what is old
      *status             shows where you are
      *help               lists these
      *quit               leaves
      *exit               the same
    N, A and B are checkpoints as cp-list numbers them, a step's name, an id, latest or current.
    --- stderr
    ---
    ");
}

/// What it says of each session.
fn statuses(repo: &TestRepo) -> Vec<String> {
    let listed = repo.ok(&["sessions", "--json"]).json();
    let sessions = listed["data"]["sessions"].as_array().unwrap().iter();
    let mut told: Vec<String> = sessions
        .map(|one| format!("{} {}", one["topic"], one["status"]))
        .collect();
    told.sort();
    told
}

#[test]
fn a_session_is_taken_up_given_up_and_put_away() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["cp-create", "-q", "--trigger", "user_interrupt"]);
    // Nobody is there to choose: everything is shown, and the ways on are named.
    let told = repo.run(&["observe", "*resume"]);
    assert_eq!(told.code, Some(5), "{told}");
    assert_snapshot!(told.stderr, @r"
    error: session auth-system-504f is there to be taken up (resume), and there is nobody to ask
    hint: go-team observe --yes '*resume' takes it up
    hint: go-team resume auth-system-504f --resume takes it up
    hint: go-team resume auth-system-504f --fresh puts it away and begins another one
    hint: go-team resume auth-system-504f --view shows everything about it
    hint: go-team resume auth-system-504f --delete --yes deletes it for good
    ");
    assert_eq!(statuses(&repo), [r#""auth system" "interrupted""#]);
    repo.ok(&["observe", "--yes", "*resume"]);
    assert_eq!(statuses(&repo), [r#""auth system" "active""#]);

    repo.ok(&["start", "other"]);
    repo.ok(&["observe", "*abandon:auth-system-504f"]);
    let given_up = [r#""auth system" "abandoned""#, r#""other" "active""#];
    assert_eq!(statuses(&repo), given_up);
    assert_eq!(repo.run(&["observe", "*abandon:nobody-0000"]).code, Some(4));
    repo.ok(&["observe", "--yes", "*resume:auth-system-504f"]);
    let taken_up = [r#""auth system" "active""#, r#""other" "active""#];
    assert_eq!(statuses(&repo), taken_up);

    repo.ok(&["observe", "*abandon auth-system-504f"]);
    repo.ok(&["observe", "*cleanup"]);
    assert_eq!(statuses(&repo), given_up, "it is not old enough");
    let later = [("GO_TEAM_TEST_NOW", "2026-03-01T00:00:00Z")];
    assert_snapshot!(repo.run_env(&later, &["observe", "*cleanup"]), @r"
    exit: 5
    --- stdout
    --- stderr
    error: cleanup has to be confirmed, and there is nobody to ask
    hint: go-team observe --yes '*cleanup' says it beforehand
    ---
    ");
    assert_eq!(statuses(&repo), given_up);
    let cleaned = repo.run_env(&later, &["observe", "--yes", "*cleanup"]);
    assert_eq!(cleaned.code, Some(0), "{cleaned}");
    assert_eq!(statuses(&repo), [r#""other" "active""#]);
}

#[test]
fn what_becomes_of_a_session_is_asked_on_a_terminal() {
    let repo = TestRepo::with_checkpoints();
    let mut terminal = Terminal::run(&repo, &["observe", "*resume"]);
    terminal.wait_for("(d)elete: ");
    terminal.type_in("s\n");
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
    let fresh = [r#""auth system" "abandoned""#, r#""auth system" "active""#];
    assert_eq!(statuses(&repo), fresh);
}

#[test]
fn rolling_back_wants_a_yes() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["observe", "*rollback:1"]), @r"
    exit: 5
    --- stdout
    --- stderr
    error: rollback changes your files and needs your yes
    hint: go-team observe --yes '*rollback:1' says it beforehand
    ---
    ");
    assert_snapshot!(repo.run(&["observe", "*rollback:1", "--yes"]), @r"
    exit: 0
    --- stdout
    ✓ Rolled back to cp-01-init-20251228-210200
      Files: 1 written, 1 deleted
      HEAD: stays: main at af432a220c
      Checkpoints: 1 invalidated
      Safety checkpoint: cp-02-safety-20251228-210500
      Next: step 2
    Commands:
      go-team undo   go-team status   go-team cp-list
    --- stderr
    ---
    ");
    assert!(!repo.path("docs/spec.md").exists());
    assert_eq!(repo.run(&["observe", "*undo", "-y"]).code, Some(0));
    assert!(repo.path("docs/spec.md").exists());
}

#[test]
fn lines_are_done_one_after_the_other_and_a_failure_stops_nothing() {
    let repo = TestRepo::with_checkpoints();
    let lines = "*cp-show:9\n\n# a remark\n*rollback:1\r\n  *rolback:1\n*sessions\nplease go on\n";
    assert_snapshot!(repo.run_with_input(&["observe"], lines), @r#"
    exit: 4
    --- stdout
    ┌──────────────────┬─────────────┬──────────┬─────────────┬─────────────────────┬──────────┐
    │ Session          │ Topic       │ Workflow │ Progress    │ Changed             │ Status   │
    ├──────────────────┼─────────────┼──────────┼─────────────┼─────────────────────┼──────────┤
    │ auth-system-504f │ auth system │ go-team  │ step 2 of 9 │ 2025-12-28 21:03:00 │ ← active │
    └──────────────────┴─────────────┴──────────┴─────────────┴─────────────────────┴──────────┘
    --- stderr
    error: line 1: no checkpoint is meant by 9
    hint: there is: 2 (cp-02-requirements-20251228-210300), 1 (cp-01-init-20251228-210200)
    hint: go-team cp-list
    error: line 4: rollback changes your files and needs your yes
    hint: go-team observe --yes '*rollback:1' says it beforehand
    error: line 5: there is no star command *rolback
    hint: did you mean *rollback:N?
    hint: *help lists the star commands
    error: line 7: a star command begins with *, and "please go on" does not
    hint: *help lists the star commands
    4 of 5 star commands failed
    ---
    "#);
    let output = repo.run_with_input(
        &["observe", "--json", "--yes"],
        "*cp-show:9\n*rollback:1\n*nothing\n*undo",
    );
    assert_eq!((output.code, &*output.stderr), (Some(4), ""));
    let answers: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let shapes = answers.iter().map(|answer| {
        format!(
            "{} {} {}",
            answer["ok"], answer["command"], answer["error"]["kind"]
        )
    });
    assert_eq!(
        shapes.collect::<Vec<_>>(),
        [
            r#"false "cp-show" "unknown-checkpoint""#,
            r#"true "rollback" null"#,
            r#"false "observe" "star-command""#,
            r#"true "undo" null"#,
        ]
    );
    // Nobody is asked, and no line is taken for an answer.
    let output = repo.run_with_input(&["observe"], "*rollback:1\nyes\n");
    assert_eq!(output.code, Some(5), "{output}");
    assert!(repo.path("docs/spec.md").exists());
    // *quit ends it; nothing at all is no failure.
    let output = repo.run_with_input(&["observe"], "*quit\n*cp-show:9\n");
    assert_eq!((output.code, &*output.stderr), (Some(0), ""));
    assert_eq!(repo.run_with_input(&["observe"], "").code, Some(0));
}

#[test]
fn several_arguments_are_as_several_lines() {
    let repo = TestRepo::with_checkpoints();
    let output = repo.run(&[
        "observe",
        "*cp-show:1:main.go",
        "*cp-show:9",
        "*cp-show:2:main.go",
    ]);
    assert_snapshot!(output, @r"
    exit: 4
    --- stdout
    package main
    package main

    func main() {}
    --- stderr
    error: no checkpoint is meant by 9
    hint: there is: 2 (cp-02-requirements-20251228-210300), 1 (cp-01-init-20251228-210200)
    hint: go-team cp-list
    1 of 3 star commands failed
    ---
    ");
}

#[test]
fn what_is_wrong_is_said_and_hostile_text_is_harmless() {
    let repo = TestRepo::with_checkpoints();
    for (star, code) in [
        ("rollback:1", 2),
        ("*rollback", 2),
        ("*rollback:--force", 2),
        ("*rollback:1:2", 2),
        ("*cp-diff:-p", 2),
        ("*abandon:../../x", 2),
        ("*\u{1b}[31m\u{202e}", 2),
        ("*rollback:\u{1b}[2J", 4),
        ("*cp-show:\u{7}", 4),
        ("*run:sh", 2),
        ("*cp-create", 2),
        ("", 2),
        ("*", 2),
    ] {
        let output = repo.run(&["observe", star, "--yes"]);
        assert_eq!(output.code, Some(code), "{star:?} {output}");
        assert!(output.stderr.starts_with("error: "), "{star:?} {output}");
        assert!(output.stderr.contains("\nhint: "), "{star:?} {output}");
        let is_plain =
            |letter: char| letter == '\n' || !letter.is_control() && letter != '\u{202e}';
        assert!(output.stderr.chars().all(is_plain), "{star:?} {output}");
    }
    assert_snapshot!(repo.run(&["observe", "*rolback:2"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: there is no star command *rolback
    hint: did you mean *rollback:N?
    hint: *help lists the star commands
    ---
    ");
    let bytes = OsStr::from_bytes(b"*rollback:\xff");
    assert_eq!(repo.run(&[OsStr::new("observe"), bytes]).code, Some(2));
    let long = format!("*rollback:{}\n*cp-show:1:main.go\n", "9".repeat(1 << 20));
    let output = repo.run_with_input(&["observe"], &long);
    assert_eq!(output.code, Some(2));
    assert_eq!(output.stdout, "package main\n");
    assert!(output.stderr.len() < 500, "{output}");
    assert_eq!(
        TestRepo::without_git().run(&["observe", "*cp-list"]).code,
        Some(7)
    );
}

#[test]
fn a_terminal_gets_a_prompt() {
    let repo = TestRepo::with_checkpoints();
    let mut terminal = Terminal::run(&repo, &["observe"]);
    terminal.wait_for("observe> ");
    terminal.type_in("*rolback:1\n");
    terminal.wait_for("did you mean *rollback:N?");
    terminal.type_in("*rollback:1\n");
    terminal.wait_for("Type 'yes' to go on: ");
    terminal.type_in("no\n");
    terminal.wait_for("cancelled");
    assert!(repo.path("docs/spec.md").exists());
    terminal.type_in("*rollback:1\n");
    terminal.wait_for("Type 'yes' to go on: ");
    terminal.type_in("yes\n");
    terminal.wait_for("Rolled back to cp-01");
    assert!(!repo.path("docs/spec.md").exists());
    terminal.type_in("*help\n");
    terminal.wait_for("*session-info[:ID]");
    // Ctrl-C while something is asked ends that alone.
    terminal.shown.clear();
    terminal.type_in("*undo\n");
    terminal.wait_for("Type 'yes' to go on: ");
    terminal.type_in("\u{3}");
    terminal.wait_for("observe> ");
    terminal.type_in("*quit\n");
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
    assert!(!repo.path("docs/spec.md").exists());
    let history = repo.store().join("observe-history");
    let mode = fs::metadata(&history).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let typed = fs::read_to_string(&history).unwrap();
    assert_eq!(
        typed,
        "*rolback:1\n*rollback:1\n*rollback:1\n*help\n*undo\n*quit\n"
    );
}

#[test]
fn the_prompt_edits_completes_and_remembers() {
    let repo = TestRepo::with_checkpoints();
    let program = OsStr::new(env!("CARGO_BIN_EXE_go-team"));
    let mut terminal = Terminal::start(&repo, program, &["observe"], "xterm");
    terminal.wait_for("observe> ");
    // A name and a checkpoint completed: *cp-rebuild:1 is *cp-r, Tab, 1.
    terminal.type_in("*cp-r\t");
    terminal.wait_for("*cp-rebuild:");
    terminal.type_in("cp-01\t");
    terminal.wait_for("cp-01-init-20251228-210200");
    // Ctrl-C gives the line up.
    terminal.shown.clear();
    terminal.type_in("\u{3}");
    terminal.wait_for("observe> ");
    terminal.type_in("*cp-show:1:main.go\n");
    terminal.wait_for("package main");
    assert!(!terminal.shown.contains("error"), "{}", terminal.shown);
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
    // The arrow up brings back what was typed before, in another process.
    let mut terminal = Terminal::start(&repo, program, &["observe"], "xterm");
    terminal.wait_for("observe> ");
    terminal.type_in("\u{1b}[A");
    terminal.wait_for("*cp-show:1:main.go");
    terminal.type_in("\n");
    terminal.wait_for("package main");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
}

#[test]
fn without_a_question_there_is_no_prompt() {
    let repo = TestRepo::with_checkpoints();
    for option in ["--no-input", "--json"] {
        let mut terminal = Terminal::run(&repo, &["observe", option]);
        assert_eq!(terminal.end().code(), Some(2), "{}", terminal.shown);
        assert!(terminal.shown.contains("*cp-list"), "{}", terminal.shown);
    }
}
