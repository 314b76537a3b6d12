//! How one checkpoint is shown.

mod contents;

use std::fmt::Write as _;

use serde_json::Value;

use super::Render;
use super::create::{counts, total};
use super::escape::{escape, escape_lines};
use super::json;
use super::layout::title;
use super::list::{Wording, status};
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use super::time::seconds;
use crate::engine::show::{Check, Outcome, Relative, ShowReport, Subject};
use crate::model::{GitSnapshot, Record, RollbackRecord, State};

/// How many paths of each kind are shown unless everything is asked for.
const SHOWN: usize = 10;

impl Render for ShowReport {
    fn text(&self, style: &Style) -> String {
        let entry = &self.checkpoint.entry;
        let mut out = title(style, &format!("CHECKPOINT - {}", entry.id));
        let (role, status) = status(&self.checkpoint, Wording::Full, style);
        let mut line = |name: &str, text: &str| {
            let _ = writeln!(out, "{name:<13}{text}");
        };
        line(
            "Step:",
            &format!("{} - {}", entry.step, escape(&entry.name)),
        );
        line(
            "Number:",
            &format!("{} (seq {})", self.checkpoint.number, entry.seq),
        );
        line("Status:", &style.paint(role, &status));
        match (&self.lineage.invalidated_by, &entry.invalidated_by) {
            (Some(rollback), _) => {
                line(
                    "",
                    &format!("left behind by {}", describe_rollback(rollback)),
                );
            }
            (None, Some(rollback)) => line("", &format!("left behind by {rollback}")),
            (None, None) => {}
        }
        if let Some(rollback) = &self.lineage.safety_of {
            let undone = match rollback.undone_at {
                Some(at) => format!(", undone {}", seconds(at)),
                None => String::new(),
            };
            let text = describe_rollback(rollback);
            line("", &format!("taken for {text}{undone}"));
        }
        if let Some(at) = entry.corrupted_at {
            line("", &format!("found to be corrupt {}", seconds(at)));
        }
        line("Phase:", &escape(&entry.phase));
        line("Trigger:", entry.trigger.as_str());
        line("Created:", &seconds(entry.timestamp));
        line("Session:", self.session.session_id.as_str());
        if let Some(text) = self
            .checkpoint
            .description
            .as_deref()
            .filter(|text| !text.is_empty())
        {
            line("Description:", &escape(text));
        }
        if let Some(turns) = self.checkpoint.turn_count {
            line("Turns:", &turns.to_string());
        }
        let parent = match (&self.lineage.parent, &entry.parent) {
            (Some(parent), _) => relative(parent),
            (None, Some(pruned)) => format!("{pruned} (not listed any more)"),
            (None, None) => "none".to_owned(),
        };
        line("Parent:", &parent);
        for (nth, child) in self.lineage.children.iter().enumerate() {
            line(if nth == 0 { "Children:" } else { "" }, &relative(child));
        }
        for rollback in &self.lineage.rollbacks {
            line("Gone back to:", &describe_rollback(rollback));
        }
        if let Some(record) = &self.record {
            self.show_record(record, style, &mut out);
        }
        self.show_validation(style, &mut out);
        self.show_git_commands(style, &mut out);
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let warnings = note::warnings(&self.warnings);
        warnings
            .chain(note::unfinished(self.unfinished.as_ref()))
            .collect()
    }
}

/// `rb-… (2025-12-28 23:00:00, from step 5 back to step 2: why)`.
fn describe_rollback(rollback: &RollbackRecord) -> String {
    let from = match rollback.from_step {
        Some(step) => format!("from step {step} "),
        None => String::new(),
    };
    let reason = match rollback.reason.as_str() {
        "" => String::new(),
        reason => format!(": {}", escape(reason)),
    };
    format!(
        "{} ({}, {from}back to step {}{reason})",
        rollback.id,
        seconds(rollback.timestamp),
        rollback.to_step
    )
}

fn relative(relative: &Relative) -> String {
    format!("{} ({})", relative.id, relative.number)
}

fn heading(out: &mut String, style: &Style, text: &str) {
    let _ = writeln!(out, "{}", style.paint(Role::Title, text));
}

