//! A checkpoint commit on its way into the repository: in a pack that nobody sees, visible, held by a ref, remembered.

use super::backend::Sync;
use super::cache::Anchor;
use super::open::Repo;
use super::pack::{Published, StagedPack};
use super::reference::StagedRef;
use super::scan::{Scan, ScanMemory};
use super::timings::Timings;
use super::{Error, IoContext as _};
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

    /// Makes the content of the pack, or of its index, durable; nobody sees it yet. The two can be synced side by side.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&self, part: PackPart, sync: Sync) -> Result<(), Error> {
        let [pack, index] = self.pack.files();
        let (file, path) = match part {
            PackPart::Objects => pack,
            PackPart::Index => index,
        };
        match sync {
            Sync::Durable => file.sync_all().at("sync", path),
            Sync::Lazy => Ok(()),
        }
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

/// The two files of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackPart {
    /// The objects.
    Objects,
    /// Where they are.
    Index,
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

    /// Puts the ref in its place. Afterwards the checkpoint is in the repository for good.
    ///
    /// # Errors
    /// When it cannot be put there; it does not exist then.
    pub fn publish(
        self,
        staged: StagedRef,
        reference: &str,
        sync: Sync,
    ) -> Result<PublishedSnapshot, Error> {
        staged.publish(sync)?;
        let anchor = Anchor {
            reference: reference.to_owned(),
            commit: self.id,
        };
        Ok(PublishedSnapshot {
            pack: self.pack,
            root: self.root,
            conflicts: self.conflicts,
            memory: self.memory,
            anchor,
        })
    }
}

/// A checkpoint whose ref exists.
pub struct PublishedSnapshot {
    pack: Published,
    root: super::node::Dir,
    conflicts: Vec<super::index::Stage>,
    memory: ScanMemory,
    anchor: Anchor,
}

impl PublishedSnapshot {
    /// Hands the pack to git's ordinary housekeeping. To be called when the checkpoint is complete.
    ///
    /// # Errors
    /// When the pack's `.keep` file cannot be removed; the checkpoint is complete all the same.
    pub fn release(self) -> Result<Settled, Error> {
        let pack = self.pack.name().to_owned();
        self.pack.release()?;
        Ok(Settled {
            pack,
            root: self.root,
            conflicts: self.conflicts,
            memory: self.memory,
            anchor: self.anchor,
        })
    }
}

/// A checkpoint of which only the scan is left to be remembered.
pub struct Settled {
    /// The pack's name.
    pub pack: String,
    root: super::node::Dir,
    conflicts: Vec<super::index::Stage>,
    memory: ScanMemory,
    anchor: Anchor,
}

impl Settled {
    /// Remembers the scan for the next one.
    ///
    /// # Errors
    /// When the cache cannot be written, which costs time later and nothing else.
    pub fn remember(self, repo: &Repo) -> Result<(), Error> {
        let format = repo.backend.format();
        Scan::remember(self.root, self.conflicts, self.memory, self.anchor, format)
    }
}
