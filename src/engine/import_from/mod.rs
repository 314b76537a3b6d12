//! Importing the checkpoints of other programs, as sessions of their own.
//!
//! What the documents mean is decided in [`crate::plan::import_from`]; here they are read, without following a link, and
//! each session is put in its place in one step, in the same way as one from an archive: objects, refs, directory. Work
//! tree, index, HEAD and whatever is imported from stay as they are.

mod files;
mod recognise;
mod session;
mod source;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::recover::Recovered;
use super::summary::path_text;
use super::{Error, Workspace};
use crate::model::ids::MAX_LEN;
use crate::model::{CheckpointId, SessionId, SessionStatus};
use crate::plan::import::ImportConflict;
use crate::plan::import_from::ForeignSession;
pub use crate::plan::import_from::{Remark, Scheme};
use recognise::{Found, Place};
use session::Making;
use source::Dir;

pub use super::import::Mode;

/// What is imported, and how.
#[derive(Debug, Clone)]
pub struct ImportFromOptions {
    /// The directory or file.
    pub path: PathBuf,
    /// The scheme, where it is not to be guessed.
    pub scheme: Option<Scheme>,
    /// The session's name here; with a number behind it when there are several.
    pub rename: Option<SessionId>,
    /// Whether it is only looked at.
    pub mode: Mode,
}

/// What was imported, or would be.
#[derive(Debug, Clone, Serialize)]
pub struct ImportFromReport {
    /// The directory or file.
    pub path: String,
    /// How it keeps checkpoints.
    pub scheme: Scheme,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// The sessions that came, the oldest first.
    pub sessions: Vec<ImportedSession>,
    /// Sessions that are there already, and were left alone.
    pub present: Vec<PresentSession>,
    /// Files that could not come.
    pub broken: Vec<Remark>,
    /// What was understood with a grain of salt, and copied files that were left out.
    pub remarks: Vec<Remark>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
}

/// A session that came.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedSession {
    /// The session.
    pub session_id: SessionId,
    /// What it is about.
    pub topic: String,
    /// The workflow that it follows.
    pub workflow: String,
    /// Where it is in its life.
    pub status: SessionStatus,
    /// Its checkpoints, by rising seq.
    pub checkpoints: Vec<ImportedCheckpoint>,
}

/// A checkpoint that came.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedCheckpoint {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The file that told of it.
    pub source: String,
    /// How many files it has; absent when none were copied.
    pub files: Option<usize>,
}

