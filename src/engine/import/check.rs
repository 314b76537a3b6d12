//! Checking an archive as a whole: each member by itself, and all of them against each other.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use super::Defect;
use crate::engine::{Error, Workspace};
use crate::git::backend::Object;
use crate::git::bundle::{
    self, BundleError, HEAD, Inspected, Inspection, Region, VerifiedPack, inspect,
};
use crate::git::snapshot::reference_of;
use crate::model::archive::{Contents, MemberKind, RollbackHistory};
use crate::model::chain::{ChainBreak, Link, check_chain};
use crate::model::digest::DigestWriter;
use crate::model::format::FormatError;
use crate::model::{CheckpointId, Entry, Manifest, ObjectId, Record, Sha256Digest, State};
use crate::plan::import::Arriving;
use crate::store::archive::{ArchiveError, ArchiveReader, Spool, SpoolWriter};
use crate::store::{self, IoError};

/// An archive of which everything is known to fit.
pub(super) struct Checked {
    pub manifest: Manifest,
    pub arriving: Vec<Arriving>,
    pub pack: Option<VerifiedPack>,
    pub spool: Spool,
    pub size: u64,
    pub sha256: Sha256Digest,
    /// The members by kind, by their place in the spool.
    places: HashMap<MemberKind, usize>,
}

/// Passes an archive on and sums it up.
struct Summed {
    file: File,
    size: u64,
    digest: DigestWriter,
}

impl Read for Summed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.size += n as u64;
        self.digest.update(&buffer[..n]);
        Ok(n)
    }
}

fn failed(op: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| {
        let path = path.clone();
        store::Error::from(IoError { op, path, source }).into()
    }
}

impl Checked {
    /// Reads and checks an archive. Nothing that has a name is written.
    pub fn read(
        workspace: &Workspace,
        path: &Path,
        expected: Option<Sha256Digest>,
    ) -> Result<Self, Error> {
        let refused = |defect: Defect| Error::Refused {
            path: path.to_owned(),
            defect: Box::new(defect),
        };
        let file = File::open(path).map_err(failed("open", path))?;
        let home = &workspace.repo.common_dir;
        let scratch = tempfile::tempfile_in(home).map_err(failed("create a file in", home))?;
        let free = store::free_space(home).map_err(failed("look at", home))?;
        let mut reading = Reading::open(file, free).map_err(refused)?;
        let spooled = reading.members(SpoolWriter::new(scratch));
        let spool = spooled.map_err(|error| match error {
            ReadError::Defect(defect) => refused(defect),
            ReadError::Spool(error) => failed("write a file in", home)(error),
        })?;
        let (manifest, summed) = reading.finish().map_err(refused)?;
        let (size, sha256) = (summed.size, summed.digest.finish());
        if let Some(expected) = expected.filter(|expected| *expected != sha256) {
            let found = sha256;
            return Err(refused(Defect::Digest { expected, found }));
        }
        let places = spool.parts().iter().enumerate();
        let places = places.map(|(at, part)| (part.member.kind.clone(), at));
        let mut checked = Self {
            manifest,
            arriving: Vec::new(),
            pack: None,
            places: places.collect(),
            spool,
            size,
            sha256,
        };
        checked.pack = checked.check_bundle(workspace).map_err(refused)?;
        checked.arriving = checked.check_commits(workspace, &refused)?;
        Ok(checked)
    }

    /// The bytes of a member that was checked.
    pub fn bytes(&self, kind: &MemberKind) -> Result<Vec<u8>, Error> {
        let part = self.places.get(kind).map(|at| &self.spool.parts()[*at]);
        let part = part.expect("every member that the manifest asks for was found");
        let read = self.spool.bytes(part);
        read.map_err(failed("read", Path::new("temporary file")))
    }

    /// The record of an entry, which was checked.
    pub fn record(&self, entry: &Entry) -> Result<Record, Error> {
        let bytes = self.bytes(&MemberKind::Record(entry.id.clone()))?;
        let record = Record::from_file_bytes(&bytes);
        Ok(record.expect("the record was read before"))
    }

