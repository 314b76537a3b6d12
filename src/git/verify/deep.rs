//! Reading every object that checkpoints need and hashing it again.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::ZlibDecoder;
use rayon::prelude::*;

use crate::git::Error;
use crate::git::backend::Backend;
use crate::git::hash::{Checksum, Kind};
use crate::git::open::Repo;
use crate::git::reachable::{Census, Handles, Role, is_empty_tree};
use crate::model::finding::Flaw;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// How often an object that cannot be read is tried, each time anew: `git gc` may be moving it.
const ROUNDS: usize = 3;

/// How far a check has come; read by whoever shows progress.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many objects there are to read; 0 as long as that is not known.
    pub total: AtomicU64,
    /// How many have been read.
    pub done: AtomicU64,
}

/// A file of the repository that is damaged, whatever of it can still be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFile {
    /// The file.
    pub path: PathBuf,
    /// In what way.
    pub reason: String,
}

/// Reads and hashes each object of a census once, in parallel; notes in the census what is broken, and gives the files
/// that are damaged though every object could be read.
///
/// # Errors
/// When the repository cannot be opened again or its packs cannot be listed.
pub fn read_all(
    repo: &Repo,
    census: &mut Census,
    tally: &Tally,
) -> Result<Vec<DamagedFile>, Error> {
    let mut objects: Vec<(ObjectId, Role)> = census
        .objects
        .iter()
        .filter(|(id, _)| !census.broken.contains_key(*id))
        .map(|(id, role)| (*id, *role))
        .collect();
    objects.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    tally.total.store(objects.len() as u64, Ordering::Relaxed);
    let mut damaged = Vec::new();
    let mut pending = objects;
    for round in 0..ROUNDS {
        let (broken, copies) = read_round(repo, &pending, tally, round == 0)?;
        damaged.extend(copies);
        pending = broken.iter().map(|(id, role, _)| (*id, *role)).collect();
        if pending.is_empty() || round + 1 == ROUNDS {
            for (id, _, flaw) in broken {
                census.note(id, flaw);
            }
            break;
        }
    }
    damaged.extend(super::packs::check(repo, census)?);
    Ok(damaged)
}

/// Reads some objects through freshly opened handles.
#[allow(clippy::type_complexity, reason = "two lists that are parted at once")]
fn read_round(
    repo: &Repo,
    objects: &[(ObjectId, Role)],
    tally: &Tally,
    counts: bool,
) -> Result<(Vec<(ObjectId, Role, Flaw)>, Vec<DamagedFile>), Error> {
    let handles = Handles::new(repo);
    let found: Vec<_> = objects
        .par_chunks(32)
        .map(|part| {
            handles.lend(|backend| {
                let mut found = Vec::new();
                for (id, role) in part {
                    let outcome = check(repo, backend, id, role.kind());
                    found.extend(outcome.map(|outcome| (*id, *role, outcome)));
                    tally.done.fetch_add(u64::from(counts), Ordering::Relaxed);
                }
                found
            })
        })
        .collect::<Result<_, Error>>()?;
    let (mut broken, mut copies) = (Vec::new(), Vec::new());
    for (id, role, outcome) in found.into_iter().flatten() {
        match outcome {
            Outcome::Broken(flaw) => broken.push((id, role, flaw)),
            Outcome::BadCopy(file) => copies.push(file),
        }
    }
    Ok((broken, copies))
}

/// What is wrong with an object.
enum Outcome {
    /// It cannot be had.
    Broken(Flaw),
    /// It can be had, but one of its copies is damaged.
    BadCopy(DamagedFile),
}

fn check(repo: &Repo, backend: &dyn Backend, id: &ObjectId, kind: Kind) -> Option<Outcome> {
    if kind == Kind::Tree && is_empty_tree(backend.format(), id) {
        return None;
    }
    if let Some(flaw) = hash_again(backend, id, kind) {
        return Some(Outcome::Broken(flaw));
    }
    let path = loose_path(repo, id);
    match hash_loose(&path, backend.format()) {
        Ok(found) if found == *id => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        outcome => Some(Outcome::BadCopy(DamagedFile {
            path,
            reason: match outcome {
                Ok(found) => format!("its content is that of {found}"),
                Err(error) => error.to_string(),
            },
        })),
    }
}

fn hash_again(backend: &dyn Backend, id: &ObjectId, kind: Kind) -> Option<Flaw> {
    let bytes = match crate::git::reachable::read(backend, id, kind) {
        Ok(bytes) => bytes,
        Err(flaw) => return Some(flaw),
    };
    let mut checksum = Checksum::new(backend.format());
    checksum.update(format!("{} {}\0", kind.as_str(), bytes.len()).as_bytes());
    checksum.update(&bytes);
    let found = checksum.finish();
    (found != *id).then_some(Flaw::WrongContent { found })
}

fn loose_path(repo: &Repo, id: &ObjectId) -> PathBuf {
    let hex = id.to_string();
    let (dir, name) = hex.split_at(2);
    repo.common_dir.join("objects").join(dir).join(name)
}

/// The id of what a loose object's file holds; header and content are hashed as they come.
fn hash_loose(path: &Path, format: ObjectFormat) -> io::Result<ObjectId> {
    let mut content = ZlibDecoder::new(BufReader::new(File::open(path)?));
    let mut checksum = Checksum::new(format);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = content.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        checksum.update(&buffer[..read]);
    }
    let mut after = [0];
    if content.into_inner().read(&mut after)? > 0 {
        return Err(io::Error::other("something comes after its end"));
    }
    Ok(checksum.finish())
}
