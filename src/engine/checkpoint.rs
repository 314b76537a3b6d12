//! A checkpoint as reports show it.

use serde::Serialize;
use serde_json::Value;

use super::Workspace;
use crate::model::selector::Numbers;
use crate::model::{Entry, Manifest, Record};

/// A listed checkpoint, with what selects it.
#[derive(Debug, Clone, Serialize)]
pub struct Checkpoint {
    /// What a user types to mean it.
    pub number: String,
    /// The manifest's line.
    #[serde(flatten)]
    pub entry: Entry,
    /// Whether the work tree descends from it.
    pub current: bool,
    /// What its maker said, when the record was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many turns the agents had taken, when the record was read and says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<u64>,
    /// The value of the metric that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Value>,
    /// Why the record cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_error: Option<String>,
}

impl Checkpoint {
    /// What the manifest says.
    #[must_use]
    pub fn of(manifest: &Manifest, numbers: &Numbers, entry: &Entry) -> Self {
        Self {
            number: numbers.number(entry),
            entry: entry.clone(),
            current: manifest.current_checkpoint.as_ref() == Some(&entry.id),
            description: None,
            turn_count: None,
            metric: None,
            record_error: None,
        }
    }

    /// What manifest and record say.
    #[must_use]
    pub fn described(manifest: &Manifest, record: &Record) -> Self {
        let entry = manifest.entry(&record.id).cloned();
        let entry = entry.unwrap_or_else(|| Entry::of(record));
        let mut checkpoint = Self::of(manifest, &Numbers::of(manifest), &entry);
        checkpoint.describe(record);
        checkpoint
    }

    /// Takes over what only the record says.
    pub fn describe(&mut self, record: &Record) {
        self.description = Some(record.description.clone());
        self.turn_count = record.turn_count;
    }

    /// Reads the record for what only it says; one that cannot be read is noted and hides nothing else.
    pub(super) fn read(&mut self, workspace: &Workspace, manifest: &Manifest) {
        self.read_with(workspace, manifest, None);
    }

    /// As [`Checkpoint::read`], with a metric: its name, or a dotted path in the state.
    pub(super) fn read_with(
        &mut self,
        workspace: &Workspace,
        manifest: &Manifest,
        metric: Option<&str>,
    ) {
        match workspace
            .store
            .load_listed(&manifest.session_id, &self.entry)
        {
            Ok(record) => {
                self.describe(&record);
                self.metric = metric.and_then(|name| {
                    let state = &record.state;
                    let found = state.get(&format!("metrics.{name}"));
                    found.or_else(|| state.get(name)).cloned()
                });
            }
            Err(error) => self.record_error = Some(super::failure::error_chain(&error)),
        }
    }
}
