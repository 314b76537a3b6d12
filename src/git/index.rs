//! The user's index, read only: version 2 to 4, split and sparse ones included.

use std::path::{Path, PathBuf};

use gix_worktree::index as gix_index;

use super::node::{
    ASSUME_UNCHANGED, CONFLICTED, Entry, INTENT_TO_ADD, IndexFacts, OURS, SKIP_WORKTREE,
};
use super::open::Repo;
use super::stamp::Stamp;
use super::tree::Mode;
use super::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// A conflict stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The path.
    pub path: Vec<u8>,
    /// 1 base, 2 ours, 3 theirs.
    pub stage: u8,
    /// Mode and object.
    pub mode: Mode,
    /// The object.
    pub id: ObjectId,
}

/// The index at one instant.
pub(super) struct IndexView {
    state: gix_index::State,
    mtime: i64,
}

/// A tracked name directly in a directory.
pub(super) struct TrackedFile<'a> {
    pub name: &'a [u8],
    pub facts: IndexFacts,
    stat: gix_index::entry::Stat,
}

/// The tracked names of one directory.
#[derive(Default)]
pub(super) struct Tracked<'a> {
    /// Sorted by name.
    pub files: Vec<TrackedFile<'a>>,
    /// Sorted by name, each with the entries below it.
    pub dirs: Vec<(&'a [u8], Slice<'a>)>,
}

/// Entries below one directory.
#[derive(Clone, Copy)]
pub(super) struct Slice<'a> {
    view: &'a IndexView,
    entries: &'a [gix_index::Entry],
    /// The length of the directory's path with its slash.
    depth: usize,
}

/// A tracked `.gitignore` or `.gitattributes` that counts when it is not on disk.
pub(super) struct Control {
    pub path: Vec<u8>,
    pub id: ObjectId,
}

impl Control {
    pub fn of(path: &[u8], facts: &IndexFacts) -> Option<Self> {
        let name = path.rsplit(|byte| *byte == b'/').next()?;
        // `git add -A` takes a deleted file out of the index before it reads the attributes of any other.
        let kept = facts.has(SKIP_WORKTREE | ASSUME_UNCHANGED);
        let counts = (name == b".gitattributes" && kept)
            || (name == b".gitignore" && facts.has(SKIP_WORKTREE));
        let is_blob = facts.entry.mode.is_regular() && !facts.has(INTENT_TO_ADD);
        (counts && is_blob).then(|| Self {
            path: path.to_vec(),
            id: facts.entry.id,
        })
    }
}

/// Where the index is.
pub(super) fn location(git_dir: &Path) -> PathBuf {
    git_dir.join("index")
}

/// What `stat` says of the index; none when there is none.
pub(super) fn stamp(git_dir: &Path) -> Result<Option<Stamp>, Error> {
    let path = location(git_dir);
    match rustix::fs::stat(&path) {
        Ok(stat) => Ok(Some(Stamp::of(&stat))),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error).at("stat", path),
    }
}

impl IndexView {
    pub fn read(repo: &Repo) -> Result<Self, Error> {
        let path = location(&repo.git_dir);
        let options = gix_index::decode::Options::default();
        let file = gix_index::File::at_or_default(&path, gix_hash::Kind::Sha1, true, options)
            .map_err(|error| Error::Damaged {
                what: format!("the index {}: {error}", path.display()),
            })?;
        let mtime = file.timestamp();
        let mtime = mtime
            .unix_seconds()
            .saturating_mul(1_000_000_000)
            .saturating_add(i64::from(mtime.nanoseconds()));
        let mut state = file.into();
        super::expand::expand(&mut state, repo)?;
        Ok(Self { state, mtime })
    }

    /// The tracked ignore and attribute files, by path.
    pub fn controls(&self) -> Vec<Control> {
        let candidates = self.state.entries().iter().filter(|entry| {
            let path = self.path(entry);
            path.ends_with(b".gitattributes") || path.ends_with(b".gitignore")
        });
        let mut controls: Vec<Control> = candidates
            .filter(|entry| entry.stage_raw() == 0 || entry.stage_raw() == 2)
            .filter_map(|entry| tracked_file(self.path(entry), std::slice::from_ref(entry)))
            .filter_map(|file| Control::of(file.name, &file.facts))
            .collect();
        controls.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        controls
    }

