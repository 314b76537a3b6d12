//! What a command works with: the surroundings it was called in, and the streams it answers on.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use chrono::DateTime;

use super::confirm::{Answer, confirm};
use super::error::{Exit, Failure};
use super::global::GlobalArgs;
use super::output::Output;
use super::progress;
use crate::engine::open::{OpenOptions, WideWorkTree, open};
use crate::engine::{Clock, Error, Progress, Tally, Workspace};
use crate::model::SessionId;
use crate::render::Render;
use crate::render::style::Verbosity;

/// Fixes the clock, as RFC 3339; for tests.
const TEST_NOW: &str = "GO_TEAM_TEST_NOW";

/// What a command works with.
pub(super) struct Context {
    /// The session asked for.
    pub session: Option<SessionId>,
    /// Where relative paths begin.
    pub start: PathBuf,
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
        let session = global.session.or_else(of_environment);
        let session = session.filter(|id| !id.is_empty());
        let session = session.map(|id| SessionId::parse(&id)).transpose();
        let wide = if global.force {
            WideWorkTree::Accept
        } else {
            WideWorkTree::Refuse
        };
        Ok(Self {
            session: session.map_err(Failure::from)?,
            start: start(global.directory)?,
            output,
            wide,
            clock: clock()?,
            asks: !global.no_input && !global.json,
        })
    }

    /// Opens the repository and go-team's files.
    pub(super) fn open(&self) -> Result<Workspace, Failure> {
        Ok(open(OpenOptions {
            start: self.start.clone(),
            home: env::var_os("HOME").filter(|home| !home.is_empty()),
            xdg_config_home: env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()),
            environment: env::vars_os().collect::<Vec<(OsString, OsString)>>(),
            wide: self.wide,
            clock: self.clock,
        })?)
    }

    /// Prints a report.
    pub(super) fn answer(&self, report: &impl Render) -> Result<(), Failure> {
        self.output.answer(report)
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

    /// Whether the answer is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.output.is_json()
    }

    /// How much is said.
    pub(super) fn verbosity(&self) -> Verbosity {
        self.output.verbosity()
    }

    /// Does work that may take long, with signs of life on a terminal.
    pub(super) fn watch<T>(&self, work: impl FnOnce(&Progress) -> T) -> T {
        progress::watch(&self.output, work)
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
