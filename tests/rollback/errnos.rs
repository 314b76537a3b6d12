//! Calls that fail: an error is said, never a false success, and the next command goes on.

use nix::errno::Errno;
use nix::sys::signal::Signal;

use super::dice::thinned;
use super::kills::{redo, rollback, undo};
use super::photo::Photo;
use super::sweep::{Fault, Remedy, Stage, at_each};

fn sweep(stage: &Stage, fault: Fault, few: usize) {
    let points = thinned(stage.points.len(), few);
    at_each(&stage.name(fault), &points, |nth| {
        stage.strike(fault, nth).resolve_some(nth);
    });
}

#[test]
fn nasty_06_an_input_output_error_at_any_call_of_a_rollback() {
    sweep(&rollback(), Fault::Fail(Errno::EIO), 6);
}

#[test]
fn nasty_06_no_space_or_quota_at_any_call_of_a_rollback() {
    let stage = rollback();
    sweep(&stage, Fault::Fail(Errno::ENOSPC), 3);
    sweep(&stage, Fault::Fail(Errno::EDQUOT), 2);
}

#[test]
fn nasty_06_an_error_at_any_call_of_an_undo_or_a_redo() {
    sweep(&undo(), Fault::Fail(Errno::EIO), 3);
    sweep(&redo(), Fault::Fail(Errno::ENOSPC), 3);
}

#[test]
fn nasty_06_an_error_while_an_interruption_is_dealt_with() {
    let stage = rollback();
    let middle = stage.work_tree_points();
    for remedy in Remedy::ALL {
        let interrupted = stage.killed_at(middle[middle.len() / 2], remedy);
        let points = thinned(interrupted.points.len(), 2);
        let fault = Fault::Fail(Errno::EIO);
        at_each(&interrupted.name(fault), &points, |nth| {
            interrupted.strike(fault, nth).resolve(remedy);
        });
    }
}

#[test]
fn nasty_07_a_disk_that_is_full_for_good_refuses_before_the_first_deletion() {
    let stage = rollback();
    let struck = stage.strike(Fault::FailFrom(Errno::ENOSPC), 1);
    stage.before.assert_same(&struck.now, "nothing changed");
    let undo = undo();
    let struck = undo.strike(Fault::FailFrom(Errno::ENOSPC), 1);
    undo.before.assert_same(&struck.now, "nothing changed");
}

#[test]
fn nasty_07_a_disk_that_fills_up_at_any_call_loses_nothing() {
    // When it is dealt with, there is room again.
    sweep(&rollback(), Fault::FailFrom(Errno::ENOSPC), 4);
}

#[test]
fn nasty_11_interrupt_and_terminate_finish_or_undo_it_and_say_which() {
    let stage = rollback();
    for (signal, few) in [
        (Signal::SIGINT, 3),
        (Signal::SIGTERM, 2),
        (Signal::SIGHUP, 1),
    ] {
        let points = thinned(stage.points.len(), few);
        let fault = Fault::Signal(signal);
        at_each(&stage.name(fault), &points, |nth| {
            stage.strike(fault, nth).resolve(Remedy::Next);
        });
    }
    // In mid-work it is said.
    let middle = stage.work_tree_points();
    let nth = middle[middle.len() / 2];
    let repo = stage.repo.copy();
    let traced = super::sweep::trace(&repo, &["rollback", "1", "--yes"], |point| {
        if point.nth == nth {
            super::tracer::Verdict::Send(Signal::SIGINT)
        } else {
            super::tracer::Verdict::Go
        }
    });
    let now = Photo::of(&repo);
    let is_finished = stage.after.differences(&now).is_empty();
    if is_finished {
        assert!([Some(0), Some(130)].contains(&traced.code), "{traced:#?}");
    } else {
        stage.before.assert_same(&now, &traced.stderr);
        assert_eq!(traced.code, Some(130), "{traced:#?}");
    }
    let text = format!("{}{}", traced.stdout, traced.stderr).to_lowercase();
    assert!(text.contains("interrupt"), "{traced:#?}");
}
