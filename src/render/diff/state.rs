//! The sections on state, metrics and outputs.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::escape::escape;
use super::super::json;
use super::super::style::{Role, Style, Verbosity};
use super::{SHOWN, files, heading, more, shown};
use crate::engine::diff::outputs::{OutputChange, OutputDetail, Presence};
use crate::engine::diff::state::{MetricChange, MetricKind, Shift, StateChange, StateChanges};
use crate::engine::summary::StepName;
use crate::model::json_diff::{Change, ChangeKind};

pub(super) fn show_state(state: Option<&StateChanges>, style: &Style, out: &mut String) {
    heading(out, style, "STATE CHANGES");
    let Some(state) = state else {
        out.push_str("  not known\n");
        return;
    };
    let step = |step: &StepName| match step.name.as_str() {
        "" => step.step.to_string(),
        name => format!("{} - {}", step.step, escape(name)),
    };
    let known = [
        shift("Phase:", state.phase.as_ref(), |phase| escape(phase), style),
        shift("Step:", state.step.as_ref(), step, style),
        shift(
            "Iteration:",
            state.iteration.as_ref(),
            u64::to_string,
            style,
        ),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    // The metrics have a section of their own; what go-team notes in the state by itself changes every time.
    let (own, others): (Vec<&StateChange>, Vec<&StateChange>) = state
        .changes
        .iter()
        .filter(|change| !is_told_above(state, change) && change.field() != "metrics")
        .partition(|change| change.field() == "checkpoint");
    let is_verbose = style.verbosity == Verbosity::Verbose;
    let shows_own = is_verbose && !own.is_empty();
    if known.is_empty() && others.is_empty() && !shows_own {
        out.push_str("  none\n");
        return;
    }
    for line in known {
        let _ = writeln!(out, "{}", style.cut(&line, style.width));
    }
    let mut listed = others;
    if is_verbose {
        listed.extend(own);
    }
    let some = shown(listed.len(), SHOWN, style);
    for change in &listed[..some] {
        value_change(&change.change, "  ", style, out);
    }
    more(out, listed.len() - some, style);
}

/// Whether the lines on phase and iteration say the same already.
fn is_told_above(state: &StateChanges, change: &StateChange) -> bool {
    let values = match &change.change.kind {
        ChangeKind::Added { new } => (None, Some(new)),
        ChangeKind::Removed { old } => (Some(old), None),
        ChangeKind::Changed { old, new } => (Some(old), Some(new)),
    };
    match change.at.as_str() {
        "phase" => state.phase.as_ref().is_some_and(|shift| {
            let is = |value: Option<&Value>, text: &Option<String>| {
                value.and_then(Value::as_str) == text.as_deref()
            };
            // A record has a phase even where the state says nothing of it.
            (values.0.is_none() || is(values.0, &shift.old)) && is(values.1, &shift.new)
        }),
        "iteration_count" => state.iteration.as_ref().is_some_and(|shift| {
            values.0.and_then(Value::as_u64) == shift.old
                && values.1.and_then(Value::as_u64) == shift.new
        }),
        _ => false,
    }
}

fn shift<T>(
    name: &str,
    shift: Option<&Shift<T>>,
    text: impl Fn(&T) -> String,
    style: &Style,
) -> Option<String> {
    let Shift { old, new } = shift?;
    let side = |side: &Option<T>| side.as_ref().map_or("none".to_owned(), &text);
    let (old, new) = (side(old), side(new));
    Some(format!("  {name:<11}{old} {} {new}", style.to()))
}

/// A change with its sign, cut to the width.
fn value_change(change: &Change, indent: &str, style: &Style, out: &mut String) {
    let path = escape(&change.path.to_string());
    let place = if path.is_empty() {
        String::new()
    } else {
        format!("{path}: ")
    };
    let (sign, role, text) = match &change.kind {
        ChangeKind::Added { new } => ('+', Role::Good, json::compact(new)),
        ChangeKind::Removed { old } => ('-', Role::Bad, json::compact(old)),
        ChangeKind::Changed { old, new } => (
            '~',
            Role::Warning,
            format!(
                "{} {} {}",
                json::compact(old),
                style.to(),
                json::compact(new)
            ),
        ),
    };
    let mut line = format!("{indent}{sign} {place}{text}");
    if style.verbosity < Verbosity::Verbose {
        line = style.cut(&line, style.width);
    }
    let _ = writeln!(out, "{}", style.paint(role, &line));
}

pub(super) fn show_metrics(metrics: Option<&[MetricChange]>, style: &Style, out: &mut String) {
    heading(out, style, "METRICS CHANGES");
    match metrics {
        None => out.push_str("  not known\n"),
        Some([]) => out.push_str("  none\n"),
        Some(metrics) => {
            let some = shown(metrics.len(), SHOWN, style);
            for metric in &metrics[..some] {
                let line = style.cut(&metric_line(metric, style), style.width);
                let _ = writeln!(out, "{}", style.paint(judge(metric), &line));
            }
            more(out, metrics.len() - some, style);
        }
    }
}

/// What a metric is called.
pub(super) fn metric_name(name: &str) -> String {
    match name {
        "build_pass" => "Build passes".to_owned(),
        "test_coverage" => "Coverage".to_owned(),
        "lint_clean" => "Lint clean".to_owned(),
        "race_free" => "Race free".to_owned(),
        name => escape(name),
    }
}

fn metric_line(metric: &MetricChange, style: &Style) -> String {
    let value = |value: &Option<Value>| match value {
        None => "none".to_owned(),
        Some(Value::Bool(true)) => "yes".to_owned(),
        Some(Value::Bool(false)) => "no".to_owned(),
        Some(value) if metric.kind == MetricKind::Percentage && value.is_number() => {
            format!("{value} %")
        }
        Some(value) => json::compact(value),
    };
    let (old, new) = (value(&metric.old), value(&metric.new));
    let delta = match metric.delta {
        Some(delta) if delta != 0.0 => format!(" ({delta:+})"),
        _ => String::new(),
    };
    let name = metric_name(&metric.name);
    format!("  {name}: {old} {} {new}{delta}", style.to())
}

/// Of the metrics that are understood, whether they became better.
fn judge(metric: &MetricChange) -> Role {
    let is_known = ["build_pass", "test_coverage", "lint_clean", "race_free"];
    if !is_known.contains(&metric.name.as_str()) {
        return Role::Warning;
    }
    match (&metric.new, metric.delta) {
        (_, Some(delta)) if delta > 0.0 => Role::Good,
        (Some(Value::Bool(true)), _) | (Some(Value::Number(_)), None) => Role::Good,
        _ => Role::Bad,
    }
}

pub(super) fn show_outputs(outputs: Option<&[OutputChange]>, style: &Style, out: &mut String) {
    heading(out, style, "OUTPUT CHANGES");
    let Some(outputs) = outputs else {
        out.push_str("  not known\n");
        return;
    };
    if outputs.is_empty() {
        out.push_str("  none\n");
    }
    let some = shown(outputs.len(), SHOWN, style);
    for output in &outputs[..some] {
        show_output(output, style, out);
    }
    more(out, outputs.len() - some, style);
}

fn show_output(output: &OutputChange, style: &Style, out: &mut String) {
    let (sign, role) = match output.change {
        Presence::Added => ('+', Role::Good),
        Presence::Removed => ('-', Role::Bad),
        Presence::Changed => ('~', Role::Warning),
    };
    let mut head = |text: &str| {
        let line = format!("  {sign} {}: {text}", escape(&output.name));
        let line = style.cut(&line, style.width);
        let _ = writeln!(out, "{}", style.paint(role, &line));
    };
    match &output.detail {
        OutputDetail::Text { lines } => {
            head(&format!("+{} -{} lines", lines.added, lines.removed));
        }
        OutputDetail::File { file } => {
            let how_much = files::amount(file, style);
            let gap = if how_much.is_empty() { "" } else { " " };
            head(&format!("{}{gap}{how_much}", escape(&file.path)));
        }
        OutputDetail::Value { changes } if matches!(&changes[..], [one] if one.path.0.is_empty()) =>
        {
            let text = match &changes[0].kind {
                ChangeKind::Added { new } => json::compact(new),
                ChangeKind::Removed { old } => json::compact(old),
                ChangeKind::Changed { old, new } => format!(
                    "{} {} {}",
                    json::compact(old),
                    style.to(),
                    json::compact(new)
                ),
            };
            head(&text);
        }
        OutputDetail::Value { changes } => {
            head(&format!("{} changes", changes.len()));
            let some = shown(changes.len(), SHOWN, style);
            for change in &changes[..some] {
                value_change(change, "      ", style, out);
            }
            more(out, changes.len() - some, style);
        }
        OutputDetail::List { added, removed } => {
            head(&format!("+{} -{}", added.len(), removed.len()));
            for (sign, role, names) in [('+', Role::Good, added), ('-', Role::Bad, removed)] {
                let some = shown(names.len(), SHOWN, style);
                for name in &names[..some] {
                    let line = format!("      {sign} {}", escape(name));
                    let line = style.cut(&line, style.width);
                    let _ = writeln!(out, "{}", style.paint(role, &line));
                }
                more(out, names.len() - some, style);
            }
        }
    }
}
