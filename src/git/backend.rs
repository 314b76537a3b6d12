//! The narrow interface between the engine and whatever reads the repository.
//!
//! libgit2 implements it today ([`super::libgit2`]). It opens neither sha256 nor reftable repositories; an
//! implementation over git's own plumbing can take its place behind this trait without a change to the engine.

use super::Error;
use super::hash::Kind;
use super::reference::StagedRef;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// Where HEAD points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// At a branch, which has no commit yet when it is unborn.
    Branch {
        /// The full name, such as `refs/heads/main`.
        name: Vec<u8>,
        /// The branch's tip.
        commit: Option<ObjectId>,
    },
    /// At a commit.
    Detached {
        /// The commit.
        commit: ObjectId,
    },
}

impl Head {
    /// The commit that is checked out.
    #[must_use]
    pub fn commit(&self) -> Option<ObjectId> {
        match self {
            Self::Branch { commit, .. } => *commit,
            Self::Detached { commit } => Some(*commit),
        }
    }

    /// The branch's name without `refs/heads/`.
    #[must_use]
    pub fn branch(&self) -> Option<&[u8]> {
        match self {
            Self::Branch { name, .. } => Some(name.strip_prefix(b"refs/heads/").unwrap_or(name)),
            Self::Detached { .. } => None,
        }
    }
}

/// An object's kind and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: Kind,
    /// Its content without the header.
    pub bytes: Vec<u8>,
}

/// A commit of the user's, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitLine {
    /// The commit.
    pub id: ObjectId,
    /// The first line of its message.
    pub summary: String,
}

/// How hard a write tries to reach the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// File and directory are on the disk when the call returns.
    Durable,
    /// The operating system writes when it likes.
    Lazy,
}

/// HEAD, refs and objects of one repository, seen from one work tree.
pub trait Backend: Send + std::marker::Sync {
    /// The hash that names objects.
    fn format(&self) -> ObjectFormat;

    /// Where HEAD points.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    fn head(&self) -> Result<Head, Error>;

    /// What a ref points at, when it exists.
    ///
    /// # Errors
    /// When the ref cannot be read.
    fn reference(&self, name: &str) -> Result<Option<ObjectId>, Error>;

    /// All refs whose names start with `prefix`, in no particular order.
    ///
    /// # Errors
    /// When the refs cannot be read.
    fn references(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>, Error>;

    /// Writes a ref that must not exist, without putting it in its place yet.
    ///
    /// # Errors
    /// When it exists, or cannot be written.
    fn stage_reference(&self, name: &str, id: ObjectId) -> Result<StagedRef, Error>;

    /// Creates a ref that must not exist.
    ///
    /// # Errors
    /// When it exists, or cannot be written.
    fn create_reference(&self, name: &str, id: ObjectId, sync: Sync) -> Result<(), Error> {
        let staged = self.stage_reference(name, id)?;
        staged.sync(sync)?;
        staged.publish(sync)?.sync()
    }

    /// Makes a ref of go-team's own point at `id`, whatever it is now, damaged included.
    ///
    /// # Errors
    /// When it is not below `refs/go-team/`, or cannot be written.
    fn put_reference(&self, name: &str, id: ObjectId, sync: Sync) -> Result<(), Error>;

    /// Deletes a ref that must point at `expected`; a missing one is fine.
    ///
    /// # Errors
    /// When it points elsewhere, or cannot be deleted.
    fn delete_reference(&self, name: &str, expected: ObjectId) -> Result<(), Error>;

    /// Creates many refs at once, all of them or none. Those that exist must be known not to.
    ///
    /// # Errors
    /// When they cannot be written; none exists then.
    fn create_references(&self, refs: &[(String, ObjectId)], sync: Sync) -> Result<(), Error>;

    /// Deletes many refs, each of which must point where it is said to; missing ones are fine.
    ///
    /// # Errors
    /// When one points elsewhere, or they cannot be deleted.
    fn delete_references(&self, refs: &[(String, ObjectId)]) -> Result<(), Error>;

    /// Deletes every ref below a directory of go-team's own, damaged ones included, for good; says how many there were.
    ///
    /// # Errors
    /// When the directory is not below `refs/go-team/`, or one of them cannot be deleted.
    fn clear_references(&self, dir: &str, sync: Sync) -> Result<usize, Error>;

    /// Removes locks of git's that a killed go-team left. Only for the holder of go-team's own lock.
    ///
    /// # Errors
    /// When such a lock cannot be removed.
    fn recover_locks(&self) -> Result<(), Error>;

    /// Reads an object, when it exists.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    fn read(&self, id: &ObjectId) -> Result<Option<Object>, Error>;

    /// Whether an object exists. Packs that came since the repository was opened need not be seen.
    fn exists(&self, id: &ObjectId) -> bool;

    /// The commits that can be reached from `tip` and not from `hidden`, newest first: the first so many, and how many
    /// there are.
    ///
    /// # Errors
    /// When history cannot be read.
    fn commits(
        &self,
        tip: ObjectId,
        hidden: Option<ObjectId>,
        most: usize,
    ) -> Result<(Vec<CommitLine>, usize), Error>;

    /// The commits that can be reached from some and not from others, the newest first, no more than `most`. What is
    /// missing or no commit leads nowhere.
    ///
    /// # Errors
    /// When history cannot be read.
    fn commits_between(
        &self,
        from: &[ObjectId],
        hidden: &[ObjectId],
        most: usize,
    ) -> Result<Vec<ObjectId>, Error>;

    /// Hands on a pack of existing objects piece by piece, similar ones as deltas. The same objects in the same order
    /// give the same pack.
    ///
    /// # Errors
    /// When an object is missing, and whatever `sink` fails with.
    fn stream_pack(
        &self,
        objects: &mut dyn Iterator<Item = (ObjectId, Option<&[u8]>)>,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// Another handle on the same repository: for another thread, or to see packs that came since this one was opened.
    ///
    /// # Errors
    /// When the repository cannot be opened again.
    fn reopen(&self) -> Result<Box<dyn Backend>, Error>;

    /// How long an object is; none when it is not there.
    fn size(&self, id: &ObjectId) -> Option<u64>;

    /// Whether another object's id begins with the same digits.
    fn is_ambiguous(&self, id: &ObjectId, digits: usize) -> bool;
}
