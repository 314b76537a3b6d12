//! Where each workflow goes on.

use super::*;
use crate::model::workflow::find;

/// `at` is the step of the checkpoint and its trigger; the record holds `recorded`, the session `live`.
fn at(workflow: &str, at: Option<(u32, Trigger)>, recorded: &str, live: &str) -> Point {
    let workflow = find(workflow, &[]).unwrap();
    let recorded = State::parse(recorded.as_bytes()).unwrap();
    let live = State::parse(live.as_bytes()).unwrap();
    let from = at.map(|(step, trigger)| From {
        step,
        name: workflow.step_name(step).unwrap_or("checkpoint"),
        phase: "p",
        trigger,
        state: Some(&recorded),
    });
    point(Some(workflow), from, &live)
}

/// The action and the step by name, or by number where it has none.
fn short(point: &Point) -> (Action, String) {
    let number = point.step.map(|step| step.to_string());
    let place = point.stage.clone().or(number);
    (point.action, place.unwrap_or_default())
}

/// The same with the state that the checkpoint recorded.
fn go(workflow: &str, step: u32, trigger: Trigger, state: &str) -> (Action, String) {
    short(&at(workflow, Some((step, trigger)), state, state))
}

#[test]
fn a_step_that_is_done_is_followed_by_the_next_and_one_that_is_not_by_itself() {
    for trigger in Trigger::ALL {
        let expected = if trigger.is_within_a_step() {
            (Action::CarryOn, "architecture".to_owned())
        } else {
            (Action::NextStep, "implementation".to_owned())
        };
        assert_eq!(go("go-team", 3, trigger, "{}"), expected, "{trigger}");
    }
    assert_eq!(
        go("go-team", 9, Trigger::StepComplete, "{}"),
        (Action::Finish, String::new())
    );
    let begun = at("go-team", None, "{}", "{}");
    assert_eq!(short(&begun), (Action::Begin, "init".to_owned()));
    assert_eq!(begun.total, Some(9));
    let free = at("free", Some((4, Trigger::Auto)), "{}", "{}");
    assert_eq!(short(&free), (Action::NextStep, "5".to_owned()));
}

#[test]
fn a_step_that_was_begun_since_is_where_work_was_interrupted() {
    let state =
        r#"{"current_step":4,"current_agent":"gopher","iteration_count":2,"max_iterations":5}"#;
    let found = at(
        "go-team",
        Some((3, Trigger::StepComplete)),
        r#"{"current_step":3}"#,
        state,
    );
    assert_eq!(
        short(&found),
        (Action::CarryOn, "implementation".to_owned())
    );
    assert_eq!(found.agent.as_deref(), Some("gopher"));
    assert_eq!((found.iteration, found.max_iterations), (Some(2), Some(5)));
    // What went into the checkpoint says no more than the checkpoint.
    let same = r#"{"current_step":3}"#;
    assert_eq!(
        go("go-team", 3, Trigger::StepComplete, same),
        (Action::NextStep, "implementation".to_owned())
    );
    let unknown = r#"{"current_step":77}"#;
    assert_eq!(
        go("go-team", 3, Trigger::Manual, unknown),
        (Action::NextStep, "implementation".to_owned())
    );
}

#[test]
fn impl_restarts_keeps_feedback_and_checks() {
    let state =
        |stage: &str, rest: &str| format!(r#"{{"current_stage":"{stage}","iteration":2{rest}}}"#);
    let feedback = r#","last_feedback":"too long","last_score":55"#;
    let interrupted = at(
        "impl",
        Some((1, Trigger::Manual)),
        "{}",
        &state("impl", feedback),
    );
    assert_eq!(
        short(&interrupted),
        (Action::RestartIteration, "impl".to_owned())
    );
    assert_eq!(interrupted.iteration, Some(2));
    assert_eq!(interrupted.feedback.as_deref(), Some("too long"));
    let reviewed = at(
        "impl",
        Some((2, Trigger::Manual)),
        "{}",
        &state("review", feedback),
    );
    assert_eq!(short(&reviewed), (Action::ApplyFeedback, "impl".to_owned()));
    assert_eq!(reviewed.feedback.as_deref(), Some("too long"));
    assert_eq!(reviewed.score.as_ref().and_then(Value::as_u64), Some(55));
    assert_eq!(reviewed.next_iteration, Some(3));
    for (stage, rest, expected) in [
        ("review", "", (Action::RepeatReview, "review")),
        ("pr", "", (Action::CheckPullRequest, "pr")),
        ("rebase", "", (Action::CheckRebase, "rebase")),
        ("done", "", (Action::Finish, "")),
        ("fatal", "", (Action::Finish, "")),
    ] {
        let found = go("impl", 2, Trigger::UserInterrupt, &state(stage, rest));
        assert_eq!(found, (expected.0, expected.1.to_owned()), "{stage}");
    }
    // A stage that was completed is left behind, whatever the state still calls current.
    assert_eq!(
        go("impl", 1, Trigger::StepComplete, &state("impl", "")),
        (Action::NextStep, "review".to_owned())
    );
    // Without any state the checkpoints alone say it.
    assert_eq!(
        go("impl", 1, Trigger::UserInterrupt, "{}"),
        (Action::RestartIteration, "impl".to_owned())
    );
    assert_eq!(
        go("impl", 2, Trigger::StepComplete, "{}"),
        (Action::NextStep, "pr".to_owned())
    );
}

#[test]
fn a_review_counts_for_its_own_iteration() {
    let state = |history: &str| {
        format!(
            r#"{{"current_stage":"review","iteration":2,"last_feedback":"old","history":[
                {{"stage":"impl","iteration":1,"result":"success"}}{history}]}}"#
        )
    };
    for (history, expected) in [
        (
            r#",{"stage":"review","iteration":1,"result":"retry"}"#,
            Action::RepeatReview,
        ),
        (
            r#",{"stage":"review","iteration":2,"result":"retry"}"#,
            Action::ApplyFeedback,
        ),
        (
            r#",{"stage":"review","iteration":2,"result":"failure"}"#,
            Action::ApplyFeedback,
        ),
        (
            r#",{"stage":"review","iteration":2,"result":"success"}"#,
            Action::NextStep,
        ),
        (
            r#",{"stage":"review","result":"success"}"#,
            Action::NextStep,
        ),
        (r"", Action::ApplyFeedback),
    ] {
        let found = go("impl", 2, Trigger::Auto, &state(history));
        assert_eq!(found.0, expected, "{history}");
    }
}

