//! `<iteration>/checkpoints/<n>/`: one session an iteration, one checkpoint a number, with the files that were copied.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    ForeignCheckpoint, ForeignSession, Numbered, Scheme, Understood, outputs, status, text, topic,
    whole, with_origin,
};

/// What an iteration is called when it has nothing but a number.
fn topic_of(iteration: &str) -> String {
    let has_letters = iteration.chars().any(char::is_alphabetic);
    if has_letters {
        topic(iteration)
    } else {
        topic(&format!("iteration {iteration}"))
    }
}

/// Understands iterations: each a name and its numbered documents.
#[must_use]
pub fn directory(iterations: Vec<(String, Vec<Numbered>)>) -> Understood {
    let mut understood = Understood::default();
    for (iteration, mut numbered) in iterations {
        numbered.sort_by_key(|one| (one.number, one.document.path.clone()));
        // Steps count from 1 here.
        let shift = u64::from(numbered.first().is_some_and(|one| one.number == 0));
        let mut checkpoints: Vec<ForeignCheckpoint> = Vec::new();
        let mut last_status = None;
        for Numbered {
            number,
            document,
            files,
        } in numbered
        {
            let path = document.path.clone();
            let Ok(step) = u32::try_from(number + shift) else {
                understood.refuse(&path, format!("{number} is too large a number"));
                continue;
            };
            if shift == 1 {
                understood.remark(
                    &path,
                    format!("numbers begin with 0 there, so this is {step}"),
                );
            }
            if checkpoints.last().is_some_and(|last| last.step == step) {
                understood.remark(&path, format!("the number {number} is there twice"));
            }
            let said = whole(document.fields.get("number"));
            if let Some(said) = said.filter(|said| *said != number) {
                understood.remark(
                    &path,
                    format!("says that its number is {said}, its directory says {number}"),
                );
            }
            let created_at = understood.time(&document, &["timestamp", "created_at"]);
            let (trigger, original) = understood.trigger(&path, document.fields.get("trigger"));
            let fields = document.fields;
            last_status = fields.get("status").cloned();
            let phase = text(&fields, "phase").map(Cow::into_owned);
            let description = fields.get("description").and_then(Value::as_str);
            let original = original.map(|original| ("trigger", original));
            checkpoints.push(ForeignCheckpoint {
                source: path.clone(),
                step,
                name: phase.clone().unwrap_or_else(|| "checkpoint".to_owned()),
                phase: phase.unwrap_or_else(|| "checkpoint".to_owned()),
                trigger,
                description: description.unwrap_or_default().to_owned(),
                created_at,
                turn_count: whole(fields.get("turn_count")),
                outputs: outputs(&fields),
                state: with_origin(fields, Scheme::Directory, &path, original),
                files: Some(files),
            });
        }
        let Some(first) = checkpoints.first() else {
            continue;
        };
        understood.sessions.push(ForeignSession {
            topic: topic_of(&iteration),
            workflow: "free",
            status: status(last_status.as_ref()),
            created_at: first.created_at,
            checkpoints,
        });
    }
    understood.finish()
}
