//! Everything about one session.

use std::collections::BTreeMap;

use serde::Serialize;

use super::summary::{SessionSummary, Unfinished, path_text};
use super::{Error, Workspace};
use crate::model::{RollbackRecord, SessionId, StatusChange, Trigger};
use crate::store::ErrorLine;

/// Which session.
#[derive(Debug, Clone, Default)]
pub struct SessionInfoOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
}

/// Everything about one session.
#[derive(Debug, Clone, Serialize)]
pub struct SessionInfoReport {
    /// In short.
    #[serde(flatten)]
    pub session: SessionSummary,
    /// How many checkpoints there are of each kind.
    pub counts: Counts,
    /// Every rollback, oldest first.
    pub rollback_history: Vec<RollbackRecord>,
    /// Every change of its status since it began, oldest first.
    pub status_history: Vec<StatusChange>,
    /// Where its files are.
    pub places: Places,
    /// The operation that failed last.
    pub last_error: Option<ErrorLine>,
    /// An operation that has not come to its end.
    pub unfinished: Option<Unfinished>,
    /// Troubles that did not stop the report.
    pub warnings: Vec<String>,
}

/// How many checkpoints there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All that are listed.
    pub checkpoints: usize,
    /// Those that can be rolled back to.
    pub valid: usize,
    /// Those that were left behind by a rollback, or are corrupt.
    pub invalid: usize,
    /// Those that were made and then pruned.
    pub pruned: u64,
    /// How many there are of each trigger.
    pub by_trigger: BTreeMap<Trigger, usize>,
    /// How many times the session was rolled back.
    pub rollbacks: usize,
    /// How many failed operations the log holds.
    pub errors: usize,
}

/// Where a session's files are.
#[derive(Debug, Clone, Serialize)]
pub struct Places {
    /// Its directory.
    pub directory: String,
    /// Its manifest.
    pub manifest: String,
    /// Its live state.
    pub state: String,
    /// The log of failed operations.
    pub errors: String,
    /// What its refs begin with.
    pub refs: String,
}

/// Gathers everything about one session.
///
/// # Errors
/// When there is no such session, or its manifest cannot be read.
pub fn session_info(
    workspace: &Workspace,
    options: &SessionInfoOptions,
) -> Result<SessionInfoReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let manifest = workspace.store.load_manifest(&session)?;
    let mut warnings = Vec::new();
    let errors = workspace
        .store
        .load_errors(&session)
        .unwrap_or_else(|error| {
            warnings.push(super::failure::error_chain(&error));
            Vec::new()
        });
    let entries = manifest.checkpoints();
    let valid = entries.iter().filter(|entry| entry.valid).count();
    let mut by_trigger = BTreeMap::new();
    for entry in entries {
        *by_trigger.entry(entry.trigger).or_insert(0) += 1;
    }
    let listed = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    let counts = Counts {
        checkpoints: entries.len(),
        valid,
        invalid: entries.len() - valid,
        pruned: (manifest.next_seq() - 1).saturating_sub(listed),
        by_trigger,
        rollbacks: manifest.rollback_history.len(),
        errors: errors.len(),
    };
    let layout = workspace.store.layout();
    let places = Places {
        directory: path_text(&layout.session(&session)),
        manifest: path_text(&layout.manifest(&session)),
        state: path_text(&layout.state(&session)),
        errors: path_text(&layout.errors(&session)),
        refs: format!("refs/go-team/{session}/"),
    };
    Ok(SessionInfoReport {
        session: workspace.summarize(&manifest),
        counts,
        rollback_history: manifest.rollback_history.clone(),
        status_history: manifest.status_history.clone(),
        places,
        last_error: errors.into_iter().next_back(),
        unfinished: workspace.look_for_unfinished(&session, &mut warnings),
        warnings,
    })
}
