//! Which objects checkpoints need, and which of them are not as they should be.
//!
//! A [`Census`] visits every object once, however many checkpoints share it: a tree that has been seen is not entered
//! again. It goes level by level, so that no tree can be too deep for it. What looks broken is looked at again through
//! freshly opened handles, because `git gc` may have moved it meanwhile.

mod trace;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;

use super::Error;
use super::backend::Backend;
use super::hash::{Kind, hash_object};
use super::open::Repo;
use super::rules::{Guard, is_valid_name, name_guard};
use super::tree::{Mode, TreeEntry, decode, entry_order};
use super::verify::commit::Links;
use super::verify::promised;
use crate::model::finding::Flaw;
use crate::model::object_id::{ObjectFormat, ObjectId};
use crate::model::path_text::quote_path;

pub use trace::Tracer;

/// How many objects are looked at before what they name is sorted out.
const BATCH: usize = 4096;
/// How many rounds without progress show that an object is not just being moved.
const ROUNDS: usize = 2;
/// How long `git gc` gets between rounds.
const PAUSE: Duration = Duration::from_millis(20);

/// What an object is to those that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A checkpoint's commit: its tree and all of its parents are needed.
    Checkpoint,
    /// HEAD's commit or a sidecar: its tree is needed, its history is not.
    Commit,
    /// A directory.
    Tree,
    /// Content.
    Blob,
}

impl Role {
    /// What kind of object that is.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Checkpoint | Self::Commit => Kind::Commit,
            Self::Tree => Kind::Tree,
            Self::Blob => Kind::Blob,
        }
    }
}

/// A broken object, where a checkpoint needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The object.
    pub id: ObjectId,
    /// What it is to the checkpoint.
    pub role: Role,
    /// Where it is needed: a path, with what it is a path in.
    pub place: String,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// Every object that some checkpoints need.
#[derive(Debug, Default)]
pub struct Census {
    /// The objects, those that are broken included.
    pub objects: HashMap<ObjectId, Role>,
    /// What is wrong with those that are not as they should be.
    pub broken: HashMap<ObjectId, Flaw>,
    /// How many are elsewhere, and promised by a partial clone.
    pub promised: usize,
}

/// Handles on a repository, one for each thread that asks.
pub struct Handles<'a> {
    origin: &'a dyn Backend,
    idle: Mutex<Vec<Box<dyn Backend>>>,
}

impl<'a> Handles<'a> {
    /// For one repository.
    #[must_use]
    pub fn new(repo: &'a Repo) -> Self {
        Self {
            origin: &*repo.backend,
            idle: Mutex::default(),
        }
    }

    /// Lends a handle for the time of one call.
    ///
    /// # Errors
    /// When the repository cannot be opened again.
    pub fn lend<T>(&self, work: impl FnOnce(&dyn Backend) -> T) -> Result<T, Error> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let handle = match taken {
            Some(handle) => handle,
            None => self.origin.reopen()?,
        };
        let result = work(&*handle);
        idle().push(handle);
        Ok(result)
    }
}

impl Census {
    /// Looks for everything that these checkpoint commits need.
    ///
    /// # Errors
    /// When the repository cannot be opened again; what is wrong with objects is no error.
    pub fn take(repo: &Repo, commits: &[ObjectId]) -> Result<Self, Error> {
        let mut census = Self::default();
        let roots = commits.iter().map(|commit| (*commit, Role::Checkpoint));
        let mut frontier: Vec<_> = roots.collect();
        census.objects.extend(frontier.iter().copied());
        let mut idle_rounds = 0;
        loop {
            let before = frontier.len();
            let broken = census.walk(repo, frontier)?;
            let is_idle = broken.len() == before;
            idle_rounds = if is_idle { idle_rounds + 1 } else { 0 };
            frontier = broken.iter().map(|(id, role, _)| (*id, *role)).collect();
            if broken.is_empty() || idle_rounds >= ROUNDS {
                census.broken = broken.into_iter().map(|(id, _, flaw)| (id, flaw)).collect();
                break;
            }
            thread::sleep(PAUSE);
        }
        if repo.settings.partial_clone && census.broken.values().any(|flaw| *flaw == Flaw::Missing)
        {
            let promised = promised::objects(repo)?;
            let before = census.broken.len();
            census
                .broken
                .retain(|id, flaw| *flaw != Flaw::Missing || !promised.contains(id));
            census.promised = before - census.broken.len();
            census.objects.retain(|id, _| !promised.contains(id));
        }
        Ok(census)
    }

