//! What a checkpoint holds of the disk, path by path.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::trees::Trees;
use crate::git::Error;
use crate::git::diff::ReadTree;
use crate::git::hash::Kind;
use crate::git::node::Entry;
use crate::git::open::Repo;
use crate::git::rules::bstr;
use crate::git::sidecar::{Extras, IndexJson};
use crate::git::skip::SkipReason;
use crate::git::snapshot::Snapshot;
use crate::git::tree::{Mode, decode};
use crate::model::object_id::{ObjectFormat, ObjectId};
use crate::model::path_text::unquote_path;

/// What is at a path.
#[derive(Debug, Clone, Copy)]
pub enum Item {
    /// A regular file.
    File {
        /// Its content.
        id: ObjectId,
        /// Its permission bits.
        bits: u32,
        /// The object holds the bytes as they are on disk, whatever attributes say.
        is_exact: bool,
    },
    /// A symbolic link.
    Link {
        /// The object that holds its target.
        id: ObjectId,
    },
    /// Another repository.
    Nested {
        /// The commit it was at.
        id: ObjectId,
    },
}

impl PartialEq for Item {
    /// Where the bytes come from makes no difference to what is on disk.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File { id, bits, .. },
                Self::File {
                    id: other_id,
                    bits: other_bits,
                    ..
                },
            ) => id == other_id && bits == other_bits,
            (Self::Link { id }, Self::Link { id: other })
            | (Self::Nested { id }, Self::Nested { id: other }) => id == other,
            _ => false,
        }
    }
}

impl Eq for Item {}

impl Item {
    /// The object that holds the content.
    #[must_use]
    pub fn id(&self) -> ObjectId {
        match self {
            Self::File { id, .. } | Self::Link { id } | Self::Nested { id } => *id,
        }
    }

    /// Whether it is another repository.
    #[must_use]
    pub fn is_nested(&self) -> bool {
        matches!(self, Self::Nested { .. })
    }
}

/// Everything a checkpoint says about the disk and the index.
#[derive(Debug)]
pub struct View {
    /// The work tree.
    pub tree: ObjectId,
    /// The index.
    pub staged: ObjectId,
    /// Flags and conflicts of the index.
    pub index: IndexJson,
    pub(super) raw: BTreeMap<Vec<u8>, Entry>,
    pub(super) bits: BTreeMap<Vec<u8>, u32>,
    /// The bits of plain files, runnable files, directories.
    pub(super) usual: [u32; 3],
    pub(super) empty: BTreeSet<Vec<u8>>,
    pub(super) absent: BTreeSet<Vec<u8>>,
    pub(super) skipped: BTreeMap<Vec<u8>, SkipReason>,
    /// Whether links are links here (`core.symlinks`).
    links: bool,
}

impl View {
    /// What a scan found.
    ///
    /// # Errors
    /// Never for what a scan wrote.
    pub fn of(repo: &Repo, snapshot: &Snapshot) -> Result<Self, Error> {
        let raw = snapshot.raw().iter().cloned().collect();
        Self::new(
            repo,
            (snapshot.tree, snapshot.index_tree),
            snapshot.index().clone(),
            snapshot.extras(),
            raw,
        )
    }

