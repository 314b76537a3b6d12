//! Removing sessions that have been kept long enough after their end.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::failure::error_chain;
use super::life::Removed;
use super::recover::Recovered;
use super::sessions::DamagedSession;
use super::{Error, Workspace};
use crate::model::path_text::quote_path;
use crate::model::{Manifest, SessionId, SessionStatus, timestamp};
use crate::plan::cleanup::{Candidate, Days, Reason, decide};
use crate::store::SessionItem;

/// Which sessions go.
#[derive(Debug, Clone, Default)]
pub struct CleanupOptions {
    /// Those that have not changed for this many days, whatever the settings say.
    pub older_than: Option<u64>,
}

/// What cleaning up would do, or did.
#[derive(Debug, Clone, Serialize)]
pub struct CleanupReport {
    /// The sessions that go, by name.
    pub removed: Vec<CleanedSession>,
    /// The sessions that stay, by name.
    pub kept: Vec<CleanedSession>,
    /// Those that cannot be read; they stay.
    pub damaged: Vec<DamagedSession>,
    /// Whether it was only planned.
    pub dry_run: bool,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    #[serde(skip)]
    days: Days,
}

/// A session, and why it goes or stays.
#[derive(Debug, Clone, Serialize)]
pub struct CleanedSession {
    /// The session.
    pub session_id: SessionId,
    /// What it is about.
    pub topic: String,
    /// Where it is in its life.
    pub status: SessionStatus,
    /// When it last changed.
    #[serde(with = "timestamp")]
    pub updated_at: DateTime<Utc>,
    /// How many checkpoints it has.
    pub checkpoint_count: usize,
    /// Why.
    pub reason: Reason,
    /// What went with it, once it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Removed>,
}

/// Says which sessions would go. Nothing is changed.
///
/// # Errors
/// When the sessions cannot be listed.
pub fn plan_cleanup(
    workspace: &Workspace,
    options: &CleanupOptions,
) -> Result<CleanupReport, Error> {
    let settings = &workspace.config.settings.retention;
    let days = options.older_than.map_or(
        Days {
            completed: settings.completed_days,
            failed: settings.failed_days,
            abandoned: settings.abandoned_days,
        },
        Days::all,
    );
    let mut report = CleanupReport {
        removed: Vec::new(),
        kept: Vec::new(),
        damaged: Vec::new(),
        dry_run: true,
        recovered: Vec::new(),
        days,
    };
    let mut items = workspace.store.list_sessions()?;
    items.extend(workspace.store.list_failed()?);
    for SessionItem { name, manifest } in items {
        match manifest {
            Ok(manifest) => {
                let session = workspace.judge(&manifest, &days)?;
                if session.reason.removes() {
                    report.removed.push(session);
                } else {
                    report.kept.push(session);
                }
            }
            Err(error) => report.damaged.push(DamagedSession {
                name: quote_path(name.as_encoded_bytes()),
                error: error_chain(&error),
            }),
        }
    }
    for sessions in [&mut report.removed, &mut report.kept] {
        sessions.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    }
    Ok(report)
}

/// Removes the sessions of a plan, each for good. One that should stay by now stays.
///
/// # Errors
/// When one cannot be removed; those before it are gone, and the next command finishes what was begun with it.
pub fn cleanup(workspace: &Workspace, planned: &CleanupReport) -> Result<CleanupReport, Error> {
    let mut report = CleanupReport {
        removed: Vec::new(),
        dry_run: false,
        ..planned.clone()
    };
    let is_pending = !matches!(workspace.store.load_life_journal(), Ok(None));
    if planned.removed.is_empty() && !is_pending {
        return Ok(report);
    }
    let _lock = workspace.lock("cleanup")?;
    report.recovered = workspace.take_recovered();
    report.recovered.extend(workspace.recover_import()?);
    for planned in &planned.removed {
        let session = &planned.session_id;
        // Somebody may have been quicker, or brought it back.
        if !workspace.store.has_session(session) {
            continue;
        }
        let manifest = workspace.store.load_manifest(session)?;
        let mut judged = workspace.judge(&manifest, &report.days)?;
        if judged.reason.removes() {
            judged.gone = Some(workspace.remove_session(session)?);
            report.removed.push(judged);
        } else {
            report.kept.push(judged);
        }
    }
    Ok(report)
}

impl Workspace {
    fn judge(&self, manifest: &Manifest, days: &Days) -> Result<CleanedSession, Error> {
        let session = &manifest.session_id;
        // A journal that cannot be read is one all the same.
        let journal = self.store.load_rollback_journal(session);
        let candidate = Candidate {
            status: manifest.status,
            changed_at: manifest.updated_at,
            is_rolling_back: !matches!(journal, Ok(None)),
            is_elsewhere: self.is_bound_elsewhere(session)?,
        };
        Ok(CleanedSession {
            session_id: session.clone(),
            topic: manifest.topic.clone(),
            status: manifest.status,
            updated_at: manifest.updated_at,
            checkpoint_count: manifest.checkpoints().len(),
            reason: decide(&candidate, days, self.clock.now()),
            gone: None,
        })
    }
}
