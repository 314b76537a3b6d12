//! What changed in what the workflow produced.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::files::{FileChange, FileChanges};
use crate::git::diff::lines::{self, LineCounts};
use crate::model::json_diff::{self, Change, ChangeKind, JsonPath};

/// An output that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputChange {
    /// Its name.
    pub name: String,
    /// Whether it is new, gone, or another one.
    pub change: Presence,
    /// What changed in it.
    #[serde(flatten)]
    pub detail: OutputDetail,
}

/// Whether something is new, gone, or another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another one.
    Changed,
}

/// What changed in an output.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OutputDetail {
    /// Lines of a text.
    Text {
        /// How many.
        lines: LineCounts,
    },
    /// The file that it names.
    File {
        /// What changed there.
        file: Box<FileChange>,
    },
    /// The names of a list.
    List {
        /// Those that are new.
        added: Vec<String>,
        /// Those that are gone.
        removed: Vec<String>,
    },
    /// Anything else, by path.
    Value {
        /// What changed.
        changes: Vec<Change>,
    },
}

/// Compares outputs. One that names a file which changed has changed too.
pub(super) fn compare(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    files: Option<&FileChanges>,
) -> Vec<OutputChange> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let (before, after) = (old.get(name), new.get(name));
        let change = match (before, after) {
            (None, _) => Presence::Added,
            (_, None) => Presence::Removed,
            _ => Presence::Changed,
        };
        let file = after
            .or(before)
            .and_then(Value::as_str)
            .and_then(|path| files?.files.iter().find(|file| file.path == path));
        if before == after && file.is_none() {
            continue;
        }
        let detail = match file {
            Some(file) => OutputDetail::File {
                file: Box::new(file.clone()),
            },
            None => detail(name, before, after),
        };
        found.push(OutputChange {
            name: name.clone(),
            change,
            detail,
        });
    }
    found
}

fn detail(name: &str, old: Option<&Value>, new: Option<&Value>) -> OutputDetail {
    let is_list = |value: Option<&Value>| value.is_some_and(Value::is_array);
    if (is_list(old) || is_list(new))
        && let (Some(old), Some(new)) = (names(old), names(new))
    {
        let missing = |from: &BTreeSet<&str>, other: &BTreeSet<&str>| {
            from.difference(other)
                .map(|name| (*name).to_owned())
                .collect()
        };
        return OutputDetail::List {
            added: missing(&new, &old),
            removed: missing(&old, &new),
        };
    }
    let none = Value::from("");
    let old_text = old.unwrap_or(&none).as_str();
    let new_text = new.unwrap_or(&none).as_str();
    if let (Some(old), Some(new)) = (old_text, new_text) {
        let is_text = |text: &str| text.contains('\n') || matches!(name, "spec" | "architecture");
        if (is_text(old) || is_text(new))
            && let Ok(lines) = lines::count(old.as_bytes(), new.as_bytes())
        {
            return OutputDetail::Text { lines };
        }
    }
    let whole = |kind| Change {
        path: JsonPath::default(),
        kind,
    };
    let changes = match (old, new) {
        (Some(old), Some(new)) => json_diff::compare_values(old, new),
        (Some(old), None) => vec![whole(ChangeKind::Removed { old: old.clone() })],
        (None, Some(new)) => vec![whole(ChangeKind::Added { new: new.clone() })],
        (None, None) => Vec::new(),
    };
    OutputDetail::Value { changes }
}

/// The names of a list of names; a list that is not there has none.
fn names(value: Option<&Value>) -> Option<BTreeSet<&str>> {
    let Some(value) = value else {
        return Some(BTreeSet::new());
    };
    value.as_array()?.iter().map(Value::as_str).collect()
}
