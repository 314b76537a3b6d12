//! How long it takes to read, check, extend and write a manifest of 10,000 checkpoints:
//! `cargo bench --bench manifest_timing`.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use go_team::model::{
    CheckpointId, Files, GitSnapshot, Manifest, ObjectId, Record, RecordDraft, Recovery, SessionId,
    Sha256Digest, State, Trigger,
};

const COUNT: u64 = 10_000;
const ROUNDS: usize = 21;

fn record(manifest: &Manifest, at: DateTime<Utc>) -> Record {
    let (step, name) = (4, "implementation");
    let seq = manifest.next_seq();
    let digest = Sha256Digest::of(&seq.to_be_bytes());
    RecordDraft {
        id: CheckpointId::compose(step, name, at, 1),
        session_id: manifest.session_id.clone(),
        seq,
        step_number: step,
        ordinal: manifest.ordinal_for(step),
        step_name: name.to_owned(),
        phase: name.to_owned(),
        trigger: Trigger::Auto,
        description: String::new(),
        created_at: at,
        parent: manifest.current_checkpoint.clone(),
        prev_checksum: manifest.last_checksum(),
        turn_count: None,
        state: State::default(),
        outputs: serde_json::Map::new(),
        files: Files::default(),
        git: GitSnapshot {
            enabled: true,
            commit_hash: ObjectId::from_bytes(&digest.as_bytes()[..20]).ok(),
            ..GitSnapshot::default()
        },
        recovery: Recovery::default(),
    }
    .seal()
}

fn main() {
    let start = DateTime::from_timestamp(1_766_956_500, 0).expect("a time of this century");
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let session = SessionId::compose("timing", start, 0);
    let mut manifest = Manifest::new(session, "timing", "go-team", start);
    for seconds in 0..COUNT {
        let next = record(&manifest, at(seconds));
        manifest.append(&next).expect("the next record");
    }
    let bytes = manifest.to_file_bytes();
    let next = record(&manifest, at(COUNT));
    let mut rounds: Vec<[Duration; 3]> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let mut manifest = Manifest::from_file_bytes(&bytes).expect("just written");
            let loaded = start.elapsed();
            manifest.append(&next).expect("the next record");
            let written = manifest.to_file_bytes();
            let all = start.elapsed();
            manifest.mark(|_, validity| validity.valid = false);
            let rewritten = Instant::now();
            assert!(manifest.to_file_bytes().len() > written.len());
            [loaded, all, rewritten.elapsed()]
        })
        .collect();
    for (nth, what) in [
        "load and verify",
        "load to written",
        "write after changing every line",
    ]
    .into_iter()
    .enumerate()
    {
        rounds.sort_by_key(|round| round[nth]);
        println!("{what}: median {:?} of {ROUNDS}", rounds[ROUNDS / 2][nth]);
    }
    println!("{} bytes", bytes.len());
}