    fn check_bundle(&self, workspace: &Workspace) -> Result<Option<VerifiedPack>, Defect> {
        let Some(part) = self.spool.part(&MemberKind::Bundle) else {
            return Ok(None);
        };
        let entries = self.manifest.checkpoints();
        let session = &self.manifest.session_id;
        let region = Region::new(self.spool.file(), part.offset, part.member.size);
        let format = workspace.repo.backend.format();
        let pack = VerifiedPack::read(&region, format, entries.len() + 1)?;
        let mut expected: BTreeMap<String, ObjectId> = BTreeMap::new();
        for entry in entries {
            let reference = reference_of(session, &entry.id);
            expected.extend(entry.commit_hash.map(|commit| (reference, commit)));
        }
        for (nth, found) in pack.refs.iter().enumerate() {
            let is_head = nth == 0 && found.name == HEAD;
            if !is_head && expected.remove(&found.name) != Some(found.commit) {
                return Err(Defect::mismatch(format!(
                    "the bundle's ref {:?} is not one that the manifest lists",
                    found.name
                )));
            }
        }
        match expected.into_keys().next() {
            Some(name) => Err(Defect::mismatch(format!("the bundle lacks {name}"))),
            None => Ok(Some(pack)),
        }
    }

    /// Compares every checkpoint commit with its record; without a bundle, those that the repository has.
    fn check_commits(
        &self,
        workspace: &Workspace,
        refused: &dyn Fn(Defect) -> Error,
    ) -> Result<Vec<Arriving>, Error> {
        let mut arriving = Vec::new();
        for entry in self.manifest.checkpoints() {
            let found = match entry.commit_hash {
                None => None,
                Some(_) => self.inspect(workspace, entry, refused)?,
            };
            if self.pack.is_some() && entry.commit_hash.is_some() && found.is_none() {
                let what = format!("the commit of {} is not complete", entry.id);
                return Err(refused(Defect::mismatch(what)));
            }
            arriving.push(Arriving {
                id: entry.id.clone(),
                commit: entry.commit_hash,
                at_hand: found.is_some(),
            });
        }
        if self.pack.is_none() {
            let at_hand = arriving.iter().filter(|one| one.at_hand);
            let tips: Vec<ObjectId> = at_hand.filter_map(|one| one.commit).collect();
            if !tips.is_empty() && bundle::collect(&workspace.repo, &tips)?.missing.is_some() {
                for one in &mut arriving {
                    one.at_hand = false;
                }
            }
        }
        Ok(arriving)
    }

    /// The commit of a checkpoint, if it is there and what the record says it is. In a bundle it must be; what the
    /// repository has may be something else.
    pub fn inspect(
        &self,
        workspace: &Workspace,
        entry: &Entry,
        refused: &dyn Fn(Defect) -> Error,
    ) -> Result<Option<Inspected>, Error> {
        let record = self.record(entry)?;
        let format = workspace.repo.backend.format();
        let inspection = match &self.pack {
            Some(pack) => {
                let read =
                    |id: &ObjectId| -> Result<Option<Object>, BundleError> { pack.object(id) };
                inspect(format, &record, &read).map_err(|error| refused(error.into()))?
            }
            None => inspect(format, &record, &|id| workspace.repo.backend.read(id))?,
        };
        match inspection {
            Inspection::Sound(found) => Ok(Some(*found)),
            Inspection::Wrong(what) if self.pack.is_some() => {
                let what = format!("the commit of {}: {what}", entry.id);
                Err(refused(Defect::mismatch(what)))
            }
            Inspection::Missing | Inspection::Wrong(_) => Ok(None),
        }
    }
}

/// An archive while its members go by.
struct Reading {
    archive: ArchiveReader<Summed>,
    manifest: Option<Manifest>,
    links: HashMap<CheckpointId, Link>,
}

enum ReadError {
    Defect(Defect),
    Spool(io::Error),
}

impl<D: Into<Defect>> From<D> for ReadError {
    fn from(defect: D) -> Self {
        Self::Defect(defect.into())
    }
}

impl Reading {
    fn open(file: File, free: u64) -> Result<Self, Defect> {
        let digest = DigestWriter::new();
        let archive = ArchiveReader::open(Summed {
            file,
            size: 0,
            digest,
        })?;
        let needed = archive.contents().total_size();
        if needed > free {
            return Err(Defect::NoRoom { needed, free });
        }
        Ok(Self {
            archive,
            manifest: None,
            links: HashMap::new(),
        })
    }

