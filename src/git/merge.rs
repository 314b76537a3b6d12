//! Writing one pack with all objects of several.
//!
//! Small piles are packed anew: objects that had the same path in one checkpoint after the other are stored as changes
//! of each other, the newest whole. Large ones are joined as they are, so that no checkpoint has to wait for long.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::path::Path;

use super::backend::Object;
use super::delta::Base;
use super::hash::Kind;
use super::open::Repo;
use super::pack::{PackWriter, StagedPack};
use super::pack_entry::{Effort, Stored, compress, delta_entry};
use super::pack_index::PackReader;
use super::tree::{Mode, decode};
use super::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// Piles up to this many bytes are searched for similar objects.
const SEARCH_BYTES: u64 = 4 << 20;
/// Larger objects are copied as they are.
const LARGE: u64 = 1 << 20;
/// With how many others an object is compared.
const WINDOW: usize = 6;
/// How many changes may lie upon each other.
const MAX_DEPTH: usize = 40;

/// Writes the objects of the packs `names`, the oldest first, into a new pack. Nothing is synced or visible yet.
pub(super) fn merge(repo: &Repo, dir: &Path, names: &[String]) -> Result<StagedPack, Error> {
    let mut packs = Vec::new();
    let mut bytes = 0;
    for name in names.iter().rev() {
        let pack = PackReader::open(dir, name, repo.backend.format())?;
        bytes += pack.bytes();
        packs.push(pack);
    }
    let writer = PackWriter::new(dir, repo.backend.format());
    if bytes <= SEARCH_BYTES {
        pack_anew(repo, &packs, &writer)?;
    } else {
        join(repo, &packs, &writer)?;
    }
    writer.finish()?.ok_or_else(|| Error::Damaged {
        what: "packs without objects".into(),
    })
}

/// Copies the entries as they are stored. What a change is based on lies before it in its own pack, and so here.
fn join(repo: &Repo, packs: &[PackReader], writer: &PackWriter) -> Result<(), Error> {
    let mut offsets = HashMap::new();
    for pack in packs {
        for (nth, (id, offset)) in pack.objects().iter().enumerate() {
            if offsets.contains_key(id) {
                continue;
            }
            let stored = pack.read(nth)?;
            let at = match stored {
                Stored::Whole { entry, .. } | Stored::OnId { entry } => {
                    writer.add_entry(*id, &entry)?
                }
                Stored::OnOffset {
                    distance,
                    size,
                    deflated,
                } => {
                    let base = offset.checked_sub(distance).and_then(|at| pack.at(at));
                    let base = base.and_then(|id| offsets.get(&id));
                    match base {
                        Some(base) => {
                            let distance = writer.offset() - base;
                            writer.add_entry(*id, &delta_entry(distance, size, &deflated))?
                        }
                        None => writer.add_entry(*id, &whole(repo, id)?)?,
                    }
                }
            };
            offsets.insert(*id, at);
        }
    }
    Ok(())
}

fn whole(repo: &Repo, id: &ObjectId) -> Result<Vec<u8>, Error> {
    let Object { kind, bytes } = read(repo, id)?;
    Ok(compress(kind, &bytes, Effort::Quick))
}

fn read(repo: &Repo, id: &ObjectId) -> Result<Object, Error> {
    repo.backend.read(id)?.ok_or_else(|| Error::Damaged {
        what: format!("object {id} is missing"),
    })
}

/// An object to be packed.
struct Item {
    id: ObjectId,
    object: Object,
    /// Where the checkpoint has it: what kind of tree, the name, the directory.
    place: Place,
}

/// Objects of one place are likely to be alike, those of one name a little less so.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Place {
    side: Side,
    name: Vec<u8>,
    dir: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Side {
    #[default]
    Unknown,
    Files,
    Sidecar,
}

