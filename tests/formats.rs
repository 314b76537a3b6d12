//! Every shape on disk, byte for byte. A test that fails here means that what users have stored can no longer be read,
//! or that others can no longer read what is written: change the version, not the test.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use chrono::{DateTime, Utc};
use go_team::model::journal::CreateJournal;
use go_team::model::{
    CheckpointId, CurrentPointer, Files, GitSnapshot, Journal, Manifest, ObjectId, Record,
    RecordDraft, Recovery, RollbackId, RollbackRecord, SessionId, Sha256Digest, State, Trigger,
    timestamp,
};
use go_team::store::{Durability, ErrorLine, Store};

fn at(seconds: u64) -> DateTime<Utc> {
    let start = timestamp::parse("2025-12-28T21:00:00.123Z").unwrap();
    start + std::time::Duration::from_secs(seconds)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn session() -> SessionId {
    SessionId::parse("auth-system-1f3c").unwrap()
}

fn object(byte: u8) -> Option<ObjectId> {
    ObjectId::from_bytes(&[byte; 20]).ok()
}

fn record() -> Record {
    let paths: [&[u8]; 2] = [b"docs/spec.md", b"caf\xe9\n"];
    RecordDraft {
        id: CheckpointId::parse("cp-02-requirements-20251228-211500").unwrap(),
        session_id: session(),
        seq: 2,
        step_number: 2,
        ordinal: 1,
        step_name: "requirements".to_owned(),
        phase: "requirements".to_owned(),
        trigger: Trigger::StepComplete,
        description: "spec agreed \u{1b}[31m".to_owned(),
        created_at: at(900),
        parent: CheckpointId::parse("cp-01-init-20251228-210000").ok(),
        prev_checksum: Some(Sha256Digest::of(b"before")),
        turn_count: Some(14),
        state: State::parse(
            br#"{"phase":"requirements","metrics":{"test_coverage":81.50},"big":1e400}"#,
        )
        .unwrap(),
        outputs: serde_json::Map::new(),
        files: Files::new(&paths, &[], &[]),
        git: GitSnapshot {
            enabled: true,
            commit_hash: object(1),
            tree: object(2),
            index_tree: object(3),
            branch: Some("main".to_owned()),
            head: object(4),
        },
        recovery: Recovery {
            can_resume: true,
            resume_from: Some("step 3".to_owned()),
            prerequisites_met: true,
            warnings: Vec::new(),
        },
    }
    .seal()
}

const RECORD: &str = r#"{
  "version": 1,
  "id": "cp-02-requirements-20251228-211500",
  "session_id": "auth-system-1f3c",
  "seq": 2,
  "step_number": 2,
  "ordinal": 1,
  "step_name": "requirements",
  "phase": "requirements",
  "trigger": "step_complete",
  "description": "spec agreed \u001b[31m",
  "created_at": "2025-12-28T21:15:00.123Z",
  "parent": "cp-01-init-20251228-210000",
  "prev_checksum": "PREV",
  "turn_count": 14,
  "state": {
    "big": 1e+400,
    "metrics": {
      "test_coverage": 81.50
    },
    "phase": "requirements"
  },
  "outputs": {},
  "files": {
    "created": [
      "docs/spec.md",
      "\"caf\\351\\n\""
    ],
    "modified": [],
    "deleted": [],
    "totals": {
      "created": 2,
      "modified": 0,
      "deleted": 0
    },
    "truncated": false
  },
  "git": {
    "enabled": true,
    "commit_hash": "0101010101010101010101010101010101010101",
    "tree": "0202020202020202020202020202020202020202",
    "index_tree": "0303030303030303030303030303030303030303",
    "branch": "main",
    "head": "0404040404040404040404040404040404040404"
  },
  "recovery": {
    "can_resume": true,
    "resume_from": "step 3",
    "prerequisites_met": true,
    "warnings": []
  },
  "checksum": "CHECKSUM"
}
"#;

const RECORD_CHECKSUM: &str = "6688d9dd650f14bd495d1fb73d5c2bcce3eeaf72fea29f3e544e938b4bb0c1d0";

