//! `index.yaml` and `CP-*.yaml`: one session an issue, of the workflow `crunch`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Document, ForeignCheckpoint, ForeignSession, Remark, Scheme, Understood, brief, built_in,
    outputs, status, text, topic, with_origin,
};

const WORKFLOW: &str = "crunch";

/// Understands an index and the files beside it. `place` is the name of their directory, for want of a better topic;
/// `unreadable` are files that are there and cannot be used.
#[must_use]
pub fn index(
    place: &str,
    list: Option<&Document>,
    documents: Vec<Document>,
    unreadable: &[Remark],
) -> Understood {
    let mut understood = Understood::default();
    let listed = list.map(listed).unwrap_or_default();
    let stem = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.rsplit_once('.')
            .map_or(name, |(stem, _)| stem)
            .to_owned()
    };
    let mut found: Vec<(usize, Document)> = Vec::new();
    for document in documents {
        let key = stem(&document.path);
        let at = listed.iter().position(|(id, _)| *id == key);
        if at.is_none() && list.is_some() {
            understood.remark(&document.path, "is not in the index");
        }
        found.push((at.unwrap_or(usize::MAX), document));
    }
    if let Some(list) = list {
        for (id, _) in &listed {
            let is_there = found
                .iter()
                .any(|(_, document)| stem(&document.path) == *id)
                || unreadable.iter().any(|remark| stem(&remark.path) == *id);
            if !is_there {
                understood.refuse(
                    &list.path,
                    format!("lists {id:?}, of which there is no file"),
                );
            }
        }
    }
    let mut issues: BTreeMap<String, Vec<(usize, ForeignCheckpoint)>> = BTreeMap::new();
    let mut topics: BTreeMap<String, String> = BTreeMap::new();
    for (at, document) in found {
        let said = listed.get(at).map(|(_, said)| said);
        let (key, about) = issue_of(&document.fields, list, place);
        topics.insert(key.clone(), about);
        let checkpoint = checkpoint(&mut understood, document, said);
        issues.entry(key).or_default().push((at, checkpoint));
    }
    for (key, mut checkpoints) in issues {
        // The order of the index, and of time for what is not in it.
        checkpoints.sort_by(|(at, a), (bt, b)| {
            (at, a.created_at, &a.source).cmp(&(bt, b.created_at, &b.source))
        });
        let checkpoints: Vec<_> = checkpoints.into_iter().map(|(_, one)| one).collect();
        let Some(newest) = checkpoints.last() else {
            continue;
        };
        let of_list = list.and_then(|list| list.fields.get("status"));
        let said = newest.state.get("status").or(of_list);
        let began = checkpoints.iter().map(|one| one.created_at).min();
        understood.sessions.push(ForeignSession {
            topic: topics.remove(&key).unwrap_or_else(|| place.to_owned()),
            workflow: WORKFLOW,
            status: status(said),
            created_at: began.unwrap_or_default(),
            checkpoints,
        });
    }
    understood.finish()
}

/// The checkpoints that an index lists, by the beginnings of their files' names, in its order.
fn listed(list: &Document) -> Vec<(String, Map<String, Value>)> {
    let plain = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        let name = name
            .strip_suffix(".yaml")
            .or(name.strip_suffix(".yml"))
            .unwrap_or(name);
        name.to_owned()
    };
    let of_fields = |fields: &Map<String, Value>| {
        let keys = ["file", "path", "id", "checkpoint_id"];
        let name = keys.iter().find_map(|key| fields.get(*key)?.as_str());
        name.map(|name| (plain(name), fields.clone()))
    };
    match list.fields.get("checkpoints") {
        Some(Value::Array(items)) => {
            let items = items.iter().filter_map(|item| match item {
                Value::String(name) => Some((plain(name), Map::new())),
                Value::Object(fields) => of_fields(fields),
                _ => None,
            });
            items.collect()
        }
        Some(Value::Object(items)) => {
            let items = items.iter().map(|(id, item)| {
                let fields = item.as_object().cloned().unwrap_or_default();
                let named = of_fields(&fields).filter(|_| fields.contains_key("file"));
                named.unwrap_or((plain(id), fields))
            });
            items.collect()
        }
        _ => Vec::new(),
    }
}

