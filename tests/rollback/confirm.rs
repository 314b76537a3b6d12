//! The typed confirmation: the word yes, and nothing else, goes on.

use std::os::unix::process::ExitStatusExt as _;

use super::expect::assert_restored;
use super::pty::Terminal;
use super::scene::Scene;

/// What is typed at the prompt of a rollback, with the exit code; nothing may have changed unless it is 0.
fn answer(typed: &str) -> Option<i32> {
    let scene = Scene::lived_in();
    let (before, old) = (scene.now(), scene.ledger());
    let mut terminal = Terminal::run(&scene.repo, &["rollback", "1"]);
    terminal.wait_for("yes");
    terminal.type_in(typed);
    let status = terminal.end();
    let shown = &terminal.shown;
    if status.code() == Some(0) {
        assert_restored(scene.at(1), &before, &scene.now(), shown);
        assert!(shown.contains("go-team undo"), "{shown}");
    } else {
        before.assert_same(&scene.now(), shown);
        assert_eq!(scene.ledger().lines, old.lines, "{shown}");
    }
    if status.signal() == Some(2) {
        return Some(130);
    }
    status.code()
}

#[test]
fn yes_in_any_case_goes_on() {
    for typed in ["yes\n", "YES\n", "Yes\n", " yes \n"] {
        assert_eq!(answer(typed), Some(0), "{typed:?}");
    }
}

#[test]
fn anything_else_cancels() {
    for typed in ["y\n", "\n", "no\n", "yes please\n", "yess\n", "\u{4}"] {
        assert_eq!(answer(typed), Some(5), "{typed:?}");
    }
}

#[test]
fn ctrl_c_interrupts() {
    assert_eq!(answer("\u{3}"), Some(130));
    assert_eq!(answer("ye\u{3}"), Some(130));
}

#[test]
fn the_confirmation_names_what_is_at_stake() {
    let scene = Scene::lived_in();
    let mut terminal = Terminal::run(&scene.repo, &["rollback", "1"]);
    terminal.wait_for("yes");
    let shown = terminal.shown.clone();
    let head = |nth: usize| scene.at(nth).refs["refs/heads/main"][..7].to_owned();
    for named in [
        scene.id(1),
        "src/lib.rs",
        "fresh/work.txt",
        "fourth",
        "third",
        "main",
        "undo",
        &head(1),
        &head(3),
    ] {
        assert!(shown.contains(named), "{named:?} is not named:\n{shown}");
    }
    assert!(shown.to_lowercase().contains("safety"), "{shown}");
}

#[test]
fn undo_and_redo_ask_too() {
    let scene = Scene::lived_in();
    let before = scene.now();
    scene.roll_back("1");
    let after = scene.now();
    for (command, from, to) in [("undo", &after, &before), ("redo", &before, &after)] {
        let mut terminal = Terminal::run(&scene.repo, &[command]);
        terminal.wait_for("yes");
        terminal.type_in("no\n");
        assert_eq!(terminal.end().code(), Some(5), "{}", terminal.shown);
        from.assert_same(&scene.now(), &terminal.shown);
        let mut terminal = Terminal::run(&scene.repo, &[command]);
        terminal.wait_for("yes");
        terminal.type_in("yes\n");
        assert_eq!(terminal.end().code(), Some(0), "{}", terminal.shown);
        to.assert_same(&scene.now(), &terminal.shown);
    }
}

#[test]
fn without_a_terminal_the_flag_is_named() {
    let scene = Scene::lived_in();
    let (before, old) = (scene.now(), scene.ledger());
    for args in [
        &["rollback", "1"][..],
        &["rollback", "1", "--no-input"],
        &["rollback", "1", "--json"],
    ] {
        // What comes through a pipe is no answer of a person's.
        let output = scene.repo.run_with_input(args, "yes\n");
        assert!([Some(5), Some(2)].contains(&output.code), "{output}");
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(said.contains("--yes"), "{output}");
        before.assert_same(&scene.now(), &output);
        assert_eq!(scene.ledger().lines, old.lines);
    }
    scene.roll_back("1");
    let before = scene.now();
    let output = scene.repo.run_with_input(&["undo"], "yes\n");
    assert!([Some(5), Some(2)].contains(&output.code), "{output}");
    assert!(output.stderr.contains("--yes"), "{output}");
    before.assert_same(&scene.now(), &output);
}