    fn members(&mut self, mut spool: SpoolWriter) -> Result<Spool, ReadError> {
        while let Some((kind, bytes)) = self.archive.next_file()? {
            self.check(&kind, &bytes)?;
            spool.add(kind, &bytes).map_err(ReadError::Spool)?;
        }
        if self.archive.contents().bundle().is_some() {
            spool.begin(MemberKind::Bundle);
            self.archive
                .next_bundle(&mut |part| spool.write_all(part).map_err(ReadError::Spool))?;
            spool.end();
        }
        spool.finish().map_err(ReadError::Spool)
    }

    fn check(&mut self, kind: &MemberKind, bytes: &[u8]) -> Result<(), Defect> {
        let damaged = |source: FormatError| ArchiveError::Member {
            name: kind.name(),
            source,
        };
        let session = &self.archive.contents().session_id;
        match kind {
            MemberKind::Manifest => {
                let manifest = Manifest::from_file_bytes(bytes).map_err(damaged)?;
                check_manifest(&manifest, self.archive.contents())?;
                self.manifest = Some(manifest);
            }
            MemberKind::RollbackHistory => {
                let history = RollbackHistory::from_file_bytes(bytes).map_err(damaged)?;
                let told = self
                    .manifest
                    .as_ref()
                    .map(|manifest| &manifest.rollback_history);
                if history.session_id != *session || Some(&history.rollback_history) != told {
                    return Err(Defect::mismatch(
                        "the rollbacks are not those that the manifest tells of",
                    ));
                }
            }
            MemberKind::State => {
                State::from_file_bytes(bytes).map_err(damaged)?;
            }
            MemberKind::Record(id) => {
                let record = Record::from_file_bytes(bytes).map_err(damaged)?;
                let entry = self
                    .manifest
                    .as_ref()
                    .and_then(|manifest| manifest.entry(id));
                check_record(&record, id, entry)?;
                if record.session_id != *session {
                    let what = format!("{id} belongs to session {}", record.session_id);
                    return Err(Defect::mismatch(what));
                }
                let link = Link {
                    checksum: record.checksum(),
                    prev_checksum: record.prev_checksum,
                };
                self.links.insert(id.clone(), link);
            }
            MemberKind::Bundle => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<(Manifest, Summed), Defect> {
        let Self {
            archive,
            manifest,
            links,
        } = self;
        let summed = archive.finish()?;
        let manifest = manifest.ok_or_else(|| Defect::mismatch("there is no manifest"))?;
        let breaks = check_chain(manifest.checkpoints(), manifest.pruned(), |entry| {
            links.get(&entry.id).copied()
        });
        match breaks.first() {
            Some(ChainBreak::Replaced { id, .. } | ChainBreak::Unlinked { id, .. }) => Err(
                Defect::mismatch(format!("the chain of records does not hold at {id}")),
            ),
            None => Ok((manifest, summed)),
        }
    }
}

/// The manifest is that of the list: the same session, the same checkpoints in the same order.
fn check_manifest(manifest: &Manifest, contents: &Contents) -> Result<(), Defect> {
    if manifest.session_id != contents.session_id {
        let what = format!("the manifest is that of session {}", manifest.session_id);
        return Err(Defect::mismatch(what));
    }
    let records = contents
        .members
        .iter()
        .filter_map(|member| match &member.kind {
            MemberKind::Record(id) => Some(id),
            _ => None,
        });
    if !records.eq(manifest.checkpoints().iter().map(|entry| &entry.id)) {
        return Err(Defect::mismatch(
            "the records are not those that the manifest lists, in its order",
        ));
    }
    if manifest.current_checkpoint.is_some() && manifest.current().is_none() {
        return Err(Defect::mismatch("the current checkpoint is not listed"));
    }
    let has_commits = manifest
        .checkpoints()
        .iter()
        .any(|entry| entry.commit_hash.is_some());
    if contents.bundle().is_some() && !has_commits {
        return Err(Defect::mismatch(
            "there is a bundle, and no checkpoint has a commit",
        ));
    }
    Ok(())
}

/// The record is the one that the manifest lists, and the manifest says of it what it says.
fn check_record(record: &Record, id: &CheckpointId, entry: Option<&Entry>) -> Result<(), Defect> {
    let told = Entry::of(record);
    let same = entry.is_some_and(|entry| {
        let as_new = Entry {
            valid: told.valid,
            invalidated_by: None,
            corrupted_at: None,
            ..entry.clone()
        };
        as_new == told
    });
    if same && record.id == *id {
        Ok(())
    } else {
        Err(Defect::mismatch(format!(
            "{id}.json is not the record that the manifest lists"
        )))
    }
}
