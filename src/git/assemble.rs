//! Checkpoint commits of files that were never in the work tree: those that another program had copied.
//!
//! The commit is like any other of go-team's: its tree holds the files, its sidecar the record. The index is that of HEAD's
//! tree, as nothing was staged.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::Error;
use super::commit::{add_json, encode_commit, write_paths};
use super::hash::Kind;
use super::node::Entry;
use super::open::Repo;
use super::pack::{PackWriter, StagedPack};
use super::restore::is_harmless;
use super::sidecar::{Extras, IndexJson, Permissions, SkippedPath};
use super::snapshot::Signature;
use super::tree::{self, Mode, TreeEntry};
use crate::model::object_id::ObjectId;

/// Objects that are made but not yet in the repository.
pub struct Assembly {
    pack: PackWriter,
}

/// What a commit is made of beside its tree.
pub struct CommitParts<'a> {
    /// The files.
    pub tree: ObjectId,
    /// The index.
    pub index_tree: ObjectId,
    /// HEAD's commit, where there is one.
    pub head: Option<ObjectId>,
    /// Directories that no file makes exist.
    pub empty_directories: Vec<String>,
    /// Paths that were left out.
    pub skipped: Vec<SkippedPath>,
    /// The record for the sidecar.
    pub record_json: &'a [u8],
    /// The message.
    pub message: &'a str,
    /// Who it is by.
    pub signature: &'a Signature,
    /// When it was made.
    pub at: DateTime<Utc>,
}

impl Assembly {
    /// Begins.
    #[must_use]
    pub fn new(repo: &Repo) -> Self {
        Self {
            pack: PackWriter::new(&repo.pack_dir(), repo.backend.format()),
        }
    }

    /// Adds the content of a file or the target of a link.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn blob(&self, bytes: &[u8]) -> Result<ObjectId, Error> {
        self.pack.add(Kind::Blob, bytes)
    }

    /// Adds the trees of a list of files.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn tree<'f>(
        &self,
        files: impl IntoIterator<Item = (&'f Vec<u8>, &'f (Mode, ObjectId))>,
    ) -> Result<ObjectId, Error> {
        let files = files.into_iter();
        let files = files.map(|(path, (mode, id))| {
            (
                path.clone(),
                Entry {
                    mode: *mode,
                    id: *id,
                },
            )
        });
        write_paths(&self.pack, &files.collect::<Vec<_>>())
    }

    /// Adds a checkpoint commit with its sidecar.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn commit(&self, parts: CommitParts<'_>) -> Result<ObjectId, Error> {
        let index = IndexJson {
            version: 1,
            flags: Vec::new(),
            conflicts: Vec::new(),
        };
        let extras = Extras {
            version: 1,
            permissions: Permissions {
                file: "644".to_owned(),
                executable: "755".to_owned(),
                directory: "755".to_owned(),
                other: BTreeMap::new(),
            },
            empty_directories: parts.empty_directories,
            absent: Vec::new(),
            nested: Vec::new(),
            skipped: parts.skipped,
        };
        let file = |name: &'static str, id| (name.as_bytes(), Mode::File, id);
        let entries = [
            file("record.json", self.blob(parts.record_json)?),
            (b"staged".as_slice(), Mode::Tree, parts.index_tree),
            file("index.json", add_json(&self.pack, &index)?),
            file("extras.json", add_json(&self.pack, &extras)?),
        ];
        let mut entries = entries.map(|(name, mode, id)| TreeEntry { mode, name, id });
        let sidecar = self.pack.add(Kind::Tree, &tree::encode(&mut entries))?;
        let made = |tree, parents: &[ObjectId], message: &str| {
            let bytes = encode_commit(tree, parents, parts.signature, parts.at, message);
            self.pack.add(Kind::Commit, &bytes)
        };
        let sidecar = made(sidecar, &[], "go-team: the sidecar of a checkpoint\n")?;
        let parents: Vec<ObjectId> = parts.head.into_iter().chain([sidecar]).collect();
        made(parts.tree, &parents, parts.message)
    }

    /// Ends the pack; none when nothing was added.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<Option<StagedPack>, Error> {
        self.pack.finish()
    }
}

/// Whether a name may be in a tree: neither `..` nor `.git` in any of its disguises.
#[must_use]
pub fn accepts(name: &[u8]) -> bool {
    is_harmless(name)
}
