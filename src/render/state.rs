//! How the live state is shown.

use serde_json::Value;

use super::Render;
use super::escape::escape;
use super::json;
use super::note::{self, Note};
use super::style::{Mark, Reader, Role, Style, Verbosity};
use crate::engine::state::{SetReport, StateReport, ValueReport};

impl Render for StateReport {
    fn text(&self, _: &Style) -> String {
        format!("{}\n", json::pretty(&self.state))
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}

impl Render for ValueReport {
    /// A text stands for itself, so that a script can use it; anything else is JSON.
    fn text(&self, style: &Style) -> String {
        match (&self.value, style.reader) {
            (Value::String(text), Reader::Program) => format!("{text}\n"),
            (Value::String(text), Reader::Terminal) => format!("{}\n", escape(text)),
            (value, _) => format!("{}\n", json::pretty(value)),
        }
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}

impl Render for SetReport {
    fn text(&self, style: &Style) -> String {
        if style.verbosity == Verbosity::Quiet {
            return String::new();
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let line = |path: &str, value: &Value| {
            let text = format!("  {} = {}", escape(path), json::compact(value));
            format!("{}\n", style.cut(&text, style.width))
        };
        let lines: String = self
            .set
            .iter()
            .map(|one| line(&one.path, &one.value))
            .collect();
        format!("{tick} State of {} set:\n{lines}", self.session_id)
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        note::recovered(&self.recovered).collect()
    }
}