/// A session that is there already.
#[derive(Debug, Clone, Serialize)]
pub struct PresentSession {
    /// The session.
    pub session_id: SessionId,
    /// What it is about.
    pub topic: String,
    /// What is in the way, in words.
    pub reason: String,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportFromError {
    /// There is nothing at that path.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It follows none of the schemes.
    #[error("{} holds no checkpoints of a scheme that is known", path.display())]
    Unknown {
        /// The path.
        path: PathBuf,
    },
    /// It follows more than one.
    #[error("{} could be any of {}", path.display(), names(schemes))]
    Ambiguous {
        /// The path.
        path: PathBuf,
        /// Which.
        schemes: Vec<Scheme>,
    },
    /// Nothing of the scheme that was asked for is there.
    #[error("{} holds no checkpoint of the scheme {scheme}", path.display())]
    Empty {
        /// The path.
        path: PathBuf,
        /// The scheme.
        scheme: Scheme,
    },
    /// All sessions are there already.
    #[error("{}", all_there(sessions))]
    AllPresent {
        /// Which.
        sessions: Vec<SessionId>,
    },
    /// A name that leaves no room for a number.
    #[error("{name} is too long a name for {count} sessions, which get a number behind it")]
    LongName {
        /// The name.
        name: SessionId,
        /// How many sessions there are.
        count: usize,
    },
}

fn names(schemes: &[Scheme]) -> String {
    let names: Vec<&str> = schemes.iter().map(|scheme| scheme.as_str()).collect();
    names.join(", ")
}

fn all_there(sessions: &[SessionId]) -> String {
    let names: Vec<&str> = sessions.iter().map(SessionId::as_str).collect();
    match names[..] {
        [one] => format!("it has been imported already, as session {one}"),
        _ => format!(
            "all of it has been imported already, as sessions {}",
            names.join(", ")
        ),
    }
}

/// Imports the checkpoints of another program.
///
/// # Errors
/// When there are none, all of them are there already, or writing fails. Sessions that came before a failure stay.
pub fn import_from(
    workspace: &Workspace,
    options: &ImportFromOptions,
) -> Result<ImportFromReport, Error> {
    let (scheme, found) = read(&options.path, options.scheme)?;
    let Found { understood, dirs } = found;
    let mut report = ImportFromReport {
        path: path_text(&options.path),
        scheme,
        dry_run: options.mode == Mode::DryRun,
        sessions: Vec::new(),
        present: Vec::new(),
        broken: understood.broken,
        remarks: understood.remarks,
        recovered: Vec::new(),
    };
    let named = name(understood.sessions, options.rename.as_ref())?;
    let _lock = match options.mode {
        Mode::DryRun => None,
        Mode::Import => {
            let lock = workspace.lock("import-from")?;
            report.recovered.extend(workspace.take_recovered());
            report.recovered.extend(workspace.recover_import()?);
            workspace.clean_up()?;
            Some(lock)
        }
    };
    for (session, foreign) in named {
        if let Err(conflict) = workspace.look_for(&session)? {
            report.present.push(PresentSession {
                session_id: session,
                topic: foreign.topic,
                reason: conflict.to_string(),
            });
            continue;
        }
        let making = Making {
            workspace,
            session,
            foreign,
            dirs: &dirs,
        };
        let (made, remarks) = match options.mode {
            Mode::DryRun => making.look()?,
            Mode::Import => making.make()?,
        };
        report.sessions.push(made);
        report.remarks.extend(remarks);
    }
    if report.sessions.is_empty() && !report.present.is_empty() {
        let sessions = report.present.into_iter().map(|one| one.session_id);
        let sessions = sessions.collect();
        return Err(ImportFromError::AllPresent { sessions }.into());
    }
    Ok(report)
}

/// Reads a place as the scheme that was asked for, or that it follows.
fn read(path: &Path, scheme: Option<Scheme>) -> Result<(Scheme, Found), ImportFromError> {
    let unreadable = |source| ImportFromError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let real = path.canonicalize().map_err(unreadable)?;
    let is_dir = real.metadata().map_err(unreadable)?.is_dir();
    let dir = if is_dir {
        Some(real.as_path())
    } else {
        real.parent()
    };
    let dir = dir.unwrap_or(Path::new("/"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    // A directory called `checkpoints` goes by the name of the iteration that it belongs to.
    let iteration = match dir.parent().and_then(Path::file_name) {
        Some(parent) if name == recognise::CHECKPOINTS => parent.to_string_lossy(),
        _ => name.clone(),
    };
    let place = Place {
        dir: Dir::open(dir).map_err(unreadable)?,
        file: (!is_dir).then(|| real.file_name().unwrap_or_default().to_owned()),
        iteration: iteration.into_owned(),
        name: name.into_owned(),
    };
    let scheme = match scheme {
        Some(scheme) => scheme,
        None => match place.schemes()[..] {
            [scheme] => scheme,
            [] => return Err(ImportFromError::Unknown { path: real }),
            ref schemes => {
                let schemes = schemes.to_vec();
                return Err(ImportFromError::Ambiguous {
                    path: real,
                    schemes,
                });
            }
        },
    };
    let found = place.read(scheme);
    if found.understood.sessions.is_empty() && found.understood.broken.is_empty() {
        return Err(ImportFromError::Empty { path: real, scheme });
    }
    Ok((scheme, found))
}

/// Gives each session its name. The same source gives the same names, so that what is there already is found.
fn name(
    sessions: Vec<ForeignSession>,
    rename: Option<&SessionId>,
) -> Result<Vec<(SessionId, ForeignSession)>, ImportFromError> {
    let count = sessions.len();
    let mut named: Vec<(SessionId, ForeignSession)> = Vec::new();
    for (nth, session) in sessions.into_iter().enumerate() {
        let id = match rename {
            Some(name) if count == 1 => name.clone(),
            Some(name) => SessionId::parse(&format!("{name}-{}", nth + 1)).map_err(|_| {
                debug_assert!(
                    name.as_str().len() + 2 > MAX_LEN,
                    "only its length can be wrong"
                );
                let name = name.clone();
                ImportFromError::LongName { name, count }
            })?,
            None => {
                let mut attempt = 0;
                loop {
                    let id = SessionId::compose(&session.topic, session.created_at, attempt);
                    if named.iter().all(|(other, _)| *other != id) {
                        break id;
                    }
                    attempt += 1;
                }
            }
        };
        named.push((id, session));
    }
    Ok(named)
}

impl Workspace {
    /// What is there under a session's name, if anything is.
    fn look_for(&self, session: &SessionId) -> Result<Result<(), ImportConflict>, Error> {
        let present = self.present(session)?;
        let session = session.clone();
        Ok(if present.session {
            Err(ImportConflict::Session { session })
        } else if present.archived {
            Err(ImportConflict::Archived { session })
        } else if let Some(name) = present.refs.into_keys().next() {
            Err(ImportConflict::Ref { session, name })
        } else {
            Ok(())
        })
    }
}
