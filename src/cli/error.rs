//! The one funnel: each way to fail becomes a kind, a message, hints and an exit code.

mod import;
mod repository;
mod resume;
mod settings;

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::engine::Error;
use crate::engine::export::{Cut, Incomplete};
use crate::engine::failure::error_chain;
use crate::engine::show::contents::NoBytes;
use crate::model::SelectorError;
use crate::model::ids::IdError;
use crate::model::selector::Candidates;
use crate::model::state::StateError;
use crate::render::ErrorView;
use crate::store::{self, LockError};
use import::{of_defect, of_import_from};
use repository::of_git;
use resume::of_nothing_to_resume;
use settings::{of_config, of_edit};

/// The exit codes; they do not change between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It went well.
    Ok,
    /// It did not.
    Failure,
    /// The arguments or the input are wrong.
    Usage,
    /// Something that was checked is not as it should be.
    Invalid,
    /// There is no such session, checkpoint, value or file.
    NotFound,
    /// The user said no.
    Cancelled,
    /// Another process is at work.
    Busy,
    /// go-team does not work in this repository.
    Refused,
    /// The user interrupted it.
    Interrupted,
    /// What the user's own command, or its test command, ended with.
    Command(u8),
}

impl Exit {
    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Invalid => 3,
            Self::NotFound => 4,
            Self::Cancelled => 5,
            Self::Busy => 6,
            Self::Refused => 7,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }
}

/// A command that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What is said about it.
    pub view: ErrorView,
    /// The exit code.
    pub exit: Exit,
    /// Whether the answer has said it already.
    pub(super) is_said: bool,
}

impl Failure {
    /// Without hints.
    pub(super) fn new(kind: &'static str, exit: Exit, message: impl Into<String>) -> Self {
        let view = ErrorView {
            kind,
            message: message.into(),
            hints: Vec::new(),
        };
        let is_said = false;
        Self {
            view,
            exit,
            is_said,
        }
    }

    /// The answer has said all of it: only the exit code is left.
    #[must_use]
    pub(super) fn said(mut self) -> Self {
        self.is_said = true;
        self
    }

