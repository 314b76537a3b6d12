//! How a new checkpoint is shown: four lines, and on stderr what was left out.

use std::fmt::Write as _;
use std::time::Duration;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::Render;
use super::escape::escape;
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::checkpoint::Checkpoint;
use crate::engine::create::CreateReport;
use crate::engine::recover::Recovered;
use crate::git::sidecar::{NestedPath, SkippedPath};
use crate::model::files::FileTotals;
use crate::model::{CheckpointId, Record, SessionId};

/// A report with what was asked for beside it.
#[derive(Debug, Clone, Copy)]
pub struct CreateView<'a> {
    /// The report.
    pub report: &'a CreateReport,
    /// Whether the time spent is shown.
    pub timings: bool,
}

/// The fields of the JSON answer, in their order.
#[derive(Serialize)]
struct Fields<'a> {
    created: bool,
    #[serde(flatten)]
    checkpoint: Checkpoint,
    session_id: &'a SessionId,
    current_checkpoint: Option<&'a CheckpointId>,
    session_started: bool,
    unchanged: bool,
    record: &'a Record,
    skipped: &'a [SkippedPath],
    nested: &'a [NestedPath],
    warnings: &'a [String],
    pruned: &'a [CheckpointId],
    recovered: &'a [Recovered],
    growth: Growth,
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<Timings<'a>>,
}

#[derive(Serialize)]
struct Growth {
    objects: usize,
    bytes: u64,
}

/// Names with milliseconds.
struct Timings<'a>(&'a [(&'static str, Duration)]);

impl Serialize for Timings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, spent) in self.0 {
            let name = format!("{}_ms", name.replace(' ', "_"));
            map.serialize_entry(&name, &milliseconds(*spent))?;
        }
        map.end()
    }
}

fn milliseconds(spent: Duration) -> f64 {
    (spent.as_secs_f64() * 1e6).round() / 1e3
}

impl Serialize for CreateView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.report;
        let fields = Fields {
            created: true,
            checkpoint: Checkpoint::described(&report.manifest, &report.record),
            session_id: &report.record.session_id,
            current_checkpoint: report.manifest.current_checkpoint.as_ref(),
            session_started: report.session_started,
            unchanged: report.unchanged,
            record: &report.record,
            skipped: &report.skipped,
            nested: &report.nested,
            warnings: &report.warnings,
            pruned: &report.pruned,
            recovered: &report.recovered,
            growth: Growth {
                objects: report.growth.0,
                bytes: report.growth.1,
            },
            timings: self.timings.then_some(Timings(&report.timings)),
        };
        fields.serialize(serializer)
    }
}

impl Render for CreateView<'_> {
    fn text(&self, style: &Style) -> String {
        let record = &self.report.record;
        if style.verbosity == Verbosity::Quiet {
            return format!("{}\n", record.id);
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let commit = record.git.commit_hash.as_ref();
        format!(
            "{tick} Checkpoint created: {}\n  Step: {} - {}\n  Files: {}\n  Commit: {}\n",
            record.id,
            record.step_number,
            escape(&record.step_name),
            self.files(),
            commit.map_or_else(|| "none".to_owned(), crate::model::ObjectId::short)
        )
    }

    fn notes(&self, style: &Style) -> Vec<Note> {
        let report = self.report;
        let mut notes: Vec<Note> = note::recovered(&report.recovered).collect();
        if report.session_started {
            notes.push(Note::info(format!(
                "Started session {} (topic: {}, workflow: {})",
                report.manifest.session_id,
                escape(&report.manifest.topic),
                escape(&report.manifest.workflow)
            )));
        }
        notes.extend(report.skipped.iter().map(|skipped| {
            let reason = skipped.reason.as_str();
            Note::warning(format!("skipped {}: {reason}", escape(&skipped.path)))
        }));
        notes.extend(report.nested.iter().map(|nested| {
            let kind = if nested.tracked {
                "submodule"
            } else {
                "nested repository"
            };
            Note::info(format!(
                "{kind} {} is recorded as commit {} and left alone",
                escape(&nested.path),
                nested.commit.short()
            ))
        }));
        notes.extend(note::warnings(&report.warnings));
        if !report.pruned.is_empty() {
            notes.push(Note::info(format!(
                "Pruned by the retention policy: {}",
                names(&report.pruned)
            )));
        }
        if style.verbosity == Verbosity::Verbose {
            notes.push(Note::info(self.details()));
        }
        if self.timings {
            notes.push(Note::info(self.laps()));
        }
        notes
    }
}

impl CreateView<'_> {
    fn files(&self) -> String {
        let record = &self.report.record;
        if !record.git.enabled {
            return "not captured".to_owned();
        }
        let totals = record.files.totals;
        let counts = counts(totals);
        let changed = total(totals);
        match &record.parent {
            Some(parent) if self.report.unchanged => {
                format!("nothing changed since {parent}; it shares all objects")
            }
            Some(parent) => format!("{changed} changed since {parent} ({counts})"),
            None => {
                let since = match &record.git.head {
                    Some(head) => format!("HEAD {}", head.short()),
                    None => "the empty tree".to_owned(),
                };
                format!("{changed} changed since {since} ({counts})")
            }
        }
    }

    fn details(&self) -> String {
        let (objects, bytes) = self.report.growth;
        let mut out = format!("The repository grew by {objects} objects, {bytes} bytes");
        let files = &self.report.record.files;
        for (sign, paths) in [
            ('+', &files.created),
            ('~', &files.modified),
            ('-', &files.deleted),
        ] {
            for path in paths {
                let _ = write!(out, "\n  {sign} {}", escape(path));
            }
        }
        if files.truncated {
            out.push_str("\n  … and more");
        }
        out
    }

    fn laps(&self) -> String {
        let laps = &self.report.timings;
        let width = laps
            .iter()
            .map(|(name, _)| name.len())
            .max()
            .unwrap_or(0)
            .max(5);
        let mut out = String::new();
        for (name, spent) in laps {
            let _ = writeln!(out, "{name:width$}  {:9.3} ms", milliseconds(*spent));
        }
        let sum: Duration = laps.iter().map(|(_, spent)| *spent).sum();
        let _ = write!(out, "{:width$}  {:9.3} ms", "total", milliseconds(sum));
        out
    }
}

/// `1 created, 2 modified, 0 deleted`.
pub(super) fn counts(totals: FileTotals) -> String {
    let FileTotals {
        created,
        modified,
        deleted,
    } = totals;
    format!("{created} created, {modified} modified, {deleted} deleted")
}

/// All of them together.
pub(super) fn total(totals: FileTotals) -> u64 {
    totals.created + totals.modified + totals.deleted
}

fn names(ids: &[CheckpointId]) -> String {
    const SHOWN: usize = 5;
    let mut text: Vec<&str> = ids.iter().take(SHOWN).map(CheckpointId::as_str).collect();
    let more = format!("and {} more", ids.len().saturating_sub(SHOWN));
    if ids.len() > SHOWN {
        text.push(&more);
    }
    text.join(", ")
}