#[test]
fn no_input_asks_nothing_on_a_terminal() {
    let scene = Scene::lived_in();
    let before = scene.now();
    let mut terminal = Terminal::run(&scene.repo, &["rollback", "1", "--no-input"]);
    let status = terminal.end();
    assert!(
        [Some(5), Some(2)].contains(&status.code()),
        "{}",
        terminal.shown
    );
    assert!(terminal.shown.contains("--yes"), "{}", terminal.shown);
    before.assert_same(&scene.now(), &terminal.shown);
}

/// Something is changed while the confirmation waits; the answer then is yes.
fn meanwhile(change: impl Fn(&Scene)) {
    let scene = Scene::lived_in();
    let mut terminal = Terminal::run(&scene.repo, &["rollback", "1"]);
    terminal.wait_for("yes");
    change(&scene);
    let (changed, old) = (scene.now(), scene.ledger());
    terminal.type_in("yes\n");
    let status = terminal.end();
    assert!(
        status.code().is_some_and(|code| code != 0),
        "{}",
        terminal.shown
    );
    changed.assert_same(&scene.now(), &terminal.shown);
    assert_eq!(
        scene.ledger().validity(),
        old.validity(),
        "{}",
        terminal.shown
    );
    assert_eq!(scene.ledger().current, old.current, "{}", terminal.shown);
    // What was changed is no obstacle when it is known.
    scene.repo.ok(&["rollback", "1", "--yes"]);
    scene.undo();
    changed.assert_same(&scene.now(), "undone");
}

#[test]
fn nasty_16_a_file_edited_between_confirmation_and_reset() {
    meanwhile(|scene| scene.repo.write("src/lib.rs", "edited meanwhile\n"));
}

#[test]
fn nasty_16_a_new_file_between_confirmation_and_reset() {
    meanwhile(|scene| scene.repo.write("meanwhile.txt", "new\n"));
}

#[test]
fn nasty_16_a_commit_or_staging_between_confirmation_and_reset() {
    meanwhile(|scene| {
        scene
            .repo
            .git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    });
    meanwhile(|scene| _ = scene.repo.git(&["add", "fresh/work.txt"]));
    meanwhile(|scene| _ = scene.repo.git(&["checkout", "-q", "--detach"]));
}

#[test]
fn a_checkpoint_made_between_confirmation_and_reset_is_not_passed_over() {
    let scene = Scene::lived_in();
    let before = scene.now();
    let mut terminal = Terminal::run(&scene.repo, &["rollback", "1"]);
    terminal.wait_for("yes");
    let made = scene.repo.ok(&["cp-create", "--quiet", "meanwhile"]).stdout;
    let old = scene.ledger();
    terminal.type_in("yes\n");
    if terminal.end().code() == Some(0) {
        assert_restored(scene.at(1), &before, &scene.now(), &terminal.shown);
        let ledger = scene.ledger();
        assert!(!ledger.line(made.trim_end()).is_valid, "{ledger:#?}");
        assert_eq!(ledger.rollbacks[0]["from_checkpoint"], made.trim_end());
    } else {
        before.assert_same(&scene.now(), &terminal.shown);
        assert_eq!(scene.ledger().validity(), old.validity());
    }
}

#[test]
fn deleting_asks_in_the_same_way() {
    for (typed, code) in [
        ("yes\n", 0),
        ("YES\n", 0),
        ("y\n", 5),
        ("\n", 5),
        ("\u{4}", 5),
    ] {
        let scene = Scene::lived_in();
        let before = scene.now();
        let count = scene.ledger().lines.len();
        let mut terminal = Terminal::run(&scene.repo, &["cp-delete", "1"]);
        terminal.wait_for("yes");
        terminal.type_in(typed);
        let status = terminal.end();
        let shown = &terminal.shown;
        assert_eq!(status.code(), Some(code), "{typed:?}: {shown}");
        assert!(shown.contains(scene.id(1)), "{shown}");
        let left = scene.ledger().lines.len();
        assert_eq!(left, count - usize::from(code == 0), "{typed:?}: {shown}");
        before.assert_same(&scene.now(), "the work tree has no part in it");
    }
}
