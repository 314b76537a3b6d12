//! The [`Backend`] over libgit2.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::backend::{Backend, CommitLine, Head, Object, Sync};
use super::hash::Kind;
use super::loose::{Loose, LooseObjects};
use super::packed::{Names, PackedObjects};
use super::packed_refs::PackedRefs;
use super::reference::StagedRef;
use super::repack::list_index;
use super::{Error, IoContext as _};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// A repository opened by libgit2.
pub struct Libgit2 {
    repo: Mutex<git2::Repository>,
    common_dir: PathBuf,
    /// Where refs are written before they appear; on the file system of the repository.
    scratch: PathBuf,
    loose: LooseObjects,
    packed: PackedObjects,
}

impl Libgit2 {
    pub(super) fn new(repo: git2::Repository, scratch: PathBuf) -> Self {
        let common_dir = repo.commondir().to_owned();
        Self {
            repo: Mutex::new(repo),
            loose: LooseObjects::new(&common_dir, ObjectFormat::Sha1),
            packed: PackedObjects::new(common_dir.join("objects/pack"), ObjectFormat::Sha1),
            common_dir,
            scratch,
        }
    }

    fn repo(&self) -> MutexGuard<'_, git2::Repository> {
        self.repo.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// From now on, in this process, objects are not hashed again when they are read: for a program that only shows them.
/// Their compressed streams still have checksums of their own, and git trusts those too.
pub fn read_without_hashing() {
    TRUSTS_NAMES.store(true, Ordering::Relaxed);
    git2::opts::strict_hash_verification(false);
}

/// Whether [`read_without_hashing`] was called.
static TRUSTS_NAMES: AtomicBool = AtomicBool::new(false);

fn oid(id: &ObjectId) -> Result<git2::Oid, Error> {
    git2::Oid::from_bytes(id.as_bytes()).map_err(|error| Error::git("read an object id", &error))
}

fn object_id(oid: git2::Oid) -> ObjectId {
    ObjectId::from_bytes(oid.as_bytes()).expect("libgit2's ids have a valid length")
}

impl Backend for Libgit2 {
    fn format(&self) -> ObjectFormat {
        ObjectFormat::Sha1
    }

    fn head(&self) -> Result<Head, Error> {
        let repo = self.repo();
        let reading = |error: git2::Error| Error::git("read HEAD", &error);
        let head = repo.find_reference("HEAD").map_err(reading)?;
        let Some(name) = head.symbolic_target_bytes().map(<[u8]>::to_vec) else {
            let target = head.target().ok_or_else(|| Error::Damaged {
                what: "HEAD".into(),
            })?;
            return Ok(Head::Detached {
                commit: object_id(target),
            });
        };
        let commit = match head.resolve() {
            Ok(branch) => branch.target().map(object_id),
            Err(error) if error.code() == git2::ErrorCode::NotFound => None,
            Err(error) => return Err(reading(error)),
        };
        Ok(Head::Branch { name, commit })
    }

    fn reference(&self, name: &str) -> Result<Option<ObjectId>, Error> {
        match self.repo().find_reference(name) {
            Ok(found) => Ok(found.target().map(object_id)),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(Error::git("read a ref", &error)),
        }
    }

