//! Asking for the word `yes` before something is taken away.

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

/// Asks, if somebody sits at a terminal.
pub(super) fn confirm(prompt: &str) -> Answer {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Answer::NoTerminal;
    }
    complain(prompt);
    let mut line = String::new();
    // Nobody types a longer yes.
    let read = io::stdin().lock().take(1024).read_line(&mut line);
    if read.is_ok() && line.trim().eq_ignore_ascii_case("yes") {
        Answer::Confirmed
    } else {
        Answer::Cancelled
    }
}
