//! Whether a state fits its workflow: the fields that are known have the type they should have.
//!
//! A field may be absent or null, and fields that are not known are the workflow's own business.

use serde_json::{Map, Value};

use crate::model::State;
use crate::model::workflow::Workflow;

/// Where a state does not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The place, as a dotted path; empty for the whole.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

/// What a known field may hold.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Flag,
    Whole,
    Number,
    Score,
    List,
    Object,
    /// A list or an object.
    Collection,
    /// Text or an object.
    Report,
    /// A whole number, or the text of one.
    StepNumber,
    /// A whole number or any text.
    Key,
    /// The name of a step.
    StepName,
    /// How an attempt ended.
    Attempt,
}

const ALWAYS: &[(&str, Shape)] = &[
    ("topic", Shape::Text),
    ("phase", Shape::Text),
    ("current_step", Shape::StepNumber),
    ("current_agent", Shape::Text),
    ("iteration_count", Shape::Whole),
    ("max_iterations", Shape::Whole),
    ("metrics", Shape::Object),
    ("metrics.build_pass", Shape::Flag),
    ("metrics.test_coverage", Shape::Number),
    ("metrics.lint_clean", Shape::Flag),
    ("metrics.race_free", Shape::Flag),
    ("history", Shape::List),
];

const IMPL: &[(&str, Shape)] = &[
    ("issue_no", Shape::Key),
    ("current_stage", Shape::StepName),
    ("iteration", Shape::Whole),
    ("worktree", Shape::Text),
    ("plan_file", Shape::Text),
    ("last_feedback", Shape::Text),
    ("last_score", Shape::Score),
];

const IMPL_HISTORY: &[(&str, Shape)] = &[
    ("stage", Shape::StepName),
    ("iteration", Shape::Whole),
    ("timestamp", Shape::Text),
    ("result", Shape::Attempt),
    ("score", Shape::Score),
];

const PHASES: &[(&str, Shape)] = &[
    ("current_phase", Shape::Key),
    ("total_phases", Shape::Whole),
    ("completed_phases", Shape::Collection),
    ("last_error", Shape::Report),
];

const CRUNCH: &[(&str, Shape)] = &[
    ("issue_snapshot", Shape::Object),
    ("issue_snapshot.title", Shape::Text),
    ("issue_snapshot.body", Shape::Text),
    ("issue_snapshot.labels", Shape::List),
    ("team_state", Shape::Object),
    ("execution_graph", Shape::Collection),
    ("agent_outputs", Shape::Collection),
    ("pending_messages", Shape::List),
    ("knowledge_entries", Shape::List),
];

/// Where a state does not fit; `workflow` is absent when nobody defines it any more.
#[must_use]
pub fn misfits(workflow: Option<&Workflow>, state: &State) -> Vec<Misfit> {
    let map = state.as_map();
    let mut found = Vec::new();
    let mut check = |fields: &[(&str, Shape)]| {
        for (path, shape) in fields {
            hold(map, path, path, *shape, workflow, &mut found);
        }
    };
    check(ALWAYS);
    match workflow.map_or("", Workflow::name) {
        "impl" => {
            check(IMPL);
            for (nth, item) in state.history().iter().enumerate() {
                let Some(item) = item.as_object() else {
                    found.push(Misfit {
                        path: format!("history.{nth}"),
                        reason: format!("is {}, not an object", describe(item)),
                    });
                    continue;
                };
                for (name, shape) in IMPL_HISTORY {
                    let path = format!("history.{nth}.{name}");
                    hold(item, name, &path, *shape, workflow, &mut found);
                }
            }
        }
        "phases" => {
            check(PHASES);
            let number = |name: &str| map.get(name).and_then(Value::as_u64);
            if let (Some(at), Some(total)) = (number("current_phase"), number("total_phases"))
                && at > total
            {
                found.push(Misfit {
                    path: "current_phase".to_owned(),
                    reason: format!("is {at}, but there are {total} phases"),
                });
            }
        }
        "crunch" => check(CRUNCH),
        _ => {}
    }
    found
}

