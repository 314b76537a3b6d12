//! Files of a checkpoint as they were on disk: the bytes kept aside where git would not give them back, else what git
//! would check out by the attributes that the checkpoint itself holds.

use super::{Item, Threads};
use crate::git::Error;
use crate::git::attributes::Attributes;
use crate::git::convert::{self, Conversion, Converter};
use crate::git::hash::Kind;
use crate::git::open::Repo;
use crate::git::tree::{Mode, decode};
use crate::model::object_id::ObjectId;

/// The trees of a checkpoint.
pub struct Checkout<'r> {
    repo: &'r Repo,
    /// The work tree.
    pub tree: ObjectId,
    raw: Option<ObjectId>,
}

/// A path of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The path.
    pub path: Vec<u8>,
    /// What git records for it.
    pub item: Item,
    /// What holds its exact bytes, where git would not give them back.
    pub raw: Option<Item>,
}

impl<'r> Checkout<'r> {
    /// Opens the commit of a checkpoint.
    ///
    /// # Errors
    /// When the commit or its sidecar cannot be read.
    pub fn open(repo: &'r Repo, commit: &ObjectId) -> Result<Self, Error> {
        let damaged = || Error::Damaged {
            what: format!("commit {commit}"),
        };
        let object = repo.backend.read(commit)?.ok_or_else(damaged)?;
        let text = String::from_utf8_lossy(&object.bytes);
        let head = text.split("\n\n").next().unwrap_or_default();
        let ids = |word: &str| -> Vec<ObjectId> {
            let lines = head.lines().filter_map(|line| line.split_once(' '));
            let named = lines.filter(|(name, _)| *name == word);
            named
                .filter_map(|(_, id)| ObjectId::parse(id).ok())
                .collect()
        };
        let tree = *ids("tree").first().ok_or_else(damaged)?;
        let sidecar = *ids("parent").last().ok_or_else(damaged)?;
        let sidecar = crate::git::snapshot::tree_of(repo, &sidecar)?;
        let checkout = Self {
            repo,
            tree,
            raw: None,
        };
        let raw = checkout.find_below(sidecar, b"raw")?;
        Ok(Self {
            raw: raw
                .filter(|item| item.mode == Mode::Tree)
                .map(|item| item.id),
            ..checkout
        })
    }

    /// What is at a path; a directory is one too.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn find(&self, path: &[u8]) -> Result<Option<Listed>, Error> {
        let item = self.find_below(self.tree, path)?;
        let raw = match self.raw {
            Some(raw) => self.find_below(raw, path)?,
            None => None,
        };
        Ok(item.map(|item| Listed {
            path: path.to_vec(),
            item,
            raw: raw.filter(|raw| raw.mode != Mode::Tree),
        }))
    }

    /// The bytes that a path had on disk.
    ///
    /// # Errors
    /// When they cannot be read, or git's conversion fails.
    pub fn bytes(&self, listed: &Listed) -> Result<Vec<u8>, Error> {
        if let Some(raw) = &listed.raw {
            return self.blob(&raw.id);
        }
        let blob = self.blob(&listed.item.id)?;
        if !listed.item.mode.is_regular() {
            return Ok(blob);
        }
        let mut converter = Converter::new(self.repo);
        let conversion = self.conversion(&converter, &listed.path)?;
        if conversion == Conversion::NONE {
            return Ok(blob);
        }
        converter.smudge(&conversion, &listed.path, &blob)
    }

    /// All files, in git's order.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let read = |id: &ObjectId| self.tree_bytes(id);
        let format = self.repo.backend.format();
        let files = super::deltas(format, &read, Threads::All, None, Some(self.tree))?;
        let raw = match self.raw {
            Some(raw) => super::deltas(format, &read, Threads::All, None, Some(raw))?,
            None => Vec::new(),
        };
        let raw: std::collections::HashMap<Vec<u8>, Item> = raw
            .into_iter()
            .filter_map(|delta| Some((delta.path, delta.new?)))
            .collect();
        let listed = files.into_iter().filter_map(|delta| {
            let raw = raw.get(&delta.path).copied();
            let item = delta.new?;
            Some(Listed {
                path: delta.path,
                item,
                raw,
            })
        });
        Ok(listed.collect())
    }

    fn tree_bytes(&self, id: &ObjectId) -> Result<Vec<u8>, Error> {
        match self.repo.backend.read(id)? {
            Some(object) if object.kind == Kind::Tree => Ok(object.bytes),
            _ => Err(Error::Damaged {
                what: format!("tree {id} is missing"),
            }),
        }
    }

    fn blob(&self, id: &ObjectId) -> Result<Vec<u8>, Error> {
        match self.repo.backend.read(id)? {
            Some(object) if object.kind == Kind::Blob => Ok(object.bytes),
            _ => Err(Error::Damaged {
                what: format!("content {id} is missing"),
            }),
        }
    }

    fn find_below(&self, tree: ObjectId, path: &[u8]) -> Result<Option<Item>, Error> {
        let mut at = Item {
            mode: Mode::Tree,
            id: tree,
        };
        for name in path
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
        {
            if at.mode != Mode::Tree {
                return Ok(None);
            }
            let bytes = self.tree_bytes(&at.id)?;
            let entries = decode(self.repo.backend.format(), &bytes)?;
            let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
                return Ok(None);
            };
            at = Item {
                mode: entry.mode,
                id: entry.id,
            };
        }
        Ok(Some(at))
    }

    /// Which conversions git applied to a path, by the attribute files of the checkpoint.
    fn conversion(&self, converter: &Converter, path: &[u8]) -> Result<Conversion, Error> {
        let mut held = std::collections::HashMap::new();
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let starts = std::iter::once(0).chain(slashes.map(|(at, _)| at + 1));
        for start in starts {
            let file = [&path[..start], b".gitattributes"].concat();
            if let Some(item) = self.find_below(self.tree, &file)?
                && item.mode.is_regular()
            {
                held.insert(file, self.blob(&item.id)?);
            }
        }
        let mut attributes = Attributes::of_tree(self.repo)?;
        let states = attributes.of(path, convert::NAMES, &|file| held.get(file).cloned());
        Ok(converter.conversion(states))
    }
}