    pub fn root(&self) -> Slice<'_> {
        Slice {
            view: self,
            entries: self.state.entries(),
            depth: 0,
        }
    }

    /// The entries below a directory, found by its path.
    pub fn below(&self, dir: &[u8]) -> Slice<'_> {
        if dir.is_empty() {
            return self.root();
        }
        let mut prefix = dir.to_vec();
        prefix.push(b'/');
        let entries = self.state.entries();
        let start = entries.partition_point(|entry| self.path(entry) < prefix.as_slice());
        let length =
            entries[start..].partition_point(|entry| self.path(entry).starts_with(&prefix));
        Slice {
            view: self,
            entries: &entries[start..start + length],
            depth: prefix.len(),
        }
    }

    fn path(&self, entry: &gix_index::Entry) -> &[u8] {
        entry.path(&self.state)
    }

    /// All conflict stages.
    pub fn conflicts(&self) -> Vec<Stage> {
        let conflicted = self
            .state
            .entries()
            .iter()
            .filter(|entry| entry.stage_raw() != 0);
        conflicted
            .filter_map(|entry| {
                Some(Stage {
                    path: self.path(entry).to_vec(),
                    stage: u8::try_from(entry.stage_raw()).ok()?,
                    mode: Mode::from_bits(entry.mode.bits())?,
                    id: object_id(entry.id),
                })
            })
            .collect()
    }

    /// Whether the stat data of an entry proves that the file is what the entry says: every field is equal and the
    /// file was last touched before the index was written.
    pub fn is_clean(&self, file: &TrackedFile<'_>, stamp: &Stamp) -> bool {
        let stat = &file.stat;
        let nanos = |time: &gix_index::entry::stat::Time| {
            i64::from(time.secs) * 1_000_000_000 + i64::from(time.nsecs)
        };
        let entry_mtime = nanos(&stat.mtime);
        let same_time = |recorded: i64, now: i64| {
            recorded == now
                || (recorded % 1_000_000_000 == 0
                    && recorded == now - now.rem_euclid(1_000_000_000))
        };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the index keeps the lower 32 bits of these fields"
        )]
        let fields = stat.size == stamp.size as u32;
        // With a size of 0 git marks an entry whose times prove nothing.
        let fields = fields && (stat.size != 0 || is_empty_blob(&file.facts.entry.id));
        // Where an index carries whole seconds only, whole seconds decide what is racy.
        let racy = if entry_mtime % 1_000_000_000 == 0 {
            entry_mtime >= self.mtime - self.mtime.rem_euclid(1_000_000_000)
        } else {
            entry_mtime >= self.mtime
        };
        fields
            && same_time(entry_mtime, stamp.mtime)
            && same_time(nanos(&stat.ctime), stamp.ctime)
            && !racy
            && entry_mtime != 0
    }
}

impl TrackedFile<'_> {
    /// Whether the file is older than the index by git's own measure, which is whole seconds in most builds: within
    /// the same second git reads a file, and so converts its content by the attributes as they are now.
    pub fn is_settled(&self, view: &IndexView) -> bool {
        i64::from(self.stat.mtime.secs) < view.mtime.div_euclid(1_000_000_000)
    }
}

impl<'a> Slice<'a> {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Splits the entries into the directory's own files and its sub-directories.
    pub fn children(&self) -> Tracked<'a> {
        let mut tracked = Tracked::default();
        let mut rest = self.entries;
        while let Some(entry) = rest.first() {
            let name = &self.view.path(entry)[self.depth..];
            match name.iter().position(|byte| *byte == b'/') {
                // A sparse index names a whole directory with a slash at the end.
                Some(slash) if slash + 1 < name.len() => {
                    let prefix = &self.view.path(entry)[..=self.depth + slash];
                    let length =
                        rest.partition_point(|entry| self.view.path(entry).starts_with(prefix));
                    let slice = Slice {
                        view: self.view,
                        entries: &rest[..length],
                        depth: prefix.len(),
                    };
                    tracked.dirs.push((&name[..slash], slice));
                    rest = &rest[length..];
                }
                found => {
                    let name = found.map_or(name, |slash| &name[..slash]);
                    let length = rest
                        .partition_point(|other| self.view.path(other) == self.view.path(entry));
                    tracked.files.extend(tracked_file(name, &rest[..length]));
                    rest = &rest[length..];
                }
            }
        }
        tracked.files.sort_unstable_by_key(|file| file.name);
        tracked.dirs.sort_unstable_by_key(|(name, _)| *name);
        tracked
    }
}

/// One file from its entries: stage 0, or up to three conflict stages.
fn tracked_file<'a>(name: &'a [u8], stages: &[gix_index::Entry]) -> Option<TrackedFile<'a>> {
    use gix_index::entry::Flags;
    let entry = stages
        .iter()
        .find(|entry| entry.stage_raw() == 0)
        .or_else(|| stages.iter().find(|e| e.stage_raw() == 2));
    let entry = entry.or_else(|| stages.first())?;
    let mut flags = 0;
    for (theirs, ours) in [
        (Flags::ASSUME_VALID, ASSUME_UNCHANGED),
        (Flags::SKIP_WORKTREE, SKIP_WORKTREE),
        (Flags::INTENT_TO_ADD, INTENT_TO_ADD),
    ] {
        if entry.flags.contains(theirs) {
            flags |= ours;
        }
    }
    match entry.stage_raw() {
        0 => {}
        2 => flags |= CONFLICTED | OURS,
        _ => flags |= CONFLICTED,
    }
    let mode = Mode::from_bits(entry.mode.bits())?;
    let facts = IndexFacts {
        entry: Entry {
            mode,
            id: object_id(entry.id),
        },
        flags,
    };
    Some(TrackedFile {
        name,
        facts,
        stat: entry.stat,
    })
}

fn is_empty_blob(id: &ObjectId) -> bool {
    let empty = gix_hash::ObjectId::empty_blob(gix_hash::Kind::Sha1);
    id.as_bytes() == empty.as_bytes()
}

fn object_id(id: gix_hash::ObjectId) -> ObjectId {
    ObjectId::from_bytes(id.as_bytes()).expect("gitoxide's ids have a valid length")
}
