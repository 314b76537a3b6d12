//! What the checkpoints of other programs mean here: their documents in, sessions out, with a reason for what cannot come.
//!
//! Four schemes are known ([`Scheme`]). Whatever a document says stays in the state, word for word; what is understood
//! becomes a step, a phase, a trigger, a time. Nothing here reads a file: [`Document`] is what was read.

mod directory;
mod flat;
mod index;
mod single_file;
mod time;
mod trigger;

use std::fmt;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::validate::state::misfits;
use crate::model::workflow::{self, Workflow};
use crate::model::{SessionStatus, State, Trigger};
use time::read_time;
use trigger::{Meaning, read_trigger};

/// The longest topic that a session gets, in characters.
const MAX_TOPIC: usize = 200;

/// How another program keeps its checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// `<iteration>/checkpoints/<n>/` with copied files and `state.json`.
    Directory,
    /// One `impl-checkpoint.json`.
    SingleFile,
    /// A directory of `{type}_{project}_{YYYYMMDD_HHMMSS}.json`.
    Flat,
    /// `index.yaml` and `CP-*.yaml`.
    Index,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Directory, Self::SingleFile, Self::Flat, Self::Index];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::SingleFile => "single-file",
            Self::Flat => "flat",
            Self::Index => "index",
        }
    }

    /// What it looks like.
    #[must_use]
    pub const fn looks_like(self) -> &'static str {
        match self {
            Self::Directory => "<iteration>/checkpoints/<n>/state.json",
            Self::SingleFile => "impl-checkpoint.json",
            Self::Flat => "{type}_{project}_{YYYYMMDD_HHMMSS}.json",
            Self::Index => "index.yaml and CP-*.yaml",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A document of a scheme, and where it was.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its path below what is imported, as text.
    pub path: String,
    /// What it says.
    pub fields: Map<String, Value>,
    /// When its file was last written.
    pub modified: DateTime<Utc>,
}

/// A document that stands in a directory of a session, by number.
#[derive(Debug, Clone)]
pub struct Numbered {
    /// The number in the directory's name.
    pub number: u64,
    /// The document.
    pub document: Document,
    /// Which directory its files are in, for whoever reads them.
    pub files: usize,
}

/// A session as another program left it.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignSession {
    /// What it is about.
    pub topic: String,
    /// The workflow that it follows here.
    pub workflow: &'static str,
    /// Where it is in its life.
    pub status: SessionStatus,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// Its checkpoints, in order.
    pub checkpoints: Vec<ForeignCheckpoint>,
}

/// A checkpoint as another program left it.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignCheckpoint {
    /// The file that tells of it.
    pub source: String,
    /// The step.
    pub step: u32,
    /// The step's name.
    pub name: String,
    /// Where the workflow was.
    pub phase: String,
    /// Why it was made.
    pub trigger: Trigger,
    /// What its maker said.
    pub description: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// How many turns the agents had taken.
    pub turn_count: Option<u64>,
    /// All that the document says.
    pub state: Map<String, Value>,
    /// What the workflow had produced.
    pub outputs: Map<String, Value>,
    /// Which directory its files are in.
    pub files: Option<usize>,
}

/// Something to say about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The file, below what is imported.
    pub path: String,
    /// What about it.
    pub reason: String,
}

/// What the documents of a scheme mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Understood {
    /// The sessions, the oldest first.
    pub sessions: Vec<ForeignSession>,
    /// Files that cannot come, each with the reason.
    pub broken: Vec<Remark>,
    /// What was understood with a grain of salt.
    pub remarks: Vec<Remark>,
}

pub use directory::directory;
pub use flat::{FlatName, flat};
pub use index::index;
pub use single_file::single_file;

impl Understood {
    fn refuse(&mut self, path: &str, reason: impl Into<String>) {
        self.broken.push(Remark {
            path: path.to_owned(),
            reason: reason.into(),
        });
    }

    fn remark(&mut self, path: &str, reason: impl Into<String>) {
        self.remarks.push(Remark {
            path: path.to_owned(),
            reason: reason.into(),
        });
    }