/// Which issue a checkpoint is about, and what to call that.
fn issue_of(fields: &Map<String, Value>, list: Option<&Document>, place: &str) -> (String, String) {
    let snapshot = fields.get("issue_snapshot").and_then(Value::as_object);
    let of = |map: &Map<String, Value>| {
        let keys = ["number", "issue_number", "issue_no", "issue", "issue_id"];
        keys.iter()
            .find_map(|key| text(map, key).map(Cow::into_owned))
    };
    let number = snapshot.and_then(of).or_else(|| of(fields));
    let number = number.or_else(|| list.and_then(|list| of(&list.fields)));
    let title = snapshot.and_then(|snapshot| text(snapshot, "title"));
    let about = match (&number, title) {
        (Some(number), Some(title)) => format!("issue {number}: {title}"),
        (Some(number), None) => format!("issue {number}"),
        (None, Some(title)) => title.into_owned(),
        (None, None) => place.to_owned(),
    };
    (number.unwrap_or_default(), topic(&about))
}

fn checkpoint(
    understood: &mut Understood,
    mut document: Document,
    listed: Option<&Map<String, Value>>,
) -> ForeignCheckpoint {
    let path = document.path.clone();
    let mut origin = Vec::new();
    // Some put what is about the checkpoint into a part of its own; the engine has such a field for itself.
    let mut about = Map::new();
    if let Some(part) = document.fields.remove("checkpoint") {
        about.extend(part.as_object().cloned().unwrap_or_default());
        origin.push(("checkpoint", part));
    }
    let say = |key: &str| {
        let within = document.fields.get(key).or_else(|| about.get(key));
        let said = within.or_else(|| listed.and_then(|listed| listed.get(key)));
        said.filter(|said| !said.is_null()).cloned()
    };
    let phase = say("phase").or_else(|| say("stage")).or_else(|| {
        let team = document.fields.get("team_state")?;
        team.get("phase")
            .or_else(|| team.get("current_phase"))
            .cloned()
    });
    let trigger = say("trigger");
    let description = say("description").or_else(|| say("summary"));
    let time = ["timestamp", "created_at"].into_iter().find_map(say);
    let timed = Document {
        fields: time
            .into_iter()
            .map(|time| ("timestamp".to_owned(), time))
            .collect(),
        ..document.clone()
    };
    let created_at = understood.time(&timed, &["timestamp"]);
    let (trigger, original) = understood.trigger(&path, trigger.as_ref());
    origin.extend(original.map(|original| ("trigger", original)));
    let workflow = built_in(WORKFLOW);
    let said = phase.as_ref().and_then(Value::as_str).map(str::to_owned);
    let step = said.as_deref().and_then(step_of);
    if step.is_none() {
        let found = phase.as_ref().map_or("no phase".to_owned(), brief);
        let reason = format!("{found} is not one of the workflow's, so the step is 1");
        understood.remark(&path, reason);
    }
    let step = step.unwrap_or(1);
    let name = workflow.step_name(step).unwrap_or_default();
    let description = description.and_then(|said| said.as_str().map(str::to_owned));
    ForeignCheckpoint {
        source: path.clone(),
        step,
        name: name.to_owned(),
        phase: said.unwrap_or_else(|| name.to_owned()),
        trigger,
        description: description.unwrap_or_default(),
        created_at,
        turn_count: super::whole(document.fields.get("turn_count")),
        outputs: outputs(&document.fields),
        state: with_origin(document.fields, Scheme::Index, &path, origin),
        files: None,
    }
}

/// The step of a phase, by its name or a word that means the same.
fn step_of(phase: &str) -> Option<u32> {
    let word = phase.trim().to_ascii_lowercase();
    let name = match word.as_str() {
        "enrichment" | "enriching" => "enrich",
        "implement" | "implementation" => "implementing",
        "validate" | "validating" => "validation",
        "documentation" | "documenting" => "docs",
        word => word,
    };
    built_in(WORKFLOW).step_number(name)
}