    /// Says what to do next.
    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.view.hints.push(hint.into());
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error_chain(&error);
        let fail = |kind, exit| Self::new(kind, exit, message.clone());
        match &error {
            Error::Git(error) => of_git(error, message),
            Error::Store(error) => of_store(error, message),
            Error::Lock(LockError::Locked { waited, .. }) => Self::new(
                "locked",
                Exit::Busy,
                format!(
                    "another go-team command is at work: {message}; waited {:.1} s",
                    waited.as_secs_f64()
                ),
            )
            .hint("try again when it has finished, or wait longer: GO_TEAM_LOCK_TIMEOUT_SECONDS=120 go-team …"),
            Error::Lock(LockError::Io(error)) => of_io(&error.source, message),
            Error::Config(error) => of_config(error, message),
            Error::Edit(error) => of_edit(error, message),
            Error::LinkedConfig { .. } => fail("config-is-a-link", Exit::Failure)
                .hint("change the file that it points at, or put a file of its own in its place")
                .hint("go-team config set --user KEY VALUE changes your own settings"),
            Error::NoUserConfig => fail("no-user-config", Exit::Failure).hint("set HOME, or XDG_CONFIG_HOME"),
            Error::Selector(error) => of_selector(error, message),
            Error::State(error) => of_state(error, message),
            Error::NoBytes(error) => of_no_bytes(error, message),
            Error::Pathspec(_) => fail("bad-path", Exit::Usage)
                .hint("paths after -- are files, directories or patterns such as 'src/*.go', within the work tree"),
            Error::Transition(_) => fail("illegal-transition", Exit::Failure)
                .hint("go-team cp-create --step N, with one of the legal steps"),
            Error::Workflow(_) => fail("unknown-workflow", Exit::NotFound)
                .hint("define it in go-team.toml as [workflow.NAME], or use one of those that are known"),
            Error::NoSuchSession { known, .. } if known.is_empty() => {
                fail("unknown-session", Exit::NotFound).hint("go-team start TOPIC")
            }
            Error::NoSuchSession { known, .. } => {
                let known: Vec<&str> = known.iter().take(10).map(AsRef::as_ref).collect();
                fail("unknown-session", Exit::NotFound)
                    .hint(format!("there is: {}", known.join(", ")))
                    .hint("go-team sessions")
            }
            Error::NoSession => fail("no-session", Exit::NotFound)
                .hint("go-team start TOPIC")
                .hint("go-team cp-create begins one by itself"),
            Error::NothingToResume(error) => of_nothing_to_resume(error, message),
            Error::OtherIssue { .. } => fail("other-issue", Exit::Usage)
                .hint("--issue takes the issue that the session is about, as it is now"),
            Error::Rollback(error) => super::rollback_error::of_rollback(error, message),
            Error::SessionEnded { session, .. } => fail("session-ended", Exit::Failure)
                .hint(format!("go-team resume {session} brings it back"))
                .hint("go-team start TOPIC begins another one"),
            Error::SwitchedOff { trigger } => fail("switched-off", Exit::Failure)
                .hint(format!("triggers.{trigger} = true in the configuration switches them on")),
            Error::OtherWorktree { .. } => fail("other-work-tree", Exit::Failure)
                .hint("run the command in that work tree (git worktree list), or go-team start TOPIC in this one"),
            Error::NoSuchValue { known, .. } => {
                let known: Vec<&str> = known.iter().take(20).map(String::as_str).collect();
                fail("no-such-value", Exit::NotFound)
                    .hint(format!("the state has: {}", known.join(", ")))
                    .hint("go-team state show")
            }
            Error::MaintainedValue { .. } => fail("maintained-value", Exit::Usage)
                .hint("go-team cp-create changes it by making a checkpoint"),
            Error::LinkedState { .. } => fail("linked-state", Exit::Failure)
                .hint("change that file, or unset state.file in the configuration"),
            Error::BrokenChain { .. } => fail("chain", Exit::Invalid)
                .hint("go-team cp-show N says what is wrong with each; go-team cp-export N… exports those that are sound"),
            Error::Incomplete(Incomplete { cut, .. }) => of_incomplete(*cut, message),
            Error::Refused { defect, .. } => of_defect(defect, message),
            Error::ImportFrom(error) => of_import_from(error, &message),
            Error::Conflict(_) => fail("session-exists", Exit::Failure)
                .hint("go-team cp-import FILE --as NAME brings it in under another name")
                .hint("go-team sessions lists what is there"),
            Error::Needed { .. } => fail("checkpoint-needed", Exit::Failure)
                .hint("another one becomes the current one with the next go-team cp-create; undo needs others after the next rollback"),
            Error::CannotRebuild { checkpoint, .. } => fail("cannot-rebuild", Exit::Failure)
                .hint("if a clone or a backup has its objects, bring them back and run the command again")
                .hint(format!("go-team cp-delete {checkpoint} removes what is left of it")),
            Error::Append(_) => fail("manifest", Exit::Failure).hint("go-team session-info"),
        }
    }
}

impl From<SelectorError> for Failure {
    fn from(error: SelectorError) -> Self {
        Error::from(error).into()
    }
}

impl From<IdError> for Failure {
    fn from(error: IdError) -> Self {
        Self::new("bad-id", Exit::Usage, error.to_string())
            .hint("ids are lower-case letters, digits and -: go-team sessions lists them")
    }
}

fn of_incomplete(cut: Cut, message: String) -> Failure {
    let failure = Failure::new("history-incomplete", Exit::Failure, message);
    let failure = match cut {
        Cut::Shallow => failure.hint("git fetch --unshallow gets the rest of the history"),
        Cut::Partial => {
            failure.hint("git fetch --refetch --no-filter gets what was left with the remote")
        }
        Cut::Unknown => failure.hint("git fsck says what is missing or broken"),
    };
    failure.hint("go-team cp-export --no-git exports records, manifest and state alone")
}

/// What to do about a damaged or missing file of go-team's own.
const REBUILD: &str =
    "go-team cp-validate says what is damaged, go-team cp-rebuild --all rebuilds it";

