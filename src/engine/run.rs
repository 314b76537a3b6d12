//! What goes on around a command of the user's: the look at the previous checkpoint before it, and what its end leads to.
//!
//! No lock is held while the command runs, and the workspace is opened anew after it: the command may have changed
//! everything, go-team's own files included.

use serde::Serialize;

use super::checkpoint::Checkpoint;
use super::create::CreateReport;
use super::failure::error_chain;
use super::recover::Recovered;
use super::rollback::RollbackReport;
use super::session::is_open;
use super::show::Relative;
use super::validate::{Depth, Marking, ValidateOptions, validate};
use super::{Error, Progress, Tally, Workspace};
use crate::model::finding::{Finding, Severity};
use crate::model::path_text::quote_path;
use crate::model::selector::Numbers;
use crate::model::{CheckpointId, Selector, SessionId, State};
use crate::store::ErrorLine;

pub use crate::plan::run::{End, Heard, Outcome, outcome};

/// The session that a command runs in.
#[derive(Debug)]
pub struct Begun {
    /// The session.
    pub session: SessionId,
    /// Whether it began for this command.
    pub session_started: bool,
    /// The checkpoint that the work tree descends from, looked at closely.
    pub previous: Option<Previous>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Troubles that stop nothing.
    pub warnings: Vec<String>,
}

/// The checkpoint before a command.
#[derive(Debug, Clone, Serialize)]
pub struct Previous {
    /// The checkpoint.
    #[serde(flatten)]
    pub checkpoint: Checkpoint,
    /// Whether record, checksum, chain and git are as they should be.
    pub verified: bool,
    /// What is not.
    pub findings: Vec<Finding>,
    /// The newest checkpoint that nothing is known to be wrong with.
    pub last_valid: Option<Relative>,
}

/// What came of a command.
#[derive(Debug, Default)]
pub struct RunReport {
    /// The session, where there is one.
    pub session: Option<SessionId>,
    /// The command, word by word.
    pub command: Vec<String>,
    /// How it ended; absent when it was not begun.
    pub end: Option<End>,
    /// What that means.
    pub outcome: Option<Outcome>,
    /// The checkpoint before it.
    pub previous: Option<Previous>,
    /// The checkpoint taken right before it.
    pub before: Option<CreateReport>,
    /// What the test command came to.
    pub guard: Option<Guard>,
    /// The checkpoint of what it did.
    pub checkpoint: Option<CreateReport>,
    /// Troubles that stopped neither the command nor the rest.
    pub warnings: Vec<String>,
}

/// What a test command came to.
#[derive(Debug)]
pub struct Guard {
    /// The command, as the shell was given it.
    pub command: String,
    /// How it ended.
    pub end: End,
    /// What that means.
    pub outcome: Outcome,
    /// What was rolled back because it failed.
    pub rollback: Option<RollbackReport>,
}

/// Finds the session that a command runs in, or begins one; finishes what an earlier command left, and looks at the
/// current checkpoint.
///
/// # Errors
/// When the session cannot be used, or none can be begun. A previous checkpoint that is damaged is no error.
pub fn begin(
    workspace: &Workspace,
    wanted: Option<&SessionId>,
    tally: &Tally,
) -> Result<Begun, Error> {
    let mut begun = Begun {
        session: match workspace.own_session(wanted) {
            Ok(session) => session,
            Err(Error::NoSession) => return begin_session(workspace),
            Err(error) => return Err(error),
        },
        session_started: false,
        previous: None,
        recovered: Vec::new(),
        warnings: Vec::new(),
    };
    let session = begun.session.clone();
    if workspace.unfinished(&session)?.is_some() {
        let _lock = workspace.lock("run")?;
        begun.recovered = workspace.recover(&session)?;
    }
    let manifest = workspace.store.load_manifest(&session)?;
    if !is_open(manifest.status) {
        if wanted.is_none() {
            return begin_session(workspace);
        }
        return Err(Error::SessionEnded {
            session,
            status: manifest.status,
        });
    }
    let Some(entry) = manifest.current() else {
        return Ok(begun);
    };
    let mut previous = Previous {
        checkpoint: Checkpoint::of(&manifest, &Numbers::of(&manifest), entry),
        verified: false,
        findings: Vec::new(),
        last_valid: None,
    };
    let options = ValidateOptions {
        session: Some(session),
        checkpoints: vec![Selector::Name(entry.id.to_string())],
        depth: Depth::Plain,
        marking: Marking::Never,
    };
    match validate(workspace, &options, tally) {
        Ok(report) => {
            previous.verified = report.is_valid();
            previous.last_valid = report.last_valid;
            let findings = report.findings.into_iter();
            previous.findings = findings
                .filter(|finding| finding.severity > Severity::Notice)
                .collect();
        }
        Err(error) => begun.warnings.push(format!(
            "the previous checkpoint could not be looked at: {}",
            error_chain(&error)
        )),
    }
    begun.previous = Some(previous);
    Ok(begun)
}

/// A session of its own for a command that nobody named one for.
fn begin_session(workspace: &Workspace) -> Result<Begun, Error> {
    let _lock = workspace.lock("run")?;
    let opened = workspace.open_session(None)?;
    Ok(Begun {
        session: opened.session,
        session_started: opened.is_new,
        previous: None,
        recovered: Vec::new(),
        warnings: Vec::new(),
    })
}

/// The current checkpoint, if everything is exactly as it recorded it: files, index, HEAD and state.
///
/// # Errors
/// When the work tree or the session cannot be read.
pub fn as_recorded(
    workspace: &Workspace,
    session: &SessionId,
    progress: &Progress,
) -> Result<Option<CheckpointId>, Error> {
    let manifest = workspace.store.load_manifest(session)?;
    let Some(entry) = manifest
        .current()
        .filter(|entry| entry.valid && entry.commit_hash.is_some())
    else {
        return Ok(None);
    };
    let record = workspace.store.load_listed(session, entry)?;
    if !is_same_state(&record.state, &workspace.live_state(session)?) {
        return Ok(None);
    }
    let now = workspace.look(progress)?;
    let git = &record.git;
    let is_same = git.tree == Some(now.tree)
        && git.index_tree == Some(now.index_tree)
        && git.head == now.head.commit()
        && git.branch == now.head.branch().map(quote_path);
    Ok(is_same.then(|| entry.id.clone()))
}

/// Whether two states say the same, but for what the engine itself maintains in them.
fn is_same_state(one: &State, other: &State) -> bool {
    let own = |state: &State| {
        let mut map = state.clone().into_map();
        map.remove("checkpoint");
        map
    };
    own(one) == own(other)
}

impl Workspace {
    /// Notes in a session's log that a command of the user's failed. Best effort, as every log.
    pub fn note_failed_command(&self, session: &SessionId, step: Option<u32>, error: &str) {
        let line = ErrorLine {
            timestamp: self.clock.now(),
            operation: "run".to_owned(),
            step,
            error: error.to_owned(),
        };
        let _ = self.store.append_error(session, &line);
    }
}
