//! What is said about a command that did not come to a good end, and the ways on.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use signal_hook::low_level::signal_name;

use super::child::{Ended, is_script_without_interpreter};
use crate::cli::create::PlaceArgs;
use crate::engine::run::{End, RunReport};
use crate::render::{commands_for, shell_line};

/// The longest command line that is repeated in a message.
const LONGEST: usize = 200;

/// A command as it is named in a sentence.
pub(super) fn named(command: &[OsString]) -> String {
    let line = shell_line(command);
    if line.chars().count() <= LONGEST {
        return line;
    }
    let short: String = line.chars().take(LONGEST).collect();
    format!("{short}…")
}

/// The name of the program alone: what is kept has no arguments in it, where people put passwords.
pub(super) fn program(command: &[OsString]) -> String {
    let program = command.first().map(Path::new);
    let name = program.and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// How a command that failed ended; the sentence begins with its name.
pub(super) fn failed(ended: &Ended) -> String {
    let why = ended.error.as_ref().map(|error| format!(": {error}"));
    let why = why.unwrap_or_default();
    match ended.end {
        End::Exited { code } => format!("failed with exit code {code}"),
        End::Killed { signal } => match signal_name(i32::from(signal)) {
            Some(text) => format!("was killed by {text}"),
            None => format!("was killed by signal {signal}"),
        },
        End::NotFound => format!("was not found{why}"),
        End::NotExecutable => format!("cannot be run{why}"),
    }
}

/// What to do about a command that never began; nothing is left of it, and nothing changed.
pub(super) fn hints_of(command: &[OsString], error: &io::Error) -> Vec<String> {
    let is_line = |word: &OsString| word.to_string_lossy().contains(' ');
    if is_script_without_interpreter(error) {
        let line = shell_line(command);
        vec![format!(
            "a script begins with a line such as #!/bin/sh; or: go-team run … -- sh {line}"
        )]
    } else if command.first().is_some_and(is_line) {
        let shell = ["sh".into(), "-c".into(), command[0].clone()];
        let line = shell_line(&shell);
        vec![format!(
            "the first word after -- is the program's name; a whole line is a shell's: go-team run … -- {line}"
        )]
    } else {
        vec!["the first word after -- is the program's name, looked for in PATH unless it has a / in it".to_owned()]
    }
}

/// The ways on: again, on without it, back.
pub(super) fn ways_on(report: &RunReport, place: &PlaceArgs) -> Vec<String> {
    let mut ways = Vec::new();
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let again = format!("go-team {}", shell_line(&words));
    ways.push(if again.chars().count() <= LONGEST {
        format!("to try again: {again}")
    } else {
        "to try again, run the same command".to_owned()
    });
    if report.session.is_none() {
        return ways;
    }
    if report.checkpoint.is_none() {
        let step = place.step.map(|step| format!(" --step {step}"));
        ways.push(format!(
            "to go on with what it left: go-team cp-create{}",
            step.unwrap_or_default()
        ));
    }
    let before = report.before.as_ref().map(|made| &made.record.id);
    if let Some(previous) = &report.previous {
        let id = before.unwrap_or(&previous.checkpoint.entry.id);
        ways.push(format!("to see what it changed: go-team cp-diff {id}"));
        let sound = previous.verified.then_some(id);
        let last_valid = previous.last_valid.as_ref().map(|last| &last.id);
        if let Some(back) = before.or(sound).or(last_valid) {
            ways.push(format!(
                "to go back to the last valid checkpoint: go-team rollback {back}"
            ));
        }
        ways.extend(commands_for(&previous.findings, None));
    } else if let Some(id) = before {
        ways.push(format!("to see what it changed: go-team cp-diff {id}"));
        ways.push(format!(
            "to go back to the last valid checkpoint: go-team rollback {id}"
        ));
    }
    ways
}
