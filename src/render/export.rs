//! How an export is shown: where it is, how to know it again, what is in it.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::show::count;
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::export::ExportReport;

impl Render for ExportReport {
    fn text(&self, style: &Style) -> String {
        let file = self.file.as_deref().map(escape);
        if style.verbosity == Verbosity::Quiet {
            return file.map_or(String::new(), |file| format!("{file}\n"));
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let mut out = format!("{tick} Session exported: {}\n", self.session_id);
        if let Some(file) = &file {
            let _ = writeln!(out, "  File: {file}");
        }
        let _ = writeln!(out, "  Size: {} bytes", self.size);
        let _ = writeln!(out, "  SHA-256: {}", self.sha256);
        out.push_str("  Contents:\n");
        let others = match self.left_out {
            0 => String::new(),
            left_out => format!(" of {}", self.checkpoints.len() + left_out),
        };
        let checkpoints = self.checkpoints.len();
        let plural = if checkpoints == 1 && self.left_out == 0 {
            ""
        } else {
            "s"
        };
        let _ = writeln!(
            out,
            "    {checkpoints}{others} checkpoint{plural}, manifest and state"
        );
        let _ = writeln!(out, "    {}", count(self.rollbacks, "rollback"));
        match &self.bundle {
            Some(bundle) => {
                let (refs, objects) = (count(bundle.refs, "ref"), count(bundle.objects, "object"));
                let size = bundle.size;
                let _ = writeln!(out, "    git bundle: {refs}, {objects}, {size} bytes");
            }
            None => out.push_str("    no git data\n"),
        }
        if style.verbosity == Verbosity::Verbose {
            for member in &self.contents {
                let _ = writeln!(
                    out,
                    "    {}  {}  {} bytes",
                    member.sha256,
                    escape(&member.name),
                    member.size
                );
            }
        }
        let import = match &file {
            Some(file) => format!("cp-import {file}"),
            None => "cp-import FILE".to_owned(),
        };
        out.push_str(&commands(&[&import], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let warnings = note::warnings(&self.warnings);
        warnings
            .chain(note::unfinished(self.unfinished.as_ref()))
            .collect()
    }
}
