//! Each reason for a verdict in words, and the difference that somebody has to look at.

use std::fmt::Write as _;

use super::{counted, counts, short, total};
use crate::engine::resume::{Cause, Change, Commits, Doubt, LineChange, Reason, ResumeReport, Way};
use crate::model::{Files, ObjectId};
use crate::render::escape::escape;
use crate::render::style::{Role, Style, Verbosity};

/// How many lines of a kind are shown to people.
const SHOWN: usize = 10;

/// A reason in words.
pub(super) fn reason_text(reason: &Reason) -> String {
    match &reason.cause {
        Cause::Session(doubt) => of_session(doubt),
        Cause::World(change) => of_world(change),
    }
}

fn of_session(doubt: &Doubt) -> String {
    match doubt {
        Doubt::Blemished { findings } => format!(
            "{} beside the current checkpoint (go-team cp-validate)",
            counted(*findings, "defect")
        ),
        Doubt::Damaged => "it cannot be relied on, but can be mended".to_owned(),
        Doubt::Lost => "it cannot be relied on, and nothing valid is left".to_owned(),
        Doubt::NewerVersion => "a newer go-team wrote it, so use that one".to_owned(),
        Doubt::Ended { status } => format!("the session is {status}"),
        Doubt::Finished => "the workflow has come to its end (go-team complete)".to_owned(),
    }
}

fn of_world(change: &Change) -> String {
    let place = |branch: &Option<String>| match branch {
        Some(branch) => format!("branch {}", escape(branch)),
        None => "a detached HEAD".to_owned(),
    };
    match change {
        Change::WorkTreeMissing { path } => format!("the work tree {} is gone", escape(path)),
        Change::BranchGone { branch } => format!("the branch {} is gone", escape(branch)),
        Change::BranchSwitched { from, to } => {
            format!("it was made on {}, now it is {}", place(from), place(to))
        }
        Change::HeadMoved { from, to, way } => {
            let commit =
                |id: &Option<ObjectId>| id.map_or_else(|| "no commit".to_owned(), |id| id.short());
            let (from, to) = (commit(from), commit(to));
            format!("HEAD moved from {from} to {to}{}", way_text(*way))
        }
        Change::FilesChanged { totals } => format!(
            "{} changed since ({})",
            counted(
                usize::try_from(total(*totals)).unwrap_or(usize::MAX),
                "file"
            ),
            counts(*totals)
        ),
        Change::FilesUnknown { reason } => {
            format!("what changed since is not known: {}", escape(reason))
        }
        Change::InProgress { what } => format!("a {} is in progress", escape(what)),
        Change::IssueLabels { added, removed } => {
            let mut text = "the issue has other labels:".to_owned();
            for (sign, labels) in [('+', added), ('-', removed)] {
                for label in labels.iter().take(SHOWN) {
                    let _ = write!(text, " {sign}{}", short(label));
                }
            }
            text
        }
        Change::IssueTitle { from, to } => {
            format!(
                "the issue has another title: {} (was {})",
                short(to),
                short(from)
            )
        }
        Change::IssueState { from, to } => {
            format!("the issue is {} (was {})", short(to), short(from))
        }
        Change::IssueBody { lines } => {
            let added = lines.iter().filter(|line| line.added).count();
            let removed = lines.len() - added;
            format!("the issue says something else: {added} lines new, {removed} gone")
        }
        Change::IssueUnknown => {
            "the state holds no issue_snapshot to compare the issue with".to_owned()
        }
    }
}

fn way_text(way: Way) -> String {
    match way {
        Way::Ahead { commits } => format!(", {} further", counted(commits, "commit")),
        Way::Behind { commits } => format!(", {} back", counted(commits, "commit")),
        Way::Diverged { ahead, behind } => {
            format!(": {} new, {behind} gone", counted(ahead, "commit"))
        }
        Way::Unknown => ", by a way that cannot be told".to_owned(),
    }
}

/// Files, commits and lines that differ.
pub(super) fn differences(report: &ResumeReport, style: &Style) -> String {
    let mut out = String::new();
    if let Some(files) = &report.freshness.files {
        show_files(&mut out, files, style);
    }
    show_commits(&mut out, &report.freshness.commits, style);
    for reason in &report.reasons {
        if let Cause::World(Change::IssueBody { lines }) = &reason.cause {
            show_lines(&mut out, lines, style);
        }
    }
    out
}

fn limit(style: &Style) -> usize {
    if style.verbosity == Verbosity::Verbose {
        usize::MAX
    } else {
        SHOWN
    }
}

fn line(out: &mut String, style: &Style, sign: char, text: &str) {
    let role = match sign {
        '+' => Role::Good,
        '-' => Role::Bad,
        _ => Role::Warning,
    };
    let text = style.cut(&format!("{sign} {text}"), style.width.saturating_sub(2));
    let _ = writeln!(out, "  {}", style.paint(role, &text));
}

fn more(out: &mut String, style: &Style, left: usize) {
    if left > 0 {
        let hint = if style.verbosity == Verbosity::Verbose {
            ""
        } else {
            " (-v lists them)"
        };
        let _ = writeln!(out, "  … and {left} more{hint}");
    }
}

fn show_files(out: &mut String, files: &Files, style: &Style) {
    let all = total(files.totals);
    if all == 0 {
        return;
    }
    let _ = writeln!(
        out,
        "{}",
        style.paint(Role::Title, "Files since the checkpoint:")
    );
    let kinds = [
        ('+', &files.created),
        ('~', &files.modified),
        ('-', &files.deleted),
    ];
    let paths = kinds
        .iter()
        .flat_map(|(sign, paths)| paths.iter().map(move |path| (*sign, path)));
    let mut shown = 0;
    for (sign, path) in paths.take(limit(style)) {
        line(out, style, sign, &escape(path));
        shown += 1;
    }
    let all = usize::try_from(all).unwrap_or(usize::MAX);
    more(out, style, all.saturating_sub(shown));
}

fn show_commits(out: &mut String, commits: &Commits, style: &Style) {
    let all = commits.added_total + commits.removed_total;
    if all == 0 {
        return;
    }
    let _ = writeln!(
        out,
        "{}",
        style.paint(Role::Title, "Commits since the checkpoint:")
    );
    let kinds = [('+', &commits.added), ('-', &commits.removed)];
    let listed = kinds
        .iter()
        .flat_map(|(sign, list)| list.iter().map(move |one| (*sign, one)));
    let mut shown = 0;
    for (sign, commit) in listed.take(limit(style)) {
        line(
            out,
            style,
            sign,
            &format!("{} {}", commit.id.short(), escape(&commit.subject)),
        );
        shown += 1;
    }
    more(out, style, all.saturating_sub(shown));
}

fn show_lines(out: &mut String, lines: &[LineChange], style: &Style) {
    let _ = writeln!(out, "{}", style.paint(Role::Title, "The issue's text:"));
    for change in lines.iter().take(limit(style)) {
        let sign = if change.added { '+' } else { '-' };
        line(out, style, sign, &escape(&change.text));
    }
    more(out, style, lines.len().saturating_sub(limit(style)));
}