fn of_store(error: &store::Error, message: String) -> Failure {
    let fail = |kind| Failure::new(kind, Exit::Failure, message.clone());
    match error {
        store::Error::NewerVersion { .. } => fail("newer-version")
            .hint("it was left untouched; a newer go-team wrote it, so use that one"),
        store::Error::Damaged { path, .. }
        | store::Error::TooLarge { path, .. }
        | store::Error::Misplaced { path, .. }
        | store::Error::Missing { path }
            if path.file_name().is_some_and(|name| name == "manifest.json") =>
        {
            let session = path.parent().and_then(Path::file_name).unwrap_or_default();
            fail("manifest-damaged")
                .hint("the checkpoints are not in it: go-team cp-rebuild --all makes it anew from their refs")
                .hint(format!(
                    "git for-each-ref refs/go-team/{}/ lists them",
                    session.to_string_lossy()
                ))
        }
        store::Error::Damaged { path, .. }
            if path.file_name().is_some_and(|name| name == "state.json") =>
        {
            fail("state-damaged")
                .hint("go-team cp-rebuild --all takes it from the current checkpoint; the damaged file is kept")
                .hint("go-team cp-show current --json has the state of the last checkpoint")
        }
        store::Error::Damaged { .. }
        | store::Error::TooLarge { .. }
        | store::Error::Misplaced { .. }
        | store::Error::Replaced { .. }
        | store::Error::BadName { .. } => fail("file-damaged").hint(REBUILD),
        store::Error::Missing { .. } => fail("file-missing").hint(REBUILD),
        store::Error::Exists { .. } => fail("file-exists")
            .hint("nothing is overwritten: name another file, or remove that one first"),
        store::Error::Io(error) => of_io(&error.source, message),
    }
}

fn of_no_bytes(error: &NoBytes, message: String) -> Failure {
    let (kind, checkpoint) = match error {
        NoBytes::Missing { checkpoint, .. } => ("no-such-file", checkpoint),
        NoBytes::Directory { checkpoint, .. } => ("is-a-directory", checkpoint),
        NoBytes::Submodule { checkpoint, .. } => ("is-a-submodule", checkpoint),
        NoBytes::NotCaptured { checkpoint } => {
            return Failure::new("not-captured", Exit::NotFound, message)
                .hint(format!("go-team cp-show {checkpoint} shows what it has"));
        }
    };
    Failure::new(kind, Exit::NotFound, message)
        .hint(format!(
            "go-team cp-show {checkpoint} --tree lists its files"
        ))
        .hint("paths begin at the root of the work tree")
}

fn of_io(error: &io::Error, message: String) -> Failure {
    let (kind, hint) = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => (
            "not-writable",
            "commands that only read still work: go-team cp-list, go-team cp-show N",
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ("disk-full", "free some space and run the command again")
        }
        _ => return Failure::new("io", Exit::Failure, message),
    };
    Failure::new(kind, Exit::Failure, message).hint(hint)
}

fn of_selector(error: &SelectorError, message: String) -> Failure {
    match error {
        SelectorError::Malformed { .. } => Failure::new("bad-checkpoint-name", Exit::Usage, message)
            .hint("a number as in cp-list, a step's name, an id or its beginning, latest, latest~2, current"),
        SelectorError::NotFound { candidates, .. } => {
            let failure = Failure::new("unknown-checkpoint", Exit::NotFound, message);
            if candidates.listed.is_empty() {
                failure.hint("there are none yet: go-team cp-create makes one")
            } else {
                failure
                    .hint(format!("there is: {}", list(candidates)))
                    .hint("go-team cp-list")
            }
        }
        SelectorError::Ambiguous { candidates, .. } => {
            Failure::new("ambiguous-checkpoint", Exit::Usage, message)
                .hint(format!("it could be: {}", list(candidates)))
                .hint("type more of it, or the number that cp-list shows")
        }
    }
}

fn list(candidates: &Candidates) -> String {
    let names = candidates.listed.iter();
    let names = names.map(|candidate| format!("{} ({})", candidate.number, candidate.id));
    let mut text = names.collect::<Vec<_>>().join(", ");
    if candidates.more > 0 {
        let _ = write!(text, " and {} more", candidates.more);
    }
    text
}

fn of_state(error: &StateError, message: String) -> Failure {
    let (kind, exit) = match error {
        StateError::Malformed { .. } => ("bad-assignment", Exit::Usage),
        StateError::NotAnObject { .. } => ("not-an-object", Exit::Usage),
        StateError::Value { .. } => ("input-too-large", Exit::Usage),
    };
    Failure::new(kind, exit, message).hint("go-team state show")
}
