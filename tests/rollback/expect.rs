//! What a rollback must leave, told from a photograph of the target and one of the moment before.
//!
//! The rules, path by path. What the target's checkpoint captured is there, to the bit. What it did not capture and git
//! ignores stays as it was. Everything else goes, unless the target's own rules ignore it, for then nobody can tell
//! whether it was there. An ignored file in the way of a captured one may be replaced or kept; when it is replaced,
//! `undo` must bring it back, so such paths are given to the caller.

use std::collections::BTreeSet;
use std::fmt;

use super::photo::{Photo, parents};

/// Ignored paths of `before` that stand where the target has something else.
pub fn displaced(target: &Photo, before: &Photo) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    for path in &before.ignored {
        let item = &before.files[path];
        let differs = target.is_captured(path) && target.files[path] != *item;
        // A file of the target's where a directory on the way to this path is.
        let covered = parents(path)
            .iter()
            .any(|above| target.is_captured(above) && !target.files[above].is_dir());
        // This is no directory, and the target has something below it.
        let mut prefix = path.clone();
        prefix.push(b'/');
        let mut below = target.files.range(prefix.clone()..);
        let needed = below
            .next()
            .is_some_and(|(other, _)| other.starts_with(&prefix) && target.is_captured(other));
        if differs || covered || (needed && !item.is_dir()) {
            found.insert(path.clone());
        }
    }
    found
}

/// Fails unless `after` is what a rollback from `before` to `target` leaves.
#[track_caller]
pub fn assert_restored(target: &Photo, before: &Photo, after: &Photo, what: impl fmt::Display) {
    let mut wrong = file_faults(target, before, after);
    if target.index != after.index {
        let only = |these: &[String], those: &[String]| -> Vec<String> {
            let mut only = these.to_vec();
            only.retain(|line| !those.contains(line));
            only
        };
        wrong.push(format!(
            "index: missing {:#?}, too many {:#?}",
            only(&target.index, &after.index),
            only(&after.index, &target.index)
        ));
    }
    if target.head != after.head {
        wrong.push(format!("HEAD is {} instead of {}", after.head, target.head));
    }
    for name in before.refs.keys().chain(after.refs.keys()) {
        let expected = if is_branch_of(target, name) {
            target.refs.get(name)
        } else {
            before.refs.get(name)
        };
        if expected != after.refs.get(name) {
            let found = after.refs.get(name);
            wrong.push(format!("{name} is {found:?} instead of {expected:?}"));
        }
    }
    if target.states != after.states {
        wrong.push(format!(
            "the state is {:?} instead of {:?}",
            after.states, target.states
        ));
    }
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

/// Whether a ref is the branch that HEAD is on.
fn is_branch_of(photo: &Photo, name: &str) -> bool {
    photo.head.strip_prefix("ref: ") == Some(name)
}

fn file_faults(target: &Photo, before: &Photo, after: &Photo) -> Vec<String> {
    let displaced = displaced(target, before);
    let mut wrong = Vec::new();
    let mut fault = |path: &[u8], text: String| {
        wrong.push(format!("{}: {text}", String::from_utf8_lossy(path)));
    };
    let paths: BTreeSet<&Vec<u8>> = target
        .files
        .keys()
        .chain(before.files.keys())
        .chain(after.files.keys())
        .collect();
    for path in paths {
        let (old, new) = (before.files.get(path), after.files.get(path));
        let is_displaced =
            displaced.contains(path) || parents(path).iter().any(|above| displaced.contains(above));
        if target.is_captured(path) {
            let item = &target.files[path];
            let is_kept =
                new == old && (is_displaced || is_under_kept(path, &displaced, after, before));
            // The mode of a directory that git ignores now is nobody's to change.
            let is_ignored_dir = before.ignored.contains(path) && item.is_dir() && new == old;
            if new != Some(item) && !is_kept && !is_ignored_dir {
                fault(path, format!("{new:?} instead of {item:?}"));
            }
        } else if before.ignored.contains(path) {
            if new != old && !is_displaced {
                fault(path, format!("ignored, {old:?}, and became {new:?}"));
            }
        } else if let Some(new) = new {
            let stays = after.ignored.contains(path) && old == Some(new);
            let holds = new.is_dir() && holds_something(path, after);
            if !stays && !holds {
                fault(path, format!("{new:?} is too much"));
            }
        }
    }
    wrong
}

/// Whether a path could not be made because an ignored file above it was kept.
fn is_under_kept(
    path: &[u8],
    displaced: &BTreeSet<Vec<u8>>,
    after: &Photo,
    before: &Photo,
) -> bool {
    let kept = |other: &Vec<u8>| {
        displaced.contains(other) && after.files.get(other) == before.files.get(other)
    };
    let mut prefix = path.to_vec();
    prefix.push(b'/');
    parents(path).iter().any(kept)
        || displaced
            .iter()
            .any(|other| other.starts_with(&prefix) && kept(other))
}

/// Whether anything but directories is below a directory, or an ignored one.
fn holds_something(dir: &[u8], photo: &Photo) -> bool {
    let mut prefix = dir.to_vec();
    prefix.push(b'/');
    photo
        .files
        .range(prefix.clone()..)
        .take_while(|(path, _)| path.starts_with(&prefix))
        .any(|(path, item)| !item.is_dir() || photo.ignored.contains(path))
}
