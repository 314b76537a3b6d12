//! How a command of the user's is shown: the checkpoint before it, and, to programs, everything that came of it.

use serde::Serialize;

use super::Render;
use super::create::CreateView;
use super::escape::escape;
use super::layout::step_label;
use super::note::{self, Note};
use super::rollback::RollbackView;
use super::style::Style;
use crate::engine::run::{Begun, End, Guard, Outcome, Previous, RunReport};
use crate::engine::summary::StepName;
use crate::model::SessionId;

impl Serialize for Begun {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.previous.serialize(serializer)
    }
}

impl Render for Begun {
    fn text(&self, _: &Style) -> String {
        let Some(previous) = &self.previous else {
            return "Previous checkpoint: none yet\n".to_owned();
        };
        let entry = &previous.checkpoint.entry;
        let step = StepName {
            step: entry.step,
            name: entry.name.clone(),
        };
        let verdict = if previous.verified { ", verified" } else { "" };
        format!(
            "Previous checkpoint: {} ({}){verdict}\n",
            entry.id,
            step_label(&step)
        )
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::recovered(&self.recovered).collect();
        if self.session_started {
            notes.push(Note::info(format!("Started session {}", self.session)));
        }
        notes.extend(note::warnings(&self.warnings));
        let previous = self.previous.iter();
        notes.extend(previous.flat_map(|previous| {
            previous.findings.iter().map(|finding| {
                let id = &previous.checkpoint.entry.id;
                let what = escape(&finding.defect.to_string());
                Note::warning(format!("the previous checkpoint {id} is not valid: {what}"))
            })
        }));
        notes
    }
}

/// What came of a command, for programs. People were told as it went.
#[derive(Debug)]
pub struct RunView<'a> {
    /// The report.
    pub report: &'a RunReport,
}

/// The fields of the JSON answer, in their order.
#[derive(Serialize)]
struct Fields<'a> {
    session_id: Option<&'a SessionId>,
    command: &'a [String],
    exit_code: Option<u8>,
    end: Option<End>,
    outcome: Option<Outcome>,
    previous: Option<&'a Previous>,
    before: Option<CreateView<'a>>,
    guard: Option<GuardFields<'a>>,
    checkpoint: Option<CreateView<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct GuardFields<'a> {
    command: &'a str,
    exit_code: u8,
    end: End,
    outcome: Outcome,
    rollback: Option<RollbackView<'a>>,
}

impl<'a> GuardFields<'a> {
    fn of(guard: &'a Guard) -> Self {
        let rollback = guard.rollback.as_ref();
        Self {
            command: &guard.command,
            exit_code: guard.end.code(),
            end: guard.end,
            outcome: guard.outcome,
            rollback: rollback.map(|report| RollbackView { report }),
        }
    }
}

impl Serialize for RunView<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.report;
        let view = |report| CreateView {
            report,
            timings: false,
        };
        let fields = Fields {
            session_id: report.session.as_ref(),
            command: &report.command,
            exit_code: report.end.map(End::code),
            end: report.end,
            outcome: report.outcome,
            previous: report.previous.as_ref(),
            before: report.before.as_ref().map(view),
            guard: report.guard.as_ref().map(GuardFields::of),
            checkpoint: report.checkpoint.as_ref().map(view),
            warnings: &report.warnings,
        };
        fields.serialize(serializer)
    }
}

impl Render for RunView<'_> {
    fn text(&self, _: &Style) -> String {
        String::new()
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}
