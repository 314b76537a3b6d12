//! A pack in which every object is what its id says and every object that another one needs is there.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io::BufReader;
use std::path::Path;
use std::rc::Rc;

use super::delta;
use super::header::{self, BundleRef};
use super::objects;
use super::region::Region;
use super::scan::{self, Entry, Form};
use super::{BundleError, scan::Scanned};
use crate::git::backend::Object;
use crate::git::hash::{Kind, hash_object};
use crate::git::open::Repo;
use crate::git::pack::StagedPack;
use crate::git::pack_index::Slot;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// The longest chain of deltas that is followed; libgit2 makes none longer than 50.
const MAX_DEPTH: u32 = 256;
/// How many bytes of bases are kept for the deltas that follow.
const CACHE: usize = 96 << 20;
/// What keeping even the smallest of them costs.
const OVERHEAD: usize = 128;

/// An object and where it is.
#[derive(Debug, Clone, Copy)]
struct Known {
    id: ObjectId,
    kind: Kind,
    /// The entry that it is a delta of.
    base: Option<usize>,
    depth: u32,
}

/// A checked pack and the refs that a bundle gives it.
pub struct VerifiedPack {
    /// The refs.
    pub refs: Vec<BundleRef>,
    pack: Region,
    format: ObjectFormat,
    scanned: Scanned,
    known: Vec<Known>,
    by_id: HashMap<ObjectId, usize>,
    cache: RefCell<Cache>,
}

impl VerifiedPack {
    /// Reads a bundle of at most `most` refs and checks all of it.
    ///
    /// # Errors
    /// When anything is not as it should be.
    pub fn read(bundle: &Region, format: ObjectFormat, most: usize) -> Result<Self, BundleError> {
        let (refs, length) = header::decode(&mut BufReader::new(bundle.clone()), format, most)?;
        let pack = bundle.from(length);
        let scanned = scan::scan(&pack, format)?;
        let mut resolving = Resolving::new(&pack, format, &scanned.entries)?;
        resolving.run()?;
        let Resolving {
            known,
            by_id,
            cache,
            ..
        } = resolving;
        let known = known.into_iter().collect::<Option<Vec<Known>>>();
        let known = known.ok_or(BundleError::Pack("a delta's base is not in it"))?;
        let this = Self {
            refs,
            pack,
            format,
            scanned,
            known,
            by_id,
            cache: RefCell::new(cache),
        };
        for BundleRef { commit, .. } in &this.refs {
            this.require(*commit, Kind::Commit)?;
        }
        Ok(this)
    }

    fn require(&self, id: ObjectId, kind: Kind) -> Result<(), BundleError> {
        match self.by_id.get(&id) {
            Some(&at) if self.known[at].kind == kind => Ok(()),
            _ => Err(BundleError::Lacks {
                kind: kind.as_str(),
                id,
            }),
        }
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Reads an object, when it is there.
    ///
    /// # Errors
    /// When the bundle cannot be read any more.
    pub fn object(&self, id: &ObjectId) -> Result<Option<Object>, BundleError> {
        let Some(&at) = self.by_id.get(id) else {
            return Ok(None);
        };
        let base_of = |at: usize| self.known[at].base;
        let mut cache = self.cache.borrow_mut();
        let bytes = materialize(&self.pack, &self.scanned.entries, &base_of, &mut cache, at)?;
        Ok(Some(Object {
            kind: self.known[at].kind,
            bytes: Rc::unwrap_or_clone(bytes),
        }))
    }

    /// Copies the pack beside those of a repository, with an index; git does not see it yet.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn stage(&self, repo: &Repo) -> Result<StagedPack, BundleError> {
        let slots = self.known.iter().zip(&self.scanned.entries);
        let slots = slots.map(|(known, entry)| Slot {
            id: known.id,
            crc: entry.crc,
            offset: entry.offset,
        });
        let copy = |file: &mut std::fs::File, path: &Path| scan::copy(&self.pack, file, path);
        let staged = StagedPack::copy(
            &repo.pack_dir(),
            self.format,
            slots.collect(),
            &self.scanned.trailer,
            &copy,
        )?;
        Ok(staged)
    }
}

/// Naming what is stored as deltas, from the bases on.
struct Resolving<'p> {
    pack: &'p Region,
    format: ObjectFormat,
    entries: &'p [Entry],
    known: Vec<Option<Known>>,
    by_id: HashMap<ObjectId, usize>,
    /// What waits for the entry at an offset, or for an id.
    at_offset: HashMap<u64, Vec<usize>>,
    of_id: HashMap<ObjectId, Vec<usize>>,
    /// What trees and commits need. A pack that has all of it needs no more than it has.
    needed: HashMap<ObjectId, Kind>,
    cache: Cache,
}

impl<'p> Resolving<'p> {
    fn new(
        pack: &'p Region,
        format: ObjectFormat,
        entries: &'p [Entry],
    ) -> Result<Self, BundleError> {
        let mut this = Self {
            pack,
            format,
            entries,
            known: vec![None; entries.len()],
            by_id: HashMap::with_capacity(entries.len()),
            at_offset: HashMap::new(),
            of_id: HashMap::new(),
            needed: HashMap::new(),
            cache: Cache::default(),
        };
        for (at, entry) in entries.iter().enumerate() {
            match entry.form {
                Form::Whole { .. } => {}
                Form::OffsetDelta(base) => this.at_offset.entry(base).or_default().push(at),
                Form::RefDelta(base) => this.of_id.entry(base).or_default().push(at),
            }
        }
        let starts = |offset: &u64| entries.binary_search_by_key(offset, |entry| entry.offset);
        if this.at_offset.keys().any(|offset| starts(offset).is_err()) {
            return Err(BundleError::Pack("a delta's base is not in it"));
        }
        Ok(this)
    }

