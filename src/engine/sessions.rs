//! Listing sessions.

use serde::Serialize;

use super::failure::error_chain;
use super::summary::SessionSummary;
use super::{Error, Workspace};
use crate::model::path_text::quote_path;
use crate::model::{SessionId, SessionStatus};
use crate::store::SessionItem;

/// Which sessions are listed.
#[derive(Debug, Clone, Default)]
pub struct SessionsOptions {
    /// Only those of this workflow.
    pub workflow: Option<String>,
    /// Only those of this status.
    pub status: Option<SessionStatus>,
}

/// The sessions there are.
#[derive(Debug, Clone, Serialize)]
pub struct SessionsReport {
    /// The session that this work tree is in.
    pub current_session: Option<SessionId>,
    /// Those asked for, the one that changed last first.
    pub sessions: Vec<SessionSummary>,
    /// Those that cannot be read, whatever was asked for.
    pub damaged: Vec<DamagedSession>,
}

/// A session that cannot be read.
#[derive(Debug, Clone, Serialize)]
pub struct DamagedSession {
    /// The name of its directory.
    pub name: String,
    /// Why not.
    pub error: String,
}

/// Lists sessions.
///
/// # Errors
/// When the directory of sessions cannot be read.
pub fn sessions(workspace: &Workspace, options: &SessionsOptions) -> Result<SessionsReport, Error> {
    let mut report = SessionsReport {
        current_session: workspace.find_session(None).ok(),
        sessions: Vec::new(),
        damaged: Vec::new(),
    };
    let mut items = workspace.store.list_sessions()?;
    items.extend(workspace.store.list_failed()?);
    for SessionItem { name, manifest } in items {
        match manifest {
            Ok(manifest) => {
                let asked_for = options
                    .workflow
                    .as_ref()
                    .is_none_or(|workflow| *workflow == manifest.workflow)
                    && options
                        .status
                        .is_none_or(|status| status == manifest.status);
                if asked_for {
                    report.sessions.push(workspace.summarize(&manifest));
                }
            }
            Err(error) => report.damaged.push(DamagedSession {
                name: quote_path(name.as_encoded_bytes()),
                error: error_chain(&error),
            }),
        }
    }
    report.sessions.sort_by(|a, b| {
        let newest = b.updated_at.cmp(&a.updated_at);
        newest.then_with(|| a.session_id.cmp(&b.session_id))
    });
    Ok(report)
}
