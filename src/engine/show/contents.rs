//! The files of one checkpoint: a list of them, and one of them in full.

use rayon::prelude::*;
use serde::Serialize;

use super::super::content::Content;
use super::super::diff::files::FileItem;
use super::super::{Error, Workspace};
use crate::git::diff::checkout::{Checkout, Listed};
use crate::git::tree::Mode;
use crate::model::path_text::{quote_path, unquote_path};
use crate::model::selector::number_of;
use crate::model::{CheckpointId, Entry, ObjectId, Selector, SessionId, State};

/// The state of a checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct ShowStateReport {
    /// The session.
    pub session_id: SessionId,
    /// What selects the checkpoint.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// Its state.
    pub state: State,
}

/// The files of a checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct TreeReport {
    /// The session.
    pub session_id: SessionId,
    /// What selects the checkpoint.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// The files, in git's order.
    pub files: Vec<TreeFile>,
    /// How many bytes they have together.
    pub total_bytes: u64,
}

/// A file of a checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct TreeFile {
    /// The path.
    pub path: String,
    /// What git records for it.
    #[serde(flatten)]
    pub item: FileItem,
    /// How long it is; absent for a submodule, and when the content is missing.
    pub size: Option<u64>,
    /// Whether its exact bytes are kept aside, because git would not give them back.
    pub raw: bool,
}

/// One file of a checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct FileReport {
    /// The session.
    pub session_id: SessionId,
    /// What selects the checkpoint.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// The file.
    pub file: TreeFile,
    /// Its exact bytes.
    #[serde(flatten)]
    pub content: Content,
}

/// Why a path of a checkpoint has no bytes to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoBytes {
    /// There is nothing.
    #[error("checkpoint {checkpoint} has no file {path}")]
    Missing {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The path.
        path: String,
    },
    /// It is a directory.
    #[error("{path} is a directory in checkpoint {checkpoint}")]
    Directory {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The path.
        path: String,
    },
    /// It is a commit of another repository.
    #[error("{path} is a repository of its own in checkpoint {checkpoint}, at commit {commit}")]
    Submodule {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The path.
        path: String,
        /// Its commit.
        commit: ObjectId,
    },
    /// No files were captured.
    #[error("checkpoint {checkpoint} was made without files")]
    NotCaptured {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
}

/// A checkpoint with its trees open.
struct Opened<'w> {
    session_id: SessionId,
    number: String,
    id: CheckpointId,
    checkout: Checkout<'w>,
}

fn open<'w>(
    workspace: &'w Workspace,
    session: Option<&SessionId>,
    selector: &Selector,
) -> Result<Opened<'w>, Error> {
    let session = workspace.find_session(session)?;
    let manifest = workspace.store.load_manifest(&session)?;
    let entry: &Entry = selector.resolve(&manifest)?;
    let commit = entry.commit_hash.ok_or_else(|| NoBytes::NotCaptured {
        checkpoint: entry.id.clone(),
    })?;
    Ok(Opened {
        number: number_of(&manifest, entry),
        id: entry.id.clone(),
        session_id: session,
        checkout: Checkout::open(&workspace.repo, &commit)?,
    })
}

/// The state of a checkpoint.
///
/// # Errors
/// When there is no such checkpoint, or its record cannot be read.
pub fn show_state(
    workspace: &Workspace,
    session: Option<&SessionId>,
    selector: &Selector,
) -> Result<ShowStateReport, Error> {
    let session_id = workspace.find_session(session)?;
    let manifest = workspace.store.load_manifest(&session_id)?;
    let entry = selector.resolve(&manifest)?;
    let record = workspace.store.load_listed(&session_id, entry)?;
    Ok(ShowStateReport {
        number: number_of(&manifest, entry),
        id: entry.id.clone(),
        session_id,
        state: record.state.clone(),
    })
}

/// The files of a checkpoint.
///
/// # Errors
/// When there is no such checkpoint, or its trees cannot be read.
pub fn show_tree(
    workspace: &Workspace,
    session: Option<&SessionId>,
    selector: &Selector,
) -> Result<TreeReport, Error> {
    let opened = open(workspace, session, selector)?;
    let listed = opened.checkout.list()?;
    let files: Vec<TreeFile> = listed
        .par_iter()
        .map(|file| describe(workspace, file))
        .collect();
    Ok(TreeReport {
        session_id: opened.session_id,
        number: opened.number,
        id: opened.id,
        total_bytes: files.iter().filter_map(|file| file.size).sum(),
        files,
    })
}

/// One file of a checkpoint, by its path from the root of the work tree.
///
/// # Errors
/// When there is no such checkpoint or file, or its content cannot be read.
pub fn show_file(
    workspace: &Workspace,
    session: Option<&SessionId>,
    selector: &Selector,
    path: &[u8],
) -> Result<FileReport, Error> {
    let opened = open(workspace, session, selector)?;
    let checkpoint = opened.id.clone();
    let shown = quote_path(path);
    let Some(listed) = opened.checkout.find(path)? else {
        let path = shown;
        return Err(NoBytes::Missing { checkpoint, path }.into());
    };
    match listed.item.mode {
        Mode::Tree => {
            let path = shown;
            return Err(NoBytes::Directory { checkpoint, path }.into());
        }
        Mode::Gitlink => {
            return Err(NoBytes::Submodule {
                checkpoint,
                path: shown,
                commit: listed.item.id,
            }
            .into());
        }
        _ => {}
    }
    let bytes = opened.checkout.bytes(&listed)?;
    let mut file = describe(workspace, &listed);
    file.size = Some(bytes.len() as u64);
    Ok(FileReport {
        session_id: opened.session_id,
        number: opened.number,
        id: opened.id,
        file,
        content: Content::new(bytes),
    })
}

/// Some files of a checkpoint, by their quoted paths.
pub(super) fn describe_paths<'p>(
    workspace: &Workspace,
    commit: &ObjectId,
    paths: impl Iterator<Item = &'p String>,
) -> Result<Vec<TreeFile>, Error> {
    let checkout = Checkout::open(&workspace.repo, commit)?;
    let mut found = Vec::new();
    for path in paths {
        let Ok(path) = unquote_path(path) else {
            continue;
        };
        let listed = checkout.find(&path)?;
        found.extend(listed.map(|listed| describe(workspace, &listed)));
    }
    Ok(found)
}

fn describe(workspace: &Workspace, listed: &Listed) -> TreeFile {
    let held = listed.raw.unwrap_or(listed.item);
    let has_size = listed.item.mode != Mode::Gitlink;
    TreeFile {
        path: quote_path(&listed.path),
        item: FileItem::new(listed.item.mode, listed.item.id),
        size: has_size
            .then(|| workspace.repo.backend.size(&held.id))
            .flatten(),
        raw: listed.raw.is_some(),
    }
}
