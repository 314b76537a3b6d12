//! What a command works with: the surroundings it was called in, and the streams it answers on.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use chrono::DateTime;

use super::confirm::{Answer, ask, confirm, is_possible};
use super::error::{Exit, Failure};
use super::global::GlobalArgs;
use super::output::Output;
use super::pager::Paging;
use super::progress;
use crate::engine::open::{OpenOptions, WideWorkTree, open};
use crate::engine::{Clock, Error, Marks, Progress, Tally, Workspace};
use crate::model::SessionId;
use crate::render::style::{Style, Verbosity};
use crate::render::{Note, Render, interrupted_rollback, patch_text};

/// Fixes the clock, as RFC 3339; for tests.
const TEST_NOW: &str = "GO_TEAM_TEST_NOW";

/// Commands that only read, and whose answers do not tell of an interrupted rollback by themselves.
const SILENT: [&str; 4] = ["sessions", "state show", "state get", "cp-validate"];

/// What a command works with.
pub(super) struct Context {
    /// The session asked for.
    pub session: Option<SessionId>,
    /// Where relative paths begin.
    pub start: PathBuf,
    global: GlobalArgs,
    output: Output,
    wide: WideWorkTree,
    clock: Clock,
    /// Whether somebody may be asked.
    asks: bool,
}

impl Context {
    /// Reads the surroundings.
    pub(super) fn new(global: GlobalArgs, output: Output) -> Result<Self, Failure> {
        let of_environment = || env::var("GO_TEAM_SESSION").ok();
        let session = global.session.clone().or_else(of_environment);
        let session = session.filter(|id| !id.is_empty());
        let session = session.map(|id| SessionId::parse(&id)).transpose();
        let wide = if global.force {
            WideWorkTree::Accept
        } else {
            WideWorkTree::Refuse
        };
        Ok(Self {
            session: session.map_err(Failure::from)?,
            start: start(global.directory.clone())?,
            output,
            wide,
            clock: clock()?,
            asks: !global.no_input && !global.json,
            global,
        })
    }

    /// Opens the repository and go-team's files.
    pub(super) fn open(&self) -> Result<Workspace, Failure> {
        let workspace = open(self.open_options())?;
        if self.output.is_of(&SILENT) && self.is_rollback_interrupted(&workspace) {
            self.output.note(&interrupted_rollback());
        }
        Ok(workspace)
    }

    /// The options that every command takes, as they were given.
    pub(super) fn global(&self) -> &GlobalArgs {
        &self.global
    }

    /// Where and how things are printed.
    pub(super) fn output(&self) -> Output {
        self.output
    }

