//! How the beginning of a session is shown.

use std::fmt::Write as _;

use super::escape::escape;
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use super::{Render, layout::step_label};
use crate::engine::start::StartReport;

impl Render for StartReport {
    fn text(&self, style: &Style) -> String {
        let session = &self.session;
        if style.verbosity == Verbosity::Quiet {
            return format!("{}\n", session.session_id);
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let mut out = format!(
            "{tick} Session started: {}\n  Topic: {}\n  Workflow: {}\n",
            session.session_id,
            escape(&session.topic),
            escape(&session.workflow)
        );
        if let Some(next) = session
            .next_step
            .as_ref()
            .filter(|next| !next.name.is_empty())
        {
            let _ = writeln!(out, "  First step: {}", step_label(next));
        }
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::recovered(&self.recovered).collect();
        notes.extend(note::warnings(&self.warnings));
        if let Some(left) = &self.left {
            notes.push(Note::info(format!(
                "Left session {left}: it stays as it is; go on in it with --session {left}"
            )));
        }
        notes
    }
}