    fn references(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>, Error> {
        let listing = |error: git2::Error| Error::git("list refs", &error);
        let repo = self.repo();
        let mut found = Vec::new();
        for reference in repo
            .references_glob(&format!("{prefix}*"))
            .map_err(listing)?
        {
            let reference = reference.map_err(listing)?;
            if let (Ok(name), Some(target)) = (reference.name(), reference.target()) {
                found.push((name.to_owned(), object_id(target)));
            }
        }
        Ok(found)
    }

    fn stage_reference(&self, name: &str, id: ObjectId) -> Result<StagedRef, Error> {
        if self.reference(name)?.is_some() {
            return Err(Error::RefExists {
                name: name.to_owned(),
            });
        }
        StagedRef::write(&self.common_dir, &self.scratch, name, id)
    }

    fn put_reference(&self, name: &str, id: ObjectId, sync: Sync) -> Result<(), Error> {
        if !name.starts_with("refs/go-team/") || name.contains("..") {
            return Err(Error::RefMoved {
                name: name.to_owned(),
            });
        }
        let staged = StagedRef::write(&self.common_dir, &self.scratch, name, id)?;
        staged.sync(sync)?;
        staged.replace(sync)?.sync()
    }

    /// Done here and not by libgit2, whose lock would stay behind when the process is killed.
    fn delete_reference(&self, name: &str, expected: ObjectId) -> Result<(), Error> {
        match self.reference(name)? {
            None => return Ok(()),
            Some(found) if found != expected => {
                return Err(Error::RefMoved {
                    name: name.to_owned(),
                });
            }
            Some(_) => {}
        }
        let place = self.common_dir.join(name);
        match fs::remove_file(&place) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).at("remove", &place);
            }
            _ => {}
        }
        PackedRefs::new(&self.common_dir, &self.scratch).remove(name)
    }

    /// One change of `packed-refs` and not a file each: that is one instant, and one sync however many there are.
    fn create_references(&self, refs: &[(String, ObjectId)], sync: Sync) -> Result<(), Error> {
        for (name, _) in refs {
            if self.reference(name)?.is_some() {
                return Err(Error::RefExists { name: name.clone() });
            }
        }
        PackedRefs::new(&self.common_dir, &self.scratch).add(refs)?;
        match sync {
            Sync::Durable => super::sync_dir(&self.common_dir),
            Sync::Lazy => Ok(()),
        }
    }

    fn delete_references(&self, refs: &[(String, ObjectId)]) -> Result<(), Error> {
        for (name, expected) in refs {
            if self
                .reference(name)?
                .is_some_and(|found| found != *expected)
            {
                return Err(Error::RefMoved { name: name.clone() });
            }
        }
        for (name, _) in refs {
            let place = self.common_dir.join(name);
            match fs::remove_file(&place) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).at("remove", &place);
                }
                _ => {}
            }
        }
        let names = refs.iter().map(|(name, _)| name.as_str()).collect();
        PackedRefs::new(&self.common_dir, &self.scratch).remove_all(&names)
    }

    fn clear_references(&self, dir: &str, sync: Sync) -> Result<usize, Error> {
        let below = dir.strip_prefix("refs/go-team/");
        if below.is_none_or(|name| name.is_empty() || name.contains("..") || name.contains('/')) {
            let name = dir.to_owned();
            return Err(Error::RefMoved { name });
        }
        let count = super::clear_refs::clear(&self.common_dir, &self.scratch, dir)?;
        match sync {
            Sync::Durable => super::clear_refs::sync(&self.common_dir, dir)?,
            Sync::Lazy => {}
        }
        Ok(count)
    }

    fn recover_locks(&self) -> Result<(), Error> {
        PackedRefs::new(&self.common_dir, &self.scratch).recover()
    }

    fn read(&self, id: &ObjectId) -> Result<Option<Object>, Error> {
        match self.loose.read(id) {
            Loose::Absent => {}
            Loose::Whole(object) => return Ok(Some(object)),
            // libgit2 looks into packs first, and into the damaged file only when no pack has it.
            Loose::Damaged(_) if self.is_packed(id) => {}
            Loose::Damaged(reason) => {
                return Err(Error::Damaged {
                    what: format!("object {id}: {reason}"),
                });
            }
        }
        let names = if TRUSTS_NAMES.load(Ordering::Relaxed) {
            Names::Trust
        } else {
            Names::Check
        };
        if let Some(object) = self.packed.read(id, names) {
            return Ok(Some(object));
        }
        let repo = self.repo();
        let odb = repo
            .odb()
            .map_err(|error| Error::git("open the object store", &error))?;
        match odb.read(oid(id)?) {
            Ok(object) => {
                let kind = match object.kind() {
                    git2::ObjectType::Commit => Kind::Commit,
                    git2::ObjectType::Tree => Kind::Tree,
                    git2::ObjectType::Tag => Kind::Tag,
                    _ => Kind::Blob,
                };
                Ok(Some(Object {
                    kind,
                    bytes: object.data().to_vec(),
                }))
            }
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(Error::git("read an object", &error)),
        }
    }

    fn exists(&self, id: &ObjectId) -> bool {
        let repo = self.repo();
        let (Ok(odb), Ok(oid)) = (repo.odb(), oid(id)) else {
            return false;
        };
        odb.exists_ext(oid, git2::OdbLookupFlags::NO_REFRESH)
    }

    fn commits(
        &self,
        tip: ObjectId,
        hidden: Option<ObjectId>,
        most: usize,
    ) -> Result<(Vec<CommitLine>, usize), Error> {
        let walking = |error: git2::Error| Error::git("read history", &error);
        let repo = self.repo();
        let mut walk = repo.revwalk().map_err(walking)?;
        walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::TIME)
            .map_err(walking)?;
        walk.push(oid(&tip)?).map_err(walking)?;
        if let Some(hidden) = hidden {
            walk.hide(oid(&hidden)?).map_err(walking)?;
        }
        let (mut listed, mut count) = (Vec::new(), 0);
        for id in walk {
            let id = id.map_err(walking)?;
            count += 1;
            if listed.len() < most {
                let commit = repo.find_commit(id).map_err(walking)?;
                let summary = commit.summary_bytes().unwrap_or_default();
                listed.push(CommitLine {
                    id: object_id(id),
                    summary: String::from_utf8_lossy(summary).into_owned(),
                });
            }
        }
        Ok((listed, count))
    }

    fn commits_between(
        &self,
        from: &[ObjectId],
        hidden: &[ObjectId],
        most: usize,
    ) -> Result<Vec<ObjectId>, Error> {
        let walking = |error: git2::Error| Error::git("read history", &error);
        let repo = self.repo();
        let mut walk = repo.revwalk().map_err(walking)?;
        walk.set_sorting(git2::Sort::TIME).map_err(walking)?;
        for id in hidden {
            let _ = walk.hide(oid(id)?);
        }
        for id in from {
            let _ = walk.push(oid(id)?);
        }
        // A shallow or damaged history ends where it cannot be read.
        let found = walk.map_while(Result::ok).take(most);
        Ok(found.map(object_id).collect())
    }

    fn stream_pack(
        &self,
        objects: &mut dyn Iterator<Item = (ObjectId, Option<&[u8]>)>,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let packing = |error: git2::Error| Error::git("write a pack", &error);
        let repo = self.repo();
        let mut builder = repo.packbuilder().map_err(packing)?;
        // Several threads would find other deltas each time.
        builder.set_threads(1);
        for (id, name) in objects {
            builder
                .insert_object(oid(&id)?, hint(name))
                .map_err(packing)?;
        }
        let mut failure = None;
        let written = builder.foreach(|part| match sink(part) {
            Ok(()) => true,
            Err(error) => {
                failure = Some(error);
                false
            }
        });
        match failure {
            Some(error) => Err(error),
            None => written.map_err(packing),
        }
    }

    fn reopen(&self) -> Result<Box<dyn Backend>, Error> {
        let git_dir = self.repo().path().to_owned();
        let repo = git2::Repository::open(git_dir)
            .map_err(|error| Error::git("open the repository again", &error))?;
        Ok(Box::new(Self::new(repo, self.scratch.clone())))
    }

    fn size(&self, id: &ObjectId) -> Option<u64> {
        match self.loose.size(id) {
            None => {}
            Some(Ok(size)) => return Some(size),
            Some(Err(_)) if self.is_packed(id) => {}
            Some(Err(_)) => return None,
        }
        let repo = self.repo();
        let (size, _) = repo.odb().ok()?.read_header(oid(id).ok()?).ok()?;
        Some(size as u64)
    }

    fn is_ambiguous(&self, id: &ObjectId, digits: usize) -> bool {
        let repo = self.repo();
        let (Ok(odb), Ok(oid)) = (repo.odb(), oid(id)) else {
            return false;
        };
        match odb.exists_prefix(oid, digits) {
            Ok(found) => found != oid,
            Err(error) => error.code() == git2::ErrorCode::Ambiguous,
        }
    }
}

/// A name as libgit2 takes it; it only helps to find objects that are alike.
fn hint(name: Option<&[u8]>) -> Option<&str> {
    let name = name.and_then(|name| std::str::from_utf8(name).ok());
    name.filter(|name| !name.contains('\0'))
}

impl Libgit2 {
    /// Whether a pack has an object, by what the indexes say.
    fn is_packed(&self, id: &ObjectId) -> bool {
        let entries = fs::read_dir(self.common_dir.join("objects/pack"));
        let mut paths = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        paths.any(|path| {
            let is_index = path.extension().is_some_and(|extension| extension == "idx");
            let index = if is_index { fs::read(path).ok() } else { None };
            let ids = index.and_then(|index| list_index(self.format(), &index));
            ids.is_some_and(|ids| ids.contains(id))
        })
    }
}
