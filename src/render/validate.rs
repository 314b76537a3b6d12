//! How a validation is shown: the table, what was found, what to type.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::title;
use super::note::Note;
use super::remedy::commands_for;
use super::style::{Mark, Role, Style, Verbosity};
use super::table::{Cell, Column, table};
use crate::engine::validate::{Depth, Outcome, ValidateReport, Verdict};
use crate::model::finding::{Finding, Severity};

/// How many findings are shown unless everything is asked for.
const SHOWN: usize = 20;

const fn column(title: &'static str, least: usize, rank: u8) -> Column<'static> {
    Column {
        title,
        roomy: 0,
        least,
        rank,
    }
}

const COLUMNS: [Column; 8] = [
    column("#", 2, 4),
    column("Checkpoint", 8, 1),
    column("File", 4, 5),
    column("Hash", 4, 5),
    column("Chain", 5, 5),
    column("Git", 3, 5),
    column("State", 5, 5),
    column("Overall", 7, 6),
];

impl ValidateReport {
    /// What came of it, in a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let total = self.checkpoints.len();
        let plural = if total == 1 { "" } else { "s" };
        let bad = self.checkpoints.iter();
        let bad = bad
            .filter(|verdict| verdict.overall == Outcome::Failed)
            .count();
        let invalid = self
            .findings
            .iter()
            .filter(|f| f.severity > Severity::Notice);
        let of_session = invalid.filter(|f| f.checkpoint.is_none()).count();
        let how = match self.depth {
            Depth::Plain => "",
            Depth::Deep => ", every object read",
        };
        match (bad, of_session) {
            (0, 0) => format!(
                "{total} checkpoint{plural} valid ({} objects{how})",
                self.objects
            ),
            (0, _) => format!(
                "{total} checkpoint{plural} whole, but the session is not: {of_session} found"
            ),
            (bad, 0) => format!("{bad} of {total} checkpoint{plural} not valid"),
            (bad, _) => format!(
                "{bad} of {total} checkpoint{plural} not valid, and {of_session} found about the session"
            ),
        }
    }
}

impl Render for ValidateReport {
    fn text(&self, style: &Style) -> String {
        let mut out = String::new();
        let is_quiet = style.verbosity == Verbosity::Quiet;
        if !is_quiet {
            out = title(style, &format!("VALIDATION - Session: {}", self.session_id));
        }
        let shown = self.checkpoints.iter();
        let shown = shown.filter(|verdict| !is_quiet || verdict.overall == Outcome::Failed);
        let rows: Vec<_> = shown.map(|verdict| row(verdict, style)).collect();
        if !rows.is_empty() {
            out.push_str(&table(&COLUMNS, &rows, style));
        }
        let (role, mark) = if self.is_valid() {
            (Role::Good, Mark::Tick)
        } else {
            (Role::Bad, Mark::Cross)
        };
        let _ = writeln!(
            out,
            "{} {}",
            style.paint(role, style.mark(mark)),
            self.summary()
        );
        if !self.findings.is_empty() {
            out.push_str(&findings(&self.findings, style));
        }
        if !self.is_valid() {
            self.show_recovery(style, &mut out);
        }
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes = Vec::new();
        if let Some(reason) = &self.not_marked {
            notes.push(Note::warning(format!(
                "what is corrupt could not be marked: {}",
                escape(reason)
            )));
        }
        if self.promised > 0 {
            notes.push(Note::info(format!(
                "{} objects are elsewhere, as the partial clone has it; they were not looked at",
                self.promised
            )));
        }
        notes
    }
}

impl ValidateReport {
    fn show_recovery(&self, style: &Style, out: &mut String) {
        if !self.marked.is_empty() {
            let _ = writeln!(out, "{} marked as corrupt", self.marked.len());
        }
        match &self.last_valid {
            Some(last) => {
                let _ = writeln!(out, "Last valid checkpoint: {} ({})", last.id, last.number);
            }
            None => out.push_str("No valid checkpoint is known\n"),
        }
        let commands = commands_for(&self.findings, self.way_back());
        if !commands.is_empty() {
            let _ = writeln!(out, "{}", style.paint(Role::Title, "Recovery:"));
        }
        for command in commands {
            let _ = writeln!(out, "  {}", escape(&command));
        }
    }
}

fn row(verdict: &Verdict, style: &Style) -> Vec<Cell> {
    let cell = |outcome: Outcome| {
        let (role, mark) = match outcome {
            Outcome::Ok => (Role::Good, Mark::Tick),
            Outcome::Failed => (Role::Bad, Mark::Cross),
            Outcome::Skipped => (Role::Faint, Mark::Dash),
        };
        Cell::with(role, style.mark(mark))
    };
    let mut overall = cell(verdict.overall);
    if verdict.overall == Outcome::Ok && !verdict.valid {
        overall.text.push_str(" inval");
    } else if verdict.current {
        overall.text.push_str(" curr");
    }
    vec![
        Cell::plain(&*verdict.number),
        Cell::plain(verdict.id.as_str()),
        cell(verdict.file),
        cell(verdict.hash),
        cell(verdict.chain),
        cell(verdict.git),
        cell(verdict.state),
        overall,
    ]
}

/// What was found, a line each.
pub(super) fn findings(findings: &[Finding], style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Role::Title, "Found:"));
    let shown = match style.verbosity {
        Verbosity::Verbose => findings.len(),
        _ => findings.len().min(SHOWN),
    };
    for finding in &findings[..shown] {
        let about = finding
            .checkpoint
            .as_ref()
            .map_or("session", |id| id.as_str());
        let role = match finding.severity {
            Severity::Notice => Role::Warning,
            Severity::Invalid | Severity::Corrupt => Role::Bad,
        };
        let about = style.paint(role, about);
        let _ = writeln!(out, "  {about}: {}", escape(&finding.defect.to_string()));
    }
    if findings.len() > shown {
        let _ = writeln!(out, "  {} more (-v shows them)", findings.len() - shown);
    }
    out
}
