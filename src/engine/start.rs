//! Beginning a session.

use serde::Serialize;

use super::failure::error_chain;
use super::recover::Recovered;
use super::session::DEFAULT_WORKFLOW;
use super::summary::SessionSummary;
use super::{Error, Workspace};
use crate::model::SessionId;

/// What a session begins with.
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// What it is about.
    pub topic: String,
    /// The workflow's name; the open one when absent.
    pub workflow: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct StartReport {
    /// The new session.
    #[serde(flatten)]
    pub session: SessionSummary,
    /// The session that this work tree was in before; it stays as it is.
    pub left: Option<SessionId>,
    /// What an earlier command had left unfinished in that session.
    pub recovered: Vec<Recovered>,
    /// Troubles that did not stop it.
    pub warnings: Vec<String>,
}

/// Begins a session and makes it this work tree's own.
///
/// # Errors
/// When the workflow is unknown, another process holds the lock, or the files cannot be written.
pub fn start(workspace: &Workspace, options: &StartOptions) -> Result<StartReport, Error> {
    let workflow = options.workflow.as_deref().unwrap_or(DEFAULT_WORKFLOW);
    workspace.workflow(workflow)?;
    let _lock = workspace.lock("start")?;
    let mut warnings = Vec::new();
    let left = match workspace.find_session(None) {
        Ok(session) => Some(session),
        Err(Error::NoSession) => None,
        // A pointer that cannot be read is about to be replaced.
        Err(error) => {
            warnings.push(error_chain(&error));
            None
        }
    };
    let mut recovered = workspace.take_recovered();
    if let Some(left) = &left {
        match workspace.recover(left) {
            Ok(done) => recovered.extend(done),
            // The new session does not depend on the old one.
            Err(error) => warnings.push(error_chain(&error)),
        }
    } else {
        workspace.store.clean_temps(None)?;
    }
    // One that has ended is nowhere to go on.
    let left = left.filter(|left| {
        let manifest = workspace.store.load_manifest(left);
        manifest.map_or(true, |manifest| manifest.status.is_open())
    });
    let manifest = workspace.begin_session(&options.topic, workflow)?;
    Ok(StartReport {
        session: workspace.summarize(&manifest),
        left,
        recovered,
        warnings,
    })
}
