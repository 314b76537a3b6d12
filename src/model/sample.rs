//! Values for tests.

use chrono::{DateTime, Utc};
use serde_json::Map;

use super::files::Files;
use super::ids::{CheckpointId, SessionId};
use super::manifest::Manifest;
use super::object_id::ObjectId;
use super::record::{GitSnapshot, Record, RecordDraft, Recovery};
use super::state::State;
use super::timestamp;
use super::trigger::Trigger;

/// A time, `seconds` after a fixed one.
pub(crate) fn at(seconds: u64) -> DateTime<Utc> {
    let start = timestamp::parse("2025-12-28T21:00:00.123Z").unwrap();
    start + std::time::Duration::from_secs(seconds)
}

/// A session without checkpoints.
pub(crate) fn manifest() -> Manifest {
    let id = SessionId::parse("auth-system-1f3c").unwrap();
    Manifest::new(id, "auth system", "go-team", at(0))
}

/// What the next record of a session could say.
pub(crate) fn draft(manifest: &Manifest, step: u32, name: &str, trigger: Trigger) -> RecordDraft {
    let seq = manifest.next_seq();
    let at = at(seq * 60);
    RecordDraft {
        id: CheckpointId::compose(step, name, at, 1),
        session_id: manifest.session_id.clone(),
        seq,
        step_number: step,
        ordinal: manifest.ordinal_for(step),
        step_name: name.to_owned(),
        phase: name.to_owned(),
        trigger,
        description: String::new(),
        created_at: at,
        parent: manifest.current_checkpoint.clone(),
        prev_checksum: manifest.last_checksum(),
        turn_count: None,
        state: State::default(),
        outputs: Map::new(),
        files: Files::default(),
        git: GitSnapshot {
            enabled: true,
            commit_hash: ObjectId::from_bytes(&[7; 20]).ok(),
            ..GitSnapshot::default()
        },
        recovery: Recovery::default(),
    }
}

/// Makes the next checkpoint of a session.
pub(crate) fn append(manifest: &mut Manifest, step: u32, name: &str, trigger: Trigger) -> Record {
    let record = draft(manifest, step, name, trigger).seal();
    manifest.append(&record).unwrap();
    record
}
