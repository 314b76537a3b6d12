//! What the shipped workflows allow, and what a user's definition may say.

use super::*;

fn shipped(name: &str) -> &'static Workflow {
    find(name, &[]).expect("ships")
}

fn names(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.name.as_str()).collect()
}

fn define(
    steps: &[&str],
    transitions: &[&str],
    terminal: &[&str],
) -> Result<Workflow, DefinitionError> {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let definition = Definition {
        steps: owned(steps),
        transitions: owned(transitions),
        terminal: owned(terminal),
        schema: None,
    };
    Workflow::define("mine", &definition)
}

#[test]
fn go_team_has_nine_steps_and_allows_loops() {
    let workflow = shipped("go-team");
    assert_eq!(workflow.steps().len(), 9);
    assert_eq!(workflow.step_name(4), Some("implementation"));
    assert_eq!(workflow.step_number("Review"), Some(6));
    assert_eq!(workflow.progress(4).to_string(), "step 4 of 9");
    assert_eq!(workflow.next_step(6).expect("optimization").number, 7);
    assert_eq!(workflow.next_step(9), None);
    assert!(workflow.is_terminal(9) && !workflow.is_terminal(8));
    for (from, to) in [
        (None, 1),
        (None, 5),
        (Some(6), 4),
        (Some(4), 4),
        (Some(1), 9),
        (Some(9), 4),
    ] {
        assert_eq!(workflow.check_transition(from, to), Ok(()), "{from:?} {to}");
    }
    for to in [0, 10] {
        let refused = workflow
            .check_transition(Some(1), to)
            .expect_err("no such step");
        assert_eq!(refused.legal.len(), 9);
        assert!(refused.to_string().starts_with(&format!(
            "workflow go-team: there is no step {to}; legal: 1 init, "
        )));
    }
}

#[test]
fn impl_follows_its_list() {
    let workflow = shipped("impl");
    let number = |name| workflow.step_number(name).expect("a stage");
    let legal = [
        "impl review",
        "review pr",
        "review impl",
        "pr done",
        "pr rebase",
        "rebase impl",
        "rebase fatal",
    ];
    for from in workflow.steps() {
        for to in workflow.steps() {
            let expected =
                from == to || legal.contains(&format!("{} {}", from.name, to.name).as_str());
            let answer = workflow.check_transition(Some(from.number), to.number);
            assert_eq!(answer.is_ok(), expected, "{from} to {to}");
        }
    }
    let refused = workflow
        .check_transition(Some(number("pr")), number("impl"))
        .expect_err("not listed");
    assert_eq!(names(&refused.legal), ["pr", "done", "rebase"]);
    insta::assert_snapshot!(
        refused,
        @"workflow impl: step 1 impl cannot follow step 3 pr; legal: 3 pr, 4 done, 5 rebase"
    );
    assert!(workflow.is_terminal(number("done")) && workflow.is_terminal(number("fatal")));
    assert_eq!(
        workflow.next_step(number("rebase")).expect("back").name,
        "impl"
    );
    assert_eq!(workflow.progress(number("pr")).to_string(), "step 3 of 4");
    assert_eq!(
        workflow.progress(number("rebase")).to_string(),
        "step 5 (rebase)"
    );
}

#[test]
fn crunch_goes_one_way() {
    let workflow = shipped("crunch");
    assert_eq!(workflow.progress(5).to_string(), "step 5 of 5");
    assert!(workflow.check_transition(Some(1), 2).is_ok());
    assert!(workflow.check_transition(Some(2), 1).is_err());
    assert!(workflow.check_transition(Some(1), 3).is_err());
    assert!(workflow.is_terminal(5));
}

#[test]
fn open_workflows_take_any_number_from_one() {
    for name in ["free", "phases"] {
        let workflow = shipped(name);
        assert!(workflow.check_transition(Some(7), 3).is_ok());
        assert!(workflow.check_transition(None, 4_000).is_ok());
        let refused = workflow
            .check_transition(Some(1), 0)
            .expect_err("counted from 1");
        assert!(refused.to_string().ends_with("legal: any number from 1 up"));
        assert_eq!(workflow.progress(12).to_string(), "step 12");
        assert_eq!(workflow.next_step(12).expect("open").number, 13);
        assert_eq!(workflow.next_step(u32::MAX), None);
    }
}

#[test]
fn a_step_that_is_not_known_does_not_lock_the_session_in() {
    assert!(shipped("impl").check_transition(Some(40), 2).is_ok());
    assert!(shipped("impl").check_transition(Some(40), 41).is_err());
}

#[test]
fn a_user_adds_a_workflow() {
    let mine = define(
        &["draft", "Edit", "ship"],
        &["draft → edit -> ship", "edit -> draft"],
        &[],
    )
    .expect("valid");
    assert!(mine.is_terminal(3) && !mine.is_terminal(1));
    assert!(mine.check_transition(Some(2), 1).is_ok());
    assert!(mine.check_transition(Some(1), 3).is_err());
    let all = [mine];
    assert_eq!(find("mine", &all).expect("defined").name(), "mine");
    assert_eq!(find("impl", &all).expect("ships").name(), "impl");
    let unknown = find("yours", &all).expect_err("nobody's");
    assert_eq!(
        unknown.known,
        ["go-team", "impl", "phases", "crunch", "free", "mine"]
    );

    let loops = define(&["a", "b", "c"], &[], &["b"]).expect("valid");
    assert_eq!(loops.flow(), &Flow::Loops);
    assert!(loops.is_terminal(2) && !loops.is_terminal(3));
}

#[test]
fn definitions_that_contradict_themselves_are_refused() {
    use DefinitionError as E;
    let stage = |stage: &str| E::UnknownStage {
        stage: stage.to_owned(),
    };
    assert_eq!(define(&[], &[], &[]), Err(E::NoSteps));
    assert_eq!(
        define(&["a", "A"], &[], &[]),
        Err(E::DuplicateStep {
            name: "A".to_owned()
        })
    );
    assert_eq!(
        define(&["a\u{1b}"], &[], &[]),
        Err(E::BadStepName {
            name: "a\u{1b}".to_owned()
        })
    );
    assert_eq!(define(&["a", "b"], &["a -> c"], &[]), Err(stage("c")));
    assert_eq!(define(&["a", "b"], &["a -> "], &[]), Err(stage("")));
    assert_eq!(
        define(&["a", "b"], &["a"], &[]),
        Err(E::NoArrow {
            chain: "a".to_owned()
        })
    );
    assert_eq!(define(&["a"], &[], &["z"]), Err(stage("z")));
    assert_eq!(
        define(&["a", "b"], &["a -> b"], &["a"]),
        Err(E::LeavesTerminal {
            stage: "a".to_owned()
        })
    );
    let definition = Definition {
        steps: vec!["a".to_owned()],
        ..Definition::default()
    };
    for name in ["", "-a", "A", "a b", "../x"] {
        assert_eq!(
            Workflow::define(name, &definition),
            Err(E::BadName {
                name: name.to_owned()
            })
        );
    }
    assert_eq!(
        Workflow::define("impl", &definition),
        Err(E::BuiltIn {
            name: "impl".to_owned()
        })
    );
}
