use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::model::chain::{ChainBreak, Link, check_chain};
use crate::model::format::FormatError;
use crate::model::ids::RollbackId;
use crate::model::sample;

fn filled(count: u32) -> (Manifest, Vec<Record>) {
    let mut manifest = sample::manifest();
    let records =
        (0..count).map(|nth| sample::append(&mut manifest, nth % 3 + 1, "step", Trigger::Auto));
    let records = records.collect();
    (manifest, records)
}

fn ids(manifest: &Manifest, seqs: &[u64]) -> BTreeSet<CheckpointId> {
    let listed = manifest
        .checkpoints()
        .iter()
        .filter(|entry| seqs.contains(&entry.seq));
    listed.map(|entry| entry.id.clone()).collect()
}

/// Reads the file back, and compares with a manifest that has nothing remembered.
fn reread(manifest: &Manifest) -> Manifest {
    let bytes = manifest.to_file_bytes();
    let mut fresh = manifest.clone();
    fresh.text = None;
    assert_eq!(fresh.to_file_bytes(), bytes);
    let read = Manifest::from_file_bytes(&bytes).unwrap();
    assert_eq!(read.to_file_bytes(), bytes);
    // A list without a line has nothing to remember.
    assert_eq!(read.text.is_some(), !read.checkpoints().is_empty());
    read
}

#[test]
fn the_checksum_is_that_of_the_canonical_json() {
    let (mut manifest, _) = filled(5);
    manifest.prune(&ids(&manifest, &[2]));
    let mut value: serde_json::Value = serde_json::from_slice(&manifest.to_file_bytes()).unwrap();
    let checksum = value.as_object_mut().unwrap().remove("checksum").unwrap();
    let canonical = crate::model::json::canonical(&value);
    assert_eq!(checksum, Sha256Digest::of(&canonical).to_string());
}

#[test]
fn a_manifest_laid_out_by_another_hand_is_still_whole() {
    let (manifest, _) = filled(3);
    let value: serde_json::Value = serde_json::from_slice(&manifest.to_file_bytes()).unwrap();
    for bytes in [
        serde_json::to_vec(&value).unwrap(),
        serde_json::to_vec_pretty(&value).unwrap(),
    ] {
        let read = Manifest::from_file_bytes(&bytes).unwrap();
        assert_eq!(read.to_file_bytes(), manifest.to_file_bytes());
    }
}

#[test]
fn lines_that_do_not_follow_each_other_are_refused() {
    let (manifest, _) = filled(3);
    let text = String::from_utf8(manifest.to_file_bytes()).unwrap();
    for (from, to) in [
        ("},\n    {", "}\n    {"),
        ("},\n    {", "},\n    \n{"),
        ("}\n  ],", "},\n  ],"),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text);
        if let Ok(read) = Manifest::from_file_bytes(broken.as_bytes()) {
            assert!(
                serde_json::from_str::<serde_json::Value>(&broken).is_ok(),
                "{broken}"
            );
            assert_eq!(read.checkpoints(), manifest.checkpoints());
        }
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let (mut manifest, _) = filled(3);
    manifest.prune(&ids(&manifest, &[1]));
    let bytes = manifest.to_file_bytes();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            if let Ok(read) = Manifest::from_file_bytes(&flipped) {
                // Only space between tokens can change without a change of content.
                assert!(bytes[at].is_ascii_whitespace(), "bit {bit} of byte {at}");
                assert_eq!(read.checksum(), manifest.checksum());
            }
        }
        assert!(Manifest::from_file_bytes(&bytes[..at]).is_err() || at + 1 == bytes.len());
    }
}

#[test]
fn only_the_next_record_of_this_session_is_appended() {
    let (mut manifest, records) = filled(2);
    let again = manifest.append(&records[1]).unwrap_err();
    assert!(matches!(
        again,
        AppendError::Seq {
            seq: 2,
            next_seq: 3,
            ..
        }
    ));
    let mut twin = records[1].clone().into_draft();
    twin.seq = 3;
    let twin = manifest.append(&twin.seal()).unwrap_err();
    assert!(matches!(twin, AppendError::DuplicateId { .. }));
    let mut other = sample::draft(&manifest, 1, "other", Trigger::Auto);
    other.session_id = SessionId::parse("other").unwrap();
    let other = manifest.append(&other.seal()).unwrap_err();
    assert!(matches!(other, AppendError::OtherSession { .. }));
    assert_eq!(reread(&manifest).checkpoints().len(), 2);
}

#[test]
fn a_safety_checkpoint_does_not_become_current() {
    let (mut manifest, records) = filled(2);
    sample::append(&mut manifest, 2, "step", Trigger::Safety);
    assert_eq!(manifest.current().unwrap().id, records[1].id);
    assert_eq!(manifest.newest().unwrap().seq, 3);
    assert_eq!(manifest.newest_valid().unwrap().seq, 2);
}

#[test]
fn marks_change_validity_and_nothing_else() {
    let (mut manifest, records) = filled(3);
    let rollback = RollbackId::compose(sample::at(0), 1);
    manifest.mark(|id, validity| {
        if *id == records[1].id {
            validity.valid = false;
            validity.invalidated_by = Some(rollback.clone());
            validity.corrupted_at = Some(sample::at(9));
        }
    });
    let read = reread(&manifest);
    let entry = read.entry(&records[1].id).unwrap();
    assert_eq!(entry.invalidated_by, Some(rollback));
    assert_eq!(entry.corrupted_at, Some(sample::at(9)));
    assert!(!entry.valid && read.checkpoints()[0].valid);
}

