//! The live state: shown, looked up, changed.

use serde::Serialize;
use serde_json::Value;

use super::recover::Recovered;
use super::{Error, Workspace};
use crate::model::format::FormatError;
use crate::model::state::StateError;
use crate::model::{SessionId, State};

/// The field that the engine maintains; setting it by hand would not last.
pub(super) const MAINTAINED: &str = "checkpoint";

/// A session's live state.
#[derive(Debug, Clone, Serialize)]
pub struct StateReport {
    /// The session.
    pub session_id: SessionId,
    /// The state.
    pub state: State,
}

/// One value of the state.
#[derive(Debug, Clone, Serialize)]
pub struct ValueReport {
    /// The session.
    pub session_id: SessionId,
    /// Where in the state.
    pub path: String,
    /// What is there.
    pub value: Value,
}

/// What was set.
#[derive(Debug, Clone, Serialize)]
pub struct SetReport {
    /// The session.
    pub session_id: SessionId,
    /// What was set, in the order given.
    pub set: Vec<Assignment>,
    /// The state as it is now.
    pub state: State,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
}

/// A value for a place in the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assignment {
    /// The dotted path.
    pub path: String,
    /// The value.
    pub value: Value,
}

/// The live state of a session.
///
/// # Errors
/// When there is no such session or its state cannot be read.
pub fn show(workspace: &Workspace, session: Option<&SessionId>) -> Result<StateReport, Error> {
    let session_id = workspace.find_session(session)?;
    let state = workspace.live_state(&session_id)?;
    Ok(StateReport { session_id, state })
}

/// One value of the live state, at a dotted path.
///
/// # Errors
/// [`Error::NoSuchValue`] when nothing is there, and as [`show`].
pub fn get(
    workspace: &Workspace,
    session: Option<&SessionId>,
    path: &str,
) -> Result<ValueReport, Error> {
    let StateReport { session_id, state } = show(workspace, session)?;
    let Some(value) = state.get(path).cloned() else {
        return Err(Error::NoSuchValue {
            path: path.to_owned(),
            known: state.as_map().keys().cloned().collect(),
        });
    };
    Ok(ValueReport {
        session_id,
        path: path.to_owned(),
        value,
    })
}

/// Sets values in the live state, all of them or none.
///
/// # Errors
/// When a path cannot be set, the state is a linked file of the orchestrator's, the state would become too large to be read again, another process holds the lock, or
/// the file cannot be written.
pub fn set(
    workspace: &Workspace,
    session: Option<&SessionId>,
    assignments: Vec<Assignment>,
) -> Result<SetReport, Error> {
    let session_id = workspace.find_session(session)?;
    for Assignment { path, .. } in &assignments {
        if path.split('.').next() == Some(MAINTAINED) {
            return Err(Error::MaintainedValue { path: path.clone() });
        }
    }
    if let Some(file) = &workspace.config.settings.state.file {
        let path = workspace.repo.work_dir.join(file);
        return Err(Error::LinkedState { path });
    }
    let _lock = workspace.lock("state set")?;
    // What is finished first may have been its removal.
    let session_id = workspace.find_session(Some(&session_id))?;
    let recovered = workspace.recover(&session_id)?;
    let mut state = workspace.store.load_state(&session_id)?.unwrap_or_default();
    let mut last = "";
    for Assignment { path, value } in &assignments {
        state.set(path, value.clone())?;
        last = path;
    }
    // What is written must be readable by the next command.
    if let Err(FormatError::Json(source)) = State::from_file_bytes(&state.to_file_bytes()) {
        let path = last.to_owned();
        return Err(StateError::Value { path, source }.into());
    }
    workspace
        .store
        .stage_state(&session_id, &state)?
        .publish()
        .map_err(crate::store::Error::from)?;
    workspace.store.sync_session(&session_id)?;
    Ok(SetReport {
        session_id,
        set: assignments,
        state,
        recovered,
    })
}