#[test]
fn a_record() {
    let record = record();
    let expected = RECORD
        .replace("PREV", &Sha256Digest::of(b"before").to_string())
        .replace("CHECKSUM", RECORD_CHECKSUM);
    assert_eq!(text(record.to_file_bytes()), expected);
    assert_eq!(
        Record::from_file_bytes(expected.as_bytes()).unwrap(),
        record
    );
}

#[test]
fn a_sidecar() {
    let record = record();
    let expected = RECORD
        .replace("PREV", &Sha256Digest::of(b"before").to_string())
        .replace(",\n  \"checksum\": \"CHECKSUM\"", "")
        .replace(
            "    \"commit_hash\": \"0101010101010101010101010101010101010101\",\n",
            "",
        );
    assert_eq!(text(record.sidecar_json()), expected);
    let again = Record::from_sidecar(expected.as_bytes(), object(1).unwrap()).unwrap();
    assert_eq!(again.checksum().to_string(), RECORD_CHECKSUM);
}

#[test]
fn a_manifest() {
    let mut manifest = Manifest::new(session(), "auth \"system\"", "go-team", at(0));
    for (step, name) in [(1, "init"), (2, "requirements"), (3, "architecture")] {
        let mut draft = record().into_draft();
        draft.id = CheckpointId::compose(step, name, at(900 * u64::from(step - 1)), 1);
        draft.seq = manifest.next_seq();
        draft.step_number = step;
        draft.step_name = name.to_owned();
        draft.created_at = at(900 * u64::from(step - 1));
        draft.parent.clone_from(&manifest.current_checkpoint);
        draft.prev_checksum = manifest.last_checksum();
        draft.git.commit_hash = if step == 3 { None } else { object(1) };
        manifest.append(&draft.seal()).unwrap();
    }
    let rollback = RollbackId::compose(at(3600), 1);
    let ids: Vec<_> = manifest
        .checkpoints()
        .iter()
        .map(|entry| entry.id.clone())
        .collect();
    manifest.mark(|id, validity| {
        if *id == ids[2] {
            validity.valid = false;
            validity.invalidated_by = Some(rollback.clone());
            validity.corrupted_at = Some(at(7200));
        }
    });
    manifest.rollback_history.push(RollbackRecord {
        branches: Vec::new(),
        kind: go_team::model::RollbackKind::Rollback,
        paths: Vec::new(),
        reverses: None,
        from_checkpoint: Some(ids[2].clone()),
        from_step: Some(3),
        id: rollback,
        reason: "wrong way".to_owned(),
        safety_checkpoint: ids[2].clone(),
        timestamp: at(3600),
        to_checkpoint: ids[1].clone(),
        to_step: 2,
        undone_at: Some(at(3700)),
    });
    manifest.current_checkpoint = Some(ids[1].clone());
    manifest.prune(&[ids[0].clone()].into());
    assert_eq!(
        text(manifest.to_file_bytes()),
        r#"{
  "version": 1,
  "session_id": "auth-system-1f3c",
  "topic": "auth \"system\"",
  "workflow": "go-team",
  "status": "active",
  "created_at": "2025-12-28T21:00:00.123Z",
  "updated_at": "2025-12-28T21:30:00.123Z",
  "current_checkpoint": "cp-02-requirements-20251228-211500",
  "next_seq": 4,
  "checkpoints": [
    {"checksum":"0b2fb6d20710072fc1ddfd408e3246a092c50bac4b56fe8ba241ee4a76fa0346","commit_hash":"0101010101010101010101010101010101010101","id":"cp-02-requirements-20251228-211500","name":"requirements","ordinal":1,"parent":"cp-01-init-20251228-210000","phase":"requirements","seq":2,"step":2,"timestamp":"2025-12-28T21:15:00.123Z","trigger":"step_complete","valid":true},
    {"checksum":"3f5fecc39dc20c6fb24d519bd4a09c65f60a377552a24ffc5f2f33480570c71f","corrupted_at":"2025-12-28T23:00:00.123Z","id":"cp-03-architecture-20251228-213000","invalidated_by":"rb-20251228-220000","name":"architecture","ordinal":1,"parent":"cp-02-requirements-20251228-211500","phase":"requirements","seq":3,"step":3,"timestamp":"2025-12-28T21:30:00.123Z","trigger":"step_complete","valid":false}
  ],
  "rollback_history": [
    {"from_checkpoint":"cp-03-architecture-20251228-213000","from_step":3,"id":"rb-20251228-220000","reason":"wrong way","safety_checkpoint":"cp-03-architecture-20251228-213000","timestamp":"2025-12-28T22:00:00.123Z","to_checkpoint":"cp-02-requirements-20251228-211500","to_step":2,"undone_at":"2025-12-28T22:01:40.123Z"}
  ],
  "pruned": [
    {"from_seq":1,"last_checksum":"c07f0570a95dce855d8f829bbe0f8910a4f63b0d24b1e094f5ca5818e42779d1","to_seq":1}
  ],
  "next_ordinals": [
    {"from_step":1,"next":2,"to_step":3}
  ],
  "checksum": "0ab031ec4004bc413a1a1c6184baa82c80b93582d3258416cc06cb7e6df2711e"
}
"#
    );
    let read = Manifest::from_file_bytes(&manifest.to_file_bytes()).unwrap();
    assert_eq!(read.to_file_bytes(), manifest.to_file_bytes());
}

