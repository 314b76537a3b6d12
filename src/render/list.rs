//! How checkpoints are listed: as a table, or as a tree.

mod metric;

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::{commands, progress_line, title};
use super::note::{self, Note};
use super::style::{Charset, Mark, Role, Style, Verbosity};
use super::table::{self, Column, table};
use super::time::seconds;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::list::ListReport;
use crate::plan::graph::{Cell, Row};

/// A description in fewer columns than this says nothing.
const LEGIBLE: usize = 12;
const NUMBER: Column = Column {
    title: "#",
    roomy: 2,
    least: 2,
    rank: 4,
};
const STEP: Column = Column {
    title: "Step",
    roomy: 17,
    least: 4,
    rank: 1,
};
const ID: Column = Column {
    title: "Checkpoint ID",
    roomy: 0,
    least: 8,
    rank: 5,
};
const TIMESTAMP: Column = Column {
    title: "Timestamp",
    roomy: 0,
    least: 11,
    rank: 2,
};
const STATUS: Column = Column {
    title: "Status",
    roomy: 7,
    least: 6,
    rank: 3,
};
const TURNS: Column<'_> = Column {
    title: "Turns",
    roomy: 0,
    least: 3,
    rank: 4,
};
const METRIC: Column<'_> = Column {
    title: "",
    roomy: 0,
    least: 6,
    rank: 4,
};
const DESCRIPTION: Column<'_> = Column {
    title: "Description",
    roomy: 0,
    least: 4,
    rank: 0,
};