    /// The time that a document says, or else that of its file.
    fn time(&mut self, document: &Document, keys: &[&str]) -> DateTime<Utc> {
        let mut said = keys.iter().filter_map(|key| document.fields.get(*key));
        if let Some(value) = said.find(|value| !value.is_null()) {
            if let Some(time) = read_time(value) {
                return time;
            }
            self.remark(
                &document.path,
                format!("{} is no time, so that of the file counts", brief(value)),
            );
        } else {
            self.remark(&document.path, "says no time, so that of the file counts");
        }
        document.modified
    }

    /// The trigger that a document says. One that is not known is `manual`, which is kept longest.
    fn trigger(&mut self, path: &str, said: Option<&Value>) -> (Trigger, Option<Value>) {
        let Some(said) = said.filter(|said| !said.is_null()) else {
            return (Trigger::Manual, None);
        };
        match read_trigger(said.as_str().unwrap_or_default()) {
            Meaning::Same(trigger) => (trigger, None),
            Meaning::Like(trigger) => (trigger, Some(said.clone())),
            Meaning::Unknown => {
                self.remark(
                    path,
                    format!("the trigger {} is not known, so it is manual", brief(said)),
                );
                (Trigger::Manual, Some(said.clone()))
            }
        }
    }

    /// Says where states do not fit their workflow, and puts the sessions in order.
    fn finish(mut self) -> Self {
        self.sessions
            .retain(|session| !session.checkpoints.is_empty());
        let mut found = Vec::new();
        for session in &self.sessions {
            let workflow = built_in(session.workflow);
            for checkpoint in &session.checkpoints {
                let Ok(state) = serde_json::from_value::<State>(checkpoint.state.clone().into())
                else {
                    continue;
                };
                for misfit in misfits(Some(workflow), &state) {
                    found.push(Remark {
                        path: checkpoint.source.clone(),
                        reason: format!("{} {}", misfit.path, misfit.reason),
                    });
                }
            }
        }
        self.remarks.extend(found);
        self.sessions
            .sort_by(|a, b| (a.created_at, &a.topic).cmp(&(b.created_at, &b.topic)));
        self
    }
}

/// What a state says of its origin beside what it said there.
fn with_origin(
    mut fields: Map<String, Value>,
    scheme: Scheme,
    source: &str,
    more: impl IntoIterator<Item = (&'static str, Value)>,
) -> Map<String, Value> {
    let mut origin = Map::new();
    origin.insert("scheme".to_owned(), json!(scheme));
    origin.insert("source".to_owned(), json!(source));
    for (key, value) in more {
        origin.insert(key.to_owned(), value);
    }
    if let Some(taken) = fields.remove("imported") {
        origin.insert("imported".to_owned(), taken);
    }
    fields.insert("imported".to_owned(), Value::Object(origin));
    fields
}

/// A workflow that ships.
fn built_in(name: &str) -> &'static Workflow {
    let found = workflow::built_in().iter().find(|one| one.name() == name);
    found.expect("the schemes follow workflows that ship")
}

/// A text that a document says; numbers count as texts.
fn text<'d>(fields: &'d Map<String, Value>, key: &str) -> Option<std::borrow::Cow<'d, str>> {
    match fields.get(key)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.as_str().into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// A whole number that a document says, as a number or as text.
fn whole(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64(),
    }
}

/// What is produced, where a document says so.
fn outputs(fields: &Map<String, Value>) -> Map<String, Value> {
    let outputs = fields.get("outputs").and_then(Value::as_object);
    outputs.cloned().unwrap_or_default()
}

/// Where a session is, in the words of many programs. Nobody is at work on what is imported, so what was under way has
/// been interrupted.
fn status(said: Option<&Value>) -> SessionStatus {
    let said = said.and_then(Value::as_str).unwrap_or_default();
    match said.trim().to_ascii_lowercase().as_str() {
        "completed" | "complete" | "done" | "finished" | "success" | "succeeded" => {
            SessionStatus::Completed
        }
        "failed" | "failure" | "error" | "fatal" => SessionStatus::Failed,
        "abandoned" | "cancelled" | "canceled" | "aborted" => SessionStatus::Abandoned,
        _ => SessionStatus::Interrupted,
    }
}

/// A value in a few words.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        return text;
    }
    let start: String = text.chars().take(60).collect();
    format!("{start}…")
}

fn topic(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MAX_TOPIC).collect()
}

#[cfg(test)]
mod tests;