    /// Goes down from some objects; gives those that are broken.
    fn walk(
        &mut self,
        repo: &Repo,
        mut frontier: Vec<(ObjectId, Role)>,
    ) -> Result<Vec<(ObjectId, Role, Flaw)>, Error> {
        let handles = Handles::new(repo);
        let guard = name_guard(&repo.settings);
        let mut broken = Vec::new();
        while !frontier.is_empty() {
            let mut next = Vec::new();
            for batch in frontier.chunks(BATCH) {
                let seen = &self.objects;
                let looked: Vec<_> = batch
                    .par_chunks(64)
                    .map(|part| {
                        handles.lend(|backend| {
                            let look = |&(id, role): &(ObjectId, Role)| {
                                let mut named = children(backend, &id, role, guard);
                                if let Ok(named) = &mut named {
                                    named.retain(|(id, role)| seen.get(id) != Some(role));
                                }
                                (id, role, named)
                            };
                            part.iter().map(look).collect::<Vec<_>>()
                        })
                    })
                    .collect::<Result<_, Error>>()?;
                for (id, role, named) in looked.into_iter().flatten() {
                    match named {
                        Ok(named) => next.extend(named.into_iter().filter(|(id, role)| {
                            let known = self.objects.get(id).copied();
                            // A commit of both kinds must be looked at as the one that needs more.
                            let is_new = known.is_none_or(|known| {
                                known.kind() == role.kind()
                                    && known != *role
                                    && *role == Role::Checkpoint
                            });
                            if known.is_some_and(|known| known.kind() != role.kind()) {
                                broken.push((*id, *role, wrong_kind(role.kind(), known)));
                            }
                            if is_new {
                                self.objects.insert(*id, *role);
                            }
                            is_new
                        })),
                        Err(flaw) => broken.push((id, role, flaw)),
                    }
                }
            }
            frontier = next;
        }
        Ok(broken)
    }

    /// Notes that an object was found to be broken by reading it.
    pub fn note(&mut self, id: ObjectId, flaw: Flaw) {
        self.broken.entry(id).or_insert(flaw);
    }
}

fn wrong_kind(expected: Kind, found: Option<Role>) -> Flaw {
    Flaw::WrongKind {
        expected: expected.as_str().to_owned(),
        found: found
            .map_or("nothing", |role| role.kind().as_str())
            .to_owned(),
    }
}

/// The objects that an object names; or what is wrong with it. Content is only looked for.
fn children(
    backend: &dyn Backend,
    id: &ObjectId,
    role: Role,
    guard: Guard,
) -> Result<Vec<(ObjectId, Role)>, Flaw> {
    if role == Role::Blob {
        return if backend.exists(id) {
            Ok(Vec::new())
        } else {
            Err(Flaw::Missing)
        };
    }
    if role == Role::Tree && is_empty_tree(backend.format(), id) {
        return Ok(Vec::new());
    }
    let bytes = read(backend, id, role.kind())?;
    if role == Role::Tree {
        let entries = decode(backend.format(), &bytes).map_err(|error| Flaw::unreadable(&error))?;
        check_entries(&entries, guard)?;
        let entries = entries.iter().filter(|entry| entry.mode != Mode::Gitlink);
        return Ok(entries.map(|entry| (entry.id, role_of(entry))).collect());
    }
    let links = Links::parse(&bytes).ok_or_else(|| Flaw::Unreadable {
        reason: "it is no commit".to_owned(),
    })?;
    let mut named = vec![(links.tree, Role::Tree)];
    if role == Role::Checkpoint {
        named.extend(links.parents.iter().map(|parent| (*parent, Role::Commit)));
    }
    Ok(named)
}

fn role_of(entry: &TreeEntry<'_>) -> Role {
    match entry.mode {
        Mode::Tree => Role::Tree,
        _ => Role::Blob,
    }
}

/// Reads an object of a known kind.
pub(super) fn read(backend: &dyn Backend, id: &ObjectId, kind: Kind) -> Result<Vec<u8>, Flaw> {
    match backend.read(id) {
        Ok(Some(object)) if object.kind == kind => Ok(object.bytes),
        Ok(Some(object)) => Err(Flaw::WrongKind {
            expected: kind.as_str().to_owned(),
            found: object.kind.as_str().to_owned(),
        }),
        Ok(None) => Err(Flaw::Missing),
        Err(error) => Err(Flaw::unreadable(&error)),
    }
}

/// git knows the tree without entries by heart; it need not be stored.
pub(super) fn is_empty_tree(format: ObjectFormat, id: &ObjectId) -> bool {
    hash_object(format, Kind::Tree, b"").is_ok_and(|empty| empty == *id)
}

/// Names that would lead out of the work tree or into `.git`, names given twice, and an order that is not git's.
fn check_entries(entries: &[TreeEntry<'_>], guard: Guard) -> Result<(), Flaw> {
    let mut names = HashSet::with_capacity(entries.len());
    for entry in entries {
        let is_symlink = entry.mode == Mode::Symlink;
        if !is_valid_name(guard, entry.name, is_symlink) || !names.insert(entry.name) {
            return Err(Flaw::HostileName {
                name: quote_path(entry.name),
            });
        }
    }
    let in_order = entries.windows(2).all(|pair| {
        let key = |at: usize| (pair[at].name, pair[at].mode == Mode::Tree);
        entry_order(key(0), key(1)).is_lt()
    });
    if in_order {
        Ok(())
    } else {
        Err(Flaw::Unreadable {
            reason: "its entries are not in order".to_owned(),
        })
    }
}
