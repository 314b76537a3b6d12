//! What can still be read of a damaged manifest, and putting a manifest together again.
//!
//! A manifest has one field a line and one checkpoint a line, so damage costs the lines it hits. Nothing of it is proven:
//! the checksum is over the whole.

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    Entry, Manifest, OrdinalRange, PrunedParent, PrunedRange, RollbackRecord, StatusChange,
    Validity,
};
use crate::model::ids::CheckpointId;
use crate::model::json::{self, Limits};
use crate::model::record::Record;
use crate::model::status::SessionStatus;
use crate::model::timestamp;

/// What could be read of a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvage {
    /// What the session is about.
    pub topic: Option<String>,
    /// The workflow's name.
    pub workflow: Option<String>,
    /// Where the session was in its life.
    pub status: Option<SessionStatus>,
    /// When it began.
    pub created_at: Option<DateTime<Utc>>,
    /// When it last changed.
    pub updated_at: Option<DateTime<Utc>>,
    /// The checkpoint that the work tree descended from.
    pub current_checkpoint: Option<CheckpointId>,
    /// Its lines.
    pub entries: Vec<Entry>,
    /// The rollbacks.
    pub rollback_history: Vec<RollbackRecord>,
    /// The changes of the status.
    pub status_history: Vec<StatusChange>,
    /// What was pruned.
    pub pruned: Vec<PrunedRange>,
    /// What lies below pruned checkpoints.
    pub pruned_parents: Vec<PrunedParent>,
    /// The ordinals that have been given.
    pub next_ordinals: Vec<OrdinalRange>,
}

impl Salvage {
    /// Everything a whole manifest says.
    #[must_use]
    pub fn of_manifest(manifest: &Manifest) -> Self {
        Self {
            topic: Some(manifest.topic.clone()),
            workflow: Some(manifest.workflow.clone()),
            status: Some(manifest.status),
            created_at: Some(manifest.created_at),
            updated_at: Some(manifest.updated_at),
            current_checkpoint: manifest.current_checkpoint.clone(),
            entries: manifest.checkpoints.clone(),
            rollback_history: manifest.rollback_history.clone(),
            status_history: manifest.status_history.clone(),
            pruned: manifest.pruned.clone(),
            pruned_parents: manifest.pruned_parents.clone(),
            next_ordinals: manifest.next_ordinals.clone(),
        }
    }

    /// What can be read of the bytes of a manifest, however damaged.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut salvage = Self::default();
        if bytes.len() > Limits::MANIFEST.bytes {
            return salvage;
        }
        if let Ok(object) = json::parse_object(bytes, Limits::MANIFEST) {
            salvage.take_fields(&object);
            for (name, value) in object {
                if let Value::Array(items) = value {
                    for item in items {
                        salvage.take_line(&name, item);
                    }
                }
            }
            return salvage;
        }
        let mut list = String::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line) else {
                continue;
            };
            let line = line.trim();
            let line = line.strip_suffix(',').unwrap_or(line);
            if let Some(name) = line.strip_suffix(": [") {
                name.trim_matches('"').clone_into(&mut list);
            } else if line.starts_with('"') {
                let field = json::parse_object(format!("{{{line}}}").as_bytes(), Limits::INPUT);
                if let Ok(field) = field {
                    salvage.take_fields(&field);
                }
            } else if let Ok(item) = json::parse_object(line.as_bytes(), Limits::INPUT) {
                salvage.take_line(&list, Value::Object(item));
            }
        }
        salvage
    }

    fn take_fields(&mut self, fields: &Map<String, Value>) {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let time = |name: &str| text(name).and_then(timestamp::parse);
        take(&mut self.topic, text("topic").map(str::to_owned));
        take(&mut self.workflow, text("workflow").map(str::to_owned));
        take(
            &mut self.status,
            text("status").and_then(|text| text.parse().ok()),
        );
        take(&mut self.created_at, time("created_at"));
        take(&mut self.updated_at, time("updated_at"));
        let current = text("current_checkpoint").and_then(|id| CheckpointId::parse(id).ok());
        take(&mut self.current_checkpoint, current);
    }

    fn take_line(&mut self, list: &str, item: Value) {
        fn shaped<T: DeserializeOwned>(into: &mut Vec<T>, item: Value) {
            into.extend(serde_json::from_value::<T>(item));
        }
        match list {
            "checkpoints" => shaped(&mut self.entries, item),
            "rollback_history" => shaped(&mut self.rollback_history, item),
            "status_history" => shaped(&mut self.status_history, item),
            "pruned" => shaped(&mut self.pruned, item),
            "pruned_parents" => shaped(&mut self.pruned_parents, item),
            "next_ordinals" => shaped(&mut self.next_ordinals, item),
            _ => {}
        }
    }
}

