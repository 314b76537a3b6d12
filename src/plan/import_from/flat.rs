//! `{type}_{project}_{YYYYMMDD_HHMMSS}.json`: one session a run, of the workflow `phases`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::{Map, Value, json};

use super::{
    Document, ForeignCheckpoint, ForeignSession, Scheme, Understood, outputs, read_time, status,
    text, topic, whole, with_origin,
};
use crate::model::SessionStatus;

/// More phases than anybody counts one by one.
const MOST_PHASES: u64 = 10_000;

/// What the name of such a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlatName {
    /// The type of the workflow.
    pub kind: String,
    /// The project; empty when the name has none.
    pub project: String,
    /// When the run began.
    pub time: DateTime<Utc>,
}

impl FlatName {
    /// Reads a file's name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".json")?;
        let (rest, clock) = stem.rsplit_once('_')?;
        let (rest, date) = rest.rsplit_once('_')?;
        let digits = |text: &str, count: usize| {
            text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !digits(date, 8) || !digits(clock, 6) {
            return None;
        }
        let time = NaiveDateTime::parse_from_str(&format!("{date}_{clock}"), "%Y%m%d_%H%M%S");
        let (kind, project) = rest.split_once('_').unwrap_or((rest, ""));
        (!kind.is_empty()).then_some(Self {
            kind: kind.to_owned(),
            project: project.to_owned(),
            time: time.ok()?.and_utc(),
        })
    }
}

/// A document with what its name says, and whether it lay among the failed ones.
pub struct Named {
    /// The name; none where a file was named outright.
    pub name: Option<FlatName>,
    /// Whether it was in `failed/`.
    pub failed: bool,
    /// The document.
    pub document: Document,
}

/// Understands such files. Those of one `checkpoint_id` are one run.
#[must_use]
pub fn flat(documents: Vec<(Option<FlatName>, bool, Document)>) -> Understood {
    let mut understood = Understood::default();
    let mut runs: BTreeMap<String, Vec<Named>> = BTreeMap::new();
    for (name, failed, document) in documents {
        let known = [
            "checkpoint_id",
            "workflow_type",
            "current_phase",
            "workflow_state",
        ];
        if !known.iter().any(|key| document.fields.contains_key(*key)) {
            understood.refuse(&document.path, format!("has none of {}", known.join(", ")));
            continue;
        }
        let id = text(&document.fields, "checkpoint_id");
        let run = id.map_or_else(|| document.path.clone(), Cow::into_owned);
        runs.entry(run).or_default().push(Named {
            name,
            failed,
            document,
        });
    }
    for files in runs.into_values() {
        let session = understand(&mut understood, files);
        understood.sessions.push(session);
    }
    understood.finish()
}

fn understand(understood: &mut Understood, files: Vec<Named>) -> ForeignSession {
    let mut checkpoints: Vec<(ForeignCheckpoint, SessionStatus)> = Vec::new();
    let mut began: Option<DateTime<Utc>> = None;
    let mut about = String::new();
    for Named {
        name,
        failed,
        document,
    } in files
    {
        let of_name = name.as_ref().map(|name| name.time);
        let said = document.fields.get("created_at").and_then(read_time);
        let started = said.or(of_name);
        let changed = document.fields.get("updated_at").and_then(read_time);
        let created_at = match changed.or(started) {
            Some(time) => time,
            None => understood.time(&document, &["updated_at", "created_at"]),
        };
        let started = started.unwrap_or(created_at);
        began = Some(began.map_or(started, |began| began.min(started)));
        let state = if failed {
            SessionStatus::Failed
        } else {
            status(document.fields.get("status"))
        };
        about = topic_of(&document.fields, name.as_ref());
        checkpoints.push((checkpoint(understood, document, created_at), state));
    }
    checkpoints.sort_by(|(a, _), (b, _)| (a.created_at, &a.source).cmp(&(b.created_at, &b.source)));
    let status = checkpoints.last().map(|(_, status)| *status);
    ForeignSession {
        topic: about,
        workflow: "phases",
        status: status.unwrap_or(SessionStatus::Interrupted),
        created_at: began.unwrap_or_default(),
        checkpoints: checkpoints.into_iter().map(|(one, _)| one).collect(),
    }
}

fn topic_of(fields: &Map<String, Value>, name: Option<&FlatName>) -> String {
    if let Some(said) = text(fields, "workflow_description") {
        return topic(&said);
    }
    let kind = text(fields, "workflow_type").map(Cow::into_owned);
    let kind = kind.or_else(|| name.map(|name| name.kind.clone()));
    let project = name.map_or("", |name| name.project.as_str());
    topic(&format!(
        "{} {project}",
        kind.as_deref().unwrap_or("workflow")
    ))
}

fn checkpoint(
    understood: &mut Understood,
    document: Document,
    created_at: DateTime<Utc>,
) -> ForeignCheckpoint {
    let path = document.path;
    let mut fields = document.fields;
    let mut origin = Vec::new();
    // Elsewhere the number of phases may stand for the phases.
    if let Some(count) = fields.get("completed_phases").and_then(Value::as_u64)
        && count <= MOST_PHASES
    {
        origin.push(("completed_phases", json!(count)));
        let phases: Vec<u64> = (1..=count).collect();
        fields.insert("completed_phases".to_owned(), json!(phases));
    }
    if let Some(error) = fields.get("last_error").filter(|error| error.is_object()) {
        let told = error.get("message").and_then(Value::as_str);
        let told = told.map_or_else(|| error.to_string(), str::to_owned);
        origin.push(("last_error", error.clone()));
        fields.insert("last_error".to_owned(), told.into());
    }
    let completed = match fields.get("completed_phases") {
        Some(Value::Array(list)) => list.len() as u64,
        Some(Value::Object(map)) => map.len() as u64,
        _ => 0,
    };
    let number = whole(fields.get("current_phase"));
    let step = number.unwrap_or(completed + 1).max(1);
    let step = u32::try_from(step).unwrap_or_else(|_| {
        understood.remark(&path, format!("{step} is too large a number for a phase"));
        u32::MAX
    });
    let named = fields.get("current_phase").and_then(Value::as_str);
    let named = named.filter(|_| number.is_none()).map(str::to_owned);
    let name = named.unwrap_or_else(|| format!("phase-{step}"));
    let (trigger, original) = understood.trigger(&path, fields.get("trigger"));
    origin.extend(original.map(|original| ("trigger", original)));
    let description = text(&fields, "last_error");
    let description = description.map_or(String::new(), |error| format!("last error: {error}"));
    ForeignCheckpoint {
        source: path.clone(),
        step,
        phase: name.clone(),
        name,
        trigger,
        description,
        created_at,
        turn_count: None,
        outputs: outputs(&fields),
        state: with_origin(fields, Scheme::Flat, &path, origin),
        files: None,
    }
}