    /// What a checkpoint commit holds.
    ///
    /// # Errors
    /// When the commit, its sidecar or one of their trees cannot be read.
    pub fn load(repo: &Repo, commit: ObjectId) -> Result<Self, Error> {
        let damaged = |what: &str| Error::Damaged {
            what: format!("checkpoint commit {commit}: {what}"),
        };
        let read = |id: ObjectId, kind: Kind| {
            let found = repo.backend.read(&id)?.filter(|object| object.kind == kind);
            let missing = || Error::Damaged {
                what: format!("{} {id} is missing", kind.as_str()),
            };
            found.map(|object| object.bytes).ok_or_else(missing)
        };
        let header = |bytes: &[u8]| -> Result<(ObjectId, Option<ObjectId>), Error> {
            let mut tree = None;
            let mut last_parent = None;
            for line in bytes.split(|byte| *byte == b'\n') {
                let id = |text: &[u8]| ObjectId::parse(std::str::from_utf8(text).ok()?).ok();
                if let Some(text) = line.strip_prefix(b"tree ") {
                    tree = id(text);
                } else if let Some(text) = line.strip_prefix(b"parent ") {
                    last_parent = id(text);
                } else {
                    break;
                }
            }
            Ok((tree.ok_or_else(|| damaged("no tree"))?, last_parent))
        };
        let (tree, sidecar) = header(&read(commit, Kind::Commit)?)?;
        let sidecar = sidecar.ok_or_else(|| damaged("no sidecar"))?;
        let (sidecar, _) = header(&read(sidecar, Kind::Commit)?)?;
        let bytes = read(sidecar, Kind::Tree)?;
        let entries = decode(repo.backend.format(), &bytes)?;
        let find = |name: &[u8], mode: Mode| {
            let mut entries = entries.iter();
            entries
                .find(|entry| entry.name == name && entry.mode == mode)
                .map(|entry| entry.id)
        };
        let blob = |name: &str| {
            let id = find(name.as_bytes(), Mode::File);
            read(id.ok_or_else(|| damaged(name))?, Kind::Blob)
        };
        let staged = find(b"staged", Mode::Tree).ok_or_else(|| damaged("staged"))?;
        let index: IndexJson = parse(&blob("index.json")?, "index.json")?;
        let extras: Extras = parse(&blob("extras.json")?, "extras.json")?;
        let mut raw = BTreeMap::new();
        if let Some(id) = find(b"raw", Mode::Tree) {
            let read_tree = |id: &ObjectId| read(*id, Kind::Tree);
            let trees = Trees::new(repo.backend.format(), &read_tree);
            let mut add = |path: &[u8], entry: Entry| {
                raw.insert(path.to_vec(), entry);
            };
            trees.each(id, &mut Vec::new(), &mut add, &mut |_| {})?;
        }
        Self::new(repo, (tree, staged), index, &extras, raw)
    }

    fn new(
        repo: &Repo,
        (tree, staged): (ObjectId, ObjectId),
        index: IndexJson,
        extras: &Extras,
        raw: BTreeMap<Vec<u8>, Entry>,
    ) -> Result<Self, Error> {
        let path = |text: &String| {
            let path = unquote_path(text).ok().filter(|path| is_inside(path));
            path.ok_or_else(|| Error::Damaged {
                what: format!("extras.json: the path {text}"),
            })
        };
        let bits = |text: &String| {
            u32::from_str_radix(text, 8)
                .ok()
                .filter(|bits| *bits <= 0o7777)
                .ok_or_else(|| Error::Damaged {
                    what: format!("extras.json: the permissions {text}"),
                })
        };
        let permissions = &extras.permissions;
        let others = permissions.other.iter();
        let skipped = extras.skipped.iter();
        Ok(Self {
            tree,
            staged,
            index,
            raw,
            bits: others
                .map(|(name, text)| Ok((path(name)?, bits(text)?)))
                .collect::<Result<_, Error>>()?,
            usual: [
                bits(&permissions.file)?,
                bits(&permissions.executable)?,
                bits(&permissions.directory)?,
            ],
            empty: extras
                .empty_directories
                .iter()
                .map(path)
                .collect::<Result<_, _>>()?,
            absent: extras.absent.iter().map(path).collect::<Result<_, _>>()?,
            skipped: skipped
                .map(|skip| Ok((path(&skip.path)?, skip.reason)))
                .collect::<Result<_, Error>>()?,
            links: repo.settings.symlinks,
        })
    }

