//! `run` on a terminal: whatever the command is, the terminal is the command's.

use std::ffi::OsStr;
use std::fs;

use crate::pty::Terminal;
use crate::support::TestRepo;

fn triggers(repo: &TestRepo) -> Vec<String> {
    let listed = repo.ok(&["cp-list", "--json"]).json();
    let checkpoints = listed["data"]["checkpoints"].as_array().unwrap().clone();
    let triggers = checkpoints
        .iter()
        .map(|each| each["trigger"].as_str().unwrap());
    triggers.map(str::to_owned).collect()
}

#[test]
fn an_interactive_command_has_the_terminal() {
    let repo = TestRepo::with_checkpoints();
    let script = "test -t 0 && test -t 1 && test -t 2 && echo 'all terminals'; \
                  printf 'name: '; read name; stty -echo; printf 'secret: '; read secret; stty echo; \
                  echo; echo \"hello $name, $secret\"";
    let mut terminal = Terminal::run(&repo, &["run", "--step", "3", "--", "sh", "-c", script]);
    terminal.wait_for("name: ");
    assert!(
        terminal.shown.contains("all terminals"),
        "{}",
        terminal.shown
    );
    terminal.type_in("ann\n");
    terminal.wait_for("secret: ");
    terminal.type_in("b\n");
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
    assert!(
        terminal.shown.contains("hello ann, b"),
        "{}",
        terminal.shown
    );
    let before = terminal.shown.find("Previous checkpoint: cp-02").unwrap();
    let after = terminal.shown.find("Checkpoint created: cp-03").unwrap();
    assert!(before < after);
}

#[test]
fn ctrl_c_reaches_the_command_once_and_what_was_done_is_kept() {
    let repo = TestRepo::with_checkpoints();
    let script = "echo half > work; echo ready; exec sleep 30";
    let mut terminal = Terminal::run(&repo, &["run", "--step", "3", "--", "sh", "-c", script]);
    terminal.wait_for("ready");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.end().code(), Some(130), "{}", terminal.shown);
    assert!(
        terminal.shown.contains("was interrupted"),
        "{}",
        terminal.shown
    );
    assert_eq!(triggers(&repo)[2..], ["user_interrupt"]);
    let session = || repo.ok(&["session-info", "--json"]).json()["data"].clone();
    assert_eq!(session()["status"], "interrupted");
    assert_eq!(repo.ok(&["cp-show", "3:work"]).stdout, "half\n");

    // A command that has a use of its own for Ctrl-C gets it once each time, and goes on.
    let script =
        "trap 'echo one >> heard' INT; echo ready; while ! test -e stop; do sleep 0.05; done";
    let mut terminal = Terminal::run(&repo, &["run", "--step", "4", "--", "sh", "-c", script]);
    terminal.wait_for("ready");
    for _ in 0..2 {
        terminal.type_in("\u{3}");
        terminal.wait_for("^C");
    }
    repo.write("stop", "");
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
    assert_eq!(
        fs::read_to_string(repo.path("heard")).unwrap(),
        "one\none\n"
    );
    assert_eq!(triggers(&repo)[3..], ["step_complete"]);
}

#[test]
fn ctrl_c_in_a_test_rolls_nothing_back() {
    let repo = TestRepo::with_checkpoints();
    let args = [
        "run",
        "--guard",
        "echo testing; exec sleep 30",
        "--",
        "sh",
        "-c",
        "echo x > new",
    ];
    let mut terminal = Terminal::run(&repo, &args);
    terminal.wait_for("testing");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.end().code(), Some(130), "{}", terminal.shown);
    assert!(
        terminal.shown.contains("nothing was rolled back"),
        "{}",
        terminal.shown
    );
    assert_eq!(fs::read_to_string(repo.path("new")).unwrap(), "x\n");
    assert_eq!(triggers(&repo)[2..], ["user_interrupt"]);
}

/// A shell with job control, in which `go-team` is what is tested.
fn shell(repo: &TestRepo) -> Terminal {
    let mut terminal = Terminal::start(repo, OsStr::new("sh"), &["-i"], "dumb");
    let program = env!("CARGO_BIN_EXE_go-team");
    terminal.type_in(&format!("PS1='rea''dy> '; go_team={program}\n"));
    terminal.wait_for("ready> ");
    terminal
}

#[test]
fn ctrl_z_stops_both_and_fg_goes_on_with_both() {
    let repo = TestRepo::with_checkpoints();
    let mut terminal = shell(&repo);
    terminal.type_in("$go_team run --step 3 -- sh -c 'echo one; read x; echo two:$x'\n");
    terminal.wait_for("\none");
    terminal.type_in("\u{1a}");
    terminal.wait_for("Stopped");
    terminal.type_in("echo out-of-it\n");
    terminal.wait_for("\nout-of-it");
    terminal.type_in("fg\n");
    terminal.type_in("hello\n");
    terminal.wait_for("two:hello");
    terminal.wait_for("Checkpoint created: cp-03");
    terminal.type_in("exit\n");
    terminal.end();
}

#[test]
fn a_command_that_stops_by_itself_gives_the_shell_back() {
    let repo = TestRepo::with_checkpoints();
    let mut terminal = shell(&repo);
    terminal.type_in("$go_team run --step 3 -- sh -c 'echo one; kill -STOP $$; echo awake'\n");
    terminal.wait_for("\none");
    terminal.wait_for("Stopped");
    terminal.type_in("echo out-of-it\n");
    terminal.wait_for("\nout-of-it");
    assert!(!terminal.shown.contains("\nawake"), "{}", terminal.shown);
    terminal.type_in("fg\n");
    terminal.wait_for("\nawake");
    terminal.wait_for("Checkpoint created: cp-03");
    terminal.type_in("exit\n");
    terminal.end();
}
