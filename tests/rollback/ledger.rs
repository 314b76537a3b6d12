//! What the manifest says: which checkpoints there are, which of them count, and where the session stands.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::support::TestRepo;

/// A checkpoint as the manifest lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub id: String,
    pub parent: Option<String>,
    pub is_safety: bool,
    pub is_valid: bool,
    pub invalidated_by: Option<String>,
    pub step: u64,
}

/// The manifest of a session.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub lines: Vec<Line>,
    pub current: Option<String>,
    pub rollbacks: Vec<Value>,
}

impl Ledger {
    /// Of the only session there is.
    pub fn of(repo: &TestRepo) -> Self {
        Self::read(&repo.session_dir())
    }

    /// Of the session in this directory.
    pub fn read(session: &std::path::Path) -> Self {
        let text = fs::read(session.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&text).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let line = |entry: &Value| Line {
            id: text(&entry["id"]).unwrap(),
            parent: text(&entry["parent"]),
            is_safety: entry["trigger"] == "safety",
            is_valid: entry["valid"].as_bool().unwrap(),
            invalidated_by: text(&entry["invalidated_by"]),
            step: entry["step"].as_u64().unwrap(),
        };
        let entries = manifest["checkpoints"].as_array().unwrap();
        Self {
            lines: entries.iter().map(line).collect(),
            current: text(&manifest["current_checkpoint"]),
            rollbacks: manifest["rollback_history"].as_array().unwrap().clone(),
        }
    }

    pub fn line(&self, id: &str) -> &Line {
        let found = self.lines.iter().find(|line| line.id == id);
        found.unwrap_or_else(|| panic!("{id} is not listed: {self:#?}"))
    }

    /// The newest safety checkpoint.
    pub fn safety(&self) -> &Line {
        let found = self.lines.iter().rev().find(|line| line.is_safety);
        found.expect("a safety checkpoint")
    }

    /// A checkpoint and those it descends from, the nearest first.
    pub fn line_of(&self, id: &str) -> Vec<String> {
        let mut found = vec![id.to_owned()];
        while let Some(parent) = &self.line(found.last().unwrap()).parent {
            found.push(parent.clone());
        }
        found
    }

    /// The current checkpoint and those it descends from.
    pub fn current_line(&self) -> Vec<String> {
        self.current
            .as_ref()
            .map_or_else(Vec::new, |id| self.line_of(id))
    }

    /// Which of the checkpoints that were not made for safety are valid.
    pub fn validity(&self) -> BTreeMap<String, bool> {
        let made = self.lines.iter().filter(|line| !line.is_safety);
        made.map(|line| (line.id.clone(), line.is_valid)).collect()
    }

    /// The current checkpoint; for one that was made for safety, the one that it was made from.
    pub fn standing(&self) -> Option<String> {
        let mut id = self.current.clone()?;
        while self.line(&id).is_safety {
            id = self.line(&id).parent.clone()?;
        }
        Some(id)
    }
}