    /// What opening goes by.
    pub(super) fn open_options(&self) -> OpenOptions {
        OpenOptions {
            start: self.start.clone(),
            home: env::var_os("HOME").filter(|home| !home.is_empty()),
            xdg_config_home: env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()),
            environment: env::vars_os().collect::<Vec<(OsString, OsString)>>(),
            wide: self.wide,
            clock: self.clock,
        }
    }

    /// Whether a rollback in the session asked for was killed on its way, or is on it.
    fn is_rollback_interrupted(&self, workspace: &Workspace) -> bool {
        let session = workspace.find_session(self.session.as_ref());
        let journal = session.and_then(|session| workspace.unfinished(&session));
        matches!(journal, Ok(Some(journal)) if journal.op() == "rollback")
    }

    /// Prints a report.
    pub(super) fn answer(&self, report: &impl Render) -> Result<(), Failure> {
        self.output.answer(report)
    }

    /// Says what was done beside an answer that is no text.
    pub(super) fn remark(&self, report: &impl Render) {
        self.output.remark(report);
    }

    /// Says on stderr what was done, unless the answer is JSON and says it.
    pub(super) fn tell(&self, report: &impl Render) {
        if !self.is_json() {
            self.output.remark(report);
        }
    }

    /// Says something beside the answer, unless that is JSON.
    pub(super) fn note(&self, note: &Note) {
        self.output.note(note);
    }

    /// Whether somebody would see the answer as it is.
    pub(super) fn answers_a_terminal(&self) -> bool {
        self.output.answers_a_terminal()
    }

    /// Prints a report that may be long.
    pub(super) fn answer_paged(&self, report: &impl Render, paging: Paging) -> Result<(), Failure> {
        let text = |style: &Style| report.text(style).into_bytes();
        self.output.answer_with(report, paging, text)
    }

    /// Prints a report whose text is a patch.
    pub(super) fn answer_patch(
        &self,
        report: &impl Render,
        patch: &[u8],
        paging: Paging,
    ) -> Result<(), Failure> {
        let text = |style: &Style| patch_text(patch, style);
        self.output.answer_with(report, paging, text)
    }

    /// Prints a report whose text is exactly these bytes.
    pub(super) fn answer_bytes(&self, report: &impl Render, bytes: &[u8]) -> Result<(), Failure> {
        self.output
            .answer_with(report, Paging::Off, |_| bytes.to_vec())
    }

    /// Prints what a check found, and fails with its exit code.
    pub(super) fn answer_invalid(
        &self,
        report: &impl Render,
        failure: Failure,
    ) -> Result<(), Failure> {
        self.output.verdict(report, &failure)?;
        Err(failure.said())
    }

    /// Reads or hashes objects, with a bar on a terminal.
    pub(super) fn watch_objects<T>(&self, work: impl FnOnce(&Tally) -> T) -> T {
        progress::watch_objects(&self.output, work)
    }

    /// Asks for the word `yes`.
    pub(super) fn confirm(&self, prompt: &str) -> Answer {
        if self.asks {
            confirm(prompt)
        } else {
            Answer::NoTerminal
        }
    }

    /// Asks for a line; none at the end of input, or when nobody can be asked.
    pub(super) fn ask(&self, prompt: &str) -> Option<String> {
        self.may_ask().then(|| ask(prompt)).flatten()
    }

    /// Whether the answer is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.output.is_json()
    }

    /// Whether the user said `--force`.
    pub(super) fn is_forced(&self) -> bool {
        self.wide == WideWorkTree::Accept
    }

    /// Whether somebody is there who can be asked.
    pub(super) fn may_ask(&self) -> bool {
        self.asks && is_possible()
    }

    /// How stderr looks.
    pub(super) fn stderr(&self) -> &crate::render::Style {
        self.output.stderr()
    }

    /// How much is said.
    pub(super) fn verbosity(&self) -> Verbosity {
        self.output.verbosity()
    }

    /// Does work that may take long, with signs of life on a terminal.
    pub(super) fn watch<T>(&self, work: impl FnOnce(&Progress) -> T) -> T {
        progress::watch(&self.output, work)
    }

    /// As [`Context::watch`], for work that looks at files and then changes them.
    pub(super) fn watch_walk<T>(&self, marks: &Marks, work: impl FnOnce(&Progress) -> T) -> T {
        progress::watch_walk(&self.output, Some(marks), work)
    }

    /// Notes a failed operation in the session's log before it is reported.
    pub(super) fn logged<T>(
        &self,
        workspace: &Workspace,
        operation: &str,
        step: Option<u32>,
        result: Result<T, Error>,
    ) -> Result<T, Failure> {
        result.map_err(|error| {
            workspace.note_failure(self.session.as_ref(), operation, step, &error);
            error.into()
        })
    }
}

/// The directory to begin in.
fn start(directory: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let here = env::current_dir().map_err(|error| {
        let message = format!("cannot tell the current directory: {error}");
        Failure::new("no-directory", Exit::Failure, message)
    })?;
    let Some(directory) = directory else {
        return Ok(here);
    };
    let start = here.join(&directory);
    if start.is_dir() {
        return Ok(start);
    }
    let message = format!("there is no directory {}", show(&directory));
    Err(Failure::new("no-directory", Exit::NotFound, message)
        .hint("-C takes a directory that exists, relative to where you are"))
}

fn clock() -> Result<Clock, Failure> {
    let Some(text) = env::var_os(TEST_NOW).filter(|text| !text.is_empty()) else {
        return Ok(Clock::System);
    };
    let text = text.to_string_lossy();
    match DateTime::parse_from_rfc3339(&text) {
        Ok(now) => Ok(Clock::Fixed(now.to_utc())),
        Err(error) => {
            let message = format!("{TEST_NOW}: {text:?} is not a time: {error}");
            Err(Failure::new("usage", Exit::Usage, message))
        }
    }
}

/// A path for a message; what could be hostile in it is escaped when the message is shown.
pub(super) fn show(path: &Path) -> String {
    path.display().to_string()
}
