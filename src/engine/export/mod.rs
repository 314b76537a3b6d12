//! Exporting a session: everything that another clone, or plain git, needs to have it again.
//!
//! Nothing is locked: records and objects do not change, and the manifest is read once. What another command takes away
//! meanwhile makes the export fail; it never makes it incomplete.

mod gather;

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::summary::Unfinished;
use super::{Error, Workspace};
use crate::git::bundle::Missing;
use crate::model::archive::{CONTENTS, Contents, Member};
use crate::model::path_text::quote_path;
use crate::model::{CheckpointId, Manifest, Selector, SessionId, Sha256Digest};
use crate::store::archive::{ArchiveWriter, Destination, Seal, Spool, Target};
use crate::store::{self, IoError};

/// Where an export goes.
pub enum Place<'w> {
    /// To the session's own exports.
    Session,
    /// To this file, which must not exist; or into this directory.
    Path(PathBuf),
    /// To whoever reads it.
    Stream(&'w mut dyn Write),
}

/// Whether commits and files go along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitData {
    /// With all that they need.
    Include,
    /// Records, manifest and state alone.
    LeaveOut,
}

/// What is exported.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// These checkpoints; all when there is none.
    pub checkpoints: Vec<Selector>,
    /// Whether commits and files go along.
    pub git: GitData,
}

/// What was exported.
#[derive(Debug, Clone, Serialize)]
pub struct ExportReport {
    /// The session.
    pub session_id: SessionId,
    /// The file; absent when it went to a reader.
    pub file: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// Its digest.
    pub sha256: Sha256Digest,
    /// What is in it.
    pub contents: Vec<ExportedMember>,
    /// The checkpoints, by rising seq.
    pub checkpoints: Vec<CheckpointId>,
    /// How many checkpoints of the session are not among them.
    pub left_out: usize,
    /// How many rollbacks are told of.
    pub rollbacks: usize,
    /// The git bundle; absent when there is none.
    pub bundle: Option<ExportedBundle>,
    /// An operation that has not come to its end.
    pub unfinished: Option<Unfinished>,
    /// Troubles that did not stop it.
    pub warnings: Vec<String>,
}

/// A member of the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportedMember {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its digest.
    pub sha256: Sha256Digest,
}

/// The git bundle in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExportedBundle {
    /// How many checkpoints it holds.
    pub refs: usize,
    /// How many objects.
    pub objects: usize,
    /// Its size in bytes.
    pub size: u64,
}

/// Why history cannot be exported: some of it is elsewhere.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} objects of the checkpoints' history are not in this repository{}, the {} {} first of all",
    missing.count, match cut {
        Cut::Shallow => ", which is a shallow clone",
        Cut::Partial => ", which is a partial clone",
        Cut::Unknown => "",
    }, missing.kind, missing.id
)]
pub struct Incomplete {
    /// What is missing.
    pub missing: Missing,
    /// Why.
    pub cut: Cut,
}

/// Why history is not all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It was cut off on purpose.
    Shallow,
    /// Some objects were left with the remote.
    Partial,
    /// The repository is damaged.
    Unknown,
}

/// Exports a session.
///
/// # Errors
/// When there is no such session or checkpoint, a record or object is damaged or missing, or the archive cannot be
/// written; then there is no archive.
pub fn export(
    workspace: &Workspace,
    options: &ExportOptions,
    place: Place<'_>,
) -> Result<ExportReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let whole = workspace.store.load_manifest(&session)?;
    let manifest = select(whole.clone(), &options.checkpoints)?;
    let mut report = ExportReport {
        session_id: session.clone(),
        file: None,
        size: 0,
        sha256: Sha256Digest::of(b""),
        contents: Vec::new(),
        checkpoints: manifest
            .checkpoints()
            .iter()
            .map(|entry| entry.id.clone())
            .collect(),
        left_out: whole.checkpoints().len() - manifest.checkpoints().len(),
        rollbacks: manifest.rollback_history.len(),
        bundle: None,
        unfinished: None,
        warnings: Vec::new(),
    };
    report.unfinished = workspace.look_for_unfinished(&session, &mut report.warnings);
    match place {
        Place::Stream(out) => {
            let scratch =
                tempfile::tempfile().map_err(at("create", Path::new("temporary file")))?;
            let spool = workspace.spool(&manifest, options.git, scratch, &mut report)?;
            let seal = write(&manifest, &spool, out, &mut report);
            report.sealed(seal.map_err(at("write", Path::new("the archive")))?);
        }
        Place::Session => {
            let dir = workspace.store.layout().exports(&session);
            let destination = workspace.in_directory(dir);
            workspace.export_to(destination, &manifest, options.git, &mut report)?;
        }
        Place::Path(path) if path.is_dir() => {
            let destination = workspace.in_directory(path);
            workspace.export_to(destination, &manifest, options.git, &mut report)?;
        }
        Place::Path(path) => {
            let destination = Destination::File(path);
            workspace.export_to(destination, &manifest, options.git, &mut report)?;
        }
    }
    Ok(report)
}

