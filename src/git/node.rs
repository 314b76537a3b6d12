//! The work tree as the scanner last saw it: directories and files with what git records for them.
//!
//! The same values are what the stat cache stores, so that a scan takes the old nodes and changes only what moved.

use std::ops::Deref;

use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use crate::model::object_id::ObjectId;

/// A name. Most names are short and lie in the node itself: a scan of many files touches no more memory than it must.
#[derive(Clone)]
pub(super) enum Name {
    Short {
        length: u8,
        bytes: [u8; Name::SHORT],
    },
    Long(Box<[u8]>),
}

impl Name {
    const SHORT: usize = 22;
}

impl Default for Name {
    fn default() -> Self {
        [].as_slice().into()
    }
}

impl From<&[u8]> for Name {
    fn from(name: &[u8]) -> Self {
        match u8::try_from(name.len()) {
            Ok(length) if name.len() <= Self::SHORT => {
                let mut bytes = [0; Self::SHORT];
                bytes[..name.len()].copy_from_slice(name);
                Self::Short { length, bytes }
            }
            _ => Self::Long(name.into()),
        }
    }
}

impl Deref for Name {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Short { length, bytes } => &bytes[..usize::from(*length)],
            Self::Long(bytes) => bytes,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Name {}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self))
    }
}

/// What a tree or the index holds for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub mode: Mode,
    pub id: ObjectId,
}

/// `git update-index --assume-unchanged`.
pub(super) const ASSUME_UNCHANGED: u8 = 1;
/// Left out of the work tree by a sparse checkout or by hand.
pub(super) const SKIP_WORKTREE: u8 = 2;
/// `git add --intent-to-add`.
pub(super) const INTENT_TO_ADD: u8 = 4;
/// There is no stage 0; mode and id are those of one of the other stages.
pub(super) const CONFLICTED: u8 = 8;
/// Of a conflict, mode and id are those of stage 2.
pub(super) const OURS: u8 = 16;

/// What the index says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexFacts {
    pub entry: Entry,
    pub flags: u8,
}

impl IndexFacts {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The object whose line endings decide whether `text=auto` converts: git looks at stage 0, then at stage 2.
    pub fn blob(&self) -> Option<ObjectId> {
        let names_one = !self.has(CONFLICTED) || self.has(OURS);
        (names_one && self.entry.mode != Mode::Gitlink).then_some(self.entry.id)
    }

    /// What `git write-tree` would take for the path.
    pub fn staged(&self) -> Option<Entry> {
        (!self.has(INTENT_TO_ADD | CONFLICTED)).then_some(self.entry)
    }
}

/// How the disk differs from a checkout of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Disk {
    /// Not at all.
    AsTree,
    /// It holds these bytes. Few files do, and all of them pay for the room.
    Raw(Box<Entry>),
    /// The path is not there.
    Absent,
    /// It was left out.
    Skipped(SkipReason),
    /// The configuration leaves it out.
    Excluded,
}

/// A file, link or nested repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub name: Name,
    pub stamp: Stamp,
    /// Whether an equal stamp means equal content.
    pub trusted: bool,
    /// What `git add -A` records.
    pub tree: Option<Entry>,
    pub index: Option<IndexFacts>,
    pub disk: Disk,
}

/// A directory.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one independent fact of a directory"
)]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Dir {
    pub name: Name,
    pub stamp: Stamp,
    /// Whether an equal stamp means equal names.
    pub trusted: bool,
    pub on_disk: bool,
    /// Ignored by git; only tracked files are looked at.
    pub ignored: bool,
    /// Its entries could not be read.
    pub unreadable: bool,
    /// The stamps of `.gitignore` and `.gitattributes`.
    pub controls: [Option<Box<Stamp>>; 2],
    /// The tree object; none when there is nothing to record.
    pub tree: Option<ObjectId>,
    /// The tree object of the index's entries.
    pub staged: Option<ObjectId>,
    /// Whether `tree` and `staged` must be computed anew.
    pub dirty: bool,
    pub files: Vec<File>,
    pub dirs: Vec<Dir>,
}

impl Dir {
    /// The file at a path.
    pub fn find(&self, path: &[u8]) -> Option<&File> {
        let mut dir = self;
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return dir.files.iter().find(|file| &*file.name == part);
            }
            dir = dir.dirs.iter().find(|dir| &*dir.name == part)?;
        }
        None
    }

    /// Calls `visit` for every directory, this one included, with its path.
    pub fn walk<'a>(&'a self, path: &mut Vec<u8>, visit: &mut dyn FnMut(&[u8], &'a Dir)) {
        visit(path, self);
        for dir in &self.dirs {
            let length = push(path, &dir.name);
            dir.walk(path, visit);
            path.truncate(length);
        }
    }
}

/// The path of a name in a directory.
pub(super) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = dir.to_vec();
    push(&mut path, name);
    path
}

/// Appends a name to a path; the length to truncate to afterwards is returned.
pub(super) fn push(path: &mut Vec<u8>, name: &[u8]) -> usize {
    let length = path.len();
    if length > 0 {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    length
}
