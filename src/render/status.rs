//! How the answer to "where am I" is shown.

use std::fmt::Write as _;

use super::Render;
use super::create::{counts, total};
use super::escape::escape;
use super::layout::{commands, progress_line};
use super::list::{Wording, status};
use super::note::{self, Note};
use super::style::{Role, Style, Verbosity};
use super::time::seconds;
use crate::engine::status::{Possibility, StatusReport};
use crate::model::SessionStatus;

impl Render for StatusReport {
    fn text(&self, style: &Style) -> String {
        let repository = &self.repository;
        let head = match (&repository.branch, &repository.head) {
            (Some(branch), Some(head)) => format!("branch {} at {}", escape(branch), head.short()),
            (Some(branch), None) => format!("branch {}", escape(branch)),
            (None, Some(head)) => head.short(),
            (None, None) => "nowhere".to_owned(),
        };
        let mut out = format!(
            "Repository:  {}\nHEAD:        {head}\n",
            escape(&repository.work_tree)
        );
        for note in &repository.notes {
            let _ = writeln!(out, "             {}", escape(note));
        }
        let Some(session) = &self.session else {
            out.push_str("Session:     none yet\n");
            out.push_str(&commands(&["start TOPIC", "cp-create"], style));
            return out;
        };
        let _ = writeln!(
            out,
            "Session:     {} ({}, workflow {})",
            session.session_id,
            session.status,
            escape(&session.workflow)
        );
        let _ = writeln!(out, "Topic:       {}", escape(&session.topic));
        let _ = writeln!(out, "Progress:    {}", progress_line(session));
        let Some(current) = &self.current else {
            out.push_str("Checkpoint:  none yet\n");
            out.push_str(&commands(&["cp-create", "session-info"], style));
            return out;
        };
        let _ = writeln!(
            out,
            "Checkpoint:  {} ({}, {})",
            current.entry.id,
            escape(&current.entry.name),
            seconds(current.entry.timestamp)
        );
        if !current.entry.valid {
            let (role, text) = status(current, Wording::Full, style);
            let _ = writeln!(out, "             {}", style.paint(role, &text));
        }
        let _ = writeln!(out, "Files:       {}", self.changes());
        if style.verbosity == Verbosity::Verbose {
            self.list_changes(style, &mut out);
        }
        for (name, possibility) in [("Rollback:", &self.rollback), ("Resume:", &self.resume)] {
            let Some(Possibility { possible, detail }) = possibility else {
                continue;
            };
            let (role, word) = if *possible {
                (Role::Good, "possible")
            } else {
                (Role::Warning, "not now")
            };
            let word = style.paint(role, word);
            let _ = writeln!(out, "{name:<13}{word}: {}", escape(detail));
        }
        let has_changed = self
            .files
            .as_ref()
            .is_some_and(|files| total(files.totals) > 0);
        let names: &[&str] = match (has_changed, &self.unfinished) {
            (_, Some(_)) => &["doctor", "cp-list", "cp-show current"],
            (true, None) => &["cp-diff current", "cp-create", "cp-list"],
            (false, None) => &["cp-list", "cp-show current", "rollback N"],
        };
        let first = (session.status == SessionStatus::Interrupted).then_some("resume");
        let names: Vec<&str> = first.into_iter().chain(names.iter().copied()).collect();
        out.push_str(&commands(&names, style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::warnings(&self.warnings).collect();
        notes.extend(self.skipped.iter().map(|skipped| {
            let reason = skipped.reason.as_str();
            Note::warning(format!(
                "a checkpoint would skip {}: {reason}",
                escape(&skipped.path)
            ))
        }));
        notes.extend(note::unfinished(self.unfinished.as_ref()));
        notes
    }
}

impl StatusReport {
    fn changes(&self) -> String {
        match &self.files {
            None => "not compared".to_owned(),
            Some(files) if total(files.totals) == 0 => "nothing changed since".to_owned(),
            Some(files) => format!(
                "{} changed since ({})",
                total(files.totals),
                counts(files.totals)
            ),
        }
    }

    fn list_changes(&self, style: &Style, out: &mut String) {
        let Some(files) = &self.files else {
            return;
        };
        for (role, sign, paths) in [
            (Role::Good, '+', &files.created),
            (Role::Warning, '~', &files.modified),
            (Role::Bad, '-', &files.deleted),
        ] {
            for path in paths {
                let line = style.paint(role, &format!("{sign} {}", escape(path)));
                let _ = writeln!(out, "             {line}");
            }
        }
        if files.truncated {
            out.push_str("             … and more\n");
        }
    }
}
