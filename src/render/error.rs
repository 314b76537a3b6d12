//! How a failure is shown.

use std::fmt::Write as _;

use serde::Serialize;

use super::escape::escape;
use super::json;
use super::style::{Role, Style};

/// What is said about a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorView {
    /// What kind of failure, for programs; does not change between versions.
    pub kind: &'static str,
    /// What went wrong and why.
    pub message: String,
    /// What to type next.
    pub hints: Vec<String>,
}

impl ErrorView {
    /// For people; goes to stderr.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let word = style.paint(Role::Bad, "error:");
        let mut out = format!("{word} {}\n", escape(&self.message));
        for hint in &self.hints {
            let word = style.paint(Role::Here, "hint:");
            let _ = writeln!(out, "{word} {}", escape(hint));
        }
        out
    }

    /// For programs; goes to stdout.
    #[must_use]
    pub fn json(&self, command: Option<&str>) -> String {
        json::failure(command, self)
    }
}
