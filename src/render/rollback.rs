//! How a rollback is shown: before it, to be agreed to; as a plan; and after it.

mod done;

use std::fmt::Write as _;

use serde::Serialize;

use super::Render;
use super::escape::escape;
use super::layout::{self, INDENT, field};
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::rollback::{FileStep, KeptFile, Named, Plan, PlannedFile};
use crate::engine::summary::StepName;
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
        out.push_str("\nEverything as it is now goes into a safety checkpoint first.\n");
        out.push_str(match self.plan.kind {
            RollbackKind::Undo => "go-team redo brings it back.\n",
            _ => "go-team undo brings it back.\n",
        });
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
    let step = layout::step_label(&StepName {
        step: checkpoint.step,
        name: checkpoint.name.clone(),
    });
    format!("{step} ({})", checkpoint.id)
}

/// Some of many, a line each.
fn listed(out: &mut String, style: &Style, lines: impl Iterator<Item = String>, total: usize) {
    for line in lines.take(SHOWN) {
        let _ = writeln!(
            out,
            "{:INDENT$}{}",
            "",
            style.cut(&line, style.width.saturating_sub(INDENT))
        );
    }
    if total > SHOWN {
        let _ = writeln!(out, "{:INDENT$}… and {} more", "", total - SHOWN);
    }
}

/// The parts of a plan that people want to see.
fn body(plan: &Plan, style: &Style) -> String {
    let mut out = String::new();
    field(&mut out, style, "Target:", &named(&plan.target));
    if let Some(source) = &plan.source {
        field(&mut out, style, "Restores:", &named(source));
    }
    if let Some(current) = &plan.current {
        field(&mut out, style, "Current:", &named(current));
    }
    if plan.paths.is_empty() {
        checkpoints(&mut out, plan, style);
        field(&mut out, style, "HEAD:", &head(plan, style));
    } else {
        field(&mut out, style, "Paths:", &escape(&plan.paths.join(", ")));
    }
    branches(&mut out, plan, style);
    if plan.index {
        field(&mut out, style, "Index:", "staging is restored");
    }
    let bytes: u64 = plan.write.iter().map(|file| file.bytes).sum();
    let mut what = format!(
        "{} to write ({}), {} to delete",
        plan.write.len(),
        size(bytes),
        plan.delete.len()
    );
    if !plan.keep.is_empty() {
        let _ = write!(what, ", {} left alone", plan.keep.len());
    }
    field(&mut out, style, "Files:", &what);
    out.push_str(&files(&plan.write, style));
    out.push_str(&files(&plan.delete, style));
    out.push_str(&kept(&plan.keep, style));
    out
}

/// What becomes of the checkpoints.
fn checkpoints(out: &mut String, plan: &Plan, style: &Style) {
    let gone = &plan.invalidates;
    let what = match gone.len() {
        0 => "no checkpoint, only what was done since the last one".to_owned(),
        n => counted(
            n,
            "checkpoint, which becomes invalid",
            "checkpoints, which become invalid",
        ),
    };
    field(out, style, "Discards:", &what);
    listed(
        out,
        style,
        gone.iter().map(CheckpointId::to_string),
        gone.len(),
    );
    let back = &plan.revalidates;
    if !back.is_empty() {
        let what = counted(back.len(), "checkpoint", "checkpoints");
        field(out, style, "Valid again:", &what);
        listed(
            out,
            style,
            back.iter().map(CheckpointId::to_string),
            back.len(),
        );
    }
}

/// The branches that move beside HEAD's own, and the commits that they leave.
fn branches(out: &mut String, plan: &Plan, style: &Style) {
    let own = [&plan.head.from.branch, &plan.head.to.branch];
    let is_shown = own[0] == own[1] && own[0].is_some();
    for branch in &plan.branches {
        // The line of HEAD says it already.
        if is_shown && own[0].as_ref() == Some(&branch.name) {
            continue;
        }
        let name = branch.name.trim_start_matches("refs/heads/");
        let place = |id: Option<crate::model::ObjectId>| {
            id.map_or_else(|| "nothing".to_owned(), |id| id.short())
        };
        let arrow = style.mark(Mark::To);
        let way = format!("{} {arrow} {}", place(branch.from), place(branch.to));
        field(out, style, "Branch:", &format!("{}: {way}", escape(name)));
    }
    let total = plan.commits_leaving_total;
    if total > 0 {
        let what = counted(
            total,
            "commit leaves its branch",
            "commits leave their branch",
        );
        field(out, style, "Commits:", &what);
        let commits = plan.commits_leaving.iter();
        let lines =
            commits.map(|commit| format!("{} {}", commit.commit.short(), escape(&commit.summary)));
        listed(out, style, lines, total);
    }
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