fn pack_anew(repo: &Repo, packs: &[PackReader], writer: &PackWriter) -> Result<(), Error> {
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    for pack in packs {
        for (nth, (id, _)) in pack.objects().iter().enumerate() {
            if !seen.insert(*id) {
                continue;
            }
            match pack.read(nth)? {
                Stored::Whole { entry, size, .. } if size > LARGE => {
                    writer.add_entry(*id, &entry)?;
                }
                _ => items.push(Item {
                    id: *id,
                    object: read(repo, id)?,
                    place: Place::default(),
                }),
            }
        }
    }
    find_places(repo, &mut items)?;
    items.sort_by(|a, b| {
        let key = |item: &Item| item.object.kind.pack_number();
        key(a).cmp(&key(b)).then_with(|| a.place.cmp(&b.place))
    });
    let mut window: VecDeque<Candidate> = VecDeque::new();
    for item in items {
        let kind = item.object.kind;
        if window.front().is_some_and(|other| other.kind != kind) {
            window.clear();
        }
        let whole = compress(kind, &item.object.bytes, Effort::Thorough);
        let best = smallest_delta(&window, &item.object.bytes, whole.len(), writer.offset());
        let (entry, depth) = best.unwrap_or((whole, 0));
        let offset = writer.add_entry(item.id, &entry)?;
        window.push_front(Candidate {
            kind,
            offset,
            depth,
            base: Base::new(item.object.bytes),
        });
        window.truncate(WINDOW);
    }
    Ok(())
}

/// An object that is in the new pack already.
struct Candidate {
    kind: Kind,
    offset: u64,
    depth: usize,
    base: Base,
}

/// The shortest entry that is clearly shorter than the whole, and its depth.
fn smallest_delta(
    window: &VecDeque<Candidate>,
    bytes: &[u8],
    whole: usize,
    offset: u64,
) -> Option<(Vec<u8>, usize)> {
    let mut best: Option<(Vec<u8>, usize)> = None;
    let mut limit = bytes.len() / 2;
    for candidate in window.iter().filter(|other| other.depth < MAX_DEPTH) {
        // A much longer base has little in common with it, and each read would have to unpack it.
        if candidate.base.bytes().len() / 8 > bytes.len() {
            continue;
        }
        if let Some(delta) = candidate.base.delta(bytes, limit) {
            limit = delta.len().saturating_sub(1);
            let size = delta.len() as u64;
            let deflated = super::pack_entry::deflate(&delta);
            let entry = delta_entry(offset - candidate.offset, size, &deflated);
            if entry.len() < best.as_ref().map_or(whole, |(best, _)| best.len()) {
                best = Some((entry, candidate.depth + 1));
            }
        }
    }
    best
}

/// Follows commits down to everything that is to be packed.
fn find_places(repo: &Repo, items: &mut [Item]) -> Result<(), Error> {
    let by_id: HashMap<ObjectId, usize> = items
        .iter()
        .enumerate()
        .map(|(at, item)| (item.id, at))
        .collect();
    let mut places: HashMap<usize, Place> = HashMap::new();
    let mut open: Vec<(usize, Vec<u8>)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if item.object.kind != Kind::Commit {
            continue;
        }
        let text = &item.object.bytes;
        let mut lines = text.split(|byte| *byte == b'\n');
        let tree = lines.next().and_then(|line| line.strip_prefix(b"tree "));
        let tree = tree
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| ObjectId::parse(hex).ok());
        // The sidecar's commit is the one without parents.
        let is_checkpoint = lines
            .next()
            .is_some_and(|line| line.starts_with(b"parent "));
        let side = if is_checkpoint {
            Side::Files
        } else {
            Side::Sidecar
        };
        let place = Place {
            side,
            ..Place::default()
        };
        places.insert(at, place.clone());
        if let Some(tree) = tree.and_then(|id| by_id.get(&id))
            && !places.contains_key(tree)
        {
            places.insert(*tree, place);
            open.push((*tree, Vec::new()));
        }
    }
    while let Some((tree, path)) = open.pop() {
        let side = places[&tree].side;
        for entry in decode(repo.backend.format(), &items[tree].object.bytes)? {
            let Some(at) = by_id.get(&entry.id) else {
                continue;
            };
            if places.contains_key(at) {
                continue;
            }
            let place = Place {
                side,
                name: entry.name.to_vec(),
                dir: path.clone(),
            };
            places.insert(*at, place);
            if entry.mode == Mode::Tree {
                let mut path = path.clone();
                super::node::push(&mut path, entry.name);
                open.push((*at, path));
            }
        }
    }
    for (at, place) in places {
        items[at].place = place;
    }
    Ok(())
}

/// Removes a pack. First the index, as git does, so that nobody begins to use a pack that is about to go.
pub(super) fn remove(dir: &Path, name: &str) -> Result<(), Error> {
    for suffix in ["idx", "pack", "rev", "bitmap", "mtimes"] {
        let path = dir.join(format!("{name}.{suffix}"));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).at("remove", &path);
            }
            _ => {}
        }
    }
    Ok(())
}
