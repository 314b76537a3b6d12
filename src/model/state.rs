//! The workflow's state: any JSON object, of which some fields are understood.
//!
//! Fields that are not known stay as they are. One of them, `checkpoint`, is kept up to date by the engine.

mod known;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::format::FormatError;
use super::ids::CheckpointId;
use super::json::{self, JsonError, Limits};
use super::manifest::RollbackRecord;
use super::timestamp;
pub use known::Phases;

/// The field that the engine maintains.
const CHECKPOINT: &str = "checkpoint";

/// A workflow's state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct State(Map<String, Value>);

/// The metrics that are understood, as far as they are there and of the expected type.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Metrics {
    /// Whether the build passes.
    pub build_pass: Option<bool>,
    /// How much of the code the tests cover, in percent.
    pub test_coverage: Option<f64>,
    /// Whether the linter is content.
    pub lint_clean: Option<bool>,
    /// Whether the race detector is content.
    pub race_free: Option<bool>,
}

/// Why a field of the state cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// An assignment without `=`, or a path with an empty part.
    #[error("not an assignment of a path to a value: {text:?}")]
    Malformed {
        /// The beginning of the text.
        text: String,
    },
    /// The path goes through something that is not an object.
    #[error("{path} is not an object")]
    NotAnObject {
        /// The part of the path that ends there.
        path: String,
    },
    /// The value is JSON, but beyond the limits.
    #[error("the value of {path}: {source}")]
    Value {
        /// The path that was to be set.
        path: String,
        /// Why.
        source: JsonError,
    },
}

impl State {
    /// How many rollbacks `checkpoint.rollback_history` holds at most; the manifest has them all.
    pub const MAX_ROLLBACKS: usize = 100;

