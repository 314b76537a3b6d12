//! One look at a session: validated, compared with the world, judged. Nothing is changed.

use serde_json::{Map, Value};

use super::judge::{problem, soundness};
use super::report::{InFlight, ResumeReport, Validation};
use super::{ResumeOptions, compare};
use crate::engine::checkpoint::Checkpoint;
use crate::engine::failure::error_chain;
use crate::engine::validate::{Marking, ValidateOptions, ValidateReport, validate};
use crate::engine::{Error, Progress, Tally, Workspace};
use crate::model::selector::Numbers;
use crate::model::{Manifest, Record, SessionId, State, json_diff, workflow};
use crate::plan::freshness::{Change, Issue};
use crate::plan::resume::point::{Action, From, point};
use crate::plan::resume::{Decision, Facts, decide};
use crate::store::ErrorLine;

/// The most paths of the state that are named as changed.
const MAX_PATHS: usize = 100;

pub(super) fn look_at(
    workspace: &Workspace,
    session: &SessionId,
    options: &ResumeOptions,
    progress: &Progress,
    tally: &Tally,
) -> Result<ResumeReport, Error> {
    let mut warnings = Vec::new();
    let validated = validate(
        workspace,
        &ValidateOptions {
            session: Some(session.clone()),
            marking: Marking::Never,
            ..ValidateOptions::default()
        },
        tally,
    )?;
    let manifest = workspace.store.load_manifest(session).ok();
    let current = manifest.as_ref().and_then(Manifest::current);
    let record = current.and_then(|entry| workspace.store.load_listed(session, entry).ok());
    let state = state_now(
        workspace,
        session,
        &validated,
        &mut warnings,
        record.as_ref(),
    );
    let soundness = soundness(&validated);
    let known = manifest.as_ref().map(|manifest| manifest.workflow.as_str());
    let workflow =
        known.and_then(|name| workflow::find(name, &workspace.config.settings.workflows).ok());
    let from = current.map(|entry| From {
        step: entry.step,
        name: &entry.name,
        phase: &entry.phase,
        trigger: entry.trigger,
        state: record.as_ref().map(|record| &record.state),
    });
    let problem = problem(soundness, &validated);
    let resume_point = (problem.is_none()).then(|| point(workflow, from, &state));
    let (mut changes, freshness) = compare::compare(
        workspace,
        session,
        record.as_ref(),
        &state,
        progress,
        &mut warnings,
    )?;
    if let Some(issue) = &options.issue {
        changes.extend(issue_changes(&state, issue)?);
    }
    let is_finished = resume_point
        .as_ref()
        .is_some_and(|point| point.action == Action::Finish);
    let Decision { verdict, reasons } = decide(&Facts {
        soundness,
        status: validated.session.as_ref().map(|session| session.status),
        is_finished,
        changes,
    });
    let checkpoint = manifest.as_ref().zip(current).map(|(manifest, entry)| {
        let mut checkpoint = Checkpoint::of(manifest, &Numbers::of(manifest), entry);
        if let Some(record) = &record {
            checkpoint.describe(record);
        }
        checkpoint
    });
    let in_flight = InFlight {
        state: record
            .as_ref()
            .map_or_else(Vec::new, |record| changed_paths(&record.state, &state)),
        operation: workspace.look_for_unfinished(session, &mut warnings),
        failed: failed_since(workspace, session, record.as_ref()),
    };
    Ok(ResumeReport {
        session_id: session.clone(),
        verdict,
        reasons,
        problem,
        checkpoint,
        resume_point,
        in_flight,
        outputs: record.map_or_else(Map::new, |record| record.outputs.clone()),
        state,
        freshness,
        validation: Validation {
            valid: validated.is_valid(),
            last_valid: validated.way_back().cloned().or(validated.last_valid),
            findings: validated.findings,
        },
        session: validated.session,
        resumed: None,
        recovered: Vec::new(),
        warnings,
    })
}

/// The state as it is now; the checkpoint's where that cannot be read.
fn state_now(
    workspace: &Workspace,
    session: &SessionId,
    validated: &ValidateReport,
    warnings: &mut Vec<String>,
    record: Option<&Record>,
) -> State {
    let summary = validated.session.as_ref();
    let is_here = summary.is_some_and(|summary| summary.active_here);
    // The file that the settings link is about the session of this work tree.
    let live = if is_here {
        workspace.live_state(session)
    } else {
        let state = workspace.store.load_state(session);
        state.map(Option::unwrap_or_default).map_err(Error::from)
    };
    live.unwrap_or_else(|error| {
        warnings.push(format!(
            "{}; the state is that of the checkpoint",
            error_chain(&error)
        ));
        record
            .map(|record| record.state.clone())
            .unwrap_or_default()
    })
}

/// What changed about the tracked issue.
fn issue_changes(state: &State, now: &Map<String, Value>) -> Result<Vec<Change>, Error> {
    let now = Issue::read(now);
    if let (Some(tracked), Some(given)) = (state.issue_number(), &now.number)
        && tracked != *given
    {
        return Err(Error::OtherIssue {
            tracked,
            given: given.clone(),
        });
    }
    Ok(match state.issue_snapshot() {
        Some(then) => Issue::read(then).changes(&now),
        None => vec![Change::IssueUnknown],
    })
}

/// The places where the state is not the checkpoint's any more; what go-team maintains does not count.
fn changed_paths(then: &State, now: &State) -> Vec<String> {
    let own = |state: &State| {
        let mut map = state.as_map().clone();
        map.remove("checkpoint");
        map
    };
    let changes = json_diff::compare(&own(then), &own(now));
    let paths = changes.iter().map(|change| change.path.to_string());
    paths.take(MAX_PATHS).collect()
}

/// The operation that failed last, unless the checkpoint was made after it.
fn failed_since(
    workspace: &Workspace,
    session: &SessionId,
    record: Option<&Record>,
) -> Option<ErrorLine> {
    let last = workspace.store.load_errors(session).ok()?.pop()?;
    let is_since = record.is_none_or(|record| last.timestamp >= record.created_at);
    is_since.then_some(last)
}
