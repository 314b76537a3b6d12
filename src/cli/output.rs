//! The two streams: answers on stdout, everything else on stderr.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};

use super::error::{Exit, Failure};
use super::global::{GlobalArgs, When};
use super::pager::{self, Paging};
use crate::render::json;
use crate::render::style::{Charset, Colour, Reader, Style, Verbosity};
use crate::render::{Level, Note, Render};

/// How wide text is when there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;

/// Where and how things are printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    command: Option<&'static str>,
    format: Format,
    /// How stdout looks.
    stdout: Style,
    /// How stderr looks.
    stderr: Style,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

impl Output {
    /// What the arguments ask for.
    pub(super) fn new(global: &GlobalArgs, command: &'static str) -> Self {
        let verbosity = match (global.quiet, global.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let format = if global.json {
            Format::Json
        } else {
            Format::Text
        };
        Self {
            command: Some(command),
            format,
            stdout: style(&io::stdout(), global.color, verbosity),
            stderr: style(&io::stderr(), global.color, verbosity),
        }
    }

    /// What can be told of arguments that cannot be parsed.
    pub(super) fn of_raw_arguments(args: &[OsString]) -> Self {
        let before_words = args.iter().take_while(|arg| *arg != "--");
        let mut before_words = before_words.skip(1);
        let format = if before_words.any(|arg| arg == "--json") {
            Format::Json
        } else {
            Format::Text
        };
        Self {
            command: None,
            format,
            stdout: style(&io::stdout(), When::Auto, Verbosity::Normal),
            stderr: style(&io::stderr(), When::Auto, Verbosity::Normal),
        }
    }

    /// Whether the command is one of these.
    pub(super) fn is_of(&self, commands: &[&str]) -> bool {
        self.command
            .is_some_and(|command| commands.contains(&command))
    }

    /// Says something beside the answer.
    pub(super) fn note(&self, note: &Note) {
        if !self.is_json() {
            complain(&note.line(&self.stderr));
        }
    }

    /// Whether answers are JSON.
    pub(super) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// How much is said.
    pub(super) fn verbosity(&self) -> Verbosity {
        self.stdout.verbosity
    }

    /// Whether somebody watches who wants to see progress.
    pub(super) fn shows_progress(&self) -> bool {
        self.stderr.reader == Reader::Terminal
            && self.stderr.verbosity > Verbosity::Quiet
            && self.format == Format::Text
    }

    /// How stderr looks.
    pub(super) fn stderr(&self) -> &Style {
        &self.stderr
    }

    /// Whether somebody would see the answer as it is.
    pub(super) fn answers_a_terminal(&self) -> bool {
        self.stdout.reader == Reader::Terminal
    }

    /// Prints a report on stderr, because the answer was something else.
    pub(super) fn remark(&self, report: &impl Render) {
        self.remarks(report);
        if self.stderr.verbosity > Verbosity::Quiet {
            complain(&report.text(&self.stderr));
        }
    }

    fn remarks(&self, report: &impl Render) {
        for note in report.notes(&self.stderr) {
            if note.level == Level::Warning || self.stderr.verbosity > Verbosity::Quiet {
                complain(&note.line(&self.stderr));
            }
        }
    }

    /// Prints an answer with the remarks beside it.
    pub(super) fn answer(&self, report: &impl Render) -> Result<(), Failure> {
        self.answer_with(report, Paging::Off, |style| report.text(style).into_bytes())
    }

    /// As [`Output::answer`], with a text that may be anything, and on a terminal through a pager.
    pub(super) fn answer_with(
        &self,
        report: &impl Render,
        paging: Paging,
        text: impl FnOnce(&Style) -> Vec<u8>,
    ) -> Result<(), Failure> {
        if self.is_json() {
            let command = self.command.unwrap_or_default();
            return print(&json::success(command, report));
        }
        self.remarks(report);
        let text = text(&self.stdout);
        let may_page = paging == Paging::Allowed && self.stdout.reader == Reader::Terminal;
        match pager::wanted().filter(|_| may_page && !text.is_empty()) {
            Some(pager) => pager::show(&pager, &text),
            None => print_bytes(&text),
        }
    }

    /// Prints the answer of a check that found something, with the remarks beside it.
    pub(super) fn verdict(&self, report: &impl Render, failure: &Failure) -> Result<(), Failure> {
        if self.is_json() {
            let command = self.command.unwrap_or_default();
            return print(&json::verdict(command, report, &failure.view));
        }
        self.answer(report)
    }

    /// Prints a failure: on stderr, or as the JSON answer.
    pub(super) fn failure(&self, failure: &Failure) {
        if self.is_json() {
            // The exit code says it as well, should stdout be gone.
            let _ = print(&failure.view.json(self.command));
        } else {
            complain(&failure.view.text(&self.stderr));
        }
    }
}

/// Writes to stdout. A reader that has gone away had enough; any other trouble is a failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// As [`print`], for what may be no text.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("cannot write the answer to stdout: {error}");
            Err(Failure::new("output", Exit::Failure, message))
        }
        _ => Ok(()),
    }
}

/// Writes to stderr; there is nowhere to say that this failed.
pub(super) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn style(stream: &impl IsTerminal, when: When, verbosity: Verbosity) -> Style {
    let is_terminal = stream.is_terminal();
    let reader = if is_terminal {
        Reader::Terminal
    } else {
        Reader::Program
    };
    Style {
        width: width(is_terminal),
        colour: colour(when, is_terminal),
        charset: charset(),
        verbosity,
        reader,
    }
}

/// `COLUMNS` where it is set, else what the terminal says.
fn width(is_terminal: bool) -> usize {
    let columns = env::var("COLUMNS").ok();
    let columns = columns.and_then(|text| text.parse().ok());
    let columns = columns.filter(|columns| *columns > 0);
    columns
        .or_else(|| {
            let (width, _) = terminal_size::terminal_size().filter(|_| is_terminal)?;
            Some(usize::from(width.0))
        })
        .unwrap_or(DEFAULT_WIDTH)
}

fn colour(when: When, is_terminal: bool) -> Colour {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let is_dumb = set("TERM").is_some_and(|term| term == "dumb");
    let on = match when {
        When::Always => true,
        When::Never => false,
        When::Auto if set("NO_COLOR").is_some() => false,
        When::Auto => forced || (is_terminal && !is_dumb),
    };
    if on { Colour::On } else { Colour::Off }
}

/// Unicode, unless the locale names another character set or the terminal is known to be simple.
fn charset() -> Charset {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let names_other = |locale: &OsStr| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        let named = locale
            .split_once('.')
            .map(|(_, charset)| charset.to_owned());
        named.is_some_and(|charset| !charset.starts_with("utf-8") && !charset.starts_with("utf8"))
    };
    let is_dumb = set("TERM").is_some_and(|term| term == "dumb");
    if is_dumb || locale.is_some_and(|locale| names_other(&locale)) {
        Charset::Ascii
    } else {
        Charset::Unicode
    }
}
