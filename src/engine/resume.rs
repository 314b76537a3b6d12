//! Taking a session up again: it is looked for, validated, compared with the world as it is now; then it is made the
//! work tree's own, or put away for a new one.
//!
//! Looking changes nothing. Whoever acts looks again under the lock, so that what is answered is what is true then.

mod compare;
mod find;
mod judge;
mod look;
mod report;

use serde_json::{Map, Value};

use super::failure::error_chain;
use super::recover::Recovered;
use super::session::DEFAULT_WORKFLOW;
use super::summary::path_text;
use super::{Error, Progress, Tally, Workspace};
use crate::model::{SessionId, SessionStatus};
use look::look_at;

pub use super::show::Relative;
pub use crate::plan::freshness::{Change, LineChange, Way};
pub use crate::plan::resume::batches::NodeState;
pub use crate::plan::resume::point::{Action, Point};
pub use crate::plan::resume::{Cause, Doubt, Reason, Verdict};
pub use compare::{Commits, Freshness};
pub use find::NothingToResume;
pub use report::{
    FreshReport, GoneReport, InFlight, Problem, ProblemKind, PutAway, ResumeReport, Resumed,
    Validation,
};

/// Which session is taken up, and what it is compared with.
#[derive(Debug, Clone, Default)]
pub struct ResumeOptions {
    /// The session; the newest that is active or interrupted when absent.
    pub session: Option<SessionId>,
    /// The tracked issue as it is now.
    pub issue: Option<Map<String, Value>>,
}

/// Looks for the session and at everything about it. Nothing is changed.
///
/// # Errors
/// When there is no such session, the issue is another one, or something cannot be read that says nothing about the
/// session. What is wrong with the session is no error, but a problem.
pub fn look(
    workspace: &Workspace,
    options: &ResumeOptions,
    progress: &Progress,
    tally: &Tally,
) -> Result<ResumeReport, Error> {
    let session = workspace.session_to_resume(options.session.as_ref())?;
    look_at(workspace, &session, options, progress, tally)
}

/// Takes the session up: it is active and this work tree's own afterwards. When there is a problem, nothing is done.
///
/// # Errors
/// As [`look`]; and when another work tree is in the session, another process holds the lock, or files cannot be written.
pub fn resume(
    workspace: &Workspace,
    options: &ResumeOptions,
    progress: &Progress,
    tally: &Tally,
) -> Result<ResumeReport, Error> {
    let session = workspace.session_to_resume(options.session.as_ref())?;
    let _lock = workspace.lock("resume")?;
    let session = workspace.find_session(Some(&session))?;
    let left = workspace.find_session(None).ok();
    let mut warnings = Vec::new();
    let recovered = workspace.recover_or_warn(&session, &mut warnings);
    let mut report = look_at(workspace, &session, options, progress, tally)?;
    report.recovered = recovered;
    report.warnings.append(&mut warnings);
    let status = report.session.as_ref().map(|session| session.status);
    let Some(was) = status.filter(|_| report.problem.is_none()) else {
        return Ok(report);
    };
    let was_here = left.as_ref() == Some(&session);
    let manifest = workspace.reopen(&session, "resumed")?;
    report.session = Some(workspace.summarize(&manifest));
    report.resumed = Some(Resumed {
        was,
        was_here,
        left: left.filter(|left| *left != session),
    });
    Ok(report)
}

/// Puts the session away and begins another one of the same topic and workflow. Nothing of the old one is removed.
///
/// # Errors
/// When there is no such session, another work tree is in it, another process holds the lock, or files cannot be written.
pub fn start_fresh(workspace: &Workspace, report: &ResumeReport) -> Result<FreshReport, Error> {
    let _lock = workspace.lock("resume")?;
    let session = workspace.find_session(Some(&report.session_id))?;
    if workspace.is_bound_elsewhere(&session)? {
        return Err(Error::OtherWorktree { session });
    }
    let mut warnings = Vec::new();
    let recovered = workspace.recover_or_warn(&session, &mut warnings);
    let (topic, workflow) = workspace.subject(report, &mut warnings);
    let status = match workspace.store.load_manifest(&session) {
        Ok(manifest) if manifest.status.is_open() => {
            let settled = workspace.settle(&session, SessionStatus::Abandoned, "started fresh")?;
            Some(settled.status)
        }
        Ok(manifest) => Some(manifest.status),
        Err(error) => {
            warnings.push(format!("it was left as it is: {}", error_chain(&error)));
            None
        }
    };
    let left = workspace.find_session(None).ok();
    let left = left.filter(|left| *left != session);
    let begun = workspace.begin_session(&topic, &workflow)?;
    Ok(FreshReport {
        session: workspace.summarize(&begun),
        put_away: PutAway {
            status,
            directory: path_text(&workspace.store.layout().session(&session)),
            resume_with: format!("go-team resume {session} --resume"),
            session_id: session,
        },
        left,
        recovered,
        warnings,
    })
}

/// Removes the session for good.
///
/// # Errors
/// When there is no such session, another work tree is in it, another process holds the lock, or something cannot be
/// removed.
pub fn delete(workspace: &Workspace, report: &ResumeReport) -> Result<GoneReport, Error> {
    let _lock = workspace.lock("resume")?;
    let session = workspace.find_session(Some(&report.session_id))?;
    if workspace.is_bound_elsewhere(&session)? {
        return Err(Error::OtherWorktree { session });
    }
    let recovered = workspace.take_recovered();
    let summary = report.session.as_ref();
    Ok(GoneReport {
        topic: summary.map(|summary| summary.topic.clone()),
        checkpoints: summary.map_or(0, |summary| summary.checkpoint_count),
        removed: workspace.remove_session(&session)?,
        session_id: session,
        recovered,
    })
}

impl Workspace {
    /// Finishes what an earlier command left; what stands in its way must not hide the session.
    fn recover_or_warn(&self, session: &SessionId, warnings: &mut Vec<String>) -> Vec<Recovered> {
        self.recover(session).unwrap_or_else(|error| {
            warnings.push(error_chain(&error));
            Vec::new()
        })
    }

    /// Topic and workflow for a session that begins in the place of another one.
    fn subject(&self, report: &ResumeReport, warnings: &mut Vec<String>) -> (String, String) {
        let Some(session) = &report.session else {
            // What a newer go-team wrote is not for this one to read; the live state has no version.
            let topic = report.state.topic().map(str::to_owned);
            let topic = topic.unwrap_or_else(|| report.session_id.to_string());
            warnings.push(format!(
                "the new session is of the workflow {DEFAULT_WORKFLOW}"
            ));
            return (topic, DEFAULT_WORKFLOW.to_owned());
        };
        let mut workflow = session.workflow.clone();
        if let Err(error) = self.workflow(&workflow) {
            let error = error_chain(&error);
            warnings.push(format!("{error}; the new session is of {DEFAULT_WORKFLOW}"));
            DEFAULT_WORKFLOW.clone_into(&mut workflow);
        }
        (session.topic.clone(), workflow)
    }
}
