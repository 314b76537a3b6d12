//! Finding out which broken objects each checkpoint needs, and where.

use std::collections::{HashMap, HashSet};

use super::{Broken, Census, Role, read, role_of};
use crate::git::Error;
use crate::git::backend::Backend;
use crate::git::open::Repo;
use crate::git::tree::{Mode, decode};
use crate::git::verify::commit::Links;
use crate::model::object_id::ObjectId;
use crate::model::path_text::quote_path;

/// How many broken objects are named for one checkpoint.
const NAMED: usize = 20;

/// Finds out which broken objects each checkpoint needs, and where. Only made when there are any.
pub struct Tracer<'a> {
    census: &'a Census,
    backend: Box<dyn Backend>,
    /// Whether something below an object is broken.
    tainted: HashMap<ObjectId, bool>,
}

struct Frame {
    id: ObjectId,
    named: Vec<(ObjectId, Role)>,
    next: usize,
    tainted: bool,
}

impl<'a> Tracer<'a> {
    /// For one census.
    ///
    /// # Errors
    /// When the repository cannot be opened again.
    pub fn new(repo: &Repo, census: &'a Census) -> Result<Self, Error> {
        Ok(Self {
            census,
            backend: repo.backend.reopen()?,
            tainted: HashMap::new(),
        })
    }

    /// How many broken objects a checkpoint needs, and the first of them.
    pub fn trace(&mut self, commit: ObjectId) -> (usize, Vec<Broken>) {
        if !self.is_tainted(commit, Role::Checkpoint) {
            return (0, Vec::new());
        }
        let mut found = Vec::new();
        let mut count = 0;
        let mut seen = HashSet::new();
        let mut stack = vec![(commit, Role::Checkpoint, String::new())];
        while let Some((id, role, place)) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(flaw) = self.census.broken.get(&id) {
                count += 1;
                if found.len() < NAMED {
                    let flaw = flaw.clone();
                    found.push(Broken {
                        id,
                        role,
                        place: place.clone(),
                        flaw,
                    });
                }
                continue;
            }
            for (id, role, name) in self.named(id, role) {
                if self.tainted.get(&id).copied().unwrap_or(true) {
                    let place = match (place.as_str(), name.as_str()) {
                        (place, "") => place.to_owned(),
                        ("", name) => name.to_owned(),
                        (place, name) => format!("{place}/{name}"),
                    };
                    stack.push((id, role, place));
                }
            }
        }
        found.sort_by(|a, b| a.place.cmp(&b.place));
        (count, found)
    }

    /// What an object names, each with its name.
    fn named(&self, id: ObjectId, role: Role) -> Vec<(ObjectId, Role, String)> {
        let Ok(bytes) = read(&*self.backend, &id, role.kind()) else {
            return Vec::new();
        };
        match role {
            Role::Blob => Vec::new(),
            Role::Tree => {
                let entries = decode(self.backend.format(), &bytes).unwrap_or_default();
                let entries = entries.iter().filter(|entry| entry.mode != Mode::Gitlink);
                let named = entries.map(|e| (e.id, role_of(e), quote_path(e.name)));
                named.collect()
            }
            Role::Commit | Role::Checkpoint => {
                let Some(links) = Links::parse(&bytes) else {
                    return Vec::new();
                };
                let mut named = vec![(links.tree, Role::Tree, String::new())];
                if role == Role::Checkpoint {
                    let (head, sidecar) = links.head_and_sidecar();
                    named.extend(sidecar.map(|id| (id, Role::Commit, "sidecar:".to_owned())));
                    named.extend(head.map(|id| (id, Role::Commit, "HEAD:".to_owned())));
                }
                named
            }
        }
    }

    /// Whether something at or below an object is broken. Without recursion: trees can be deep.
    fn is_tainted(&mut self, id: ObjectId, role: Role) -> bool {
        let mut stack = vec![self.frame(id, role)];
        while let Some(top) = stack.last_mut() {
            let Some(&(child, role)) = top.named.get(top.next) else {
                let Frame { id, tainted, .. } = *top;
                self.tainted.insert(id, tainted);
                stack.pop();
                if let Some(above) = stack.last_mut() {
                    above.tainted |= tainted;
                }
                continue;
            };
            top.next += 1;
            if role == Role::Blob {
                let tainted = self.census.broken.contains_key(&child);
                self.tainted.insert(child, tainted);
                top.tainted |= tainted;
            } else if let Some(&tainted) = self.tainted.get(&child) {
                top.tainted |= tainted;
            } else if stack.iter().all(|frame| frame.id != child) {
                let frame = self.frame(child, role);
                stack.push(frame);
            }
        }
        self.tainted.get(&id).copied().unwrap_or(false)
    }

    fn frame(&self, id: ObjectId, role: Role) -> Frame {
        let tainted = self.census.broken.contains_key(&id);
        let named = if tainted || role == Role::Blob {
            Vec::new()
        } else {
            let named = self.named(id, role).into_iter();
            named.map(|(id, role, _)| (id, role)).collect()
        };
        Frame {
            id,
            named,
            next: 0,
            tainted,
        }
    }
}