fn hold(
    map: &Map<String, Value>,
    path: &str,
    shown: &str,
    shape: Shape,
    workflow: Option<&Workflow>,
    found: &mut Vec<Misfit>,
) {
    let mut parts = path.split('.');
    let first = parts.next().and_then(|name| map.get(name));
    let value = parts.fold(first, |value, name| value?.get(name));
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return;
    };
    if let Err(expected) = shape.admits(value, workflow) {
        found.push(Misfit {
            path: shown.to_owned(),
            reason: format!("is {}, not {expected}", describe(value)),
        });
    }
}

impl Shape {
    fn admits(self, value: &Value, workflow: Option<&Workflow>) -> Result<(), String> {
        let (fits, expected) = match self {
            Self::Text => (value.is_string(), "text"),
            Self::Flag => (value.is_boolean(), "true or false"),
            Self::Whole => (value.is_u64(), "a whole number"),
            Self::Number => (value.is_number(), "a number"),
            Self::Score => {
                let number = value.as_f64();
                let fits = number.is_some_and(|number| (0.0..=100.0).contains(&number));
                (fits, "a number from 0 to 100")
            }
            Self::List => (value.is_array(), "a list"),
            Self::Object => (value.is_object(), "an object"),
            Self::Collection => (value.is_array() || value.is_object(), "a list or an object"),
            Self::Report => (value.is_string() || value.is_object(), "text or an object"),
            Self::StepNumber => {
                let text = value.as_str().and_then(|text| text.parse::<u32>().ok());
                (value.is_u64() || text.is_some(), "the number of a step")
            }
            Self::Key => (
                value.is_u64() || value.is_string(),
                "a whole number or text",
            ),
            Self::StepName => {
                let known = |name: &str| workflow.is_none_or(|w| w.step_number(name).is_some());
                (value.as_str().is_some_and(known), "the name of a step")
            }
            Self::Attempt => {
                let known = |text: &str| ["success", "failure", "retry"].contains(&text);
                (
                    value.as_str().is_some_and(known),
                    "success, failure or retry",
                )
            }
        };
        if fits {
            Ok(())
        } else {
            Err(expected.to_owned())
        }
    }
}

/// A value in a few words.
fn describe(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        value => value.to_string().chars().take(40).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::workflow::find;

    fn places(workflow: &str, text: &str) -> Vec<String> {
        let state = State::parse(text.as_bytes()).unwrap();
        let workflow = find(workflow, &[]).unwrap();
        let found = misfits(Some(workflow), &state);
        found.into_iter().map(|misfit| misfit.path).collect()
    }

    #[test]
    fn what_is_absent_null_or_unknown_fits() {
        for text in [
            "{}",
            r#"{"own":[1],"phase":null,"metrics":{"build_pass":null,"x":"y"}}"#,
        ] {
            assert_eq!(places("go-team", text), [""; 0]);
        }
        let whole = r#"{"topic":"t","phase":"p","current_step":"3","current_agent":"a","iteration_count":2,
            "max_iterations":9,"metrics":{"build_pass":true,"test_coverage":81.5},"history":[1]}"#;
        assert_eq!(places("go-team", whole), [""; 0]);
    }

    #[test]
    fn each_known_field_has_a_type() {
        let text = r#"{"topic":1,"phase":[],"current_step":"x","iteration_count":-1,"max_iterations":1.5,
            "metrics":{"build_pass":"yes","test_coverage":"high"},"history":{}}"#;
        assert_eq!(
            places("go-team", text),
            [
                "topic",
                "phase",
                "current_step",
                "iteration_count",
                "max_iterations",
                "metrics.build_pass",
                "metrics.test_coverage",
                "history"
            ]
        );
        assert_eq!(places("free", r#"{"metrics":3}"#), ["metrics"]);
    }

    #[test]
    fn built_in_workflows_have_fields_of_their_own() {
        let text = r#"{"current_stage":"nowhere","last_score":101,"history":[{"stage":"impl","result":"maybe"}]}"#;
        assert_eq!(
            places("impl", text),
            ["current_stage", "last_score", "history.0.result"]
        );
        assert_eq!(places("free", text), [""; 0]);
        assert_eq!(
            places("phases", r#"{"current_phase":4,"total_phases":3}"#),
            ["current_phase"]
        );
        assert_eq!(places("crunch", r#"{"team_state":1}"#), ["team_state"]);
    }
}
