//! Asking for the word `yes` before something is changed or taken away.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use super::output::complain;

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// `yes`, in any case of its letters.
    Confirmed,
    /// Anything else, the end of input included.
    Cancelled,
    /// There is nobody to ask.
    NoTerminal,
}

/// Whether somebody sits at a terminal.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, if somebody sits at a terminal.
pub(super) fn confirm(prompt: &str) -> Answer {
    if !is_possible() {
        return Answer::NoTerminal;
    }
    match ask(prompt) {
        Some(answer) if answer.trim().eq_ignore_ascii_case("yes") => Answer::Confirmed,
        _ => Answer::Cancelled,
    }
}

/// Asks for a line; none at the end of input.
pub(super) fn ask(prompt: &str) -> Option<String> {
    complain(prompt);
    let mut line = Vec::new();
    // Nobody types a longer answer.
    let read = io::stdin().lock().take(1024).read_until(b'\n', &mut line);
    if !line.ends_with(b"\n") {
        // The end of input left the cursor behind the question.
        complain("\n");
    }
    let is_end = line.is_empty() || read.is_err();
    (!is_end).then(|| String::from_utf8_lossy(&line).into_owned())
}
