//! A scan made into a checkpoint commit: its tree, its sidecar, and the order in which they become visible.

use chrono::{DateTime, Utc};

use super::Error;
use super::backend::Head;
use super::cache::Anchor;
pub use super::commit::tree_of;
use super::commit::{add_json, encode_commit, write_paths};
pub use super::committed::{Committed, PublishedSnapshot, SeenScan, Visible};
use super::diff::{self, Changes};
use super::hash::Kind;
use super::node::Entry;
use super::open::Repo;
use super::scan::Scan;
use super::sidecar::{Extras, IndexJson, Sidecar};
use super::timings::Timings;
use super::tree::{self, Mode, TreeEntry};
use super::trees::Side;
use crate::model::object_id::ObjectId;

/// Who a checkpoint commit says made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// The work tree, the index and HEAD at one instant, with ids but not yet in the repository.
pub struct Snapshot {
    scan: Scan,
    sidecar: Sidecar,
    /// The work tree.
    pub tree: ObjectId,
    /// The index.
    pub index_tree: ObjectId,
    /// Where HEAD pointed.
    pub head: Head,
    /// The tree of HEAD's commit.
    pub head_tree: Option<ObjectId>,
}

impl Snapshot {
    /// Computes the trees of a scan and adds what the repository lacks to its pack.
    ///
    /// # Errors
    /// When HEAD or its tree cannot be read, or objects cannot be written.
    pub fn of(repo: &Repo, mut scan: Scan) -> Result<Self, Error> {
        let head = repo.backend.head()?;
        let head_tree = match head.commit() {
            Some(commit) => Some(tree_of(repo, &commit)?),
            None => None,
        };
        let backend = &*repo.backend;
        let tree = scan
            .trees
            .write(&scan.root, Side::Worktree, head_tree, backend, &scan.pack)?;
        let index_tree = if scan.root.staged == scan.root.tree {
            tree
        } else {
            scan.trees
                .write(&scan.root, Side::Staged, head_tree, backend, &scan.pack)?
        };
        let sidecar = Sidecar::of(&scan.root, &scan.conflicts);
        scan.timings.lap("write trees");
        Ok(Self {
            scan,
            sidecar,
            tree,
            index_tree,
            head,
            head_tree,
        })
    }

    /// What is on disk beside what git keeps.
    #[must_use]
    pub fn extras(&self) -> &Extras {
        &self.sidecar.extras
    }

    /// Flags and conflicts of the index.
    #[must_use]
    pub fn index(&self) -> &IndexJson {
        &self.sidecar.index
    }

    /// The exact bytes of files that a checkout would not give back.
    pub(super) fn raw(&self) -> &[(Vec<u8>, Entry)] {
        &self.sidecar.raw
    }

    /// Whether the exact bytes of files are those that a view has.
    #[must_use]
    pub fn raw_equals(&self, view: &super::restore::View) -> bool {
        let raw = self.sidecar.raw.iter().map(|(path, entry)| (path, entry));
        raw.eq(view.raw_entries())
    }

