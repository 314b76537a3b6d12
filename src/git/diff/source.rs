//! Where the content of both sides comes from: the repository, and for a work tree that was only looked at, the scan
//! that looked and the files themselves.

use std::fs;
use std::io::Read as _;

use super::Item;
use crate::git::hash::{Kind, hash_object};
use crate::git::open::Repo;
use crate::git::rules::as_path;
use crate::git::snapshot::Snapshot;
use crate::git::tree::Mode;
use crate::git::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// Reads trees and contents, whichever side they belong to.
pub struct Source<'a> {
    repo: &'a Repo,
    work_tree: Option<&'a Snapshot>,
}

impl<'a> Source<'a> {
    /// The repository's objects, and those of a scan whose objects were not kept.
    #[must_use]
    pub fn new(repo: &'a Repo, work_tree: Option<&'a Snapshot>) -> Self {
        Self { repo, work_tree }
    }

    /// The repository.
    #[must_use]
    pub fn repo(&self) -> &'a Repo {
        self.repo
    }

    /// The content of a tree.
    ///
    /// # Errors
    /// When there is no such tree.
    pub fn tree(&self, id: &ObjectId) -> Result<Vec<u8>, Error> {
        if let Some(snapshot) = self.work_tree {
            return snapshot.read_tree(self.repo, id);
        }
        match self.repo.backend.read(id)? {
            Some(object) if object.kind == Kind::Tree => Ok(object.bytes),
            _ => Err(missing("tree", id)),
        }
    }

    /// The content of a path, as git compares it: of a submodule, a line with its commit.
    ///
    /// # Errors
    /// When the content is nowhere to be found.
    pub fn content(&self, path: &[u8], item: &Item) -> Result<Vec<u8>, Error> {
        if item.mode == Mode::Gitlink {
            return Ok(format!("Subproject commit {}\n", item.id).into_bytes());
        }
        if let Some(object) = self.repo.backend.read(&item.id)? {
            return match object.kind {
                Kind::Blob => Ok(object.bytes),
                _ => Err(missing("content", &item.id)),
            };
        }
        let snapshot = self.work_tree.ok_or_else(|| missing("content", &item.id))?;
        if let Some(bytes) = snapshot.held(&item.id) {
            return Ok(bytes);
        }
        self.on_disk(path, item)
    }

    /// How long the content of a path is; none when it is not to be found.
    #[must_use]
    pub fn size(&self, path: &[u8], item: &Item) -> Option<u64> {
        if item.mode == Mode::Gitlink {
            return self
                .content(path, item)
                .ok()
                .map(|bytes| bytes.len() as u64);
        }
        let known = self.repo.backend.size(&item.id);
        known.or_else(|| {
            self.content(path, item)
                .ok()
                .map(|bytes| bytes.len() as u64)
        })
    }

    /// What the scan saw on disk and did not hold, if it is still there.
    fn on_disk(&self, path: &[u8], item: &Item) -> Result<Vec<u8>, Error> {
        let place = self.repo.work_dir.join(as_path(path));
        let bytes = if item.mode == Mode::Symlink {
            let target = fs::read_link(&place).at("read link", &place)?;
            target.into_os_string().into_encoded_bytes()
        } else {
            let mut bytes = Vec::new();
            let mut file = fs::File::open(&place).at("open", &place)?;
            file.read_to_end(&mut bytes).at("read", &place)?;
            bytes
        };
        if hash_object(self.repo.backend.format(), Kind::Blob, &bytes)? == item.id {
            return Ok(bytes);
        }
        Err(Error::Moved { path: place })
    }
}

fn missing(what: &str, id: &ObjectId) -> Error {
    Error::Damaged {
        what: format!("{what} {id} is missing"),
    }
}
