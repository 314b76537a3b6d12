//! Killed at any call, and killed again while that is dealt with: nothing is lost, and nobody has to repair anything.

use nix::errno::Errno;

use super::dice::{Dice, is_complete, thinned};
use super::scene::Scene;
use super::sweep::{Fault, Remedy, Stage, at_each};
use super::tracer::{Point, Verdict};

/// A rollback over two checkpoints, with work that no checkpoint holds.
pub fn rollback() -> Stage {
    Stage::new(Scene::lived_in().repo, &["rollback", "1", "--yes"])
}

/// An undo of that, after more work.
pub fn undo() -> Stage {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    scene.repo.write("src/lib.rs", "work after the rollback\n");
    scene.repo.write("more/work.txt", "more\n");
    scene.repo.git(&["add", "more"]);
    Stage::new(scene.repo, &["undo", "--yes"])
}

/// A redo of the undo.
pub fn redo() -> Stage {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    scene.repo.write("src/lib.rs", "work after the rollback\n");
    scene.undo();
    scene.repo.write("more/work.txt", "more\n");
    Stage::new(scene.repo, &["redo", "--yes"])
}

fn sweep(stage: &Stage, few: usize) {
    let points = thinned(stage.points.len(), few);
    at_each(&stage.name(Fault::Kill), &points, |nth| {
        stage.strike(Fault::Kill, nth).resolve_some(nth);
    });
}

#[test]
fn nasty_02_rollback_is_killed_at_any_call() {
    sweep(&rollback(), 8);
}

#[test]
fn nasty_02_undo_is_killed_at_any_call() {
    sweep(&undo(), 4);
}

#[test]
fn nasty_02_redo_is_killed_at_any_call() {
    sweep(&redo(), 4);
}

/// Interrupts a rollback in mid-work, deals with it, is killed again, and deals with it once more.
fn sweep_remedy(remedy: Remedy, few: usize) {
    let stage = rollback();
    let middle = stage.work_tree_points();
    let last = stage.points.len();
    // In the midst of the files, at the first one, and when all files are done but not yet the rest.
    let firsts = [
        middle[middle.len() / 2],
        middle[0] + 1,
        usize::midpoint(middle[middle.len() - 1], last),
    ];
    let firsts = if is_complete() {
        &firsts[..]
    } else {
        let nth = Dice::new().roll(firsts.len());
        &firsts[nth..=nth]
    };
    for first in firsts.iter().copied() {
        let interrupted = stage.killed_at(first, remedy);
        let points = thinned(interrupted.points.len(), few);
        at_each(&interrupted.name(Fault::Kill), &points, |nth| {
            interrupted.strike(Fault::Kill, nth).resolve(remedy);
        });
    }
}

#[test]
fn nasty_03_continue_is_killed_at_any_call() {
    sweep_remedy(Remedy::Continue, 4);
}

#[test]
fn nasty_03_abort_is_killed_at_any_call() {
    sweep_remedy(Remedy::Abort, 4);
}

#[test]
fn nasty_03_the_next_command_is_killed_at_any_call() {
    sweep_remedy(Remedy::Next, 4);
}

#[test]
fn a_rollback_that_was_continued_can_be_undone() {
    let stage = rollback();
    let middle = stage.work_tree_points();
    let struck = stage.strike(Fault::Kill, middle[middle.len() / 2]);
    struck.repo.ok(&["rollback", "--continue"]);
    struck.repo.ok(&["undo", "--yes"]);
    let now = super::photo::Photo::of(&struck.repo);
    stage.before.assert_same(&now, "undone");
    struck.repo.ok(&["redo", "--yes"]);
    let now = super::photo::Photo::of(&struck.repo);
    stage.after.assert_same(&now, "redone");
}

/// Two rollbacks could be undone; whoever repeats an undo that was killed means the one.
#[test]
fn an_undo_that_is_repeated_after_a_kill_is_done_once() {
    let scene = Scene::lived_in();
    scene.roll_back("2");
    let between = scene.now();
    scene.roll_back("1");
    let stage = Stage::new(scene.repo, &["undo", "--yes"]);
    let middle = stage.work_tree_points();
    let struck = stage.strike(Fault::Kill, middle[middle.len() / 2]);
    let again = struck.repo.run(&["undo", "--yes"]);
    assert_eq!(again.code, Some(4), "{again}");
    assert!(
        again
            .stderr
            .contains("that was interrupted is complete now"),
        "{again}"
    );
    let now = super::photo::Photo::of(&struck.repo);
    between.assert_same(&now, "once");
    // Now it is the other one that is meant.
    struck.repo.ok(&["undo", "--yes"]);
}