#[test]
fn pruning_merges_ranges_and_keeps_the_tip_of_the_chain() {
    let (mut manifest, records) = filled(6);
    let tip = manifest.last_checksum();
    assert_eq!(manifest.prune(&ids(&manifest, &[2, 5, 6])).len(), 3);
    let ranges = |manifest: &Manifest| {
        let ranges = manifest
            .pruned()
            .iter()
            .map(|range| (range.from_seq, range.to_seq));
        ranges.collect::<Vec<_>>()
    };
    assert_eq!(ranges(&manifest), [(2, 2), (5, 6)]);
    assert_eq!(manifest.last_checksum(), tip);
    assert_eq!(manifest.current_checkpoint, None);
    manifest.prune(&ids(&manifest, &[3]));
    assert_eq!(ranges(&manifest), [(2, 3), (5, 6)]);
    assert_eq!(manifest.pruned()[0].last_checksum, records[2].checksum());
    manifest.prune(&ids(&manifest, &[1, 4]));
    assert_eq!(ranges(&manifest), [(1, 6)]);
    assert!(manifest.prune(&ids(&manifest, &[4])).is_empty());
    let next = sample::append(&mut manifest, 1, "step", Trigger::Auto);
    assert_eq!((next.seq, next.prev_checksum), (7, tip));
    assert_eq!(ranges(&reread(&manifest)), [(1, 6)]);
}

#[test]
fn a_rebuilt_manifest_counts_gaps_as_pruned() {
    let (mut manifest, records) = filled(5);
    manifest.prune(&ids(&manifest, &[1, 2, 4]));
    let mut rebuilt = sample::manifest();
    for seq in [3, 5] {
        rebuilt.adopt(&records[seq - 1]).unwrap();
    }
    assert_eq!(rebuilt.pruned(), manifest.pruned());
    assert_eq!(rebuilt.checkpoints(), manifest.checkpoints());
    assert_eq!(rebuilt.next_seq(), manifest.next_seq());
    assert!(matches!(
        rebuilt.adopt(&records[0]),
        Err(AppendError::Seq { .. })
    ));
}

#[test]
fn numbers_count_on_when_all_is_pruned() {
    let mut manifest = sample::manifest();
    for expected in 1..=300 {
        assert_eq!(manifest.next_number(), expected);
        sample::append(&mut manifest, expected, "free", Trigger::Auto);
        if expected % 7 != 0 {
            manifest.prune(&ids(&manifest, &[u64::from(expected)]));
        }
    }
    assert!(
        manifest.next_ordinals.len() <= 2,
        "{:?}",
        manifest.next_ordinals
    );
    assert_eq!(reread(&manifest).ordinal_for(5), 2);
}

#[test]
fn the_chain_finds_a_record_that_was_made_to_fit() {
    let (manifest, mut records) = filled(4);
    let breaks = |records: &[Record], manifest: &Manifest| {
        check_chain(manifest.checkpoints(), manifest.pruned(), |entry| {
            let record = records.iter().find(|record| record.id == entry.id)?;
            Some(Link {
                checksum: record.checksum(),
                prev_checksum: record.prev_checksum,
            })
        })
    };
    assert_eq!(breaks(&records, &manifest), []);
    assert_eq!(breaks(&records[..2], &manifest), []);
    let mut edited = records[1].clone().into_draft();
    edited.description = "edited".to_owned();
    records[1] = edited.seal();
    let found = breaks(&records, &manifest);
    assert!(
        matches!(&found[..], [ChainBreak::Replaced { id, .. }] if *id == records[1].id),
        "{found:?}"
    );
    // Even with a manifest to fit, the record after it knows better.
    let mut forged = sample::manifest();
    for record in &records {
        forged.append(record).unwrap();
    }
    let found = breaks(&records, &forged);
    assert!(
        matches!(&found[..], [ChainBreak::Unlinked { id, .. }] if *id == records[2].id),
        "{found:?}"
    );
}

#[test]
fn a_next_seq_that_was_used_is_refused() {
    let (mut manifest, _) = filled(2);
    manifest.next_seq = 2;
    let error = Manifest::from_file_bytes(&manifest.to_file_bytes()).unwrap_err();
    assert_eq!(
        error,
        FormatError::NextSeq {
            next_seq: 2,
            last: 2
        }
    );
}

proptest! {
    #[test]
    fn whatever_is_pruned_the_chain_holds_and_no_ordinal_comes_twice(
        rounds in prop::collection::vec((1_u32..6, prop::collection::vec(1_u64..60, 0..4)), 1..60)
    ) {
        let mut manifest = sample::manifest();
        let mut links = BTreeMap::new();
        let mut given = BTreeSet::new();
        for (step, pruned) in rounds {
            let record = sample::append(&mut manifest, step, "step", Trigger::Auto);
            prop_assert!(given.insert((step, record.ordinal)));
            let link = Link { checksum: record.checksum(), prev_checksum: record.prev_checksum };
            links.insert(record.id.clone(), link);
            let pruned = ids(&manifest, &pruned);
            manifest.prune(&pruned);
            let broken = check_chain(manifest.checkpoints(), manifest.pruned(), |entry| links.get(&entry.id).copied());
            prop_assert_eq!(broken, []);
            prop_assert!(manifest.next_ordinals.len() <= 5);
            prop_assert_eq!(manifest.last_checksum(), Some(record.checksum()));
        }
        let read = reread(&manifest);
        for step in 0..8 {
            prop_assert_eq!(read.ordinal_for(step), manifest.ordinal_for(step));
            prop_assert!(!given.contains(&(step, read.ordinal_for(step))));
        }
    }
}