    /// Whether a file or link at a path is captured.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn holds(
        &self,
        format: ObjectFormat,
        read: &ReadTree<'_>,
        path: &[u8],
    ) -> Result<bool, Error> {
        let trees = Trees::new(format, read);
        let found = trees.find(self.tree, path)?;
        let found = found.filter(|entry| entry.mode != Mode::Tree);
        Ok(self.item(path, found).is_some())
    }

    /// Exact bytes of files, by path.
    pub(in crate::git) fn raw_entries(&self) -> impl Iterator<Item = (&Vec<u8>, &Entry)> {
        self.raw.iter()
    }

    /// Whether anything at or below a path is captured or mentioned.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn knows(
        &self,
        format: ObjectFormat,
        read: &ReadTree<'_>,
        path: &[u8],
    ) -> Result<bool, Error> {
        let trees = Trees::new(format, read);
        Ok(trees.find(self.tree, path)?.is_some()
            || self.raw.contains_key(path)
            || self.skipped.contains_key(path)
            || self.has_dir(&trees, path)?)
    }

    /// What is on disk for what the tree has at a path.
    pub(super) fn item(&self, path: &[u8], in_tree: Option<Entry>) -> Option<Item> {
        if let Some(raw) = self.raw.get(path) {
            return Some(self.on_disk(path, *raw, true));
        }
        let entry = in_tree.filter(|_| !self.is_absent(path))?;
        Some(self.on_disk(path, entry, false))
    }

    fn on_disk(&self, path: &[u8], entry: Entry, is_exact: bool) -> Item {
        let Entry { mode, id } = entry;
        let bits = || {
            let usual = self.usual[usize::from(mode == Mode::Executable)];
            self.bits.get(path).copied().unwrap_or(usual)
        };
        match mode {
            Mode::Gitlink => Item::Nested { id },
            // Without links, git checks a link out as a file that holds its target; nothing converts that.
            Mode::Symlink if self.links || is_exact => Item::Link { id },
            Mode::Symlink => Item::File {
                id,
                bits: bits(),
                is_exact: true,
            },
            _ => Item::File {
                id,
                bits: bits(),
                is_exact,
            },
        }
    }

    /// Whether the index keeps a path that is not on disk.
    pub(super) fn is_absent(&self, path: &[u8]) -> bool {
        !self.absent.is_empty() && at_or_above(path, |path| self.absent.contains(path))
    }

    /// Why a path, or a directory above it, was left out.
    pub(super) fn why_skipped(&self, path: &[u8]) -> Option<SkipReason> {
        let mut found = None;
        at_or_above(path, |path| {
            found = self.skipped.get(path).copied();
            found.is_some()
        });
        found
    }

    /// Whether a directory is on disk.
    pub(super) fn has_dir(&self, trees: &Trees<'_>, dir: &[u8]) -> Result<bool, Error> {
        let below = [dir, b"/"].concat();
        let holds = |first: Option<&Vec<u8>>| first.is_some_and(|path| path.starts_with(&below));
        if self.empty.contains(dir)
            || holds(self.empty.range(below.clone()..).next())
            || holds(self.raw.range(below.clone()..).next().map(|(path, _)| path))
            || holds(
                self.skipped
                    .range(below.clone()..)
                    .next()
                    .map(|(path, _)| path),
            )
        {
            return Ok(true);
        }
        let Some(Entry {
            mode: Mode::Tree,
            id,
        }) = trees.find(self.tree, dir)?
        else {
            return Ok(false);
        };
        if self.absent.is_empty() {
            return Ok(true);
        }
        let mut is_there = false;
        let mut visit = |path: &[u8], entry| is_there |= self.item(path, Some(entry)).is_some();
        trees.each(id, &mut dir.to_vec(), &mut visit, &mut |_| {})?;
        Ok(is_there)
    }

    /// The permission bits of a directory.
    pub(super) fn dir_bits(&self, dir: &[u8]) -> u32 {
        self.bits.get(dir).copied().unwrap_or(self.usual[2])
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8], name: &str) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::Damaged {
        what: format!("{name}: {error}"),
    })
}

/// Whether a path stays in the work tree and out of the repository, on any file system.
pub(super) fn is_inside(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').all(is_harmless)
}

/// Whether a name can be part of a path in a work tree: neither `..` nor `.git` in any of its disguises.
pub(in crate::git) fn is_harmless(name: &[u8]) -> bool {
    let options = gix_validate::path::component::Options {
        protect_windows: false,
        protect_hfs: true,
        protect_ntfs: true,
    };
    !name.contains(&b'/') && gix_validate::path::component(bstr(name), None, options).is_ok()
}

/// Whether a test holds for a path or one of the directories above it.
pub(super) fn at_or_above(path: &[u8], mut holds: impl FnMut(&[u8]) -> bool) -> bool {
    let mut at = path;
    loop {
        if holds(at) {
            return true;
        }
        let Some(slash) = at.iter().rposition(|byte| *byte == b'/') else {
            return false;
        };
        at = &at[..slash];
    }
}
