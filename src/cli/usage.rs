//! Arguments that cannot be understood.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::error::{Exit, Failure};
use super::output::{self, Output};
use crate::render::escape::escape_lines;
use crate::render::style::Colour;

/// Prints help or the error, as text or as JSON.
pub(super) fn report(error: &clap::Error, args: &[OsString]) -> Exit {
    let asks_for_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asks_for_help {
        return match output::print(&error.render().to_string()) {
            Ok(()) => Exit::Ok,
            Err(failure) => failure.exit,
        };
    }
    let output = Output::of_raw_arguments(args);
    if output.is_json() {
        output.failure(&failure(error));
        return Exit::Usage;
    }
    // What was typed is repeated in the message, so only clap's own escape codes may pass.
    let plain = escape_lines(&error.render().to_string());
    let is_harmless = plain == error.render().to_string();
    if is_harmless && output.stderr().colour == Colour::On {
        output::complain(&error.render().ansi().to_string());
    } else {
        output::complain(&plain);
    }
    Exit::Usage
}

/// What clap found, as any other failure.
pub(super) fn failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let words: Vec<&str> = message.split_whitespace().collect();
    let mut failure = Failure::new("usage", Exit::Usage, words.join(" "));
    for (kind, value) in error.context() {
        let suggested = match kind {
            ContextKind::SuggestedSubcommand
            | ContextKind::SuggestedArg
            | ContextKind::SuggestedValue => "did you mean",
            ContextKind::ValidValue => "one of",
            _ => continue,
        };
        let values = match value {
            ContextValue::String(value) => value.clone(),
            ContextValue::Strings(values) => values.join(", "),
            _ => continue,
        };
        if !values.is_empty() {
            failure = failure.hint(format!("{suggested} {values}"));
        }
    }
    failure.hint("go-team --help")
}
