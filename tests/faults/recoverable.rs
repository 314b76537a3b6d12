//! Whether all content that there was is still on disk, or held by a checkpoint.

use std::collections::BTreeSet;

use sha1::{Digest as _, Sha1};

use super::check;
use super::photo::{Item, Photo};
use super::support::TestRepo;

/// Fails unless all content that there was is still on disk, or held by a checkpoint.
pub fn assert_recoverable(repo: &TestRepo, before: &Photo, now: &Photo, what: &str) {
    let held = check::git(
        repo,
        &repo.root(),
        &["rev-list", "--objects", "--glob=refs/go-team/*"],
    );
    let held: BTreeSet<&str> = held
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    for (path, item) in &before.files {
        let Item::File { bytes, .. } = item else {
            continue;
        };
        let is_on_disk = now
            .files
            .values()
            .any(|other| matches!(other, Item::File { bytes: found, .. } if found == bytes));
        assert!(
            is_on_disk || held.contains(&*blob_id(bytes)),
            "the content of {} is lost: {what}",
            String::from_utf8_lossy(path)
        );
    }
    for entry in &before.index {
        let id = entry.split(' ').nth(1).unwrap();
        let is_empty = entry.starts_with("160000") || id == blob_id(b"");
        assert!(
            now.index.contains(entry) || held.contains(id) || is_empty,
            "the staged {entry} is lost: {what}"
        );
    }
    for (name, id) in &before.refs {
        let is_there = now.refs.get(name) == Some(id) || held.contains(id.as_str());
        assert!(is_there, "the commits of {name} are lost: {what}");
    }
}

/// The name that git gives to content.
fn blob_id(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hex::encode(hash.finalize())
}
