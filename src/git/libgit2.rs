//! The [`Backend`] over libgit2.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::backend::{Backend, Head, Object, Sync};
use super::hash::Kind;
use super::loose::{self, Loose};
use super::packed_refs::PackedRefs;
use super::repack::list_index;
use super::{Error, IoContext as _};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// How often a ref is put in place anew when its directory vanishes.
const ATTEMPTS: usize = 20;

/// A repository opened by libgit2.
pub struct Libgit2 {
    repo: Mutex<git2::Repository>,
    common_dir: PathBuf,
    /// Where refs are written before they appear; on the file system of the repository.
    scratch: PathBuf,
}

impl Libgit2 {
    pub(super) fn new(repo: git2::Repository, scratch: PathBuf) -> Self {
        let common_dir = repo.commondir().to_owned();
        Self {
            repo: Mutex::new(repo),
            common_dir,
            scratch,
        }
    }

    fn repo(&self) -> MutexGuard<'_, git2::Repository> {
        self.repo.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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

    /// Written here and not by libgit2, which never syncs and leaves a lock behind when killed. The name is new, so no
    /// git command can be holding its lock.
    fn create_reference(&self, name: &str, id: ObjectId, sync: Sync) -> Result<(), Error> {
        if self.reference(name)?.is_some() {
            return Err(Error::RefExists {
                name: name.to_owned(),
            });
        }
        self.place_reference(name, id, sync, Placing::New)
    }

    fn put_reference(&self, name: &str, id: ObjectId, sync: Sync) -> Result<(), Error> {
        if !name.starts_with("refs/go-team/") || name.contains("..") {
            return Err(Error::RefMoved {
                name: name.to_owned(),
            });
        }
        self.place_reference(name, id, sync, Placing::Over)
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

    fn recover_locks(&self) -> Result<(), Error> {
        PackedRefs::new(&self.common_dir, &self.scratch).recover()
    }

    fn read(&self, id: &ObjectId) -> Result<Option<Object>, Error> {
        match loose::read(&self.common_dir.join("objects"), id, self.format()) {
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

    fn write_pack(
        &self,
        dir: &Path,
        objects: &[(ObjectId, Option<&[u8]>)],
    ) -> Result<String, Error> {
        let packing = |error: git2::Error| Error::git("write a pack", &error);
        let repo = self.repo();
        let mut builder = repo.packbuilder().map_err(packing)?;
        for (id, name) in objects {
            let name = name
                .and_then(|name| std::str::from_utf8(name).ok())
                .filter(|name| !name.contains('\0'));
            builder.insert_object(oid(id)?, name).map_err(packing)?;
        }
        builder.write(dir, 0o444).map_err(packing)?;
        let name = builder
            .name()
            .ok()
            .flatten()
            .ok_or_else(|| Error::Damaged {
                what: "a pack without a name".into(),
            })?;
        Ok(format!("pack-{name}"))
    }

    fn reopen(&self) -> Result<Box<dyn Backend>, Error> {
        let git_dir = self.repo().path().to_owned();
        let repo = git2::Repository::open(git_dir)
            .map_err(|error| Error::git("open the repository again", &error))?;
        Ok(Box::new(Self::new(repo, self.scratch.clone())))
    }

    fn size(&self, id: &ObjectId) -> Option<u64> {
        match loose::read(&self.common_dir.join("objects"), id, self.format()) {
            Loose::Absent => {}
            Loose::Whole(object) => return Some(object.bytes.len() as u64),
            Loose::Damaged(_) if self.is_packed(id) => {}
            Loose::Damaged(_) => return None,
        }
        let repo = self.repo();
        let (size, _) = repo.odb().ok()?.read_header(oid(id).ok()?).ok()?;
        Some(size as u64)
    }
}

/// What happens to a ref of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placing {
    /// There must be none.
    New,
    /// It goes.
    Over,
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

    /// Writes a ref beside its place and puts it there.
    fn place_reference(
        &self,
        name: &str,
        id: ObjectId,
        sync: Sync,
        placing: Placing,
    ) -> Result<(), Error> {
        let place = self.common_dir.join(name);
        fs::create_dir_all(&self.scratch).at("create directory", &self.scratch)?;
        let mut file = tempfile::Builder::new()
            .prefix(".tmp-ref-")
            .tempfile_in(&self.scratch)
            .at("create temporary file in", &self.scratch)?;
        file.write_all(format!("{id}\n").as_bytes())
            .at("write", file.path())?;
        set_readable(&file)?;
        if sync == Sync::Durable {
            file.as_file().sync_all().at("sync", file.path())?;
        }
        let dir = place.parent().expect("a ref lies in a directory");
        // A running `git pack-refs` may remove the directory while it is empty.
        for attempt in 1.. {
            create_dirs(&self.common_dir, dir, sync)?;
            let placed = match placing {
                Placing::New => file.persist_noclobber(&place),
                Placing::Over => file.persist(&place),
            };
            let Err(failed) = placed else { break };
            match failed.error.kind() {
                std::io::ErrorKind::NotFound if attempt < ATTEMPTS => file = failed.file,
                std::io::ErrorKind::AlreadyExists => {
                    return Err(Error::RefExists {
                        name: name.to_owned(),
                    });
                }
                _ => return Err(failed.error).at("create", &place),
            }
        }
        if sync == Sync::Durable {
            super::sync_dir(dir)?;
        }
        Ok(())
    }
}

/// Creates the directories from `top` down to `dir`, so that each new name is on the disk too.
fn create_dirs(top: &Path, dir: &Path, sync: Sync) -> Result<(), Error> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent().filter(|_| dir != top) {
        create_dirs(top, parent, sync)?;
    }
    match fs::create_dir(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(error).at("create directory", dir);
        }
        _ => {}
    }
    if let (Sync::Durable, Some(parent)) = (sync, dir.parent()) {
        super::sync_dir(parent)?;
    }
    Ok(())
}

/// Refs are as readable as git makes them: whoever may read the directory may read the ref.
fn set_readable(file: &tempfile::NamedTempFile) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))
        .at("set permissions of", file.path())
}