impl Render for ListReport {
    fn text(&self, style: &Style) -> String {
        let session = &self.session;
        let mut out = String::new();
        if style.verbosity > Verbosity::Quiet {
            out = title(
                style,
                &format!("CHECKPOINTS - Session: {}", session.session_id),
            );
            let facts = format!(
                "Topic: {}     Workflow: {}     Created: {}",
                escape(&session.topic),
                escape(&session.workflow),
                seconds(session.created_at)
            );
            let _ = writeln!(out, "{}", style.cut(&facts, style.width));
            let progress = format!("Progress: {}", progress_line(session));
            let _ = writeln!(out, "{}", style.cut(&progress, style.width));
        }
        match &self.graph {
            Some(rows) => out.push_str(&graph(rows, &self.checkpoints, style)),
            None if self.checkpoints.is_empty() => {}
            None => out.push_str(&listing(self, style)),
        }
        if let Some(name) = &self.metric {
            let values = self.checkpoints.iter();
            let values: Vec<_> = values
                .map(|checkpoint| checkpoint.metric.as_ref())
                .collect();
            out.push_str(&metric::trend(name, &values, style));
        }
        let list = match &self.graph {
            Some(_) => "cp-list",
            None => "cp-list --graph",
        };
        let names: &[&str] = if self.checkpoints.is_empty() {
            &["cp-create", "status"]
        } else {
            &["rollback N", "cp-show N", "cp-diff N", list]
        };
        out.push_str(&commands(names, style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let warnings = note::warnings(&self.warnings);
        let mut notes: Vec<Note> = warnings
            .chain(note::unfinished(self.unfinished.as_ref()))
            .collect();
        if self.filtered > 0 {
            let all = self.filtered + self.checkpoints.len();
            notes.push(Note::info(format!(
                "{} of {all} checkpoints are listed",
                self.checkpoints.len()
            )));
        } else if self.checkpoints.is_empty() {
            notes.push(Note::info(
                "No checkpoints yet. Make one: go-team cp-create",
            ));
        }
        notes
    }
}

/// How a checkpoint's status is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wording {
    /// In a few letters, for a table.
    Short,
    /// In a word.
    Full,
}

/// What a checkpoint is.
pub(super) fn status(checkpoint: &Checkpoint, wording: Wording, style: &Style) -> (Role, String) {
    let entry = &checkpoint.entry;
    let (role, mark, short, full) = if entry.corrupted_at.is_some() {
        (Role::Bad, Mark::Cross, "corr", "corrupt")
    } else if !entry.valid {
        (Role::Bad, Mark::Cross, "inval", "invalid")
    } else if checkpoint.current {
        (Role::Here, Mark::Arrow, "curr", "current")
    } else if entry.is_safety() {
        (Role::Faint, Mark::Tick, "safe", "safety")
    } else {
        (Role::Good, Mark::Tick, "", "valid")
    };
    let word = match wording {
        Wording::Short => short,
        Wording::Full => full,
    };
    let text = format!("{} {word}", style.mark(mark));
    (role, text.trim_end().to_owned())
}

fn listing(report: &ListReport, style: &Style) -> String {
    let checkpoints = &report.checkpoints;
    let mut columns = vec![NUMBER, STEP, ID, TIMESTAMP, STATUS];
    let has_turns = checkpoints
        .iter()
        .any(|checkpoint| checkpoint.turn_count.is_some());
    if has_turns {
        columns.push(TURNS);
    }
    let title = report.metric.as_deref().map(escape);
    if let Some(title) = &title {
        columns.push(Column { title, ..METRIC });
    }
    let mut rows: Vec<_> = checkpoints
        .iter()
        .map(|checkpoint| {
            let entry = &checkpoint.entry;
            let (role, status) = status(checkpoint, Wording::Short, style);
            let mut cells = vec![
                table::Cell::plain(&*checkpoint.number),
                table::Cell::plain(escape(&entry.name)),
                table::Cell::plain(entry.id.as_str()),
                table::Cell::plain(seconds(entry.timestamp)),
                table::Cell::with(role, status),
            ];
            if has_turns {
                let turns = checkpoint.turn_count.map(|turns| turns.to_string());
                cells.push(table::Cell::plain(turns.unwrap_or_default()));
            }
            if report.metric.is_some() {
                let value = checkpoint.metric.as_ref().map(metric::text);
                cells.push(table::Cell::plain(value.unwrap_or_default()));
            }
            cells
        })
        .collect();
    let is_described = |checkpoint: &Checkpoint| !describe(checkpoint).is_empty();
    let has_room = table::full_width(&columns, &rows) + LEGIBLE + 3 <= style.width;
    let wants =
        style.verbosity == Verbosity::Verbose || (has_room && checkpoints.iter().any(is_described));
    if wants {
        columns.push(DESCRIPTION);
        for (cells, checkpoint) in rows.iter_mut().zip(checkpoints) {
            cells.push(table::Cell::plain(describe(checkpoint)));
        }
    }
    table(&columns, &rows, style)
}

/// The description, or why there is none.
fn describe(checkpoint: &Checkpoint) -> String {
    if checkpoint.record_error.is_some() {
        return "(the record cannot be read)".to_owned();
    }
    escape(checkpoint.description.as_deref().unwrap_or_default())
}

/// What a line of the tree says after the status.
fn remark(checkpoint: &Checkpoint) -> String {
    let turns = checkpoint
        .turn_count
        .map(|turns| format!("({turns} turns)"));
    let value = checkpoint.metric.as_ref().map(metric::text);
    let parts = [
        value.unwrap_or_default(),
        describe(checkpoint),
        turns.unwrap_or_default(),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

fn graph(rows: &[Row], checkpoints: &[Checkpoint], style: &Style) -> String {
    let mut out = String::new();
    for row in rows {
        let checkpoint = row.entry.and_then(|place| checkpoints.get(place));
        let mut line = String::new();
        for cell in &row.cells {
            line.push_str(cell_text(*cell, checkpoint, style.charset));
        }
        let Some(checkpoint) = checkpoint else {
            let branch = row.branch.and_then(|place| checkpoints.get(place));
            let rollback = branch.and_then(|branch| branch.entry.invalidated_by.as_ref());
            let rollback = rollback.map_or(String::new(), |id| format!(" {id}"));
            let text = format!("{}{rollback}", line.trim_end());
            let _ = writeln!(out, "{}", style.cut(&text, style.width));
            continue;
        };
        let entry = &checkpoint.entry;
        let (role, status) = status(checkpoint, Wording::Short, style);
        let label = format!("{} {}", checkpoint.number, escape(&entry.name));
        let rest = format!(" {}  {}", entry.id, seconds(entry.timestamp));
        let described = remark(checkpoint);
        let described = if described.is_empty() {
            described
        } else {
            format!("  {described}")
        };
        let text = style.cut(
            &format!("{line} {label} {rest}  {status}{described}"),
            style.width,
        );
        // Colour is put on afterwards, so that cutting never meets an escape code.
        let text = if text.contains(&status) {
            text.replacen(&status, &style.paint(role, &status), 1)
        } else {
            text
        };
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// A cell and what joins it to the next: two columns.
fn cell_text(cell: Cell, checkpoint: Option<&Checkpoint>, charset: Charset) -> &'static str {
    let is_valid = checkpoint.is_some_and(|checkpoint| checkpoint.entry.valid);
    let is_current = checkpoint.is_some_and(|checkpoint| checkpoint.current);
    match (charset, cell) {
        (_, Cell::Empty) => "  ",
        (Charset::Unicode, Cell::Node) if is_current => "◉ ",
        (Charset::Unicode, Cell::Node) if is_valid => "● ",
        (Charset::Unicode, Cell::Node) => "○ ",
        (Charset::Unicode, Cell::Line) => "│ ",
        (Charset::Unicode, Cell::Fork) => "├─",
        (Charset::Unicode, Cell::Across) => "──",
        (Charset::Unicode, Cell::Crossing) => "┼─",
        (Charset::Unicode, Cell::Turn) => "╮ ",
        (Charset::Ascii, Cell::Node) if is_current => "@ ",
        (Charset::Ascii, Cell::Node) if is_valid => "* ",
        (Charset::Ascii, Cell::Node) => "o ",
        (Charset::Ascii, Cell::Line) => "| ",
        (Charset::Ascii, Cell::Fork) => "|-",
        (Charset::Ascii, Cell::Across) => "--",
        (Charset::Ascii, Cell::Crossing) => "+-",
        (Charset::Ascii, Cell::Turn) => ". ",
    }
}
