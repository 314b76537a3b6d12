//! How a comparison is shown: in sections, or in one of git's forms.

mod files;
mod patch;
mod stat;
mod state;

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::{commands, title};
use super::note::{self, Note};
use super::style::{Role, Style, Verbosity};
use super::time::seconds;
use crate::engine::diff::side::SideReport;
use crate::engine::diff::{DiffReport, LineageReport, UserCommit, View};
use crate::plan::lineage::Relation;

pub use patch::patch_text;

/// How many lines of a section are shown unless everything is asked for.
const SHOWN: usize = 50;
/// How many commits are shown unless everything is asked for.
const COMMITS: usize = 20;

impl Render for DiffReport {
    fn text(&self, style: &Style) -> String {
        match (self.view, &self.files) {
            (View::Sections | View::State, _) => self.sections(style),
            (View::Patch, _) => {
                let patch = self
                    .patch
                    .as_ref()
                    .map_or(&[][..], |patch| patch.as_bytes());
                String::from_utf8_lossy(&patch_text(patch, style)).into_owned()
            }
            (_, None) => String::new(),
            (View::Stat, Some(files)) => stat::stat(files, style),
            (View::NameOnly, Some(files)) => stat::names(files),
            (View::NameStatus, Some(files)) => stat::names_with_status(files),
        }
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::warnings(&self.warnings).collect();
        notes.extend(note::unfinished(self.unfinished.as_ref()));
        notes
    }
}

impl DiffReport {
    fn sections(&self, style: &Style) -> String {
        let mut out = String::new();
        let (old, new) = (number(&self.old), number(&self.new));
        if style.verbosity > Verbosity::Quiet {
            out = title(style, &format!("DIFF - {old} {} {new}", style.to()));
            for (name, side) in [("Old:", &self.old), ("New:", &self.new)] {
                let line = format!("{name} {}", describe(side));
                let _ = writeln!(out, "{}", style.cut(&line, style.width));
            }
            out.push_str(&lineage(&self.lineage, style));
        }
        state::show_state(self.state.as_ref(), style, &mut out);
        state::show_metrics(self.metrics.as_deref(), style, &mut out);
        if self.view == View::Sections {
            state::show_outputs(self.outputs.as_deref(), style, &mut out);
            files::show(self.files.as_ref(), style, &mut out);
            self.show_commits(style, &mut out);
        }
        let compared = match &self.new {
            SideReport::WorkTree { .. } => format!("cp-diff {old}"),
            SideReport::Checkpoint { .. } => format!("cp-diff {old} {new}"),
        };
        let patch = format!("{compared} --patch");
        let (show, back) = (format!("cp-show {old}"), format!("rollback {old}"));
        out.push_str(&commands(&[&patch, &show, &back], style));
        out
    }

    fn show_commits(&self, style: &Style, out: &mut String) {
        heading(out, style, "GIT COMMITS");
        let left = if self.lineage.rollbacks.is_empty() {
            "  (only in the old one)"
        } else {
            "  (rolled away)"
        };
        let Some(commits) = &self.commits else {
            out.push_str("  not known\n");
            return;
        };
        if commits.added.is_empty() && commits.removed.is_empty() {
            out.push_str("  none\n");
        }
        for (sign, role, list, remark) in [
            ('+', Role::Good, &commits.added, ""),
            ('-', Role::Bad, &commits.removed, left),
        ] {
            let some = shown(list.len(), COMMITS, style);
            for commit in &list[..some] {
                let line = format!("  {sign} {}{remark}", commit_line(commit));
                let _ = writeln!(out, "{}", style.paint(role, &style.cut(&line, style.width)));
            }
            more(out, list.len() - some, style);
        }
    }
}

/// What selects a side.
fn number(side: &SideReport) -> String {
    match side {
        SideReport::Checkpoint { number, .. } => number.clone(),
        SideReport::WorkTree { .. } => "work tree".to_owned(),
    }
}

fn describe(side: &SideReport) -> String {
    match side {
        SideReport::Checkpoint {
            id,
            name,
            timestamp,
            valid,
            ..
        } => {
            let left = if *valid { "" } else { ", invalid" };
            format!("{id} ({}, {}{left})", escape(name), seconds(*timestamp))
        }
        SideReport::WorkTree {
            current_checkpoint,
            branch,
            ..
        } => {
            let branch = branch.as_deref().map_or("detached".to_owned(), |branch| {
                format!("branch {}", escape(branch))
            });
            match current_checkpoint {
                Some(current) => format!("the work tree as it is now ({branch}, since {current})"),
                None => format!("the work tree as it is now ({branch})"),
            }
        }
    }
}

/// What must be known about how the two are related; nothing when one simply came after the other.
fn lineage(lineage: &LineageReport, style: &Style) -> String {
    let mut lines = Vec::new();
    match &lineage.relation {
        Relation::Same => lines.push("Both are the same checkpoint.".to_owned()),
        Relation::Descends => {}
        Relation::GoesBack => lines.push("The new one is the older of the two.".to_owned()),
        Relation::Apart => {
            lines.push("They have no listed checkpoint in common.".to_owned());
        }
        Relation::Branches { at } => {
            let number = lineage.branch_number.as_deref().unwrap_or("not listed");
            lines.push(format!(
                "They are on different branches, which part at {at} ({number})."
            ));
        }
    }
    for rollback in &lineage.rollbacks {
        let from = match (rollback.from_step, &rollback.from_checkpoint) {
            (Some(step), _) => format!("step {step}"),
            (None, Some(id)) => id.to_string(),
            (None, None) => "the start".to_owned(),
        };
        let reason = match rollback.reason.as_str() {
            "" => String::new(),
            reason => format!(": {}", escape(reason)),
        };
        lines.push(format!(
            "Across rollback {} ({}): from {from} back to step {}{reason}",
            rollback.id,
            seconds(rollback.timestamp),
            rollback.to_step
        ));
    }
    let mut out = String::new();
    for line in lines {
        let line = style.cut(&line, style.width);
        let _ = writeln!(out, "{}", style.paint(Role::Warning, &line));
    }
    out
}

fn heading(out: &mut String, style: &Style, text: &str) {
    let _ = writeln!(out, "{}", style.paint(Role::Title, text));
}

/// Says how much of a list is not shown.
fn more(out: &mut String, left: usize, style: &Style) {
    if left > 0 {
        let mark = style.mark(super::style::Mark::Ellipsis);
        let line = format!("  {mark} and {left} more (-v shows all)");
        let _ = writeln!(out, "{}", style.paint(Role::Faint, &line));
    }
}

/// How many of a list are shown.
fn shown(all: usize, usual: usize, style: &Style) -> usize {
    if style.verbosity == Verbosity::Verbose {
        all
    } else {
        all.min(usual)
    }
}

fn commit_line(commit: &UserCommit) -> String {
    let date = commit.at.format("%Y-%m-%d");
    let (subject, author) = (escape(&commit.subject), escape(&commit.author));
    format!("{} {date} {subject} ({author})", commit.id.short())
}