#[test]
fn phases_go_by_the_state() {
    let of = |state: &str| short(&at("phases", Some((2, Trigger::Manual)), "{}", state));
    for (state, expected) in [
        (
            r#"{"current_phase":2,"total_phases":5}"#,
            (Action::CarryOn, "2"),
        ),
        (
            r#"{"current_phase":2,"total_phases":5,"completed_phases":[1,2]}"#,
            (Action::NextStep, "3"),
        ),
        (
            r#"{"current_phase":5,"total_phases":5,"completed_phases":[5]}"#,
            (Action::Finish, ""),
        ),
        (
            r#"{"current_phase":0,"total_phases":5}"#,
            (Action::Begin, "1"),
        ),
        (
            r#"{"current_phase":2,"total_phases":5,"last_error":"boom"}"#,
            (Action::RetryPhase, "2"),
        ),
        (
            r#"{"current_phase":"build","completed_phases":["plan"]}"#,
            (Action::CarryOn, "build"),
        ),
        (
            r#"{"current_phase":2,"last_error":null}"#,
            (Action::CarryOn, "2"),
        ),
        ("{}", (Action::NextStep, "3")),
    ] {
        assert_eq!(of(state), (expected.0, expected.1.to_owned()), "{state}");
    }
    let whole = at(
        "phases",
        Some((2, Trigger::Manual)),
        "{}",
        r#"{"current_phase":2,"total_phases":5,"completed_phases":[1],"last_error":{"code":3}}"#,
    );
    assert_eq!((whole.unit, whole.total), (Unit::Phase, Some(5)));
    assert_eq!(whole.completed_phases.len(), 1);
    assert_eq!(whole.last_error.unwrap()["code"], 3);
}

#[test]
fn crunch_computes_its_batches_anew() {
    let state = r#"{"execution_graph":{"nodes":[{"id":"a","status":"completed"},
        {"id":"b","status":"in_progress","depends_on":["a"]},{"id":"c","depends_on":["b"]}]},
        "pending_messages":[{"to":"b","text":"hurry"}]}"#;
    for trigger in [
        Trigger::BatchComplete,
        Trigger::UserInterrupt,
        Trigger::Manual,
        Trigger::StepComplete,
    ] {
        let found = at("crunch", Some((3, trigger)), state, state);
        assert_eq!(
            short(&found),
            (Action::RunBatches, "implementing".to_owned()),
            "{trigger}"
        );
        let execution = found.execution.unwrap();
        assert_eq!(execution.batches, [["b"], ["c"]]);
        assert_eq!(execution.in_flight, ["b"]);
        assert_eq!(found.pending_messages[0]["text"], "hurry");
    }
    let ready = at("crunch", Some((2, Trigger::StepComplete)), state, state);
    assert_eq!(
        short(&ready),
        (Action::RunBatches, "implementing".to_owned())
    );
    let failed = state.replace("in_progress", "failed");
    assert_eq!(
        go("crunch", 3, Trigger::BatchComplete, &failed),
        (Action::Unblock, "implementing".to_owned())
    );
    let done = r#"{"execution_graph":[{"id":"a","status":"done"}]}"#;
    assert_eq!(
        go("crunch", 3, Trigger::StepComplete, done),
        (Action::NextStep, "validation".to_owned())
    );
    assert_eq!(
        go("crunch", 5, Trigger::StepComplete, done),
        (Action::Finish, String::new())
    );
}

#[test]
fn a_workflow_that_nobody_defines_any_more_stays_where_it_is() {
    let state = State::default();
    let from = From {
        step: 3,
        name: "ship",
        phase: "ship",
        trigger: Trigger::Manual,
        state: None,
    };
    let found = point(None, Some(from), &state);
    assert_eq!(short(&found), (Action::CarryOn, "ship".to_owned()));
    assert_eq!(point(None, None, &state).action, Action::Begin);
}
