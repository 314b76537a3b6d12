//! A pager between a long answer and somebody at a terminal.

use std::env;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::Stdio;

use super::error::Failure;
use super::output;

/// The pager when none is named.
const USUAL: &str = "less";
/// What the shell exits with when it finds no such program.
const NOT_FOUND: i32 = 127;

/// Whether a pager may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paging {
    /// On a terminal.
    Allowed,
    /// Never.
    Off,
}

/// The pager that the environment asks for: `GO_TEAM_PAGER`, then `PAGER`, then `less`. An empty one, and `cat`, mean
/// none; so does a terminal that can only be written to.
pub(super) fn wanted() -> Option<OsString> {
    if env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return None;
    }
    let named = env::var_os("GO_TEAM_PAGER").or_else(|| env::var_os("PAGER"));
    let pager = named.unwrap_or_else(|| USUAL.into());
    let is_none = pager.is_empty() || pager == "cat";
    (!is_none).then_some(pager)
}

/// Shows text in a pager; prints it when there is no such program. A pager that is left early is no failure.
pub(super) fn show(pager: &OsString, text: &[u8]) -> Result<(), Failure> {
    let mut command = gix_command::prepare(pager)
        .with_shell()
        .stdin(Stdio::piped())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit());
    // Colours pass, a short text is printed and left, the screen is not cleared.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if env::var_os(name).is_none() {
            command = command.env(name, value);
        }
    }
    let Ok(mut child) = command.spawn() else {
        return output::print_bytes(text);
    };
    if let Some(mut stdin) = child.stdin.take() {
        // Whoever has seen enough closes the pager.
        let _ = stdin.write_all(text);
    }
    match child.wait() {
        Ok(status) if status.code() == Some(NOT_FOUND) => output::print_bytes(text),
        _ => Ok(()),
    }
}
