//! What changed in the workflow's state and its metrics.

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::summary::StepName;
use super::side::Side;
use crate::model::State;
use crate::model::json_diff::{self, Change, ChangeKind, Key};

/// What it was and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shift<T> {
    /// What it was.
    pub old: Option<T>,
    /// What it is.
    pub new: Option<T>,
}

impl<T: PartialEq> Shift<T> {
    fn of(old: Option<T>, new: Option<T>) -> Option<Self> {
        (old != new).then_some(Self { old, new })
    }
}

/// What changed in the state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateChanges {
    /// Where the workflow is.
    pub phase: Option<Shift<String>>,
    /// Which step was done.
    pub step: Option<Shift<StepName>>,
    /// How many times the work was gone through.
    pub iteration: Option<Shift<u64>>,
    /// Everything by path; applied to the old state in this order, it gives the new one.
    pub changes: Vec<StateChange>,
}

/// A change of the state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateChange {
    /// The dotted path, as `state get` takes it.
    pub at: String,
    /// The path and what happened there.
    #[serde(flatten)]
    pub change: Change,
}

impl StateChanges {
    pub(super) fn between(old: &Side, new: &Side) -> Self {
        let (empty, none) = (State::default(), State::default());
        let old_state = old.state.as_ref().unwrap_or(&empty);
        let new_state = new.state.as_ref().unwrap_or(&none);
        let step = |side: &Side| {
            let (step, name) = side.step.clone()?;
            Some(StepName { step, name })
        };
        let changes = json_diff::compare(old_state.as_map(), new_state.as_map());
        Self {
            phase: Shift::of(old.phase.clone(), new.phase.clone()),
            step: Shift::of(step(old), step(new)),
            iteration: Shift::of(old_state.iteration_count(), new_state.iteration_count()),
            changes: changes
                .into_iter()
                .map(|change| StateChange {
                    at: change.path.to_string(),
                    change,
                })
                .collect(),
        }
    }

    /// Whether nothing at all changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.phase.is_none()
            && self.step.is_none()
            && self.iteration.is_none()
            && self.changes.is_empty()
    }
}

impl StateChange {
    /// The field of the state that it lies in.
    #[must_use]
    pub fn field(&self) -> &str {
        match self.change.path.0.first() {
            Some(Key::Field(name)) => name,
            _ => "",
        }
    }
}

/// A metric that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricChange {
    /// Its name; a dotted path where metrics are nested.
    pub name: String,
    /// How it is read.
    pub kind: MetricKind,
    /// What it was.
    pub old: Option<Value>,
    /// What it is.
    pub new: Option<Value>,
    /// The difference of two numbers.
    pub delta: Option<f64>,
}

/// How a metric is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Yes or no.
    Boolean,
    /// A share of a hundred.
    Percentage,
    /// Any number.
    Number,
    /// Anything else.
    Other,
}

impl MetricKind {
    /// How a metric of that name and value is read.
    #[must_use]
    pub fn of(name: &str, value: &Value) -> Self {
        let is_share = ["coverage", "percent", "percentage", "pct"];
        match value {
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) if is_share.iter().any(|end| name.ends_with(end)) => Self::Percentage,
            Value::Number(_) => Self::Number,
            _ => Self::Other,
        }
    }
}

/// What changed in the metrics.
pub(super) fn metrics(old: &State, new: &State) -> Vec<MetricChange> {
    let none = Map::new();
    let of = |state: &State| -> Map<String, Value> {
        let metrics = state.as_map().get("metrics").and_then(Value::as_object);
        metrics.unwrap_or(&none).clone()
    };
    let changes = json_diff::compare(&of(old), &of(new));
    changes.into_iter().map(metric).collect()
}

fn metric(change: Change) -> MetricChange {
    let name = change.path.to_string();
    let (old, new) = match change.kind {
        ChangeKind::Added { new } => (None, Some(new)),
        ChangeKind::Removed { old } => (Some(old), None),
        ChangeKind::Changed { old, new } => (Some(old), Some(new)),
    };
    let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
    let delta = number(&old).zip(number(&new)).map(|(old, new)| {
        // What a binary fraction adds is not a difference that anybody measured.
        ((new - old) * 1e6).round() / 1e6
    });
    let shown = new.as_ref().or(old.as_ref());
    let kind = shown.map_or(MetricKind::Other, |value| MetricKind::of(&name, value));
    MetricChange {
        name,
        kind,
        old,
        new,
        delta: delta.filter(|delta| delta.is_finite()),
    }
}
