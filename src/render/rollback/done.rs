//! How a rollback that came to its end is shown.

use std::fmt::Write as _;

use serde::Serialize;

use super::head;
use crate::engine::rollback::RollbackReport;
use crate::engine::rollback::resume::{Ending, ResumeReport};
use crate::engine::rollback::{KeptFile, Plan, SkippedPath};
use crate::model::{CheckpointId, RollbackKind, SessionId};
use crate::render::Render;
use crate::render::escape::escape;
use crate::render::layout;
use crate::render::note::{self, Note};
use crate::render::style::{Mark, Role, Style, Verbosity};

/// A rollback that happened.
#[derive(Debug)]
pub struct RollbackView<'a> {
    /// The report.
    pub report: &'a RollbackReport,
}

/// An interrupted rollback that came to an end.
#[derive(Debug)]
pub struct ResumeView<'a> {
    /// The report.
    pub report: &'a ResumeReport,
}

/// The fields of the JSON answer, in their order.
#[derive(Serialize)]
struct Fields<'a> {
    session_id: &'a SessionId,
    rollback: &'a crate::model::RollbackRecord,
    current_checkpoint: Option<&'a CheckpointId>,
    safety_checkpoint: &'a CheckpointId,
    written: usize,
    deleted: usize,
    kept: &'a [KeptFile],
    skipped: &'a [SkippedPath],
    invalidated: &'a [CheckpointId],
    revalidated: &'a [CheckpointId],
    resume_from: Option<&'a str>,
    plan: &'a Plan,
    warnings: Vec<&'a String>,
    recovered: &'a [crate::engine::recover::Recovered],
}

impl Serialize for RollbackView<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RollbackReport {
            record,
            plan,
            manifest,
            resume_from,
            skipped,
            warnings,
            recovered,
        } = self.report;
        let fields = Fields {
            session_id: &manifest.session_id,
            rollback: record,
            current_checkpoint: manifest.current_checkpoint.as_ref(),
            safety_checkpoint: &record.safety_checkpoint,
            written: plan.write.len(),
            deleted: plan.delete.len(),
            kept: &plan.keep,
            skipped,
            invalidated: &plan.invalidates,
            revalidated: &plan.revalidates,
            resume_from: resume_from.as_deref(),
            plan,
            warnings: plan.warnings.iter().chain(warnings).collect(),
            recovered,
        };
        fields.serialize(serializer)
    }
}

impl Render for RollbackView<'_> {
    fn text(&self, style: &Style) -> String {
        let RollbackReport {
            record,
            plan,
            resume_from,
            ..
        } = self.report;
        if style.verbosity == Verbosity::Quiet {
            return format!("{}\n", record.to_checkpoint);
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let what = match (record.kind, record.paths.is_empty()) {
            (RollbackKind::Rollback, true) => "Rolled back to",
            (RollbackKind::Rollback, false) => "Restored paths from",
            (RollbackKind::Undo, _) => "Undone; back at",
            (RollbackKind::Redo, _) => "Done again; now at",
        };
        let mut out = format!("{tick} {what} {}\n", record.to_checkpoint);
        let (written, deleted) = (plan.write.len(), plan.delete.len());
        let _ = write!(out, "  Files: {written} written, {deleted} deleted");
        if !plan.keep.is_empty() {
            let _ = write!(out, ", {} left alone", plan.keep.len());
        }
        out.push('\n');
        if record.paths.is_empty() {
            let _ = writeln!(out, "  HEAD: {}", head(plan, style));
            let _ = write!(out, "  Checkpoints: {} invalidated", plan.invalidates.len());
            if !plan.revalidates.is_empty() {
                let _ = write!(out, ", {} valid again", plan.revalidates.len());
            }
            out.push('\n');
        }
        let _ = writeln!(out, "  Safety checkpoint: {}", record.safety_checkpoint);
        if let Some(next) = resume_from.as_deref().filter(|_| record.paths.is_empty()) {
            let _ = writeln!(out, "  Next: {}", escape(next));
        }
        let other = if record.kind == RollbackKind::Undo {
            "redo"
        } else {
            "undo"
        };
        out.push_str(&layout::commands(&[other, "status", "cp-list"], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let report = self.report;
        let mut notes: Vec<Note> = note::recovered(&report.recovered).collect();
        notes.extend(report.plan.keep.iter().map(|file| {
            Note::info(format!(
                "left alone {}: {}",
                escape(&file.path),
                escape(&file.reason)
            ))
        }));
        notes.extend(report.skipped.iter().map(|skipped| {
            let reason = skipped.reason.as_str();
            Note::info(format!(
                "skipped and left alone {}: {reason}",
                escape(&skipped.path)
            ))
        }));
        notes.extend(note::warnings(&report.plan.warnings));
        notes.extend(note::warnings(&report.warnings));
        notes
    }
}

impl Serialize for ResumeView<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            ending: Ending,
            target: &'a CheckpointId,
            safety_checkpoint: &'a CheckpointId,
            since: Option<&'a CheckpointId>,
            changed: &'a [String],
        }
        let report = self.report;
        let fields = Fields {
            ending: report.ending,
            target: &report.target,
            safety_checkpoint: &report.safety_checkpoint,
            since: report.since.as_ref(),
            changed: &report.changed,
        };
        fields.serialize(serializer)
    }
}

impl Render for ResumeView<'_> {
    fn text(&self, style: &Style) -> String {
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let ResumeReport {
            target,
            safety_checkpoint,
            ..
        } = self.report;
        let mut out = match self.report.ending {
            Ending::Continue => {
                format!("{tick} The interrupted rollback to {target} is complete\n")
            }
            Ending::Abort => format!(
                "{tick} The interrupted rollback to {target} is undone: everything is as it was before\n"
            ),
        };
        let _ = writeln!(out, "  Safety checkpoint: {safety_checkpoint}");
        if let Some(since) = &self.report.since {
            let _ = writeln!(out, "  What was done since the interruption: {since}");
        }
        out.push_str(&layout::commands(&["status", "cp-list"], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let changed = self.report.changed.iter();
        changed
            .map(|what| Note::warning(format!("changed since the interruption: {}", escape(what))))
            .collect()
    }
}
