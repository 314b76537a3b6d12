//! How a session is shown.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::{next_label, progress_label, title};
use super::note::{self, Note};
use super::style::Style;
use super::time::seconds;
use crate::engine::session_info::SessionInfoReport;

impl Render for SessionInfoReport {
    fn text(&self, style: &Style) -> String {
        let session = &self.session;
        let counts = &self.counts;
        let here = if session.active_here {
            " (this work tree's)"
        } else {
            ""
        };
        let mut out = title(style, &format!("SESSION - {}", session.session_id));
        let _ = writeln!(out, "Topic:       {}", escape(&session.topic));
        let _ = writeln!(out, "Workflow:    {}", escape(&session.workflow));
        let _ = writeln!(out, "Status:      {}{here}", session.status);
        for change in &self.status_history {
            let reason = match change.reason.as_str() {
                "" => String::new(),
                reason => format!(": {}", escape(reason)),
            };
            let text = format!("{} {}{reason}", seconds(change.timestamp), change.status);
            let _ = writeln!(
                out,
                "             {}",
                style.cut(&text, style.width.saturating_sub(13))
            );
        }
        let _ = writeln!(out, "Created:     {}", seconds(session.created_at));
        let _ = writeln!(out, "Changed:     {}", seconds(session.updated_at));
        let _ = writeln!(out, "Progress:    {}", progress_label(session));
        if let Some(next) = next_label(session) {
            let _ = writeln!(out, "Next:        {next}");
        }
        let current = session.current_checkpoint.as_ref();
        let _ = writeln!(
            out,
            "Current:     {}",
            current.map_or("none", |id| id.as_str())
        );
        let triggers: Vec<String> = counts
            .by_trigger
            .iter()
            .map(|(trigger, count)| format!("{count} {trigger}"))
            .collect();
        let _ = writeln!(
            out,
            "Checkpoints: {} ({} valid, {} invalid, {} pruned)",
            counts.checkpoints, counts.valid, counts.invalid, counts.pruned
        );
        if !triggers.is_empty() {
            let _ = writeln!(out, "             {}", triggers.join(", "));
        }
        let _ = writeln!(out, "Rollbacks:   {}", counts.rollbacks);
        for rollback in &self.rollback_history {
            let undone = if rollback.undone_at.is_some() {
                ", undone"
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "             {} {} to {}{undone}",
                seconds(rollback.timestamp),
                rollback.id,
                rollback.to_checkpoint
            );
        }
        let _ = writeln!(out, "Failures:    {}", counts.errors);
        if let Some(error) = &self.last_error {
            let text = format!(
                "{} {}: {}",
                seconds(error.timestamp),
                escape(&error.operation),
                escape(&error.error)
            );
            let _ = writeln!(
                out,
                "             {}",
                style.cut(&text, style.width.saturating_sub(13))
            );
        }
        let _ = writeln!(out, "Files:       {}", escape(&self.places.directory));
        let _ = writeln!(out, "Refs:        {}", self.places.refs);
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let warnings = note::warnings(&self.warnings);
        warnings
            .chain(note::unfinished(self.unfinished.as_ref()))
            .collect()
    }
}
