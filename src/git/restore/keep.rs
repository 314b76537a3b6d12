//! What differs and is left alone all the same, and what stands in the way.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;

use rustix::fs::FileType;

use super::compare::{Change, Differences};
use super::disk::{Filters, Seen};
use super::view::View;
use crate::git::Error;
use crate::git::backend::Backend;
use crate::git::content::lstat;
use crate::git::skip::SkipReason;

/// Why a path is left as it is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It could not be captured now.
    SkippedNow(SkipReason),
    /// It could not be captured then.
    SkippedThen(SkipReason),
    /// It is another repository.
    Nested,
    /// The configuration leaves it out.
    Excluded,
    /// The target's own rules ignore it.
    IgnoredThen,
}

/// A path that is left as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The path.
    pub path: Vec<u8>,
    /// Why.
    pub why: Why,
}

/// Something on disk that no capture knows of, where something else must go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The path.
    pub path: Vec<u8>,
    /// Whether it is a directory.
    pub is_dir: bool,
}

impl Differences {
    /// Takes out what must be left alone, and says why. `tracked` tells which paths the index has now; `filters` are the
    /// rules of the side that is gone to.
    pub fn keep_what_must_stay(
        &mut self,
        from: &View,
        to: &View,
        filters: &Filters,
        tracked: &dyn Fn(&[u8]) -> bool,
    ) -> Vec<Kept> {
        let mut kept = Vec::new();
        self.files.retain(|change| {
            let why = reason(change, from, to, filters, tracked);
            if let Some(why) = why {
                kept.push(Kept {
                    path: change.path.clone(),
                    why,
                });
            }
            why.is_none()
        });
        kept
    }

    /// What is on disk where something must be put, and was not captured: a git-ignored file, for one.
    ///
    /// # Errors
    /// When the disk cannot be read.
    pub fn obstacles(
        &self,
        root: BorrowedFd<'_>,
        backend: &dyn Backend,
        filters: &Filters,
    ) -> Result<Vec<Obstacle>, Error> {
        let mut found = Vec::new();
        let captured: BTreeSet<&[u8]> = self
            .files
            .iter()
            .filter(|change| change.from.is_some())
            .map(|change| change.path.as_slice())
            .collect();
        for dir in &self.dirs {
            if dir.from.is_some() || dir.to.is_none() || captured.contains(dir.path.as_slice()) {
                continue;
            }
            if let Ok(stamp) = lstat(root, &dir.path)
                && stamp.file_type() != FileType::Directory
            {
                found.push(Obstacle {
                    path: dir.path.clone(),
                    is_dir: false,
                });
            }
        }
        let goes: BTreeSet<&[u8]> = self
            .dirs
            .iter()
            .filter(|dir| dir.from.is_some() && dir.to.is_none())
            .map(|dir| dir.path.as_slice())
            .collect();
        for change in &self.files {
            let Some(to) = &change.to else { continue };
            let Ok(stamp) = lstat(root, &change.path) else {
                continue;
            };
            let path = change.path.clone();
            if stamp.file_type() == FileType::Directory {
                // A directory that goes is looked into: something that is not captured may be left in it.
                let inside = if goes.contains(path.as_slice()) {
                    uncaptured_below(root, &path, &captured)
                } else {
                    vec![Obstacle { path, is_dir: true }]
                };
                found.extend(inside);
            } else if change.from.is_none()
                && filters.see(root, backend, &change.path, Some(to))? == Seen::Other
            {
                found.push(Obstacle {
                    path,
                    is_dir: false,
                });
            }
        }
        Ok(found)
    }
}

/// What is in a directory, at any depth, and not captured.
fn uncaptured_below(root: BorrowedFd<'_>, dir: &[u8], captured: &BTreeSet<&[u8]>) -> Vec<Obstacle> {
    let mut found = Vec::new();
    let Ok(place) = rustix::fs::openat(
        root,
        crate::git::rules::as_path(dir),
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::NOFOLLOW,
        rustix::fs::Mode::empty(),
    ) else {
        return found;
    };
    let Ok(entries) = rustix::fs::Dir::read_from(&place) else {
        return found;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let mut path = dir.to_vec();
        crate::git::node::push(&mut path, name);
        if captured.contains(path.as_slice()) {
            continue;
        }
        let is_dir = lstat(root, &path).is_ok_and(|stamp| stamp.file_type() == FileType::Directory);
        if is_dir {
            found.extend(uncaptured_below(root, &path, captured));
        } else {
            found.push(Obstacle { path, is_dir });
        }
    }
    found
}

fn reason(
    change: &Change,
    from: &View,
    to: &View,
    filters: &Filters,
    tracked: &dyn Fn(&[u8]) -> bool,
) -> Option<Why> {
    let path = change.path.as_slice();
    if let Some(reason) = from.why_skipped(path) {
        return Some(Why::SkippedNow(reason));
    }
    if let Some(reason) = to.why_skipped(path) {
        return Some(Why::SkippedThen(reason));
    }
    let is_nested = |item: Option<super::Item>| item.is_some_and(|item| item.is_nested());
    if is_nested(change.from) || (is_nested(change.to) && change.from.is_none()) {
        return Some(Why::Nested);
    }
    if filters.excludes(path) {
        return Some(Why::Excluded);
    }
    let goes = change.from.is_some() && change.to.is_none();
    (goes && !tracked(path) && filters.ignores(path)).then_some(Why::IgnoredThen)
}