fn take<T>(place: &mut Option<T>, found: Option<T>) {
    if place.is_none() {
        *place = found;
    }
}

impl Manifest {
    /// Makes a listed checkpoint's line say what its record says; whether it is valid stays as it is. Says whether
    /// anything changed.
    pub fn correct(&mut self, record: &Record) -> bool {
        let place = self
            .checkpoints
            .iter_mut()
            .find(|entry| entry.id == record.id);
        let Some(place) = place.filter(|entry| entry.seq == record.seq) else {
            return false;
        };
        let Validity {
            valid,
            invalidated_by,
            corrupted_at,
        } = place.validity();
        let entry = Entry {
            corrupted_at,
            invalidated_by,
            valid,
            ..Entry::of(record)
        };
        if *place == entry {
            return false;
        }
        *place = entry;
        self.text = None;
        true
    }

    /// Makes what was pruned right before a record end in the checksum that the record names. Says whether anything
    /// changed.
    pub fn relink(&mut self, record: &Record) -> bool {
        let before = self
            .checkpoints
            .iter()
            .rev()
            .find(|entry| entry.seq < record.seq);
        let before = before.map_or(0, |entry| entry.seq);
        let between = |range: &&mut PrunedRange| range.to_seq > before && range.to_seq < record.seq;
        let range = self.pruned.iter_mut().rev().find(between);
        match (range, record.prev_checksum) {
            (Some(range), Some(named)) if range.last_checksum != named => {
                range.last_checksum = named;
                true
            }
            _ => false,
        }
    }

    /// Takes over, for a manifest that is put together again, what was pruned after its last checkpoint, what lies below
    /// pruned checkpoints, and which ordinals have been given.
    pub fn adopt_past(&mut self, salvage: &Salvage) {
        let next_seq = self.next_seq;
        let tail = salvage
            .pruned
            .iter()
            .filter(|range| range.from_seq <= range.to_seq && range.to_seq < u64::MAX)
            .filter(|range| range.from_seq == next_seq);
        if let Some(tail) = tail.max_by_key(|range| range.to_seq) {
            self.pruned.push(*tail);
            self.next_seq = tail.to_seq + 1;
        }
        let bridges = salvage.pruned_parents.iter();
        let bridges = bridges.filter(|bridge| self.entry(&bridge.id).is_none());
        self.pruned_parents = bridges.cloned().collect();
        let plausible = salvage
            .next_ordinals
            .iter()
            .filter(|range| range.from_step <= range.to_step);
        self.next_ordinals = plausible.copied().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;
    use crate::model::trigger::Trigger;

    fn manifest() -> Manifest {
        let mut manifest = sample::manifest();
        for (step, name) in [(1, "init"), (2, "requirements"), (3, "a \"b\"\n")] {
            sample::append(&mut manifest, step, name, Trigger::Manual);
        }
        let second = manifest.checkpoints()[1].id.clone();
        manifest.prune(&std::collections::BTreeSet::from([second]));
        manifest.settle(StatusChange {
            reason: "no \"budget\"\n".to_owned(),
            status: SessionStatus::Failed,
            timestamp: sample::at(9),
        });
        manifest
    }

    #[test]
    fn a_whole_manifest_is_read_whole_by_both_ways() {
        let manifest = manifest();
        let bytes = manifest.to_file_bytes();
        let whole = Salvage::of_manifest(&manifest);
        assert_eq!(Salvage::of_bytes(&bytes), whole);
        let by_lines = Salvage::of_bytes(&bytes[1..]);
        assert_eq!(by_lines, whole);
    }

    #[test]
    fn damage_costs_the_line_it_hits() {
        let manifest = manifest();
        let bytes = manifest.to_file_bytes();
        let cut = bytes.len() / 2;
        let half = Salvage::of_bytes(&bytes[..cut]);
        assert_eq!(half.topic.as_deref(), Some("auth system"));
        // Without the line that begins the list nobody knows what its lines are.
        let text = std::str::from_utf8(&bytes).unwrap();
        let start = text.find("  \"checkpoints\": [").unwrap();
        let heading = start..start + text[start..].find('\n').unwrap() + 1;
        for at in (0..bytes.len()).filter(|at| !heading.contains(at)) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x80;
            let salvage = Salvage::of_bytes(&damaged);
            let lost = manifest.checkpoints().len() - salvage.entries.len();
            // A line's end belongs to two lines.
            let most = if bytes[at] == b'\n' { 2 } else { 1 };
            assert!(lost <= most, "byte {at}: {lost} lost");
        }
    }
}
