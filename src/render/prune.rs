//! How pruning is shown, and asked for.

use std::fmt::Write as _;

use super::Render;
use super::ending::checkpoints;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::prune::{Judged, PruneReport};

fn line(judged: &Judged) -> String {
    let invalid = if judged.valid { "" } else { ", not valid" };
    format!(
        "{} ({}, {}{invalid})",
        judged.id,
        judged.number,
        escape(&judged.name)
    )
}

fn reasons(judged: &Judged) -> String {
    escape(&judged.reasons.join("; "))
}

/// What is asked before checkpoints are pruned.
#[must_use]
pub fn prune_prompt(plan: &PruneReport) -> String {
    let mut out = String::from("These checkpoints will be removed for good:\n");
    for judged in &plan.pruned {
        let _ = writeln!(out, "  {}: {}", line(judged), reasons(judged));
    }
    let _ = writeln!(
        out,
        "{} will be left. Nothing can bring them back.",
        plan.kept.len()
    );
    out.push_str("Type yes to go on: ");
    out
}

impl Render for PruneReport {
    fn text(&self, style: &Style) -> String {
        let mut out = String::new();
        for judged in &self.pruned {
            if style.verbosity == Verbosity::Quiet {
                let _ = writeln!(out, "{}", judged.id);
                continue;
            }
            let head = if self.dry_run {
                "Would prune".to_owned()
            } else {
                format!("{} Pruned", style.paint(Role::Good, style.mark(Mark::Tick)))
            };
            let _ = writeln!(out, "{head} {}\n  {}", line(judged), reasons(judged));
        }
        if style.verbosity == Verbosity::Quiet {
            return out;
        }
        if style.verbosity == Verbosity::Verbose {
            for judged in &self.kept {
                let head = if self.dry_run { "Would keep" } else { "Kept" };
                let _ = writeln!(out, "{head} {}\n  {}", line(judged), reasons(judged));
            }
        }
        if self.pruned.is_empty() {
            out.push_str("Nothing to prune: the retention policy keeps every checkpoint.\n");
        }
        if let Some(size) = self.size {
            let _ = writeln!(
                out,
                "Size: {} of {}{}",
                mib(size.after),
                mib(size.limit),
                if size.after > size.limit {
                    "; what is left must stay"
                } else {
                    ""
                }
            );
        }
        let tense = if self.dry_run { "would be" } else { "are" };
        let left = self.kept.len();
        let tense = if left == 1 && !self.dry_run {
            "is"
        } else {
            tense
        };
        let _ = writeln!(out, "{} {tense} left", checkpoints(left));
        out.push_str(&commands(&["cp-list", "cp-prune --dry-run -v"], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let warnings = note::warnings(&self.warnings);
        note::recovered(&self.recovered).chain(warnings).collect()
    }
}

/// Bytes in MiB, to the tenth.
fn mib(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) >> 20;
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}
