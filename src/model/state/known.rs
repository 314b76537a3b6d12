//! The fields that the built-in workflows keep in their state, read as far as they are there and of the expected type.

use serde_json::{Map, Value};

use super::State;

/// Where a workflow of phases is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phases {
    /// The phase that is being worked on, from 1; 0 before the first.
    pub current: u32,
    /// Its name, where the state names phases instead of counting them.
    pub name: String,
    /// How many there are.
    pub total: Option<u32>,
    /// Whether the current one is among those that are completed.
    pub is_completed: bool,
}

impl State {
    /// The stage that is being worked on, by name.
    #[must_use]
    pub fn current_stage(&self) -> Option<&str> {
        self.0.get("current_stage")?.as_str()
    }

    /// How many times the work was gone through, under either of its names.
    #[must_use]
    pub fn iteration(&self) -> Option<u64> {
        let iteration = self.0.get("iteration").and_then(Value::as_u64);
        iteration.or_else(|| self.iteration_count())
    }

    /// What the last review said.
    #[must_use]
    pub fn last_feedback(&self) -> Option<&str> {
        let text = self.0.get("last_feedback")?.as_str()?;
        Some(text).filter(|text| !text.is_empty())
    }

    /// What the last review scored, from 0 to 100.
    #[must_use]
    pub fn last_score(&self) -> Option<&Value> {
        self.0.get("last_score").filter(|score| score.is_number())
    }

    /// The phase that is being worked on, and how many there are. A phase that has a name and no number comes after
    /// those that are completed.
    #[must_use]
    pub fn phases(&self) -> Option<Phases> {
        let value = self.0.get("current_phase")?;
        let total = self.0.get("total_phases").and_then(Value::as_u64);
        let total = total.and_then(|total| u32::try_from(total).ok());
        let done = self.completed_phases();
        let is_completed = done.iter().any(|phase| phase == value);
        if let Some(number) = value.as_u64() {
            return Some(Phases {
                current: u32::try_from(number).ok()?,
                name: String::new(),
                total,
                is_completed,
            });
        }
        let name = value.as_str()?.to_owned();
        if let Ok(number) = name.parse() {
            return Some(Phases {
                current: number,
                name: String::new(),
                total,
                is_completed,
            });
        }
        let before = done.iter().position(|phase| phase == value);
        let before = before.unwrap_or(done.len());
        let current = u32::try_from(before).ok()?.saturating_add(1);
        Some(Phases {
            current: total.map_or(current, |total| current.min(total)),
            name,
            total,
            is_completed,
        })
    }

    /// The phases that are completed: the items of the list, or the names of the object.
    #[must_use]
    pub fn completed_phases(&self) -> Vec<Value> {
        match self.0.get("completed_phases") {
            Some(Value::Array(list)) => list.clone(),
            Some(Value::Object(map)) => map.keys().map(|name| name.as_str().into()).collect(),
            _ => Vec::new(),
        }
    }

    /// The tracked issue as it was.
    #[must_use]
    pub fn issue_snapshot(&self) -> Option<&Map<String, Value>> {
        self.0.get("issue_snapshot")?.as_object()
    }

    /// The number of the tracked issue, as text.
    #[must_use]
    pub fn issue_number(&self) -> Option<String> {
        let number = self.0.get("issue_no");
        let number = number.or_else(|| self.issue_snapshot()?.get("number"));
        match number? {
            Value::Number(number) => Some(number.to_string()),
            Value::String(text) => Some(text.trim_start_matches('#').to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(text: &str) -> Option<(u32, String, Option<u32>, bool)> {
        let found = State::parse(text.as_bytes()).unwrap().phases()?;
        Some((found.current, found.name, found.total, found.is_completed))
    }

    #[test]
    fn phases_are_counted_or_named() {
        let none = String::new();
        for (text, expected) in [
            (
                r#"{"current_phase":2,"total_phases":5}"#,
                (2, none.clone(), Some(5), false),
            ),
            (
                r#"{"current_phase":"2","total_phases":5}"#,
                (2, none.clone(), Some(5), false),
            ),
            (
                r#"{"current_phase":2,"completed_phases":[1,2]}"#,
                (2, none.clone(), None, true),
            ),
            (
                r#"{"current_phase":0,"total_phases":5}"#,
                (0, none, Some(5), false),
            ),
            (
                r#"{"current_phase":"build","total_phases":5,"completed_phases":["plan","design"]}"#,
                (3, "build".to_owned(), Some(5), false),
            ),
            (
                r#"{"current_phase":"design","total_phases":5,"completed_phases":["plan","design"]}"#,
                (2, "design".to_owned(), Some(5), true),
            ),
            (
                r#"{"current_phase":"ship","total_phases":1,"completed_phases":{"plan":{},"design":{}}}"#,
                (1, "ship".to_owned(), Some(1), false),
            ),
        ] {
            assert_eq!(phases(text), Some(expected), "{text}");
        }
        for text in [
            "{}",
            r#"{"current_phase":null}"#,
            r#"{"current_phase":-1}"#,
            r#"{"total_phases":3}"#,
        ] {
            assert_eq!(phases(text), None, "{text}");
        }
    }

    #[test]
    fn an_issue_has_a_number_wherever_it_is() {
        let number = |text: &str| State::parse(text.as_bytes()).unwrap().issue_number();
        assert_eq!(number(r#"{"issue_no":7}"#).as_deref(), Some("7"));
        assert_eq!(number(r##"{"issue_no":"#7"}"##).as_deref(), Some("7"));
        assert_eq!(
            number(r#"{"issue_snapshot":{"number":9}}"#).as_deref(),
            Some("9")
        );
        assert_eq!(number(r#"{"issue_snapshot":{}}"#), None);
    }
}
