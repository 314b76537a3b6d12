//! How deleting is shown, and asked for.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::delete::{DeleteReport, Deleted};

fn line(deleted: &Deleted) -> String {
    let invalid = if deleted.valid { "" } else { ", not valid" };
    format!(
        "{} ({}, {}{invalid})",
        deleted.id,
        deleted.number,
        escape(&deleted.name)
    )
}

/// What is asked before anything is deleted.
#[must_use]
pub fn delete_prompt(plan: &DeleteReport) -> String {
    let mut out = String::from("These checkpoints will be deleted for good:\n");
    for deleted in &plan.deleted {
        let _ = writeln!(out, "  {}", line(deleted));
    }
    let _ = writeln!(
        out,
        "{} will be left. Nothing can bring them back.",
        plan.left
    );
    out.push_str("Type yes to go on: ");
    out
}

impl Render for DeleteReport {
    fn text(&self, style: &Style) -> String {
        let mut out = String::new();
        for deleted in &self.deleted {
            if style.verbosity == Verbosity::Quiet {
                let _ = writeln!(out, "{}", deleted.id);
            } else if self.dry_run {
                let _ = writeln!(out, "Would delete {}", line(deleted));
            } else {
                let tick = style.paint(Role::Good, style.mark(Mark::Tick));
                let _ = writeln!(out, "{tick} Deleted {}", line(deleted));
            }
        }
        if style.verbosity > Verbosity::Quiet {
            let tense = if self.dry_run { "would be" } else { "are" };
            let plural = if self.left == 1 { "" } else { "s" };
            let _ = writeln!(out, "  {} checkpoint{plural} {tense} left", self.left);
        }
        out.push_str(&commands(&["cp-list", "cp-validate"], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let warnings = note::warnings(&self.warnings);
        warnings.chain(note::recovered(&self.recovered)).collect()
    }
}
