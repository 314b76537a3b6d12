//! How cleaning up is shown, and asked for.

use std::fmt::Write as _;

use super::Render;
use super::ending::checkpoints;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::cleanup::{CleanedSession, CleanupReport};

fn line(session: &CleanedSession) -> String {
    format!(
        "{} ({}, {})",
        session.session_id,
        escape(&session.topic),
        checkpoints(session.checkpoint_count)
    )
}

/// What is asked before sessions are removed.
#[must_use]
pub fn cleanup_prompt(plan: &CleanupReport) -> String {
    let mut out =
        String::from("These sessions will be removed for good, with all their checkpoints:\n");
    for session in &plan.removed {
        let _ = writeln!(out, "  {}: {}", line(session), session.reason);
    }
    out.push_str("Nothing can bring them back.\nType yes to go on: ");
    out
}

impl Render for CleanupReport {
    fn text(&self, style: &Style) -> String {
        let mut out = String::new();
        for session in &self.removed {
            if style.verbosity == Verbosity::Quiet {
                let _ = writeln!(out, "{}", session.session_id);
                continue;
            }
            let head = if self.dry_run {
                "Would remove".to_owned()
            } else {
                format!(
                    "{} Removed",
                    style.paint(Role::Good, style.mark(Mark::Tick))
                )
            };
            let _ = writeln!(out, "{head} {}\n  {}", line(session), session.reason);
        }
        if style.verbosity == Verbosity::Quiet {
            return out;
        }
        for session in &self.kept {
            if style.verbosity == Verbosity::Verbose || session.reason.holds_back() {
                let _ = writeln!(out, "Kept {}\n  {}", line(session), session.reason);
            }
        }
        if self.removed.is_empty() {
            out.push_str("Nothing to remove.\n");
        }
        let count = self.kept.len() + self.damaged.len();
        let plural = if count == 1 { "" } else { "s" };
        let tense = if self.dry_run { "would be" } else { "are" };
        let _ = writeln!(out, "{count} session{plural} {tense} left");
        out.push_str(&commands(&["sessions"], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::recovered(&self.recovered).collect();
        notes.extend(self.damaged.iter().map(|damaged| {
            Note::warning(format!(
                "session {} cannot be read, and stays: {}",
                escape(&damaged.name),
                escape(&damaged.error)
            ))
        }));
        notes
    }
}