    /// Remembers the scan for the next one. `reference` must hold everything that was seen.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub fn remember(self, repo: &Repo, reference: &str, commit: ObjectId) -> Result<(), Error> {
        let anchor = Anchor {
            reference: reference.to_owned(),
            commit,
        };
        let (root, conflicts, _, memory) = self.scan.into_parts();
        Scan::remember(root, conflicts, memory, anchor, repo.backend.format())
    }

    /// Reads a tree, of the scan or of the repository.
    ///
    /// # Errors
    /// When it is in neither.
    pub fn read_tree(&self, repo: &Repo, id: &ObjectId) -> Result<Vec<u8>, Error> {
        self.scan.trees.read(&*repo.backend, id)
    }

    /// What `stat` said of a path that was looked at.
    #[must_use]
    pub fn stamp(&self, path: &[u8]) -> Option<super::stamp::Stamp> {
        self.scan.root.find(path).map(|file| file.stamp)
    }

    /// Whether the index has a path.
    #[must_use]
    pub fn is_tracked(&self, path: &[u8]) -> bool {
        let file = self.scan.root.find(path);
        file.is_some_and(|file| file.index.is_some())
    }

    /// Where the time went.
    #[must_use]
    pub fn timings(&self) -> &Timings {
        &self.scan.timings
    }

    /// The paths that differ from another tree.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn changes_since(&self, repo: &Repo, old: Option<ObjectId>) -> Result<Changes, Error> {
        let read = |id: &ObjectId| self.scan.trees.read(&*repo.backend, id);
        let tree = self.scan.root.tree;
        diff::changes(
            repo.backend.format(),
            &read,
            old.filter(|id| Some(*id) != tree),
            if old == tree { None } else { tree },
        )
    }

    /// The work tree; none when there is nothing in it.
    #[must_use]
    pub fn root(&self) -> Option<ObjectId> {
        self.scan.root.tree
    }

    /// New content that the scan holds in memory.
    #[must_use]
    pub fn held(&self, id: &ObjectId) -> Option<Vec<u8>> {
        self.scan.pack.held(id)
    }

    /// Writes the sidecar and the checkpoint commit into the pack. `holds` are commits that the sidecar keeps from being
    /// collected.
    ///
    /// # Errors
    /// When objects cannot be written.
    pub fn commit(
        self,
        record_json: &[u8],
        message: &str,
        signature: &Signature,
        at: DateTime<Utc>,
        holds: &[ObjectId],
    ) -> Result<Committed, Error> {
        let Self {
            scan,
            sidecar,
            tree,
            index_tree,
            head,
            ..
        } = self;
        let pack = &scan.pack;
        let mut entries = vec![
            (
                b"record.json".as_slice(),
                Mode::File,
                pack.add(Kind::Blob, record_json)?,
            ),
            (b"staged", Mode::Tree, index_tree),
            (b"index.json", Mode::File, add_json(pack, &sidecar.index)?),
            (b"extras.json", Mode::File, add_json(pack, &sidecar.extras)?),
        ];
        if !sidecar.index.conflicts.is_empty() {
            let blobs = scan
                .conflicts
                .iter()
                .filter(|stage| stage.mode != Mode::Gitlink);
            let held = blobs
                .enumerate()
                .map(|(nth, stage)| (format!("{nth:06}-{}", stage.stage), stage.mode, stage.id));
            let held: Vec<_> = held
                .map(|(name, mode, id)| (name.into_bytes(), Entry { mode, id }))
                .collect();
            entries.push((b"conflicts", Mode::Tree, write_paths(pack, &held)?));
        }
        if !sidecar.raw.is_empty() {
            entries.push((b"raw", Mode::Tree, write_paths(pack, &sidecar.raw)?));
        }
        let mut entries: Vec<_> = entries
            .into_iter()
            .map(|(name, mode, id)| TreeEntry { mode, name, id })
            .collect();
        let sidecar_tree = pack.add(Kind::Tree, &tree::encode(&mut entries))?;
        let made = |tree, parents: &[ObjectId], message: &str| {
            pack.add(
                Kind::Commit,
                &encode_commit(tree, parents, signature, at, message),
            )
        };
        let sidecar_commit = made(
            sidecar_tree,
            holds,
            "go-team: the sidecar of a checkpoint\n",
        )?;
        let parents: Vec<ObjectId> = head.commit().into_iter().chain([sidecar_commit]).collect();
        let commit = made(tree, &parents, message)?;
        let mut timings = scan.timings.clone();
        let (root, conflicts, pack, memory) = scan.into_parts();
        let totals = pack.totals();
        let pack = pack.finish()?.ok_or_else(|| Error::Damaged {
            what: "a pack without objects".into(),
        })?;
        timings.lap("write pack");
        Ok(Committed {
            id: commit,
            pack,
            root,
            conflicts,
            memory,
            timings,
            totals,
        })
    }
}

/// Removes the traces of a checkpoint that was never completed. Its objects stay for git's own housekeeping.
///
/// # Errors
/// When a trace cannot be removed.
pub fn retract(repo: &Repo, reference: &str, pack: Option<&str>) -> Result<(), Error> {
    if let Some(id) = repo.backend.reference(reference)? {
        repo.backend.delete_reference(reference, id)?;
    }
    pack.map_or(Ok(()), |name| super::pack::release_in(repo, name))
}

/// The ref of a checkpoint.
#[must_use]
pub fn reference_of(
    session: &crate::model::SessionId,
    checkpoint: &crate::model::CheckpointId,
) -> String {
    format!("refs/go-team/{session}/{checkpoint}")
}

/// Where a work tree's private files of go-team lie within the shared directory.
#[must_use]
pub fn worktree_slot(repo: &Repo) -> String {
    repo.worktree_name
        .as_ref()
        .map_or_else(|| "main".to_owned(), |name| format!("linked-{name}"))
}
