//! How the end of a session is shown, and its deletion asked for.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use super::time::seconds;
use crate::engine::ending::{EndReport, NoCheckpoint};
use crate::engine::summary::SessionSummary;
use crate::model::SessionStatus;

/// What is asked before sessions are removed.
#[must_use]
pub fn removal_prompt(sessions: &[&SessionSummary]) -> String {
    let mut out = String::from("This will be removed for good, with all its checkpoints:\n");
    for session in sessions {
        let _ = writeln!(
            out,
            "  {} ({}, {}, changed {}, {})",
            session.session_id,
            escape(&session.topic),
            session.status,
            seconds(session.updated_at),
            checkpoints(session.checkpoint_count)
        );
    }
    out.push_str("Nothing can bring it back.\nType yes to go on: ");
    out
}

/// `1 checkpoint`, `2 checkpoints`.
pub(super) fn checkpoints(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} checkpoint{plural}")
}

impl Render for EndReport {
    fn text(&self, style: &Style) -> String {
        let session = &self.session;
        if style.verbosity == Verbosity::Quiet {
            return format!("{}\n", session.session_id);
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let id = &session.session_id;
        let mut out = if self.changed {
            format!("{tick} Session {}: {id}\n", session.status)
        } else {
            format!("Session {id} is {} already\n", session.status)
        };
        if !self.reason.is_empty() {
            let _ = writeln!(out, "  Reason: {}", escape(&self.reason));
        }
        if let Some(last) = &self.checkpoint {
            let entry = &last.checkpoint.entry;
            let _ = writeln!(out, "  Last checkpoint: {}", entry.id);
        } else {
            let why = match self.no_checkpoint {
                Some(NoCheckpoint::Unchanged) => "nothing changed since the current checkpoint",
                Some(NoCheckpoint::SwitchedOff) => "triggers.session_end is off",
                None => "",
            };
            if !why.is_empty() {
                let _ = writeln!(out, "  Last checkpoint: none, {why}");
            }
        }
        if let Some(removed) = &self.removed {
            let _ = writeln!(out, "  Deleted: {} and all it held", refs(removed.refs));
            return out;
        }
        let _ = writeln!(out, "  Kept: {}", checkpoints(session.checkpoint_count));
        if let (SessionStatus::Failed, Some(directory)) = (session.status, &self.directory) {
            let _ = writeln!(out, "  Archived: {}", escape(directory));
        }
        let list = format!("cp-list --session {id}");
        let resume = format!("resume {id}");
        out.push_str(&commands(&[&list, &resume, "start TOPIC"], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::recovered(&self.recovered).collect();
        if let Some(last) = &self.checkpoint {
            notes.extend(last.skipped.iter().map(|skipped| {
                let reason = skipped.reason.as_str();
                Note::warning(format!("skipped {}: {reason}", escape(&skipped.path)))
            }));
            if !last.pruned.is_empty() {
                let count = checkpoints(last.pruned.len());
                notes.push(Note::info(format!(
                    "Pruned by the retention policy: {count}"
                )));
            }
        }
        notes.extend(note::warnings(&self.warnings));
        notes
    }
}

/// `1 ref`, `2 refs`.
fn refs(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} ref{plural}")
}