#[test]
fn a_state() {
    let mut state = State::parse(br#"{"z":1.0,"a":{"c":[],"b":"x"}}"#).unwrap();
    state.maintain_checkpoint(Some(&record().id), 2, at(900));
    assert_eq!(
        text(state.to_file_bytes()),
        r#"{
  "a": {
    "b": "x",
    "c": []
  },
  "checkpoint": {
    "checkpoint_count": 2,
    "current_checkpoint": "cp-02-requirements-20251228-211500",
    "last_checkpoint_at": "2025-12-28T21:15:00.123Z",
    "rollback_history": []
  },
  "z": 1.0
}
"#
    );
}

#[test]
fn a_journal() {
    let journal = Journal::Create(CreateJournal {
        session: session(),
        checkpoint: record().id.clone(),
        keep: Some("pack-0101".to_owned()),
        prune: Vec::new(),
        started_at: at(900),
    });
    assert_eq!(
        text(journal.to_file_bytes()),
        r#"{
  "version": 1,
  "checkpoint": "cp-02-requirements-20251228-211500",
  "keep": "pack-0101",
  "op": "create",
  "session": "auth-system-1f3c",
  "started_at": "2025-12-28T21:15:00.123Z"
}
"#
    );
}

#[test]
fn a_current_pointer() {
    let current = CurrentPointer::new(session(), at(0));
    assert_eq!(
        text(current.to_file_bytes()),
        r#"{
  "version": 1,
  "session_id": "auth-system-1f3c",
  "since": "2025-12-28T21:00:00.123Z"
}
"#
    );
    assert_eq!(
        CurrentPointer::from_file_bytes(&current.to_file_bytes()).unwrap(),
        current
    );
}

#[test]
fn an_error_line() {
    let mut line = ErrorLine {
        timestamp: at(0),
        operation: "cp-create".to_owned(),
        step: Some(2),
        error: "disk full\n".to_owned(),
    };
    let expected = "{\"timestamp\":\"2025-12-28T21:00:00.123Z\",\"operation\":\"cp-create\",\"step\":2,\"error\":\"disk full\\n\"}\n";
    assert_eq!(text(line.to_line()), expected);
    line.step = None;
    assert!(!text(line.to_line()).contains("step"));
}

#[test]
fn a_stored_session_still_loads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let store = Store::new(root, Durability::None);
    let good = SessionId::parse("good").unwrap();
    let manifest = store.load_manifest(&good).unwrap();
    assert_eq!(
        manifest.checksum().to_string(),
        "b1371613c18e6e6ffeafbf141f6b7f13155f6d4986829e0cacce42eacb0e991b"
    );
    let file = std::fs::read(store.layout().manifest(&good)).unwrap();
    assert_eq!(manifest.to_file_bytes(), file);
    for entry in manifest.checkpoints() {
        let record = store.load_listed(&good, entry).unwrap();
        let file = std::fs::read(store.layout().record(&good, &entry.id)).unwrap();
        assert_eq!(record.to_file_bytes(), file);
    }
    let state = store.load_state(&good).unwrap().unwrap();
    assert_eq!(state.current_step(), Some(3));
    assert_eq!(store.latest(&good), manifest.current_checkpoint);
}