    fn run(&mut self) -> Result<(), BundleError> {
        for at in 0..self.entries.len() {
            let Form::Whole { kind, id } = self.entries[at].form else {
                continue;
            };
            let (base, depth) = (None, 0);
            let mut waiting = self.settle(
                at,
                Known {
                    id,
                    kind,
                    base,
                    depth,
                },
            )?;
            while let Some((base, at)) = waiting.pop() {
                let Some(parent) = self.known[base] else {
                    continue;
                };
                if parent.depth == MAX_DEPTH {
                    return Err(BundleError::Pack("a chain of deltas is too long"));
                }
                let from = self.bytes(base)?;
                let changes = scan::read_entry(self.pack, &self.entries[at])?;
                let bytes = delta::apply(&from, &changes)?;
                let known = Known {
                    id: hash_object(self.format, parent.kind, &bytes)?,
                    kind: parent.kind,
                    base: Some(base),
                    depth: parent.depth + 1,
                };
                self.cache.put(at, Rc::new(bytes));
                waiting.extend(self.settle(at, known)?);
            }
        }
        for (&id, &kind) in &self.needed {
            let found = self.by_id.get(&id).and_then(|&at| self.known[at]);
            if found.is_none_or(|found| found.kind != kind) {
                let kind = kind.as_str();
                return Err(BundleError::Lacks { kind, id });
            }
        }
        Ok(())
    }

    /// Takes an object in, and gives those that waited for it, each with its base.
    fn settle(&mut self, at: usize, known: Known) -> Result<Vec<(usize, usize)>, BundleError> {
        if self.by_id.insert(known.id, at).is_some() {
            return Err(BundleError::Pack("it holds an object twice"));
        }
        self.known[at] = Some(known);
        if known.kind != Kind::Blob {
            let bytes = self.bytes(at)?;
            let size = bytes.len() as u64;
            if size > objects::MAX_STRUCTURED {
                let limit = objects::MAX_STRUCTURED;
                return Err(BundleError::TooLarge { size, limit });
            }
            let (needed, most) = (&mut self.needed, self.entries.len());
            objects::check(
                self.format,
                known.kind,
                known.id,
                &bytes,
                &mut |id, kind| {
                    let lacks = BundleError::Lacks {
                        kind: kind.as_str(),
                        id,
                    };
                    let before = needed.insert(id, kind);
                    if before.is_some_and(|before| before != kind) || needed.len() > most {
                        return Err(lacks);
                    }
                    Ok(())
                },
            )?;
        }
        let offset = self.entries[at].offset;
        let mut waiting = self.at_offset.remove(&offset).unwrap_or_default();
        waiting.extend(self.of_id.remove(&known.id).unwrap_or_default());
        Ok(waiting.into_iter().map(|waits| (at, waits)).collect())
    }

    fn bytes(&mut self, at: usize) -> Result<Rc<Vec<u8>>, BundleError> {
        let base_of = |at: usize| self.known[at].and_then(|known| known.base);
        materialize(self.pack, self.entries, &base_of, &mut self.cache, at)
    }
}

/// Makes an object from the nearest base that is at hand; two objects and a delta are in memory at most.
fn materialize(
    pack: &Region,
    entries: &[Entry],
    base_of: &dyn Fn(usize) -> Option<usize>,
    cache: &mut Cache,
    at: usize,
) -> Result<Rc<Vec<u8>>, BundleError> {
    let mut chain = Vec::new();
    let mut next = at;
    let mut bytes = loop {
        if let Some(bytes) = cache.get(next) {
            break bytes;
        }
        let Some(base) = base_of(next) else {
            let size = entries[next].size;
            let limit = delta::MAX_DELTA_OBJECT;
            if size > limit {
                return Err(BundleError::TooLarge { size, limit });
            }
            let bytes = Rc::new(scan::read_entry(pack, &entries[next])?);
            cache.put(next, Rc::clone(&bytes));
            break bytes;
        };
        chain.push(next);
        next = base;
    };
    while let Some(next) = chain.pop() {
        let changes = scan::read_entry(pack, &entries[next])?;
        bytes = Rc::new(delta::apply(&bytes, &changes)?);
        cache.put(next, Rc::clone(&bytes));
    }
    Ok(bytes)
}

/// Objects that are likely to be bases, the oldest of which make room for new ones.
#[derive(Default)]
struct Cache {
    held: HashMap<usize, Rc<Vec<u8>>>,
    order: VecDeque<usize>,
    size: usize,
}

impl Cache {
    fn get(&self, at: usize) -> Option<Rc<Vec<u8>>> {
        self.held.get(&at).map(Rc::clone)
    }

    fn put(&mut self, at: usize, bytes: Rc<Vec<u8>>) {
        if bytes.len() > CACHE / 4 || self.held.contains_key(&at) {
            return;
        }
        self.size += bytes.len() + OVERHEAD;
        self.held.insert(at, bytes);
        self.order.push_back(at);
        while self.size > CACHE {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            if let Some(gone) = self.held.remove(&oldest) {
                self.size -= gone.len() + OVERHEAD;
            }
        }
    }
}
