//! How a rollback is shown: before it, to be agreed to; as a plan; and after it.

mod done;

use std::fmt::Write as _;

use serde::Serialize;

use super::Render;
use super::escape::escape;
use super::layout;
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use super::time;
use crate::engine::rollback::{FileStep, KeptFile, Named, Plan, PlannedFile};
use crate::model::journal::JournalHead;
use crate::model::{CheckpointId, RollbackKind, SessionId};
pub use done::{ResumeView, RollbackView};

/// How many paths of a kind are shown to people.
const SHOWN: usize = 10;

/// A plan that is only shown.
#[derive(Debug, Serialize)]
pub struct PlanView<'a> {
    /// The session.
    #[serde(rename = "session_id")]
    pub session: &'a SessionId,
    /// The plan.
    pub plan: &'a Plan,
}

/// A plan that is asked about.
#[derive(Debug, Serialize)]
pub struct ConfirmView<'a> {
    /// The session.
    #[serde(rename = "session_id")]
    pub session: &'a SessionId,
    /// The plan.
    pub plan: &'a Plan,
}

impl Render for PlanView<'_> {
    fn text(&self, style: &Style) -> String {
        let mut out = layout::title(style, &format!("{} - dry run", heading(self.plan)));
        out.push_str(&body(self.plan, style));
        out.push_str("\nNothing was changed.\n");
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        note::warnings(&self.plan.warnings).collect()
    }
}

impl Render for ConfirmView<'_> {
    fn text(&self, style: &Style) -> String {
        let mut out = layout::title(style, &format!("{} - please confirm", heading(self.plan)));
        out.push_str(&body(self.plan, style));
        for warning in &self.plan.warnings {
            let word = style.paint(Role::Warning, "Warning:");
            let _ = writeln!(out, "{word} {}", escape(warning));
        }
        out.push_str(
            "\nEverything as it is now goes into a safety checkpoint first; go-team undo brings it back.\n",
        );
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}

fn heading(plan: &Plan) -> &'static str {
    match plan.kind {
        RollbackKind::Rollback => "ROLLBACK",
        RollbackKind::Undo => "UNDO",
        RollbackKind::Redo => "REDO",
    }
}

fn named(checkpoint: &Named) -> String {
    format!(
        "{} (step {} - {}, {})",
        checkpoint.id,
        checkpoint.step,
        escape(&checkpoint.name),
        time::seconds(checkpoint.timestamp)
    )
}

/// The parts of a plan that people want to see.
fn body(plan: &Plan, style: &Style) -> String {
    let mut out = String::new();
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(out, "{label:<13}{text}");
    };
    line("Target:", &named(&plan.target));
    if let Some(source) = &plan.source {
        line("Restores:", &named(source));
    }
    if let Some(current) = &plan.current {
        line("Current:", &named(current));
    }
    if plan.paths.is_empty() {
        line("Discards:", &discards(plan));
        line("HEAD:", &head(plan, style));
    } else {
        line("Paths:", &escape(&plan.paths.join(", ")));
    }
    if !plan.revalidates.is_empty() {
        line("Valid again:", &ids(&plan.revalidates));
    }
    for planned in &plan.branches {
        let name = planned.branch.name.trim_start_matches("refs/heads/");
        let place = |id: Option<crate::model::ObjectId>| {
            id.map_or_else(|| "nothing".to_owned(), |id| id.short())
        };
        let arrow = style.mark(Mark::To);
        line(
            "Branch:",
            &format!(
                "{}: {} {arrow} {}",
                escape(name),
                place(planned.branch.from),
                place(planned.branch.to)
            ),
        );
        let total = planned.commits_leaving_total;
        if total > 0 {
            line(
                "",
                &format!("{} it:", counted(total, "commit leaves", "commits leave")),
            );
            for commit in planned.commits_leaving.iter().take(SHOWN) {
                let summary = format!("  {} {}", commit.commit.short(), escape(&commit.summary));
                line("", &summary);
            }
            if total > SHOWN {
                line("", &format!("  … and {} more", total - SHOWN));
            }
        }
    }
    if plan.index {
        line("Index:", "staging is restored");
    }
    let bytes: u64 = plan.write.iter().map(|file| file.bytes).sum();
    line(
        "Files:",
        &format!(
            "{} to write ({}), {} to delete, {} left alone",
            plan.write.len(),
            size(bytes),
            plan.delete.len(),
            plan.keep.len()
        ),
    );
    out.push_str(&files(&plan.write, style));
    out.push_str(&files(&plan.delete, style));
    out.push_str(&kept(&plan.keep, style));
    out
}

fn discards(plan: &Plan) -> String {
    match plan.invalidates.len() {
        0 => "no checkpoint; what was done since the target".to_owned(),
        1 => format!("1 checkpoint becomes invalid: {}", ids(&plan.invalidates)),
        n => format!("{n} checkpoints become invalid: {}", ids(&plan.invalidates)),
    }
}

fn ids(ids: &[CheckpointId]) -> String {
    let shown: Vec<&str> = ids.iter().take(5).map(CheckpointId::as_str).collect();
    let mut text = shown.join(", ");
    if ids.len() > 5 {
        let _ = write!(text, " … and {} more", ids.len() - 5);
    }
    text
}

fn head(plan: &Plan, style: &Style) -> String {
    let place = |head: &JournalHead| {
        let branch = head.branch.as_deref();
        let branch = branch.map(|name| escape(name.trim_start_matches("refs/heads/")));
        let commit = head.commit.map(|id| id.short());
        match (branch, commit) {
            (Some(branch), Some(commit)) => format!("{branch} at {commit}"),
            (Some(branch), None) => format!("{branch}, without a commit"),
            (None, commit) => format!("detached at {}", commit.unwrap_or_default()),
        }
    };
    if plan.head.from == plan.head.to {
        return format!("stays: {}", place(&plan.head.to));
    }
    format!(
        "{} {} {}",
        place(&plan.head.from),
        style.mark(Mark::To),
        place(&plan.head.to)
    )
}

fn files(files: &[PlannedFile], style: &Style) -> String {
    let mut out = String::new();
    let shown = if style.verbosity == Verbosity::Verbose {
        usize::MAX
    } else {
        SHOWN
    };
    for file in files.iter().take(shown) {
        let (sign, role) = match file.step {
            FileStep::Create => ("+", Role::Good),
            FileStep::Replace => ("~", Role::Warning),
            FileStep::Permissions => ("~", Role::Faint),
            FileStep::Delete => ("-", Role::Bad),
        };
        let what = match file.step {
            FileStep::Permissions => ", permissions only".to_owned(),
            _ => format!(" ({})", size(file.bytes)),
        };
        let _ = writeln!(
            out,
            "  {} {}{what}",
            style.paint(role, sign),
            escape(&file.path)
        );
    }
    if files.len() > shown {
        let _ = writeln!(
            out,
            "    … and {} more (-v lists them)",
            files.len() - shown
        );
    }
    out
}

fn kept(files: &[KeptFile], style: &Style) -> String {
    let mut out = String::new();
    for file in files.iter().take(SHOWN) {
        let sign = style.paint(Role::Faint, "=");
        let _ = writeln!(
            out,
            "  {sign} {}: {}",
            escape(&file.path),
            escape(&file.reason)
        );
    }
    if files.len() > SHOWN {
        let _ = writeln!(out, "    … and {} more", files.len() - SHOWN);
    }
    out
}

fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// A size as people say it.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    #[allow(clippy::cast_precision_loss, reason = "shown with one digit")]
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}
