//! How a session that can be taken up is shown: asked about, looked at, taken up, put away, removed.

mod reasons;

use std::fmt::Write as _;

use super::Render;
use super::create::{counts, total};
use super::escape::escape;
use super::layout::{INDENT, commands, field, progress_line, title};
use super::note::{self, Note};
use super::style::{Mark, Role, Style, Verbosity};
use super::time::seconds;
use crate::engine::resume::{FreshReport, GoneReport, NodeState, Point, ResumeReport, Verdict};
use crate::model::SessionId;
use crate::model::workflow::Unit;
use reasons::{differences, reason_text};

/// How much of a long text is shown to people.
const MAX_TEXT: usize = 400;

/// The choices, as they are asked for. What cannot be taken up is not offered to be.
#[must_use]
pub fn resume_question(report: &ResumeReport, style: &Style) -> String {
    let mut words = vec!["(r)esume", "(s)tart fresh", "(v)iew details", "(d)elete"];
    if report.problem.is_some() {
        words.remove(0);
    }
    let line = words.join(" ");
    if line.len() + 2 > style.width {
        return format!("{}: ", words.join("\n"));
    }
    format!("{line}: ")
}

/// What was found, in short, before the question. Where somebody has to decide, the difference is shown as well.
#[must_use]
pub fn resume_found(report: &ResumeReport, style: &Style) -> String {
    let topic = report.session.as_ref().map(|session| &session.topic);
    let topic = topic.map_or_else(|| report.session_id.to_string(), |topic| escape(topic));
    let mut out = match &report.checkpoint {
        None if report.problem.is_none() => {
            format!("Found existing session for \"{topic}\", without a checkpoint\n")
        }
        _ => format!("Found existing checkpoint for \"{topic}\"\n"),
    };
    match (&report.checkpoint, &report.session) {
        (Some(checkpoint), _) => {
            let entry = &checkpoint.entry;
            let text = format!("{} ({})", seconds(entry.timestamp), entry.id);
            field(&mut out, style, "Created:", &text);
        }
        (None, Some(session)) => {
            field(&mut out, style, "Created:", &seconds(session.created_at));
        }
        (None, None) => {}
    }
    if let Some(session) = &report.session {
        field(&mut out, style, "Progress:", &progress_line(session));
    }
    verdict(&mut out, report, style);
    if report.verdict >= Verdict::PromptUser {
        out.push_str(&differences(report, style));
    }
    out
}

