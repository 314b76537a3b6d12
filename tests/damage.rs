//! Sessions that are broken in one way each: every way has an error of its own, and hides nothing else.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use go_team::model::chain::{ChainBreak, Link, check_chain};
use go_team::model::json::JsonError;
use go_team::model::{FormatError, Manifest, Record, SessionId};
use go_team::store::{Durability, Error, Store};

fn store() -> Store {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    Store::new(root, Durability::None)
}

fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

fn manifest_error(name: &str) -> Error {
    store().load_manifest(&session(name)).unwrap_err()
}

/// Why a manifest that was found is refused.
fn manifest_damage(name: &str) -> FormatError {
    match manifest_error(name) {
        Error::Damaged { path, source } => {
            assert!(
                path.ends_with(format!("{name}/manifest.json")),
                "{}",
                path.display()
            );
            source
        }
        other => panic!("{name}: {other:?}"),
    }
}

/// The session's manifest, which is whole, and what its second record gives.
fn second_record(name: &str) -> (Manifest, Result<Record, Error>) {
    let store = store();
    let session = session(name);
    let manifest = store.load_manifest(&session).unwrap();
    let records: Vec<_> = manifest
        .checkpoints()
        .iter()
        .map(|entry| store.load_listed(&session, entry))
        .collect();
    let [Ok(_), second, Ok(_)] = <[_; 3]>::try_from(records).unwrap() else {
        panic!("{name}: only the second record is broken");
    };
    (manifest, second)
}

fn record_damage(name: &str) -> FormatError {
    match second_record(name).1.unwrap_err() {
        Error::Damaged { source, .. } => source,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_manifest_that_is_not_whole() {
    for name in ["manifest-truncated", "manifest-empty"] {
        let found = manifest_damage(name);
        assert!(
            matches!(found, FormatError::Json(JsonError::Syntax { .. })),
            "{name}: {found:?}"
        );
    }
    assert!(matches!(
        manifest_error("manifest-missing"),
        Error::Missing { .. }
    ));
}

#[test]
fn a_manifest_whose_content_changed() {
    assert!(matches!(
        manifest_damage("manifest-checksum"),
        FormatError::Checksum { .. }
    ));
}

#[test]
fn a_manifest_of_a_newer_version() {
    let error = manifest_error("manifest-newer");
    assert!(
        matches!(&error, Error::NewerVersion { found, .. } if found == "2"),
        "{error:?}"
    );
}

#[test]
fn a_manifest_of_another_shape() {
    for (name, about) in [
        ("manifest-bad-id", "../escape"),
        ("manifest-unknown-field", "extra"),
        ("manifest-deep", "sequence"),
    ] {
        let found = manifest_damage(name);
        let FormatError::Shape { reason } = found else {
            panic!("{name}: {found:?}");
        };
        assert!(
            reason.contains(about) && reason.contains(" at line "),
            "{reason}"
        );
    }
}

#[test]
fn a_manifest_that_contradicts_itself() {
    let twice = manifest_damage("manifest-duplicate-id");
    assert!(
        matches!(&twice, FormatError::DuplicateId { id } if id.as_str().starts_with("cp-01")),
        "{twice:?}"
    );
    let unsorted = manifest_damage("manifest-unsorted");
    assert!(
        matches!(&unsorted, FormatError::SeqOrder { seq: 1, .. }),
        "{unsorted:?}"
    );
    let other = manifest_error("manifest-misplaced");
    assert!(
        matches!(&other, Error::Misplaced { found, .. } if found == "other"),
        "{other:?}"
    );
}

#[test]
fn a_record_that_is_not_what_it_was() {
    assert!(matches!(
        record_damage("record-flipped"),
        FormatError::Checksum { .. }
    ));
    assert!(matches!(
        record_damage("record-unknown-field"),
        FormatError::Shape { .. }
    ));
    assert!(matches!(
        record_damage("record-deep"),
        FormatError::Json(JsonError::TooDeep { .. })
    ));
    let error = |name| second_record(name).1.unwrap_err();
    assert!(matches!(error("record-missing"), Error::Missing { .. }));
    assert!(matches!(error("record-newer"), Error::NewerVersion { .. }));
    assert!(matches!(error("record-swapped"), Error::Misplaced { .. }));
    assert!(matches!(error("record-edited"), Error::Replaced { .. }));
}

#[test]
fn a_record_that_was_made_to_fit_breaks_the_chain() {
    let breaks = |name: &str| {
        let session = session(name);
        let manifest = store().load_manifest(&session).unwrap();
        check_chain(manifest.checkpoints(), manifest.pruned(), |entry| {
            let record = store().load_record(&session, &entry.id).ok()?;
            Some(Link {
                checksum: record.checksum(),
                prev_checksum: record.prev_checksum,
            })
        })
    };
    assert_eq!(breaks("good"), []);
    assert_eq!(breaks("record-missing"), []);
    assert!(
        matches!(&breaks("record-edited")[..], [ChainBreak::Replaced { id, .. }] if id.as_str().starts_with("cp-02"))
    );
    assert!(
        matches!(&breaks("chain-forged")[..], [ChainBreak::Unlinked { id, .. }] if id.as_str().starts_with("cp-03"))
    );
}

#[test]
fn a_state_with_a_key_twice() {
    let error = store().load_state(&session("state-broken")).unwrap_err();
    let Error::Damaged { source, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(
        source.to_string(),
        "duplicate key \"phase\" at line 3 column 3"
    );
}

#[test]
fn a_broken_session_hides_no_other() {
    let items = store().list_sessions().unwrap();
    for item in &items {
        let name = item.name.to_str().unwrap();
        assert_eq!(
            item.manifest.is_err(),
            name.starts_with("manifest-"),
            "{item:?}"
        );
    }
    assert!(items.len() > 20);
    assert!(items.is_sorted_by_key(|item| &item.name));
}
