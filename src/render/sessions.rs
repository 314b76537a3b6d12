//! How sessions are listed.

use super::Render;
use super::escape::escape;
use super::layout::progress_label;
use super::note::Note;
use super::style::{Mark, Role, Style};
use super::table::{Cell, Column, table};
use super::time::seconds;
use crate::engine::sessions::SessionsReport;
use crate::engine::summary::SessionSummary;

const COLUMNS: [Column; 6] = [
    Column {
        title: "Session",
        roomy: 0,
        least: 8,
        rank: 5,
    },
    Column {
        title: "Topic",
        roomy: 0,
        least: 5,
        rank: 0,
    },
    Column {
        title: "Workflow",
        roomy: 0,
        least: 4,
        rank: 1,
    },
    Column {
        title: "Progress",
        roomy: 0,
        least: 4,
        rank: 2,
    },
    Column {
        title: "Changed",
        roomy: 0,
        least: 10,
        rank: 3,
    },
    Column {
        title: "Status",
        roomy: 0,
        least: 6,
        rank: 4,
    },
];

impl Render for SessionsReport {
    fn text(&self, style: &Style) -> String {
        if self.sessions.is_empty() {
            return String::new();
        }
        let rows: Vec<_> = self.sessions.iter().map(|one| row(one, style)).collect();
        table(&COLUMNS, &rows, style)
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let damaged = self.damaged.iter().map(|damaged| {
            Note::warning(format!(
                "session {} cannot be read: {}",
                escape(&damaged.name),
                escape(&damaged.error)
            ))
        });
        let mut notes: Vec<Note> = damaged.collect();
        if self.sessions.is_empty() {
            notes.push(Note::info(
                "No sessions to list. Begin one: go-team start TOPIC",
            ));
        }
        notes
    }
}

fn row(session: &SessionSummary, style: &Style) -> Vec<Cell> {
    let status = if session.active_here {
        let text = format!("{} {}", style.mark(Mark::Arrow), session.status);
        Cell::with(Role::Here, text)
    } else {
        Cell::plain(session.status.as_str())
    };
    vec![
        Cell::plain(session.session_id.as_str()),
        Cell::plain(escape(&session.topic)),
        Cell::plain(escape(&session.workflow)),
        Cell::plain(progress_label(session)),
        Cell::plain(seconds(session.updated_at)),
        status,
    ]
}
