//! Undo and redo: every rollback can be taken back, and that too.

use super::expect::assert_restored;
use super::photo::Photo;
use super::scene::{Scene, assert_refused};

#[test]
fn undo_brings_back_everything_and_redo_takes_it_away_again() {
    let scene = Scene::lived_in();
    let (before, old) = (scene.now(), scene.ledger());
    scene.roll_back("1");
    let (after, new) = (scene.now(), scene.ledger());
    scene.undo();
    before.assert_same(&scene.now(), "undone");
    let ledger = scene.ledger();
    assert_eq!(ledger.validity(), old.validity());
    assert!(
        ledger
            .lines
            .iter()
            .all(|line| line.is_safety || line.invalidated_by.is_none())
    );
    assert_eq!(ledger.standing(), old.standing());
    assert!(
        ledger.rollbacks[0]["undone_at"].is_string(),
        "{:?}",
        ledger.rollbacks
    );
    scene.redo();
    after.assert_same(&scene.now(), "redone");
    assert_eq!(scene.ledger().validity(), new.validity());
    assert_eq!(scene.ledger().standing(), new.standing());
    scene.undo();
    before.assert_same(&scene.now(), "undone again");
}

#[test]
fn several_rollbacks_are_undone_one_by_one() {
    let scene = Scene::lived_in();
    let mut moments: Vec<Photo> = vec![scene.now()];
    for target in ["3", "2", "1"] {
        scene.roll_back(scene.id(target.parse().unwrap()));
        moments.push(scene.now());
    }
    let last = moments.len() - 1;
    for nth in (0..last).rev() {
        scene.undo();
        moments[nth].assert_same(&scene.now(), format!("undo to {nth}"));
    }
    assert_refused(&scene.repo, &["undo", "--yes"]);
    for (nth, moment) in moments.iter().enumerate().skip(1) {
        scene.redo();
        moment.assert_same(&scene.now(), format!("redo to {nth}"));
    }
    assert_refused(&scene.repo, &["redo", "--yes"]);
}

#[test]
fn work_done_after_a_rollback_survives_its_undo() {
    let scene = Scene::lived_in();
    let before = scene.now();
    scene.roll_back("1");
    scene.repo.write("new/idea.txt", "a new idea\n");
    scene.repo.git(&["add", "new"]);
    scene.repo.git(&["commit", "-q", "-m", "a new idea"]);
    scene.repo.write("src/lib.rs", "rewritten\n");
    let idea = scene.now();
    scene.undo();
    before.assert_same(&scene.now(), "undone");
    scene.redo();
    idea.assert_same(&scene.now(), "the idea is back");
}

#[test]
fn a_checkpoint_made_after_a_rollback_survives_its_undo() {
    let mut scene = Scene::lived_in();
    let before = scene.now();
    scene.roll_back("1");
    scene.repo.write("new/idea.txt", "a new idea\n");
    let idea = scene.take();
    scene.undo();
    before.assert_same(&scene.now(), "undone");
    let shown = scene.repo.ok(&["cp-show", &idea, "--json"]).json();
    assert_eq!(shown["data"]["record"]["id"], *idea);
    let before = scene.now();
    let output = scene.repo.run(&["rollback", &idea, "--yes", "--force"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_restored(scene.at(4), &before, &scene.now(), &output);
}

#[test]
fn a_branch_that_was_moved_while_another_was_checked_out_comes_back() {
    let mut scene = Scene::new();
    let repo = &scene.repo;
    repo.write("file", "one\n");
    scene.take();
    let repo = &scene.repo;
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "only on main"]);
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("file", "two\n");
    repo.git(&["commit", "-q", "-a", "-m", "only on side"]);
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "to main");
    scene.undo();
    before.assert_same(&scene.now(), "both branches are back");
}

#[test]
fn a_branch_that_is_gone_comes_back_and_goes_again() {
    let mut scene = Scene::new();
    scene.repo.git(&["checkout", "-q", "-b", "topic/x"]);
    scene.repo.write("file", "one\n");
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "on the topic"]);
    scene.take();
    scene.repo.git(&["checkout", "-q", "main"]);
    scene.repo.git(&["branch", "-q", "-D", "topic/x"]);
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "the branch is back");
    scene.undo();
    before.assert_same(&scene.now(), "and gone");
}

#[test]
fn a_branch_whose_name_is_taken_by_a_directory_of_branches() {
    let mut scene = Scene::new();
    scene.repo.git(&["checkout", "-q", "-b", "x"]);
    scene.take();
    scene.repo.git(&["checkout", "-q", "main"]);
    scene.repo.git(&["branch", "-q", "-D", "x"]);
    scene.repo.git(&["branch", "x/y"]);
    // There is no way to have both: exact, or refused with the reason.
    let before = scene.now();
    let output = scene.repo.run(&["rollback", "1", "--yes"]);
    assert_ne!(output.code, Some(0), "{output}");
    before.assert_same(&scene.now(), &output);
    assert!(
        output.stderr.contains("refs/heads/x") || output.stderr.contains("branch x"),
        "{output}"
    );
    assert_refused(&scene.repo, &["rollback", "1", "--yes"]);
}

#[test]
fn nothing_to_undo_or_redo_is_said() {
    let scene = Scene::lived_in();
    for command in ["undo", "redo"] {
        let output = assert_refused(&scene.repo, &[command, "--yes"]);
        assert!(output.stderr.contains("nothing to"), "{output}");
    }
    scene.roll_back("1");
    assert_refused(&scene.repo, &["redo", "--yes"]);
}

#[test]
fn retention_keeps_what_undo_needs() {
    let scene = Scene::lived_in();
    scene.repo.ok(&["state", "set", "x=1"]);
    let few = [("GO_TEAM_RETENTION_KEEP_SAFETY", "1")];
    let before = scene.now();
    let run = |args: &[&str]| {
        let output = scene.repo.run_env(&few, args);
        assert_eq!(output.code, Some(0), "{output}");
    };
    run(&["rollback", "2", "--yes"]);
    let middle = scene.now();
    run(&["rollback", "1", "--yes"]);
    run(&["cp-create", "--trigger", "auto"]);
    run(&["undo", "--yes"]);
    middle.assert_same(&scene.now(), "the last one");
    // The one before may have been given up for the limit, but then that is said and nothing is changed.
    let output = scene.repo.run_env(&few, &["undo", "--yes"]);
    if output.code == Some(0) {
        before.assert_same(&scene.now(), "the one before");
    } else {
        middle.assert_same(&scene.now(), &output);
    }
}
