//! How an import from another program is shown: what came, what is there already, what could not come.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::show::count;
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::import_from::{ImportFromReport, ImportedSession};

/// How many remarks are shown unless more is asked for.
const FEW: usize = 20;

impl Render for ImportFromReport {
    fn text(&self, style: &Style) -> String {
        if style.verbosity == Verbosity::Quiet {
            let ids = self.sessions.iter();
            let ids: Vec<&str> = ids
                .flat_map(|one| [one.session_id.as_str(), "\n"])
                .collect();
            return ids.concat();
        }
        let mut out = String::new();
        for session in &self.sessions {
            self.session(&mut out, session, style);
        }
        if let (Some(last), false) = (self.sessions.last(), self.dry_run) {
            let list = format!("cp-list --session {}", last.session_id);
            let info = format!("session-info {}", last.session_id);
            out.push_str(&commands(&[&list, &info], style));
        }
        out
    }

    fn notes(&self, style: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::recovered(&self.recovered).collect();
        let most = if style.verbosity == Verbosity::Verbose {
            usize::MAX
        } else {
            FEW
        };
        for remark in self.remarks.iter().take(most) {
            let (path, reason) = (escape(&remark.path), escape(&remark.reason));
            notes.push(Note::info(format!("{path}: {reason}")));
        }
        if self.remarks.len() > most {
            let more = self.remarks.len() - most;
            notes.push(Note::info(format!(
                "and {more} more remarks: -v shows them"
            )));
        }
        for present in &self.present {
            notes.push(Note::warning(format!(
                "{}; it was left alone, --as NAME brings it in once more",
                escape(&present.reason)
            )));
        }
        for broken in &self.broken {
            let (path, reason) = (escape(&broken.path), escape(&broken.reason));
            notes.push(Note::warning(format!("not imported: {path}: {reason}")));
        }
        notes
    }
}

impl ImportFromReport {
    fn session(&self, out: &mut String, session: &ImportedSession, style: &Style) {
        let id = &session.session_id;
        if self.dry_run {
            let _ = writeln!(out, "Session that would be imported: {id}");
        } else {
            let tick = style.paint(Role::Good, style.mark(Mark::Tick));
            let _ = writeln!(out, "{tick} Session imported: {id}");
        }
        let with_files = session.checkpoints.iter().filter(|one| one.files.is_some());
        let files: usize = session.checkpoints.iter().filter_map(|one| one.files).sum();
        let contents = match with_files.count() {
            0 => "without files".to_owned(),
            some => format!("{some} of them with files ({files} in all)"),
        };
        let _ = writeln!(
            out,
            "  Topic: {}\n  Workflow: {}\n  Status: {}\n  Scheme: {}\n  Contents: {}, {contents}",
            escape(&session.topic),
            escape(&session.workflow),
            session.status,
            self.scheme.as_str(),
            count(session.checkpoints.len(), "checkpoint"),
        );
        if style.verbosity == Verbosity::Verbose {
            for one in &session.checkpoints {
                let _ = writeln!(out, "    {} from {}", one.id, escape(&one.source));
            }
        }
    }
}