impl ShowReport {
    fn show_record(&self, record: &Record, style: &Style, out: &mut String) {
        heading(out, style, "State");
        show_state(&record.state, out);
        if style.verbosity == Verbosity::Verbose {
            let text = json::pretty(&record.state);
            for line in escape_lines(&text).lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
        heading(out, style, "Outputs");
        if record.outputs.is_empty() {
            out.push_str("  none\n");
        }
        for (name, value) in &record.outputs {
            let text = format!("  {}: {}", escape(name), brief(value, style));
            let _ = writeln!(out, "{}", style.cut(&text, style.width));
        }
        heading(out, style, "Files");
        self.show_files(record, style, out);
        show_git(&record.git, style, out);
        heading(out, style, "Resume");
        let recovery = &record.recovery;
        let from = recovery
            .resume_from
            .as_deref()
            .map_or("nothing is left to do".to_owned(), escape);
        let _ = writeln!(out, "  {from}");
        for warning in &recovery.warnings {
            let _ = writeln!(out, "  {}", escape(warning));
        }
    }
}

fn show_git(git: &GitSnapshot, style: &Style, out: &mut String) {
    heading(out, style, "Git");
    if !git.enabled {
        out.push_str("  no files were captured\n");
        return;
    }
    let branch = git.branch.as_deref().map_or("detached".to_owned(), escape);
    let _ = writeln!(out, "  Branch: {branch}");
    for (name, id) in [
        ("HEAD", git.head),
        ("Commit", git.commit_hash),
        ("Tree", git.tree),
        ("Index", git.index_tree),
    ] {
        let id = id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        let _ = writeln!(out, "  {name}: {id}");
    }
}

fn show_state(state: &State, out: &mut String) {
    let metrics = state.metrics();
    let yes_no =
        |value: Option<bool>| value.map(|value| if value { "yes" } else { "no" }.to_owned());
    let iteration = state
        .iteration_count()
        .map(|count| match state.max_iterations() {
            Some(max) => format!("{count} of {max}"),
            None => count.to_string(),
        });
    let facts = [
        ("Phase", state.phase().map(escape)),
        ("Agent", state.current_agent().map(escape)),
        ("Iteration", iteration),
        ("Build passes", yes_no(metrics.build_pass)),
        (
            "Coverage",
            metrics.test_coverage.map(|percent| format!("{percent} %")),
        ),
        ("Lint clean", yes_no(metrics.lint_clean)),
        ("Race free", yes_no(metrics.race_free)),
    ];
    let known: Vec<_> = facts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    if known.is_empty() {
        let fields = count(state.as_map().len(), "field");
        let _ = writeln!(out, "  {fields} (-v shows them)");
    }
    for (name, value) in known {
        let _ = writeln!(out, "  {name}: {value}");
    }
}

/// `1 item`, `2 items`.
pub(super) fn count(number: usize, name: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {name}{plural}")
}

fn brief(value: &Value, style: &Style) -> String {
    match value {
        Value::String(text) => escape(text),
        Value::Array(list) if style.verbosity < Verbosity::Verbose => count(list.len(), "item"),
        Value::Object(map) if style.verbosity < Verbosity::Verbose => count(map.len(), "field"),
        value => json::compact(value),
    }
}

impl ShowReport {
    fn show_files(&self, record: &Record, style: &Style, out: &mut String) {
        let files = &record.files;
        if !record.git.enabled {
            out.push_str("  not captured\n");
            return;
        }
        let since = record.parent.as_ref().map_or("HEAD", |_| "the parent");
        if total(files.totals) == 0 {
            let _ = writeln!(out, "  nothing changed since {since}");
            return;
        }
        let _ = writeln!(
            out,
            "  {} changed since {since} ({})",
            total(files.totals),
            counts(files.totals)
        );
        for (role, sign, paths, count) in [
            (Role::Good, '+', &files.created, files.totals.created),
            (Role::Warning, '~', &files.modified, files.totals.modified),
            (Role::Bad, '-', &files.deleted, files.totals.deleted),
        ] {
            let shown = match style.verbosity {
                Verbosity::Verbose => paths.len(),
                _ => paths.len().min(SHOWN),
            };
            for path in &paths[..shown] {
                let _ = writeln!(
                    out,
                    "  {}",
                    style.paint(role, &format!("{sign} {}{}", escape(path), self.size(path)))
                );
            }
            let more = count.saturating_sub(shown as u64);
            if more > 0 {
                let _ = writeln!(out, "  {sign} {more} more");
            }
        }
    }

    /// ` (12 bytes)`, where it is known.
    fn size(&self, path: &str) -> String {
        let file = self.sizes.iter().find(|file| file.path == path);
        let size = file.and_then(|file| file.size);
        size.map_or(String::new(), |size| format!(" ({size} bytes)"))
    }

    fn show_validation(&self, style: &Style, out: &mut String) {
        heading(out, style, "Validation");
        for Check { check, outcome } in &self.validation {
            let name = match check {
                Subject::File => "record",
                Subject::Hash => "checksum",
                Subject::Ref => "ref",
                Subject::Commit => "commit",
            };
            let (role, mark, reason) = match outcome {
                Outcome::Ok => (Role::Good, Mark::Tick, None),
                Outcome::Failed { reason } => (Role::Bad, Mark::Cross, Some(reason)),
                Outcome::Skipped { reason } => (Role::Faint, Mark::Dash, Some(reason)),
            };
            let reason = reason.map_or(String::new(), |reason| format!(": {}", escape(reason)));
            let _ = writeln!(
                out,
                "  {} {name}{reason}",
                style.paint(role, style.mark(mark))
            );
        }
    }

    /// How to reach the checkpoint without go-team.
    fn show_git_commands(&self, style: &Style, out: &mut String) {
        let Some(reference) = &self.reference else {
            return;
        };
        heading(out, style, "With git");
        let file = self.record.as_ref().and_then(|record| {
            let files = &record.files;
            files.created.first().or(files.modified.first())
        });
        let path = file.map_or("PATH".to_owned(), |path| escape(path));
        let _ = writeln!(out, "  git show {reference}:{path}");
        if let Some(parent) = &self.parent_reference {
            let _ = writeln!(out, "  git diff {parent} {reference}");
        }
        let _ = writeln!(out, "  git diff {reference}");
    }
}
