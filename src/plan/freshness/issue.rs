//! A tracked issue: what the state remembers of it against what it is now.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Change;
use crate::model::json_diff::{ChangeKind, compare_values};

/// What is understood of an issue; what is absent is not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Issue {
    /// Its number, as text.
    pub number: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// Whether it is open, in the tracker's word, in small letters.
    pub state: Option<String>,
    /// Its labels.
    pub labels: Option<BTreeSet<String>>,
}

/// A line that is gone or new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineChange {
    /// Whether it is new; else it is gone.
    pub added: bool,
    /// The line.
    pub text: String,
}

impl Issue {
    /// Reads an issue as trackers write it. Labels are names, or objects that have one.
    #[must_use]
    pub fn read(map: &Map<String, Value>) -> Self {
        let text = |name: &str| Some(map.get(name)?.as_str()?.to_owned());
        let number = ["number", "issue_no", "iid", "id"];
        let number = number.into_iter().find_map(|name| match map.get(name)? {
            Value::Number(number) => Some(number.to_string()),
            Value::String(text) => Some(text.trim_start_matches('#').to_owned()),
            _ => None,
        });
        let body = match map.get("body") {
            // Trackers say null for an issue without a text.
            Some(Value::Null) => Some(String::new()),
            _ => text("body").or_else(|| text("description")),
        };
        Self {
            number,
            title: text("title"),
            body,
            state: text("state").map(|state| state.to_lowercase()),
            labels: map.get("labels").and_then(labels),
        }
    }

    /// What is not what it was; what only one side tells of is not compared.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let mut found = Vec::new();
        if let (Some(then), Some(now)) = (&self.labels, &now.labels)
            && then != now
        {
            found.push(Change::IssueLabels {
                added: now.difference(then).cloned().collect(),
                removed: then.difference(now).cloned().collect(),
            });
        }
        let moved = |then: &Option<String>, now: &Option<String>| {
            let (then, now) = (then.clone()?, now.clone()?);
            (then != now).then_some((then, now))
        };
        if let Some((from, to)) = moved(&self.title, &now.title) {
            found.push(Change::IssueTitle { from, to });
        }
        if let Some((from, to)) = moved(&self.state, &now.state) {
            found.push(Change::IssueState { from, to });
        }
        if let (Some(then), Some(now)) = (&self.body, &now.body) {
            let lines = line_changes(then, now);
            if !lines.is_empty() {
                found.push(Change::IssueBody { lines });
            }
        }
        found
    }
}

fn labels(value: &Value) -> Option<BTreeSet<String>> {
    let list = match value {
        Value::Array(list) => list,
        Value::Object(map) => map.get("nodes")?.as_array()?,
        _ => return None,
    };
    let name = |label: &Value| match label {
        Value::String(name) => Some(name.clone()),
        label => Some(label.get("name")?.as_str()?.to_owned()),
    };
    list.iter().map(name).collect()
}

/// Compares two texts by lines. How lines end, and blank ones at the end, mean nothing.
fn line_changes(old: &str, new: &str) -> Vec<LineChange> {
    let lines = |text: &str| {
        let lines = text.trim_end().lines();
        Value::Array(lines.map(|line| line.trim_end().into()).collect())
    };
    let mut found = Vec::new();
    let text = |value: Value| match value {
        Value::String(text) => text,
        value => value.to_string(),
    };
    for change in compare_values(&lines(old), &lines(new)) {
        let (gone, added) = match change.kind {
            ChangeKind::Added { new } => (None, Some(new)),
            ChangeKind::Removed { old } => (Some(old), None),
            ChangeKind::Changed { old, new } => (Some(old), Some(new)),
        };
        for (value, added) in [(gone, false), (added, true)] {
            found.extend(value.map(|value| LineChange {
                added,
                text: text(value),
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(text: &str) -> Issue {
        let value: Value = serde_json::from_str(text).unwrap();
        Issue::read(value.as_object().unwrap())
    }

    #[test]
    fn trackers_write_issues_in_several_ways() {
        let plain =
            issue(r#"{"number":7,"labels":["b","a"],"body":"x","state":"OPEN","title":"t"}"#);
        for text in [
            r##"{"issue_no":"#7","labels":[{"name":"a"},{"name":"b","color":"red"}],"body":"x","state":"open","title":"t"}"##,
            r#"{"iid":7,"id":991,"labels":{"nodes":[{"name":"a"},{"name":"b"}]},"description":"x","state":"Open","title":"t"}"#,
        ] {
            assert_eq!(issue(text), plain, "{text}");
        }
        assert_eq!(issue(r#"{"body":null}"#).body.as_deref(), Some(""));
        assert_eq!(
            issue(r#"{"labels":[1],"body":2,"number":[]}"#),
            Issue::default()
        );
    }

    #[test]
    fn what_only_one_side_tells_of_is_not_compared() {
        let all = issue(r#"{"number":7,"labels":["a"],"body":"x","state":"open","title":"t"}"#);
        assert_eq!(all.changes(&all), []);
        assert_eq!(all.changes(&Issue::default()), []);
        assert_eq!(Issue::default().changes(&all), []);
    }

    #[test]
    fn labels_title_state_and_lines_are_compared() {
        let then =
            issue(r#"{"labels":["a","b"],"body":"one\ntwo\nthree","state":"open","title":"t"}"#);
        let now = issue(
            r#"{"labels":["b","c"],"body":"one\r\n2\r\nthree\r\nfour\r\n\r\n","state":"closed","title":"u"}"#,
        );
        let line = |added, text: &str| LineChange {
            added,
            text: text.to_owned(),
        };
        assert_eq!(
            then.changes(&now),
            [
                Change::IssueLabels {
                    added: vec!["c".into()],
                    removed: vec!["a".into()]
                },
                Change::IssueTitle {
                    from: "t".into(),
                    to: "u".into()
                },
                Change::IssueState {
                    from: "open".into(),
                    to: "closed".into()
                },
                Change::IssueBody {
                    lines: vec![line(false, "two"), line(true, "2"), line(true, "four")]
                },
            ]
        );
        let ends = issue(r#"{"body":"one\r\ntwo  \r\nthree\n\n"}"#);
        assert_eq!(then.changes(&ends), []);
    }
}
