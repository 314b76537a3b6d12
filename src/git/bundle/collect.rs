//! Everything that some commits need, in an order that depends on nothing else.

use std::collections::{HashMap, HashSet};

use super::objects;
use crate::git::Error;
use crate::git::hash::Kind;
use crate::git::open::Repo;
use crate::git::tree::{self, Mode};
use crate::model::object_id::ObjectId;

/// Objects, each with a name it has in some tree: objects of one name are likely to be alike.
#[derive(Debug, Default)]
pub struct Collected {
    objects: Vec<(ObjectId, Option<usize>)>,
    names: Vec<Vec<u8>>,
    /// What is not there.
    pub missing: Option<Missing>,
    /// An entry of a tree that must never be in a work tree, as `name in tree id`; cp-import refuses it.
    pub odd: Option<String>,
}

/// Objects that history needs and the repository does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// How many.
    pub count: usize,
    /// The first of them.
    pub id: ObjectId,
    /// What it is.
    pub kind: &'static str,
}

impl Collected {
    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub(super) fn named(&self) -> impl Iterator<Item = (ObjectId, Option<&[u8]>)> {
        let name = |at: usize| self.names[at].as_slice();
        let objects = self.objects.iter();
        objects.map(move |(id, at)| (*id, at.map(name)))
    }
}

/// Gathers what commits need, down to the beginning of history.
///
/// # Errors
/// When an object is damaged. One that is missing is counted and told.
pub fn collect(repo: &Repo, tips: &[ObjectId]) -> Result<Collected, Error> {
    let mut walk = Walk {
        repo,
        seen: HashSet::new(),
        known_names: HashMap::new(),
        found: Collected::default(),
    };
    for tip in tips {
        walk.commits(*tip)?;
    }
    Ok(walk.found)
}

struct Walk<'r> {
    repo: &'r Repo,
    seen: HashSet<ObjectId>,
    known_names: HashMap<Vec<u8>, usize>,
    found: Collected,
}

impl Walk<'_> {
    fn commits(&mut self, tip: ObjectId) -> Result<(), Error> {
        let mut open = vec![tip];
        while let Some(id) = open.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            let Some(bytes) = self.read(id, Kind::Commit)? else {
                continue;
            };
            let format = self.repo.backend.format();
            let links = objects::links(format, &bytes).ok_or_else(|| damaged(Kind::Commit, id))?;
            self.found.objects.push((id, None));
            self.trees(links.tree)?;
            open.extend(links.parents.into_iter().rev());
        }
        Ok(())
    }

    fn trees(&mut self, root: ObjectId) -> Result<(), Error> {
        let mut open = vec![(root, None)];
        while let Some((id, name)) = open.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            let Some(bytes) = self.read(id, Kind::Tree)? else {
                continue;
            };
            let entries = tree::decode(self.repo.backend.format(), &bytes)?;
            self.found.objects.push((id, name));
            if self.found.odd.is_none() {
                let odd = objects::odd_name(&entries);
                let odd = odd.or_else(|| objects::order_defect(&entries).map(str::to_owned));
                self.found.odd = odd.map(|odd| format!("{odd} in tree {id}"));
            }
            for entry in entries.iter().rev() {
                if entry.mode == Mode::Gitlink || self.seen.contains(&entry.id) {
                    continue;
                }
                let name = Some(self.name(entry.name));
                if entry.mode == Mode::Tree {
                    open.push((entry.id, name));
                    continue;
                }
                self.seen.insert(entry.id);
                if self.repo.backend.exists(&entry.id) {
                    self.found.objects.push((entry.id, name));
                } else {
                    self.miss(entry.id, Kind::Blob);
                }
            }
        }
        Ok(())
    }

    fn name(&mut self, name: &[u8]) -> usize {
        if let Some(at) = self.known_names.get(name) {
            return *at;
        }
        let at = self.found.names.len();
        self.found.names.push(name.to_vec());
        self.known_names.insert(name.to_vec(), at);
        at
    }

    fn read(&mut self, id: ObjectId, kind: Kind) -> Result<Option<Vec<u8>>, Error> {
        match self.repo.backend.read(&id)? {
            Some(object) if object.kind == kind => Ok(Some(object.bytes)),
            Some(_) => Err(damaged(kind, id)),
            None => {
                self.miss(id, kind);
                Ok(None)
            }
        }
    }

    fn miss(&mut self, id: ObjectId, kind: Kind) {
        let kind = kind.as_str();
        let missing = self
            .found
            .missing
            .get_or_insert(Missing { count: 0, id, kind });
        missing.count += 1;
    }
}

fn damaged(kind: Kind, id: ObjectId) -> Error {
    Error::Damaged {
        what: format!("{} {id}", kind.as_str()),
    }
}
