//! `impl-checkpoint.json`: one session, whose state is that of the workflow `impl`.

use serde_json::Value;

use super::{
    Document, ForeignCheckpoint, ForeignSession, Scheme, Understood, brief, built_in, outputs,
    text, topic, with_origin,
};
use crate::model::SessionStatus;

const WORKFLOW: &str = "impl";

/// The versions that are understood, as numbers and texts.
const VERSIONS: [&str; 2] = ["1", "1.0"];

/// Understands such files, each by itself.
#[must_use]
pub fn single_file(documents: Vec<Document>) -> Understood {
    let mut understood = Understood::default();
    for document in documents {
        if let Some(session) = understand(&mut understood, &document) {
            understood.sessions.push(session);
        }
    }
    understood.finish()
}

fn understand(understood: &mut Understood, document: &Document) -> Option<ForeignSession> {
    let path = document.path.clone();
    let version = text(&document.fields, "version");
    if !version
        .as_ref()
        .is_some_and(|version| VERSIONS.contains(&version.as_ref()))
    {
        let found = document
            .fields
            .get("version")
            .map_or("none".to_owned(), brief);
        understood.refuse(&path, format!("its version is {found}; 1 is known"));
        return None;
    }
    let Some(Value::Object(state)) = document.fields.get("state") else {
        understood.refuse(&path, "has no state that is an object");
        return None;
    };
    let workflow = built_in(WORKFLOW);
    let named = state.get("current_stage").and_then(Value::as_str);
    let step = named.and_then(|name| workflow.step_number(name));
    let (Some(name), Some(step)) = (named, step) else {
        let found = state.get("current_stage").map_or("none".to_owned(), brief);
        let known = workflow.steps().iter().map(|step| step.name.as_str());
        let known: Vec<&str> = known.collect();
        understood.refuse(
            &path,
            format!(
                "its current_stage is {found}, not one of {}",
                known.join(", ")
            ),
        );
        return None;
    };
    let created_at = understood.time(document, &["timestamp", "updated_at", "created_at"]);
    let said = document
        .fields
        .get("trigger")
        .or_else(|| state.get("trigger"));
    let (trigger, original) = understood.trigger(&path, said);
    let mut origin = vec![("version", document.fields["version"].clone())];
    origin.extend(original.map(|original| ("trigger", original)));
    // What stands beside the state is kept as well.
    let known = ["version", "timestamp", "state", "trigger"];
    let others: serde_json::Map<String, Value> = document
        .fields
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !others.is_empty() {
        origin.push(("fields", Value::Object(others)));
    }
    let about = text(state, "issue_no");
    let about = about.map_or("impl".to_owned(), |issue| format!("issue {issue}"));
    let iteration = text(state, "iteration");
    let description = iteration.map_or(String::new(), |nth| format!("{name}, iteration {nth}"));
    let checkpoint = ForeignCheckpoint {
        source: path.clone(),
        step,
        name: workflow.step_name(step).unwrap_or(name).to_owned(),
        phase: name.to_owned(),
        trigger,
        description,
        created_at,
        turn_count: None,
        outputs: outputs(state),
        state: with_origin(state.clone(), Scheme::SingleFile, &path, origin),
        files: None,
    };
    let status = match name.to_ascii_lowercase().as_str() {
        "done" => SessionStatus::Completed,
        "fatal" => SessionStatus::Failed,
        _ => SessionStatus::Interrupted,
    };
    Some(ForeignSession {
        topic: topic(&about),
        workflow: WORKFLOW,
        status,
        created_at,
        checkpoints: vec![checkpoint],
    })
}
