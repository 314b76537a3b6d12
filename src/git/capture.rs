//! One file: what git would record for it, and whether it must be read to know that.

use rustix::fs::FileType;
use rustix::io::Errno;
use std::sync::atomic::Ordering;

use super::content::{Content, Known, lstat};
use super::node::{
    ASSUME_UNCHANGED, CONFLICTED, Disk, Entry, File, INTENT_TO_ADD, IndexFacts, SKIP_WORKTREE,
};
use super::rules::as_path;
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use super::walk::{Above, InIndex, Walk, deleted};
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
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(self.absent(name, old.as_ref(), facts)),
            Err(Errno::ACCESS) => {
                return Ok(Some(self.skipped(
                    name,
                    Stamp::default(),
                    facts,
                    SkipReason::Unreadable,
                )));
            }
            Err(error) => return Err(error).at("stat", as_path(path)),
        };
        let same = |old: &File| {
            old.trusted && old.stamp == stamp && old.index == facts && !above.reconvert
        };
        if old.as_ref().is_some_and(same) {
            return Ok(old);
        }
        self.moved();
        let is_link = stamp.file_type() == FileType::Symlink;
        if facts.is_none() && !self.rules.is_valid_name(name, is_link) {
            return Ok(Some(self.skipped(
                name,
                stamp,
                facts,
                SkipReason::InvalidName,
            )));
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
                facts => Ok(facts.map(|facts| deleted(name, facts))),
            },
            FileType::Fifo => Ok(Some(self.skipped(name, stamp, facts, SkipReason::Fifo))),
            FileType::Socket => Ok(Some(self.skipped(name, stamp, facts, SkipReason::Socket))),
            _ => Ok(Some(self.skipped(name, stamp, facts, SkipReason::Device))),
        }
    }

    fn absent(&self, name: &[u8], old: Option<&File>, facts: Option<IndexFacts>) -> Option<File> {
        let file = facts.map(|facts| deleted(name, facts));
        if old.is_none_or(|old| Some(old) != file.as_ref()) {
            self.moved();
        }
        file
    }

    /// A file that is left out: the tree keeps what the index has, so that a diff does not call it deleted.
    fn skipped(
        &self,
        name: &[u8],
        stamp: Stamp,
        facts: Option<IndexFacts>,
        reason: SkipReason,
    ) -> File {
        let tree = facts.and_then(|facts| facts.staged());
        File {
            tree,
            disk: Disk::Skipped(reason),
            ..blank(name, stamp, facts)
        }
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
        let mode = self.mode(&stamp, staged.map(|entry| entry.mode));
        let outside = !self.rules.in_sparse_checkout(path);
        // git takes these as the index has them, whatever the disk says.
        let by_hand = facts.is_some_and(|facts| {
            facts.has(ASSUME_UNCHANGED)
                || (facts.has(SKIP_WORKTREE) && (outside || !self.settings.sparse_checkout))
        });
        let fixed = staged.filter(|_| by_hand || (outside && self.settings.sparse_checkout));
        let file = File {
            trusted: stamp.is_older_than(self.clock),
            ..blank(name, stamp, facts)
        };
        let clean = match in_index {
            InIndex::Entry(tracked, view) => {
                staged.is_some_and(|entry| entry.mode == mode) && view.is_clean(tracked, &stamp)
            }
            _ => false,
        };
        let clean = clean && facts.is_some_and(|facts| !facts.has(INTENT_TO_ADD | CONFLICTED));
        let fixed = fixed.or_else(|| staged.filter(|_| clean));
        let held = staged
            .filter(|entry| self.backend.exists(&entry.id))
            .map(|entry| entry.id);
        let converts =
            above.attributes && mode.is_regular() && stamp.file_type() == FileType::RegularFile;
        if clean && held.is_some() && !self.converts(path, converts)? {
            return Ok(Some(File {
                tree: staged,
                ..file
            }));
        }
        let known = Known {
            index: staged.map(|entry| entry.id),
            fixed: fixed.map(|entry| entry.id),
            anchored: [
                held,
                old.filter(|_| self.old_objects_are_held)
                    .and_then(|old| old.tree)
                    .map(|entry| entry.id),
            ],
        };
        self.progress.read.fetch_add(1, Ordering::Relaxed);
        let content = if stamp.file_type() == FileType::Symlink {
            self.reader.link(path, known)?
        } else {
            self.rules
                .with_lane(|lane| self.reader.file(lane, path, converts, known))?
        };
        Ok(match content {
            Content::Gone => facts.map(|facts| deleted(name, facts)),
            Content::Skipped(reason) => Some(self.skipped(name, stamp, facts, reason)),
            Content::Stored(stored) => {
                let mode = self.mode(&stored.stamp, staged.map(|entry| entry.mode));
                let raw_mode = self.mode(&stored.stamp, None);
                let trusted = stored.stamp.is_older_than(self.clock);
                let file = File {
                    stamp: stored.stamp,
                    trusted,
                    ..file
                };
                let disk = match (stored.raw, fixed) {
                    (Some(id), _) => Disk::Raw(Entry { mode: raw_mode, id }),
                    (None, Some(entry)) if entry.mode != mode => Disk::Raw(Entry {
                        mode: raw_mode,
                        id: stored.id,
                    }),
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
                    None if outside && self.settings.sparse_checkout => File {
                        tree: None,
                        disk: Disk::Raw(Entry {
                            mode: raw_mode,
                            id: stored.raw.unwrap_or(stored.id),
                        }),
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

    fn converts(&self, path: &[u8], possible: bool) -> Result<bool, Error> {
        if !possible {
            return Ok(false);
        }
        let conversion = self
            .rules
            .with_lane(|lane| self.rules.conversion(lane, path))?;
        Ok(conversion != super::convert::Conversion::None)
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
