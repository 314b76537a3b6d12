//! Asking before something is done that changes the user's files.

use std::io::{self, BufRead as _, Write as _};

use super::context::Context;
use super::{Exit, Failure};
use crate::render::Render;

/// What the user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The word `yes`.
    Yes,
    /// Anything else, or nothing.
    No,
}

/// Shows what is about to happen and waits for the word. Only for a terminal.
pub(super) fn ask(context: &Context, view: &impl Render) -> Result<Answer, Failure> {
    let failed = |error: io::Error| {
        let message = format!("cannot ask on the terminal: {error}");
        Failure::new("no-terminal", Exit::Failure, message)
    };
    let mut stderr = io::stderr().lock();
    let text = view.text(context.stderr());
    stderr.write_all(text.as_bytes()).map_err(failed)?;
    stderr
        .write_all(b"Type 'yes' to go on: ")
        .and_then(|()| stderr.flush())
        .map_err(failed)?;
    let mut line = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut line);
    if read.map_err(failed)? == 0 {
        // The end of input left the cursor behind the question.
        let _ = stderr.write_all(b"\n");
    }
    let is_yes = line.trim_ascii().eq_ignore_ascii_case(b"yes");
    Ok(if is_yes { Answer::Yes } else { Answer::No })
}
