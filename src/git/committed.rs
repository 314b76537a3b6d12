//! A checkpoint commit on its way into the repository: in a pack that nobody sees, visible, held by a ref, remembered.

use std::fs::File;
use std::path::Path;

use super::Error;
use super::backend::Sync;
use super::cache::Anchor;
use super::open::Repo;
use super::pack::{Published, StagedPack};
use super::reference::{PlacedRef, StagedRef};
use super::scan::{Scan, ScanMemory};
use super::timings::Timings;
use crate::model::object_id::ObjectId;

/// A checkpoint commit in a pack that git does not see yet.
pub struct Committed {
    /// The commit.
    pub id: ObjectId,
    pub(super) pack: StagedPack,
    pub(super) root: super::node::Dir,
    pub(super) conflicts: Vec<super::index::Stage>,
    pub(super) memory: ScanMemory,
    /// Where the time went.
    pub timings: Timings,
    /// Objects and bytes that the repository grows by.
    pub totals: (usize, u64),
}

impl Committed {
    /// The pack's name, for the journal.
    #[must_use]
    pub fn pack_name(&self) -> &str {
        self.pack.name()
    }

    /// The files whose content must reach the disk before [`Committed::publish`]; nobody sees them yet.
    #[must_use]
    pub fn files(&self) -> [(&File, &Path); 2] {
        self.pack.files()
    }

    /// Writes the ref without putting it in its place, to be synced beside the pack.
    ///
    /// # Errors
    /// When there is such a ref, or it cannot be written.
    pub fn stage_reference(&self, repo: &Repo, reference: &str) -> Result<StagedRef, Error> {
        repo.backend.stage_reference(reference, self.id)
    }

    /// Makes the objects visible. Their names are not durable before [`Visible::sync`].
    ///
    /// # Errors
    /// When the pack cannot be put in its place.
    pub fn publish(self, repo: &Repo) -> Result<Visible, Error> {
        let Self {
            id,
            pack,
            root,
            conflicts,
            memory,
            ..
        } = self;
        let pack = pack.publish(0o444 | (repo.settings.shared_bits & 0o444))?;
        Ok(Visible {
            id,
            pack,
            root,
            conflicts,
            memory,
        })
    }
}

/// A checkpoint commit that git can read and no ref holds yet.
pub struct Visible {
    id: ObjectId,
    pack: Published,
    root: super::node::Dir,
    conflicts: Vec<super::index::Stage>,
    memory: ScanMemory,
}

impl Visible {
    /// Makes the names of the pack durable.
    ///
    /// # Errors
    /// When the system cannot promise it.
    pub fn sync(&self, repo: &Repo, sync: Sync) -> Result<(), Error> {
        match sync {
            Sync::Durable => super::sync_dir(&repo.pack_dir()),
            Sync::Lazy => Ok(()),
        }
    }

    /// Puts the ref in its place. Its name is not durable before [`PublishedSnapshot::sync_reference`].
    ///
    /// # Errors
    /// When it cannot be put there; it does not exist then.
    pub fn publish(
        self,
        staged: StagedRef,
        reference: &str,
        sync: Sync,
    ) -> Result<PublishedSnapshot, Error> {
        let placed = staged.publish(sync)?;
        let anchor = Anchor {
            reference: reference.to_owned(),
            commit: self.id,
        };
        Ok(PublishedSnapshot {
            placed,
            pack: self.pack,
            scan: Some(SeenScan {
                root: self.root,
                conflicts: self.conflicts,
                memory: self.memory,
                anchor,
            }),
        })
    }
}

/// A checkpoint whose ref exists.
pub struct PublishedSnapshot {
    placed: PlacedRef,
    pack: Published,
    scan: Option<SeenScan>,
}

impl PublishedSnapshot {
    /// Makes the ref's name durable. Afterwards the commit is in the repository for good.
    ///
    /// # Errors
    /// When the system cannot promise it.
    pub fn sync_reference(&self) -> Result<(), Error> {
        self.placed.sync()
    }

    /// What was seen, to be remembered for the next scan; once.
    pub fn take_scan(&mut self) -> Option<SeenScan> {
        self.scan.take()
    }

    /// Hands the pack to git's ordinary housekeeping, and gives its name. To be called when the checkpoint is complete.
    ///
    /// # Errors
    /// When the pack's `.keep` file cannot be removed; the checkpoint is complete all the same.
    pub fn release(self) -> Result<String, Error> {
        let name = self.pack.name().to_owned();
        self.pack.release()?;
        Ok(name)
    }
}

/// What a scan saw, with the ref that holds it. The ref need not be on the disk yet: where it is lost the next scan does
/// not go by what is remembered.
pub struct SeenScan {
    root: super::node::Dir,
    conflicts: Vec<super::index::Stage>,
    memory: ScanMemory,
    anchor: Anchor,
}

impl SeenScan {
    /// Whether remembering it takes as long as the disk does.
    #[must_use]
    pub fn is_large(&self) -> bool {
        super::scan::is_large(&self.root)
    }

    /// Remembers the scan for the next one.
    ///
    /// # Errors
    /// When the cache cannot be written, which costs time later and nothing else.
    pub fn remember(self, repo: &Repo) -> Result<(), Error> {
        let format = repo.backend.format();
        Scan::remember(self.root, self.conflicts, self.memory, self.anchor, format)
    }
}