    /// Reads a state from the JSON of a user.
    ///
    /// # Errors
    /// When the text is not JSON, not an object, or beyond the limits of input.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        Ok(Self(json::parse_object(bytes, Limits::INPUT)?))
    }

    /// Reads a state's file.
    ///
    /// # Errors
    /// When the text is not JSON, not an object, or larger than what is ever written.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Ok(Self(json::parse_object(bytes, Limits::STATE)?))
    }

    /// The bytes of its file: pretty JSON.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        json::readable(&self.0)
    }

    /// All fields.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// All fields, for good.
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// What the workflow is about.
    #[must_use]
    pub fn topic(&self) -> Option<&str> {
        self.0.get("topic")?.as_str()
    }

    /// Where the workflow is.
    #[must_use]
    pub fn phase(&self) -> Option<&str> {
        self.0.get("phase")?.as_str()
    }

    /// The step that is being worked on: a number, or the text of one.
    #[must_use]
    pub fn current_step(&self) -> Option<u32> {
        match self.0.get("current_step")? {
            Value::String(text) => text.parse().ok(),
            value => value.as_u64()?.try_into().ok(),
        }
    }

    /// Who is working on it.
    #[must_use]
    pub fn current_agent(&self) -> Option<&str> {
        self.0.get("current_agent")?.as_str()
    }

    /// How many times the work was gone through.
    #[must_use]
    pub fn iteration_count(&self) -> Option<u64> {
        self.0.get("iteration_count")?.as_u64()
    }

    /// How many times it may be gone through.
    #[must_use]
    pub fn max_iterations(&self) -> Option<u64> {
        self.0.get("max_iterations")?.as_u64()
    }

    /// What happened so far, in the workflow's own words.
    #[must_use]
    pub fn history(&self) -> &[Value] {
        self.0
            .get("history")
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The metrics that are understood.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let metric = |name: &str| self.0.get("metrics")?.get(name);
        Metrics {
            build_pass: metric("build_pass").and_then(Value::as_bool),
            test_coverage: metric("test_coverage").and_then(Value::as_f64),
            lint_clean: metric("lint_clean").and_then(Value::as_bool),
            race_free: metric("race_free").and_then(Value::as_bool),
        }
    }

    /// The value at a dotted path such as `metrics.test_coverage` or `history.0.stage`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let first = self.0.get(parts.next()?)?;
        parts.try_fold(first, |value, part| match value {
            Value::Object(map) => map.get(part),
            Value::Array(list) => list.get(part.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Sets the value at a dotted path, making objects on the way.
    ///
    /// # Errors
    /// When a part is empty, something on the way is not an object, or the state would nest too deeply.
    pub fn set(&mut self, path: &str, value: Value) -> Result<(), StateError> {
        let parts: Vec<&str> = path.split('.').collect();
        if parts.contains(&"") {
            return Err(malformed(path));
        }
        let limit = Limits::INPUT.depth;
        if parts.len() + depth(&value) > limit {
            let path = path.chars().take(80).collect();
            let source = JsonError::TooDeep {
                limit,
                line: 1,
                column: 1,
            };
            return Err(StateError::Value { path, source });
        }
        let (last, way) = parts
            .split_last()
            .expect("splitting gives at least one part");
        let mut map = &mut self.0;
        for (nth, part) in way.iter().enumerate() {
            let next = map
                .entry(*part)
                .or_insert_with(|| Value::Object(Map::new()));
            map = next
                .as_object_mut()
                .ok_or_else(|| StateError::NotAnObject {
                    path: parts[..=nth].join("."),
                })?;
        }
        map.insert((*last).to_owned(), value);
        Ok(())
    }

    /// Notes which checkpoint is current, how many there are, and when the last one was made.
    pub fn maintain_checkpoint(
        &mut self,
        current: Option<&CheckpointId>,
        count: usize,
        at: DateTime<Utc>,
    ) {
        let map = self.checkpoint_mut();
        map.insert("current_checkpoint".to_owned(), json!(current));
        map.insert("checkpoint_count".to_owned(), json!(count));
        map.insert(
            "last_checkpoint_at".to_owned(),
            timestamp::format(at).into(),
        );
        map.entry("rollback_history").or_insert_with(|| json!([]));
    }

    /// Notes the rollbacks, the newest [`State::MAX_ROLLBACKS`] of them: every record holds a copy.
    pub fn maintain_rollbacks(&mut self, rollbacks: &[RollbackRecord]) {
        let newest = &rollbacks[rollbacks.len().saturating_sub(Self::MAX_ROLLBACKS)..];
        self.checkpoint_mut()
            .insert("rollback_history".to_owned(), json!(newest));
    }

    fn checkpoint_mut(&mut self) -> &mut Map<String, Value> {
        let field = self.0.entry(CHECKPOINT).or_insert(Value::Null);
        if !field.is_object() {
            *field = Value::Object(Map::new());
        }
        field.as_object_mut().expect("just made an object")
    }
}

impl From<Map<String, Value>> for State {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

/// Parses `path=value`; the value is JSON if it reads as such, else text.
///
/// # Errors
/// Without a path or `=`, and for JSON that is beyond the limits of input.
pub fn parse_assignment(text: &str) -> Result<(String, Value), StateError> {
    let (path, value) = text.split_once('=').ok_or_else(|| malformed(text))?;
    if path.split('.').any(str::is_empty) {
        return Err(malformed(text));
    }
    let path = path.to_owned();
    match json::parse_limited(value.as_bytes(), Limits::INPUT) {
        Ok(value) => Ok((path, value)),
        Err(JsonError::Syntax { .. }) => Ok((path, Value::String(value.to_owned()))),
        Err(source) => Err(StateError::Value { path, source }),
    }
}

fn malformed(text: &str) -> StateError {
    StateError::Malformed {
        text: text.chars().take(80).collect(),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State::parse(
            br#"{"phase":"design","current_step":"3","iteration_count":2,"own":{"b":1,"a":1.50},
                "metrics":{"build_pass":true,"test_coverage":81.5,"lint_clean":"no"},"history":[{"stage":"impl"}]}"#,
        )
        .unwrap()
    }

    #[test]
    fn understands_the_known_fields_and_keeps_the_others() {
        let state = state();
        assert_eq!(state.phase(), Some("design"));
        assert_eq!(state.current_step(), Some(3));
        assert_eq!(state.iteration_count(), Some(2));
        assert_eq!(state.topic(), None);
        assert_eq!(state.history().len(), 1);
        let metrics = state.metrics();
        assert_eq!(metrics.build_pass, Some(true));
        assert_eq!(metrics.test_coverage, Some(81.5));
        assert_eq!(metrics.lint_clean, None);
        assert_eq!(state.get("own").unwrap().to_string(), r#"{"a":1.50,"b":1}"#);
        assert_eq!(
            State::from_file_bytes(&state.to_file_bytes()).unwrap(),
            state
        );
    }

    #[test]
    fn reads_and_writes_dotted_paths() {
        let mut state = state();
        assert_eq!(state.get("history.0.stage"), Some(&json!("impl")));
        for path in [
            "history.1.stage",
            "history.x",
            "phase.x",
            "none",
            "",
            "metrics.",
        ] {
            assert_eq!(state.get(path), None, "{path}");
        }
        state.set("metrics.test_coverage", json!(90)).unwrap();
        state.set("new.deep.field", json!("x")).unwrap();
        assert_eq!(state.metrics().test_coverage, Some(90.0));
        assert_eq!(state.get("new"), Some(&json!({"deep": {"field": "x"}})));
        let through = state.set("phase.inner.x", json!(1)).unwrap_err();
        assert_eq!(
            through,
            StateError::NotAnObject {
                path: "phase".into()
            }
        );
        assert!(matches!(
            state.set("a..b", json!(1)),
            Err(StateError::Malformed { .. })
        ));
        let deep = vec!["a"; 500].join(".");
        assert!(matches!(
            state.set(&deep, json!(1)),
            Err(StateError::Value { .. })
        ));
    }

    #[test]
    fn an_assignment_is_json_or_text() {
        let value = |text: &str| parse_assignment(text).unwrap().1;
        assert_eq!(value("a=81.50").to_string(), "81.50");
        assert_eq!(value("a=true"), json!(true));
        assert_eq!(value("a={\"b\":[1]}"), json!({"b": [1]}));
        assert_eq!(value("a=design"), json!("design"));
        assert_eq!(value("a=x=y"), json!("x=y"));
        assert_eq!(value("a="), json!(""));
        for text in ["a", "=1", ".a=1", "a.=1"] {
            assert!(
                matches!(parse_assignment(text), Err(StateError::Malformed { .. })),
                "{text}"
            );
        }
        let deep = format!("a={}", "[".repeat(200_000));
        assert!(matches!(
            parse_assignment(&deep),
            Err(StateError::Value { .. })
        ));
    }

    #[test]
    fn the_engine_maintains_one_field() {
        let mut state = state();
        let id = CheckpointId::parse("cp-01-init-20251228-210000").unwrap();
        let at = timestamp::parse("2025-12-28T21:00:00.000Z").unwrap();
        state.set("checkpoint", json!("mine")).unwrap();
        state.maintain_checkpoint(Some(&id), 4, at);
        let expected = json!({"current_checkpoint": id, "checkpoint_count": 4,
            "last_checkpoint_at": "2025-12-28T21:00:00.000Z", "rollback_history": []});
        assert_eq!(state.get("checkpoint"), Some(&expected));
        state.maintain_checkpoint(None, 0, at);
        assert_eq!(
            state.get("checkpoint.current_checkpoint"),
            Some(&Value::Null)
        );
    }
}
