//! Objects in packs, read without libgit2: by many threads at once, and without mapping whole packs into memory.
//!
//! What is odd in any way is left to libgit2, which says what is wrong with it: a pack of another version, an index
//! without its pack, an object that cannot be inflated or does not have its name.

mod entry;
mod index;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::backend::Object;
use super::bundle::delta;
use super::hash::{Checksum, Kind};
use crate::model::object_id::{ObjectFormat, ObjectId};
use entry::{Base, Entry};
use index::Index;

/// The longest chain of deltas that is followed; git makes none longer than 4095.
const LONGEST_CHAIN: usize = 4096;
/// How many bytes of bases are remembered.
const REMEMBERED: usize = 16 << 20;
/// Larger ones are not remembered.
const LARGE: usize = 1 << 20;

/// Whether the content of an object is hashed when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// It must have the name that it was asked for by.
    Check,
    /// The checksum of its compressed stream is enough.
    Trust,
}

/// The packs of a repository, as they were when the first object was asked for. What came since is left to libgit2;
/// what went stays readable.
pub(super) struct PackedObjects {
    dir: PathBuf,
    format: ObjectFormat,
    packs: OnceLock<Vec<Pack>>,
    /// Which pack had the last object: the next one is likely to be there too.
    last: AtomicUsize,
    bases: Mutex<Bases>,
}

struct Pack {
    index: Index,
    file: File,
}

/// Where an object is: the pack, and where in it.
type Place = (usize, u64);

/// Objects that others are changes of.
#[derive(Default)]
struct Bases {
    known: HashMap<Place, Arc<Object>>,
    bytes: usize,
}

impl PackedObjects {
    pub fn new(dir: PathBuf, format: ObjectFormat) -> Self {
        Self {
            dir,
            format,
            packs: OnceLock::new(),
            last: AtomicUsize::new(0),
            bases: Mutex::default(),
        }
    }

    /// Reads an object; none when it is not here, or not as it should be.
    pub fn read(&self, id: &ObjectId, names: Names) -> Option<Object> {
        let object = self.resolve(self.find(id)?)?;
        if names == Names::Check {
            let mut checksum = Checksum::new(self.format);
            let header = format!("{} {}\0", object.kind.as_str(), object.bytes.len());
            checksum.update(header.as_bytes());
            checksum.update(&object.bytes);
            if checksum.finish() != *id {
                return None;
            }
        }
        Some(Arc::unwrap_or_clone(object))
    }

    fn packs(&self) -> &[Pack] {
        self.packs.get_or_init(|| {
            let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
            let open = |path: PathBuf| {
                let is_index = path.extension().is_some_and(|extension| extension == "idx");
                if !is_index {
                    return None;
                }
                let index = Index::open(&path, self.format)?;
                let file = File::open(path.with_extension("pack")).ok()?;
                Some(Pack { index, file })
            };
            entries.filter_map(|entry| open(entry.path())).collect()
        })
    }

    fn find(&self, id: &ObjectId) -> Option<Place> {
        let packs = self.packs();
        let last = self.last.load(Ordering::Relaxed).min(packs.len());
        for nth in (last..packs.len()).chain(0..last) {
            if let Some(offset) = packs[nth].index.find(id) {
                self.last.store(nth, Ordering::Relaxed);
                return Some((nth, offset));
            }
        }
        None
    }

    /// The object at a place: what is stored there, or what its delta makes of another.
    fn resolve(&self, place: Place) -> Option<Arc<Object>> {
        let mut at = place;
        let mut deltas: Vec<(Place, Vec<u8>)> = Vec::new();
        let mut object = loop {
            if let Some(known) = self.bases().known.get(&at) {
                break Arc::clone(known);
            }
            if deltas.len() > LONGEST_CHAIN {
                return None;
            }
            let Entry { base, bytes } = Entry::read(&self.packs()[at.0].file, at.1, self.format)?;
            let below = match base {
                Base::None(kind) => {
                    let whole = Arc::new(Object { kind, bytes });
                    if !deltas.is_empty() {
                        self.remember(at, &whole);
                    }
                    break whole;
                }
                Base::Before(distance) => (at.0, at.1.checked_sub(distance)?),
                Base::Named(id) => self.find(&id)?,
            };
            deltas.push((at, bytes));
            at = below;
        };
        let kind: Kind = object.kind;
        while let Some((at, delta)) = deltas.pop() {
            let bytes = delta::apply(&object.bytes, &delta).ok()?;
            object = Arc::new(Object { kind, bytes });
            self.remember(at, &object);
        }
        Some(object)
    }

    fn remember(&self, at: Place, object: &Arc<Object>) {
        let size = object.bytes.len();
        if size > LARGE {
            return;
        }
        let mut bases = self.bases();
        if bases.bytes + size > REMEMBERED {
            *bases = Bases::default();
        }
        bases.bytes += size;
        bases.known.insert(at, Arc::clone(object));
    }

    fn bases(&self) -> MutexGuard<'_, Bases> {
        self.bases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
