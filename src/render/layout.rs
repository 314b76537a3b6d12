//! Pieces that several pages share: titles, labels, the commands to type next.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::escape::escape;
use super::style::{Role, Style, Verbosity};
use crate::engine::summary::{SessionSummary, StepName};
use crate::model::workflow::Unit;

/// How long the lines around a title are, where there is room.
const TITLE_WIDTH: usize = 49;

/// A title between two lines.
pub(super) fn title(style: &Style, text: &str) -> String {
    let line = "=".repeat(TITLE_WIDTH.min(style.width));
    let text = style.paint(Role::Title, text);
    format!("{line}\n{text}\n{line}\n")
}

/// `3 architecture`, or the number alone.
pub(super) fn step_label(step: &StepName) -> String {
    if step.name.is_empty() {
        format!("step {}", step.step)
    } else {
        format!("step {} - {}", step.step, escape(&step.name))
    }
}

/// `step 2 of 9`, `phase 2 of 5`, `step 2`, or that there is none yet.
pub(super) fn progress_label(session: &SessionSummary) -> String {
    match &session.progress {
        Some(progress) => match progress.total {
            Some(total) => format!("{} {} of {total}", progress.unit, progress.step),
            None => format!("{} {}", progress.unit, progress.step),
        },
        None => "not begun".to_owned(),
    }
}

/// What comes next when all goes well: `step 3 - architecture`, `phase 3`.
pub(super) fn next_label(session: &SessionSummary) -> Option<String> {
    let next = session.next_step.as_ref()?;
    Some(match &session.progress {
        Some(progress) if progress.unit == Unit::Phase => {
            format!("{} {}", progress.unit, next.step)
        }
        _ => step_label(next),
    })
}

/// Where a session is, and what comes next.
pub(super) fn progress_line(session: &SessionSummary) -> String {
    let mut line = progress_label(session);
    if let Some(next) = next_label(session) {
        line.push_str(", next is ");
        line.push_str(&next);
    }
    line
}

/// How far the texts behind labels are indented.
pub(super) const INDENT: usize = 13;

/// A label and its text, which goes on below itself where the line ends.
pub(super) fn field(out: &mut String, style: &Style, label: &str, text: &str) {
    let room = style.width.saturating_sub(INDENT);
    let _ = write!(out, "{label:<INDENT$}");
    let mut used = 0;
    for word in text.split(' ') {
        if used > 0 && used + 1 + word.width() > room {
            let _ = write!(out, "\n{:INDENT$}", "");
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += word.width();
    }
    out.push('\n');
}

/// The commands to type next: in one line where that has room for them.
pub(super) fn commands(names: &[&str], style: &Style) -> String {
    if style.verbosity == Verbosity::Quiet {
        return String::new();
    }
    let names: Vec<String> = names.iter().map(|name| format!("go-team {name}")).collect();
    let mut line = names.join("   ");
    if line.width() + 2 > style.width {
        line = names.join("\n  ");
    }
    format!("Commands:\n  {line}\n")
}
