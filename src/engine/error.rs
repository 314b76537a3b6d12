//! Why an operation did not happen.

use crate::model::workflow::{IllegalTransition, UnknownWorkflow};
use crate::model::{SelectorError, SessionId};
use crate::plan::delete::Refused;
use crate::{config, git, model, store};

/// Everything an operation can fail with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The repository.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// go-team's own files.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Another process is at work.
    #[error(transparent)]
    Lock(#[from] store::LockError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] config::ConfigError),
    /// An edit of a configuration file.
    #[error(transparent)]
    Edit(#[from] config::edit::EditError),
    /// A project's configuration that is a link.
    #[error("{} is a link, and is not written through", path.display())]
    LinkedConfig {
        /// The link.
        path: std::path::PathBuf,
    },
    /// Nobody says where the user's own files are.
    #[error(
        "there is no place for a configuration of your own: neither HOME nor XDG_CONFIG_HOME is an absolute path"
    )]
    NoUserConfig,
    /// A checkpoint's name.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// A path that narrows nothing.
    #[error(transparent)]
    Pathspec(#[from] git::diff::pathspec::PathspecError),
    /// A path of a checkpoint without bytes.
    #[error(transparent)]
    NoBytes(#[from] super::show::contents::NoBytes),
    /// A change of the state.
    #[error(transparent)]
    State(#[from] model::state::StateError),
    /// A step that may not follow.
    #[error(transparent)]
    Transition(#[from] IllegalTransition),
    /// A workflow that nobody defined.
    #[error(transparent)]
    Workflow(#[from] UnknownWorkflow),
    /// No session of that name.
    #[error("there is no session {wanted}")]
    NoSuchSession {
        /// What was asked for.
        wanted: SessionId,
        /// What there is.
        known: Vec<SessionId>,
    },
    /// The work tree has no session.
    #[error("this work tree has no session yet")]
    NoSession,
    /// No session can be taken up.
    #[error(transparent)]
    NothingToResume(#[from] super::resume::NothingToResume),
    /// The issue to compare with is not the one that the session is about.
    #[error("the session is about issue {tracked}, not {given}")]
    OtherIssue {
        /// The issue that the state names.
        tracked: String,
        /// The one that was given.
        given: String,
    },
    /// A rollback was refused, or did not come to its end.
    #[error(transparent)]
    Rollback(#[from] super::rollback::RollbackError),
    /// The session's end was recorded.
    #[error("session {session} is {status}")]
    SessionEnded {
        /// The session.
        session: SessionId,
        /// Its status.
        status: model::SessionStatus,
    },
    /// Checkpoints of this kind are not made.
    #[error("{trigger} checkpoints are switched off")]
    SwitchedOff {
        /// The kind.
        trigger: model::Trigger,
    },
    /// The session works in another work tree.
    #[error("session {session} belongs to another work tree")]
    OtherWorktree {
        /// The session.
        session: SessionId,
    },
    /// Nothing is at that place in the state.
    #[error("the state has no value at {path}")]
    NoSuchValue {
        /// The place, as a dotted path.
        path: String,
        /// The fields that the state has.
        known: Vec<String>,
    },
    /// A part of the state that the engine keeps up to date by itself.
    #[error("{path} is maintained by go-team and cannot be set")]
    MaintainedValue {
        /// The place, as a dotted path.
        path: String,
    },
    /// The state is a file of the orchestrator's, which go-team only writes at a rollback.
    #[error("the state is linked to {}, which is its owner's to change", path.display())]
    LinkedState {
        /// The linked file.
        path: std::path::PathBuf,
    },
    /// Records that do not follow each other as they should.
    #[error("the chain of records does not hold in {} places", breaks.len())]
    BrokenChain {
        /// Where.
        breaks: Vec<model::chain::ChainBreak>,
    },
    /// Some of the history is elsewhere.
    #[error(transparent)]
    Incomplete(#[from] super::export::Incomplete),
    /// An archive that is damaged, or nobody's.
    #[error("{} is refused, and nothing of it was written", path.display())]
    Refused {
        /// The archive.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        defect: Box<super::import::Defect>,
    },
    /// Checkpoints of another program that do not come.
    #[error(transparent)]
    ImportFrom(#[from] super::import_from::ImportFromError),
    /// A session's name that is taken.
    #[error(transparent)]
    Conflict(#[from] crate::plan::import::ImportConflict),
    /// Checkpoints that are needed.
    #[error("{}", needed_text(refused))]
    Needed {
        /// Which, and what for.
        refused: Vec<Refused>,
    },
    /// Nothing holds a copy of a checkpoint's record.
    #[error("{checkpoint} cannot be rebuilt: {reason}")]
    CannotRebuild {
        /// The checkpoint.
        checkpoint: model::CheckpointId,
        /// Why not.
        reason: String,
    },
    /// An invariant of the manifest would break.
    #[error("the session's manifest does not take the checkpoint: {0}")]
    Append(#[from] model::manifest::AppendError),
}

/// Which checkpoints must stay, each with its reasons.
fn needed_text(refused: &[Refused]) -> String {
    let parts = refused.iter().map(|refused| {
        let reasons = refused.protections.iter().map(ToString::to_string);
        let reasons = reasons.collect::<Vec<_>>().join(" and ");
        format!("{} cannot be deleted: {reasons}", refused.checkpoint)
    });
    parts.collect::<Vec<_>>().join("; ")
}
