//! Whatever bytes a manifest or a record is made of: no panic, no false "valid", no unbounded memory.

use std::fs;
use std::time::{Duration, Instant};

use go_team::engine::validate::Depth;
use go_team::model::manifest::Salvage;
use go_team::model::{Manifest, Record};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::damage::{ids, look, manifest_path, record_path, session};

/// One change of a file's bytes.
#[derive(Debug, Clone)]
enum Change {
    Cut(prop::sample::Index),
    Put(prop::sample::Index, Vec<u8>),
    Over(prop::sample::Index, Vec<u8>),
    Twice(prop::sample::Index, prop::sample::Index),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let token = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..6),
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            ",",
            ":",
            "null",
            "-1",
            "1e999",
            "\\u0000",
            "9".repeat(40).leak()
        ])
        .prop_map(|text: &str| text.as_bytes().to_vec()),
    ];
    let at = any::<prop::sample::Index>;
    let change = prop_oneof![
        at().prop_map(Change::Cut),
        (at(), token.clone()).prop_map(|(at, bytes)| Change::Put(at, bytes)),
        (at(), token).prop_map(|(at, bytes)| Change::Over(at, bytes)),
        (at(), at()).prop_map(|(from, to)| Change::Twice(from, to)),
    ];
    prop::collection::vec(change, 1..4)
}

fn apply(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        match change {
            Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Change::Put(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Over(at, more) => {
                let at = at.index(bytes.len());
                let end = (at + more.len()).min(bytes.len());
                bytes.splice(at..end, more.iter().copied());
            }
            Change::Twice(from, to) => {
                let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
                let part = bytes[from.min(to)..from.max(to)].to_vec();
                bytes.splice(to..to, part);
            }
        }
    }
    bytes
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

#[test]
fn readers_take_any_bytes() {
    let repo = session();
    let id = ids(&repo).remove(1);
    let manifest = fs::read(manifest_path(&repo)).unwrap();
    let record = fs::read(record_path(&repo, &id)).unwrap();
    let whole = Record::from_file_bytes(&record).unwrap();
    let read = |bytes: &[u8]| {
        let _ = Salvage::of_bytes(bytes);
        if let Ok(read) = Record::from_file_bytes(bytes) {
            assert_eq!(read, whole);
        }
        if let Ok(read) = Manifest::from_file_bytes(bytes) {
            assert_eq!(read.to_file_bytes(), manifest);
        }
    };
    let random = prop::collection::vec(any::<u8>(), 0..200);
    runner(2000)
        .run(&random, |bytes| {
            read(&bytes);
            Ok(())
        })
        .unwrap();
    runner(2000)
        .run(&changes(), |changes| {
            read(&apply(&manifest, &changes));
            read(&apply(&record, &changes));
            Ok(())
        })
        .unwrap();
}

#[test]
fn validation_takes_any_bytes_and_calls_none_of_them_valid() {
    let repo = session();
    let id = ids(&repo).remove(1);
    for path in [manifest_path(&repo), record_path(&repo, &id)] {
        let whole = fs::read(&path).unwrap();
        let run = |changes: Vec<Change>| {
            let bytes = apply(&whole, &changes);
            fs::write(&path, &bytes).unwrap();
            let report = look(&repo.root(), Depth::Plain).unwrap();
            let is_same = serde_json::from_slice::<serde_json::Value>(&bytes).ok()
                == serde_json::from_slice(&whole).ok();
            prop_assert!(
                !report.is_valid() || is_same,
                "{:?}",
                String::from_utf8_lossy(&bytes)
            );
            Ok(())
        };
        runner(150).run(&changes(), run).unwrap();
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn huge_and_deep_files_are_refused_fast_and_in_little_memory() {
    let repo = session();
    let id = ids(&repo).remove(1);
    let deep = "{\"state\":".repeat(200_000);
    for path in [manifest_path(&repo), record_path(&repo, &id)] {
        let whole = fs::read(&path).unwrap();
        for size in [None, Some(1 << 30)] {
            fs::write(&path, &deep).unwrap();
            if let Some(size) = size {
                fs::File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_len(size)
                    .unwrap();
            }
            let mut command = std::process::Command::new("sh");
            let program = env!("CARGO_BIN_EXE_go-team");
            // In KiB; far less than the file has.
            command.args([
                "-c",
                &format!("ulimit -v 900000; exec '{program}' cp-validate --json"),
            ]);
            let started = Instant::now();
            let output = command.current_dir(repo.root()).output().unwrap();
            let taken = started.elapsed();
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                output.status.code(),
                Some(3),
                "{text} {}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(text.contains("-damaged"), "{text}");
            assert!(taken < Duration::from_secs(10), "{taken:?}");
        }
        fs::write(&path, whole).unwrap();
        repo.ok(&["cp-rebuild", "--all"]);
    }
}
