//! How an import is shown: which session it brought, and from where.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::show::count;
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::import::ImportReport;

impl Render for ImportReport {
    fn text(&self, style: &Style) -> String {
        let session = &self.session_id;
        if style.verbosity == Verbosity::Quiet {
            return format!("{session}\n");
        }
        let mut out = if self.dry_run {
            format!("Session that would be imported: {session}\n")
        } else {
            let tick = style.paint(Role::Good, style.mark(Mark::Tick));
            format!("{tick} Session imported: {session}\n")
        };
        if let Some(from) = &self.renamed_from {
            let _ = writeln!(out, "  Renamed from: {from}");
        }
        let _ = writeln!(
            out,
            "  Topic: {}\n  Workflow: {}\n  Status: {}",
            escape(&self.topic),
            escape(&self.workflow),
            self.status
        );
        let _ = writeln!(
            out,
            "  File: {}\n  Size: {} bytes\n  SHA-256: {}",
            escape(&self.file),
            self.size,
            self.sha256
        );
        let _ = writeln!(
            out,
            "  Contents: {}, {}",
            count(self.checkpoints.len(), "checkpoint"),
            count(self.objects, "git object")
        );
        let made = match (self.refs_created, self.refs_kept) {
            (made, 0) => count(made, "new one"),
            (made, kept) => format!("{}, {kept} there already", count(made, "new one")),
        };
        let _ = writeln!(out, "  Refs: {made}");
        let list = format!("cp-list --session {session}");
        let show = format!("cp-show latest --session {session}");
        let next = if self.dry_run {
            let rename = self.renamed_from.as_ref();
            let rename = rename.map_or(String::new(), |_| format!(" --as {session}"));
            vec![format!("cp-import {}{rename}", escape(&self.file))]
        } else {
            vec![list, show]
        };
        let next: Vec<&str> = next.iter().map(String::as_str).collect();
        out.push_str(&commands(&next, style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::recovered(&self.recovered).collect();
        if !self.git_missing.is_empty() {
            let missing = count(self.git_missing.len(), "checkpoint");
            let from = self.renamed_from.as_ref().unwrap_or(&self.session_id);
            let mut text = format!(
                "git data is missing for {missing}: state and records are there, files are not, \
                 and rollback to them is not possible"
            );
            if self.renamed_from.is_none() {
                let _ = write!(
                    text,
                    "; before importing, git fetch OTHER-CLONE 'refs/go-team/{from}/*:refs/go-team/{from}/*' gets it"
                );
            }
            notes.push(Note::warning(text));
        }
        notes
    }
}