#[test]
fn a_rollback_that_was_aborted_can_be_made_again() {
    let stage = rollback();
    let middle = stage.work_tree_points();
    let struck = stage.strike(Fault::Kill, middle[middle.len() / 2]);
    struck.repo.ok(&["rollback", "--abort"]);
    struck.repo.ok(&["rollback", "1", "--yes"]);
    let now = super::photo::Photo::of(&struck.repo);
    stage.after.assert_same(&now, "made again");
}

#[test]
fn work_done_after_a_kill_is_not_lost() {
    let stage = rollback();
    let middle = stage.work_tree_points();
    for remedy in Remedy::ALL {
        let struck = stage.strike(Fault::Kill, middle[middle.len() / 2]);
        struck.repo.write("src/lib.rs", "work after the kill\n");
        struck.repo.write("after.txt", "more of it\n");
        let mut now = super::photo::Photo::of(&struck.repo);
        // What the killed rollback was writing is nobody's work.
        let is_ours = |path: &[u8]| {
            let name = path.rsplit(|byte| *byte == b'/').next();
            name.is_some_and(|name| name.starts_with(b".go-team-tmp-"))
        };
        now.files.retain(|path, _| !is_ours(path));
        let output = struck.repo.run(remedy.args());
        let what = format!("{remedy:?}: {output}");
        let after = super::photo::Photo::of(&struck.repo);
        super::recoverable::assert_recoverable(&struck.repo, &now, &after, &what);
    }
}

/// The point at which the journal of a rollback that is done goes away.
fn last_word(stage: &Stage) -> usize {
    let mut points = stage.points.iter();
    let is_last = |point: &&Point| point.call == "unlink" && point.path.ends_with("rollback.json");
    points.find(is_last).expect("the journal goes").nth
}

#[test]
fn a_rollback_that_is_done_is_not_said_to_be_put_back() {
    let stage = rollback();
    let nth = last_word(&stage);
    let struck = stage.strike(Fault::Kill, nth);
    stage.after.assert_same(&struck.now, "it is done");
    let output = struck.repo.run(&["rollback", "--abort"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("already complete"), "{output}");
    assert!(output.stderr.contains("hint: go-team undo"), "{output}");
    struck.repo.ok(&["undo", "--yes"]);
    let now = super::photo::Photo::of(&struck.repo);
    stage.before.assert_same(&now, "undone");
}

#[test]
fn a_rollback_that_is_done_but_not_closed_says_both() {
    let stage = rollback();
    let nth = last_word(&stage);
    let repo = stage.repo.copy();
    let traced = super::sweep::trace(&repo, &["rollback", "1", "--yes"], |point| {
        if point.nth == nth {
            Verdict::Fail(Errno::EIO)
        } else {
            Verdict::Go
        }
    });
    assert_eq!(traced.code, Some(1), "{traced:#?}");
    assert!(traced.stderr.contains("is done, but"), "{traced:#?}");
    let next = repo.ok(&["cp-create", "next"]);
    assert!(next.stderr.contains("it is complete now"), "{next}");
    let now = super::photo::Photo::of(&repo);
    stage.after.assert_same(&now, "done");
}

#[test]
fn validation_finds_an_interrupted_rollback_and_its_remedies_work() {
    let stage = rollback();
    let points = stage.work_tree_points();
    for remedy in ["--continue", "--abort"] {
        let struck = stage.strike(Fault::Kill, points[points.len() / 2]);
        let found = struck.repo.run(&["cp-validate", "--json"]);
        assert_eq!(found.code, Some(3), "{found}");
        let found = found.json();
        let findings = found["data"]["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{found}");
        assert_eq!(findings[0]["defect"]["kind"], "interrupted", "{found}");
        let hints = found["error"]["hints"].to_string();
        assert!(
            hints.contains(&format!("go-team rollback {remedy}")),
            "{hints}"
        );
        struck.repo.ok(&["rollback", remedy]);
        struck.repo.ok(&["cp-validate", "--deep"]);
    }
}

#[test]
fn every_command_that_reads_tells_of_an_interrupted_rollback() {
    let stage = rollback();
    let points = stage.work_tree_points();
    let struck = stage.strike(Fault::Kill, points[points.len() / 2]);
    for args in [
        &["status"][..],
        &["sessions"],
        &["session-info"],
        &["cp-list"],
        &["cp-show", "1"],
        &["cp-diff", "1", "2"],
        &["cp-diff", "1"],
        &["state", "show"],
        &["state", "get", "topic"],
        &["cp-validate"],
        &["cp-validate", "1"],
        &["cp-export"],
        &["doctor"],
    ] {
        let output = struck.repo.run(args);
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(text.contains("interrupted"), "{args:?}: {output}");
    }
}