/// The manifest with these checkpoints alone; the others become pruned ranges, so that the chain can be checked.
fn select(mut manifest: Manifest, checkpoints: &[Selector]) -> Result<Manifest, Error> {
    if checkpoints.is_empty() {
        return Ok(manifest);
    }
    let mut wanted = BTreeSet::new();
    for selector in checkpoints {
        wanted.insert(selector.resolve(&manifest)?.id.clone());
    }
    let ids = manifest.checkpoints().iter().map(|entry| entry.id.clone());
    let others: BTreeSet<CheckpointId> = ids.filter(|id| !wanted.contains(id)).collect();
    manifest.prune(&others);
    Ok(manifest)
}

impl ExportReport {
    fn sealed(&mut self, seal: Seal) {
        (self.size, self.sha256) = (seal.size, seal.sha256);
    }
}

impl Workspace {
    fn in_directory(&self, dir: PathBuf) -> Destination {
        let now = self.clock.now().format("%Y%m%d-%H%M%S");
        Destination::Directory {
            dir,
            stem: format!("checkpoint-export-{now}"),
        }
    }

    fn export_to(
        &self,
        destination: Destination,
        manifest: &Manifest,
        git: GitData,
        report: &mut ExportReport,
    ) -> Result<(), Error> {
        let mut target = Target::create(destination, self.store.durability())?;
        let spool = self.spool(manifest, git, target.scratch()?, report)?;
        let mut out = BufWriter::with_capacity(1 << 16, &mut target);
        let seal = write(manifest, &spool, &mut out, report);
        let seal = seal.and_then(|seal| out.flush().map(|()| seal));
        report.sealed(seal.map_err(at("write", Path::new("the archive")))?);
        drop(out);
        let path = target.publish()?;
        let path = path.canonicalize().unwrap_or(path);
        report.file = Some(quote_path(path.as_os_str().as_encoded_bytes()));
        Ok(())
    }
}

/// Writes the archive, the list of contents first.
fn write(
    manifest: &Manifest,
    spool: &Spool,
    out: &mut dyn Write,
    report: &mut ExportReport,
) -> io::Result<Seal> {
    let contents = Contents {
        session_id: manifest.session_id.clone(),
        members: spool
            .parts()
            .iter()
            .map(|part| part.member.clone())
            .collect(),
    };
    let exported = |name: String, size, sha256| ExportedMember { name, size, sha256 };
    let listed = contents.to_file_bytes();
    report.contents = vec![exported(
        CONTENTS.to_owned(),
        listed.len() as u64,
        Sha256Digest::of(&listed),
    )];
    report.contents.extend(
        contents
            .members
            .iter()
            .map(|member: &Member| exported(member.kind.name(), member.size, member.sha256)),
    );
    if let (Some(bundle), Some(member)) = (&mut report.bundle, contents.bundle()) {
        bundle.size = member.size;
    }
    let changed = u64::try_from(manifest.updated_at.timestamp()).unwrap_or(0);
    let mut archive = ArchiveWriter::new(out, &manifest.session_id, changed);
    archive.add(CONTENTS, listed.len() as u64, &mut listed.as_slice())?;
    for part in spool.parts() {
        let Member { kind, size, .. } = &part.member;
        archive.add(&kind.name(), *size, &mut spool.reader(part))?;
    }
    let (out, seal) = archive.finish()?;
    out.flush()?;
    Ok(seal)
}

/// Says what was tried on which file.
fn at(op: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| {
        let path = path.to_owned();
        store::Error::from(IoError { op, path, source }).into()
    }
}
