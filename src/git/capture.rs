//! One file: what git would record for it, and whether it must be read to know that.

use rustix::fs::FileType;
use rustix::io::Errno;
use std::sync::atomic::Ordering;

use super::content::{Content, Known, lstat};
use super::convert::Conversion;
use super::node::{ASSUME_UNCHANGED, Disk, Entry, File, IndexFacts, SKIP_WORKTREE};
use super::rules::as_path;
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use super::walk::{Above, InIndex, Walk};
use super::{Error, IoContext as _};

impl Walk<'_> {
    /// Looks at a name that is, or was, a file or link. None when there is nothing to say of it.
    pub(super) fn file(
        &self,
        path: &[u8],
        name: &[u8],
        old: Option<File>,
        in_index: InIndex<'_>,
        above: Above,
    ) -> Result<Option<File>, Error> {
        self.count();
        let facts = in_index.facts();
        let stamp = match lstat(self.reader.root, path) {
            Ok(stamp) => stamp,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                return Ok(self.absent(path, name, old.as_ref(), facts));
            }
            Err(Errno::ACCESS | Errno::NAMETOOLONG) => {
                return Ok(Some(skipped(
                    name,
                    Stamp::default(),
                    facts,
                    SkipReason::Unreadable,
                )));
            }
            Err(error) => return Err(error).at("stat", as_path(path)),
        };
        if let Some(old) = old
            .as_ref()
            .filter(|old| self.is_unmoved(path, old, &stamp, in_index, above))
        {
            return Ok(Some(old.clone()));
        }
        self.moved();
        let is_link = stamp.file_type() == FileType::Symlink;
        if facts.is_none() && !self.rules.is_valid_name(name, is_link) {
            return Ok(Some(skipped(name, stamp, facts, SkipReason::InvalidName)));
        }
        if self.rules.is_excluded(path, false) {
            let tree = facts.and_then(|facts| facts.staged());
            return Ok(facts.is_some().then(|| File {
                tree,
                disk: Disk::Excluded,
                ..blank(name, stamp, facts)
            }));
        }
        match stamp.file_type() {
            FileType::RegularFile | FileType::Symlink => {
                self.content(path, name, stamp, old, in_index, above)
            }
            FileType::Directory => match facts {
                Some(facts) if facts.entry.mode == Mode::Tree => {
                    let disk = Disk::Skipped(SkipReason::OutsideSparseCheckout);
                    Ok(Some(File {
                        tree: Some(facts.entry),
                        disk,
                        ..blank(name, stamp, Some(facts))
                    }))
                }
                facts => Ok(facts.map(|facts| self.deleted(path, name, facts))),
            },
            FileType::Fifo => Ok(Some(skipped(name, stamp, facts, SkipReason::Fifo))),
            FileType::Socket => Ok(Some(skipped(name, stamp, facts, SkipReason::Socket))),
            _ => Ok(Some(skipped(name, stamp, facts, SkipReason::Device))),
        }
    }

    /// Whether git takes a path that is there as the index has it, whatever the disk says. In a sparse checkout it
    /// forgets of a path inside that it was left out, unless it is told to expect such paths.
    pub(super) fn is_fixed(&self, facts: &IndexFacts, outside: bool) -> bool {
        let forgets = self.settings.sparse_checkout && !self.settings.expect_outside;
        // What stands in the place of a directory that the index names as a whole takes that place.
        let flagged = facts.has(ASSUME_UNCHANGED) || (facts.has(SKIP_WORKTREE) && !forgets);
        outside || (flagged && facts.entry.mode != Mode::Tree)
    }

    /// Whether a file is exactly what the last scan took it for.
    pub(super) fn is_unmoved(
        &self,
        path: &[u8],
        old: &File,
        stamp: &Stamp,
        in_index: InIndex<'_>,
        above: Above,
    ) -> bool {
        if !old.trusted || old.stamp != *stamp || above.reconvert || old.index != in_index.facts() {
            return false;
        }
        // Other rules than before: those that decide over tracked files too.
        let ruled_anew = above.reread
            && (self.settings.sparse_checkout
                || stamp.size > self.reader.max_bytes
                || self.rules.is_excluded(path, false));
        !ruled_anew && self.is_as_clean_as_before(old, stamp, in_index)
    }

    /// git converts a file's content only when the index does not prove the file clean. An index that was written
    /// anew may prove more or less than the one before.
    fn is_as_clean_as_before(&self, old: &File, stamp: &Stamp, in_index: InIndex<'_>) -> bool {
        let InIndex::Entry(..) = in_index else {
            return true;
        };
        let staged = in_index.facts().and_then(|facts| facts.staged());
        let Some(staged) = staged else {
            return true;
        };
        let is_as_staged = old.tree == Some(staged);
        if is_as_staged && old.disk == Disk::AsTree {
            return true;
        }
        self.is_clean_to_git(stamp, in_index) == is_as_staged
    }

    /// Whether git takes the file for what the index says, and so does not read it.
    fn is_clean_to_git(&self, stamp: &Stamp, in_index: InIndex<'_>) -> bool {
        let is_settled = match in_index {
            InIndex::Entry(tracked, view) => tracked.is_settled(view),
            _ => false,
        };
        is_settled && self.is_clean(stamp, in_index)
    }

    /// Whether the index proves that the file was not touched since its entry was made.
    fn is_clean(&self, stamp: &Stamp, in_index: InIndex<'_>) -> bool {
        let InIndex::Entry(tracked, view) = in_index else {
            return false;
        };
        let mode = self.mode(stamp, Some(tracked.facts.entry.mode));
        let staged = tracked.facts.staged();
        staged.is_some_and(|entry| entry.mode == mode) && view.is_clean(tracked, stamp)
    }

    fn absent(
        &self,
        path: &[u8],
        name: &[u8],
        old: Option<&File>,
        facts: Option<IndexFacts>,
    ) -> Option<File> {
        let file = facts.map(|facts| self.deleted(path, name, facts));
        if old.is_none_or(|old| Some(old) != file.as_ref()) {
            self.moved();
        }
        file
    }

    fn content(
        &self,
        path: &[u8],
        name: &[u8],
        stamp: Stamp,
        old: Option<File>,
        in_index: InIndex<'_>,
        above: Above,
    ) -> Result<Option<File>, Error> {
        let facts = in_index.facts();
        let staged = facts.and_then(|facts| facts.staged());
        let known_mode = facts.map(|facts| facts.entry.mode);
        let outside = !self.rules.in_sparse_checkout(path);
        let fixed = staged.filter(|_| facts.is_some_and(|facts| self.is_fixed(&facts, outside)));
        let is_link = stamp.file_type() == FileType::Symlink;
        let file = File {
            trusted: stamp.is_older_than(self.clock),
            ..blank(name, stamp, facts)
        };
        let conversion = if above.attributes && !is_link {
            self.rules
                .with_lane(|lane| self.rules.conversion(lane, path))
        } else {
            Conversion::NONE
        };
        let converts = conversion != Conversion::NONE;
        let held = staged.and_then(|entry| Some((entry.id, self.backend.size(&entry.id)?)));
        // A blob of another length was made by a conversion that does not apply any more.
        let is_whole = held.is_some_and(|(_, size)| size == stamp.size);
        let link_is_link = !is_link || self.settings.symlinks;
        let may_differ = converts || above.reconvert || !is_whole || !link_is_link;
        // A conversion that keeps the length may have been taken away: git reads what its index does not settle. Entries
        // that were made since the last scan, whose conversions still hold, need no second look.
        let is_clean = if self.conversions_are_known {
            self.is_clean(&stamp, in_index)
        } else {
            self.is_clean_to_git(&stamp, in_index)
        };
        if !may_differ && is_clean {
            return Ok(Some(File {
                tree: staged,
                ..file
            }));
        }
        let fixed = fixed.or_else(|| staged.filter(|_| self.is_clean_to_git(&stamp, in_index)));
        let known = Known {
            index: facts.and_then(|facts| facts.blob()),
            fixed: fixed.map(|entry| entry.id),
            anchored: [
                held.map(|(id, _)| id),
                old.filter(|_| self.old_objects_are_held)
                    .and_then(|old| old.tree)
                    .map(|entry| entry.id),
            ],
        };
        self.progress.read.fetch_add(1, Ordering::Relaxed);
        let content = if is_link {
            self.reader.link(path, known)?
        } else {
            self.rules
                .with_lane(|lane| self.reader.file(lane, path, &conversion, known))?
        };
        Ok(match content {
            Content::Gone => facts.map(|facts| self.deleted(path, name, facts)),
            Content::Skipped(reason) => Some(skipped(name, stamp, facts, reason)),
            Content::Stored(stored) => {
                let mode = self.mode(&stored.stamp, known_mode);
                let raw_mode = self.mode(&stored.stamp, None);
                let trusted = stored.stamp.is_older_than(self.clock);
                let file = File {
                    stamp: stored.stamp,
                    trusted,
                    ..file
                };
                let raw = |id| Disk::Raw(Box::new(Entry { mode: raw_mode, id }));
                let disk = match (stored.raw, fixed) {
                    (Some(id), _) => raw(id),
                    (None, Some(entry)) if entry.mode != mode => raw(stored.id),
                    // A checkout would make a file of it.
                    (None, _) if !link_is_link => raw(stored.id),
                    _ => Disk::AsTree,
                };
                let recorded = Entry {
                    mode,
                    id: stored.id,
                };
                Some(match fixed {
                    Some(entry) => File {
                        tree: Some(entry),
                        disk,
                        ..file
                    },
                    // git does not add new files outside the sparse checkout; their bytes are kept aside.
                    None if outside => File {
                        tree: None,
                        disk: raw(stored.raw.unwrap_or(stored.id)),
                        ..file
                    },
                    None => File {
                        tree: Some(recorded),
                        disk,
                        ..file
                    },
                })
            }
        })
    }

    /// The mode git records, which need not be the mode on disk.
    fn mode(&self, stamp: &Stamp, staged: Option<Mode>) -> Mode {
        if stamp.file_type() == FileType::Symlink {
            return Mode::Symlink;
        }
        match staged {
            Some(Mode::Symlink) if !self.settings.symlinks => Mode::Symlink,
            Some(staged) if !self.settings.file_mode && staged.is_regular() => staged,
            _ if !self.settings.file_mode => Mode::File,
            _ if stamp.mode & 0o100 != 0 => Mode::Executable,
            _ => Mode::File,
        }
    }
}

fn blank(name: &[u8], stamp: Stamp, facts: Option<IndexFacts>) -> File {
    File {
        name: name.into(),
        stamp,
        trusted: false,
        tree: None,
        index: facts,
        disk: Disk::AsTree,
    }
}

/// A file that is left out: the tree keeps what the index has, so that a diff does not call it deleted.
fn skipped(name: &[u8], stamp: Stamp, facts: Option<IndexFacts>, reason: SkipReason) -> File {
    let tree = facts.and_then(|facts| facts.staged());
    File {
        tree,
        disk: Disk::Skipped(reason),
        ..blank(name, stamp, facts)
    }
}