/// What is asked before a session is removed.
#[must_use]
pub fn remove_prompt(report: &ResumeReport) -> String {
    let what = match &report.session {
        Some(session) => format!(
            " (\"{}\", {})",
            escape(&session.topic),
            counted(session.checkpoint_count, "checkpoint")
        ),
        None => String::new(),
    };
    format!(
        "Session {}{what} will be deleted for good, with all that only its checkpoints hold.\n\
         Your files stay as they are. Nothing can bring the session back.\nType yes to go on: ",
        report.session_id
    )
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The verdict, and each reason for it.
fn verdict(out: &mut String, report: &ResumeReport, style: &Style) {
    let (role, words) = match report.verdict {
        Verdict::Resume => (Role::Good, "resume: everything is as it was"),
        Verdict::ProceedWithWarning => (Role::Warning, "proceed with warning"),
        Verdict::PromptUser => (
            Role::Warning,
            "prompt user: look at the difference and decide",
        ),
        Verdict::StartFresh => (Role::Bad, "start fresh"),
    };
    let _ = writeln!(out, "{:<INDENT$}{}", "Verdict:", style.paint(role, words));
    for reason in &report.reasons {
        field(out, style, "", &reason_text(reason));
    }
    if let Some(problem) = &report.problem {
        for detail in &problem.details {
            field(out, style, "Problem:", &escape(detail));
        }
    }
}

impl Render for ResumeReport {
    fn text(&self, style: &Style) -> String {
        if style.verbosity == Verbosity::Quiet {
            return match &self.resumed {
                Some(_) => format!("{}\n", self.session_id),
                None => format!("{}\n", self.verdict),
            };
        }
        let mut out = match &self.resumed {
            Some(_) => {
                let tick = style.paint(Role::Good, style.mark(Mark::Tick));
                format!("{tick} Resumed: {}\n", self.session_id)
            }
            None => title(style, &format!("RESUME - Session: {}", self.session_id)),
        };
        self.show_session(&mut out, style);
        verdict(&mut out, self, style);
        if let Some(point) = &self.resume_point {
            show_point(&mut out, point, style);
        }
        self.show_in_flight(&mut out, style);
        out.push_str(&differences(self, style));
        let resume = format!("resume {} --resume", self.session_id);
        let fresh = format!("resume {} --fresh", self.session_id);
        let names: &[&str] = match (&self.resumed, &self.problem) {
            (Some(_), _) => &["status", "state show", "cp-diff current"],
            (None, None) => &[&resume, &fresh],
            (None, Some(_)) => &["cp-validate", &fresh],
        };
        out.push_str(&commands(names, style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = note::recovered(&self.recovered).collect();
        notes.extend(note::warnings(&self.warnings));
        notes.extend(note::unfinished(self.in_flight.operation.as_ref()));
        let resumed = self.resumed.as_ref();
        notes.extend(left(resumed.and_then(|done| done.left.as_ref())));
        notes
    }
}

impl ResumeReport {
    fn show_session(&self, out: &mut String, style: &Style) {
        let Some(session) = &self.session else {
            return;
        };
        field(out, style, "Topic:", &escape(&session.topic));
        field(out, style, "Workflow:", &escape(&session.workflow));
        field(out, style, "Status:", session.status.as_str());
        field(out, style, "Created:", &seconds(session.created_at));
        if let Some(checkpoint) = &self.checkpoint {
            let entry = &checkpoint.entry;
            let text = format!(
                "{} ({}, {})",
                entry.id,
                escape(&entry.name),
                seconds(entry.timestamp)
            );
            field(out, style, "Checkpoint:", &text);
        }
        field(out, style, "Progress:", &progress_line(session));
    }

    fn show_in_flight(&self, out: &mut String, style: &Style) {
        let paths = &self.in_flight.state;
        if !paths.is_empty() {
            let shown: Vec<String> = paths.iter().take(10).map(|path| escape(path)).collect();
            let more = paths.len() - shown.len();
            let mut text = format!("changed since the checkpoint: {}", shown.join(", "));
            if more > 0 {
                let _ = write!(text, " and {more} more");
            }
            field(out, style, "State:", &text);
        }
        if let Some(failed) = &self.in_flight.failed {
            let text = format!(
                "{} {}: {}",
                seconds(failed.timestamp),
                escape(&failed.operation),
                short(&failed.error)
            );
            field(out, style, "Failed last:", &text);
        }
    }
}

/// Where work goes on, and with what.
fn show_point(out: &mut String, point: &Point, style: &Style) {
    let mut at = match (point.step, &point.stage) {
        (Some(step), Some(stage)) if point.unit == Unit::Step => {
            format!("step {step} - {}", escape(stage))
        }
        (Some(step), Some(stage)) => format!("{} {step}, {}", point.unit, escape(stage)),
        (Some(step), None) => format!("{} {step}", point.unit),
        (None, _) => String::new(),
    };
    if !at.is_empty() {
        at.push_str(": ");
    }
    at.push_str(point.action.describe());
    field(out, style, "Go on:", &at);
    if let Some(iteration) = point.iteration {
        let most = point.max_iterations.map(|most| format!(" of {most}"));
        let next = point.next_iteration.map(|next| format!(", now {next}"));
        let text = format!(
            "{iteration}{}{}",
            most.unwrap_or_default(),
            next.unwrap_or_default()
        );
        field(out, style, "Iteration:", &text);
    }
    let texts = [("Agent:", &point.agent), ("Feedback:", &point.feedback)];
    for (label, text) in texts {
        if let Some(text) = text {
            field(out, style, label, &short(text));
        }
    }
    for (label, value) in [("Score:", &point.score), ("Last error:", &point.last_error)] {
        if let Some(value) = value {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            field(out, style, label, &short(&text));
        }
    }
    if let Some(execution) = &point.execution {
        let of = |state| {
            execution
                .nodes
                .iter()
                .filter(|node| node.state == state)
                .count()
        };
        let text = format!(
            "{}: {} done, {} running, {} failed, {} waiting",
            counted(execution.nodes.len(), "node"),
            of(NodeState::Done),
            of(NodeState::Running),
            of(NodeState::Failed),
            of(NodeState::Waiting)
        );
        field(out, style, "Graph:", &text);
        for (nth, batch) in execution.batches.iter().enumerate().take(10) {
            let label = format!("Batch {}:", nth + 1);
            field(out, style, &label, &names(batch));
        }
        if execution.batches.len() > 10 {
            let more = execution.batches.len() - 10;
            field(
                out,
                style,
                "",
                &format!("and {more} more batches (--json has them)"),
            );
        }
        for blocked in execution.blocked.iter().take(10) {
            let text = format!(
                "{} waits for {}",
                short(&blocked.id),
                names(&blocked.waits_for)
            );
            field(out, style, "Blocked:", &text);
        }
    }
    if !point.pending_messages.is_empty() {
        let text = format!(
            "{} pending (go-team state get pending_messages)",
            point.pending_messages.len()
        );
        field(out, style, "Messages:", &text);
    }
}

/// Some of many names.
fn names(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| short(name)).collect();
    let mut text = shown.join(", ");
    if names.len() > 20 {
        let _ = write!(text, " and {} more", names.len() - 20);
    }
    text
}

/// The beginning of a text that may be long.
fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_TEXT).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    escape(&cut)
}

/// Which session the work tree was in before.
fn left(session: Option<&SessionId>) -> Option<Note> {
    let left = session?;
    Some(Note::info(format!(
        "Left session {left}: it stays as it is; go on in it with go-team resume {left}"
    )))
}

impl Render for FreshReport {
    fn text(&self, style: &Style) -> String {
        let session = &self.session;
        if style.verbosity == Verbosity::Quiet {
            return format!("{}\n", session.session_id);
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let old = &self.put_away;
        let status = old.status.map_or("as it is", |status| status.as_str());
        let mut out = format!("{tick} Started fresh: {}\n", session.session_id);
        let _ = writeln!(out, "  Topic: {}", escape(&session.topic));
        let _ = writeln!(out, "  Workflow: {}", escape(&session.workflow));
        let _ = writeln!(out, "  Put away: {} ({status})", old.session_id);
        let _ = writeln!(out, "  Its files: {}", escape(&old.directory));
        let _ = writeln!(out, "  Back to it: {}", old.resume_with);
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let recovered = note::recovered(&self.recovered);
        let notes = recovered.chain(note::warnings(&self.warnings));
        notes.chain(left(self.left.as_ref())).collect()
    }
}

impl Render for GoneReport {
    fn text(&self, style: &Style) -> String {
        if style.verbosity == Verbosity::Quiet {
            return format!("{}\n", self.session_id);
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        format!(
            "{tick} Deleted session {}\n  {}, {} removed\n{}",
            self.session_id,
            counted(self.checkpoints, "checkpoint"),
            counted(self.removed.refs, "ref"),
            commands(&["sessions", "start TOPIC"], style)
        )
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        note::recovered(&self.recovered).collect()
    }
}
