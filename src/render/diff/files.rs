//! The section on files.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::super::escape::escape;
use super::super::style::{Role, Style};
use super::{SHOWN, heading, more, shown};
use crate::engine::diff::files::{FileChange, FileChanges, FileItem, FileKind, FileStatus, Totals};
use crate::engine::diff::{LineCounts, Measure};

pub(super) fn show(files: Option<&FileChanges>, style: &Style, out: &mut String) {
    heading(out, style, "FILE CHANGES");
    let Some(files) = files else {
        out.push_str("  not captured\n");
        return;
    };
    if files.files.is_empty() {
        out.push_str("  none\n");
        return;
    }
    let some = shown(files.files.len(), SHOWN, style);
    for file in &files.files[..some] {
        out.push_str(&line(file, style));
        out.push('\n');
    }
    more(out, files.files.len() - some, style);
    let line = format!("  {}", totals(&files.totals));
    let _ = writeln!(out, "{}", style.cut(&line, style.width));
}

/// A path with what happened to it. The path gives way when there is little room.
fn line(file: &FileChange, style: &Style) -> String {
    let (sign, role) = match file.status {
        FileStatus::Added | FileStatus::Copied => ('+', Role::Good),
        FileStatus::Deleted => ('-', Role::Bad),
        _ => ('~', Role::Warning),
    };
    let path = escape(&file.path);
    let came_from = file.old_path.as_deref().map(escape);
    let path = match (file.status, came_from) {
        (FileStatus::Renamed, Some(from)) => format!("{from} {} {path}", style.to()),
        (FileStatus::Copied, Some(from)) => format!("{path} (copy of {from})"),
        _ => path,
    };
    let amount = amount(file, style);
    let gap = if amount.is_empty() { "" } else { "  " };
    let room = style.width.saturating_sub(4 + gap.len() + amount.width());
    let path = style.cut(&path, room.max(8));
    style.paint(role, &format!("  {sign} {path}{gap}{amount}"))
}

/// What changed besides the name: lines, mode, kind, similarity.
pub(super) fn amount(file: &FileChange, style: &Style) -> String {
    let mut parts = Vec::new();
    let kinds = (file.old.map(|old| old.kind), file.new.map(|new| new.kind));
    let is_submodule = [kinds.0, kinds.1].contains(&Some(FileKind::Submodule));
    match file.measure {
        _ if is_submodule => {
            let short = |item: Option<FileItem>| {
                item.filter(|item| item.kind == FileKind::Submodule)
                    .map_or("none".to_owned(), |item| item.id.short())
            };
            let (old, new) = (short(file.old), short(file.new));
            parts.push(format!("submodule {old} {} {new}", style.to()));
        }
        Some(Measure::Lines(LineCounts { added, removed })) => match (added, removed) {
            (0, 0) => {}
            (added, 0) => parts.push(format!("+{added}")),
            (0, removed) => parts.push(format!("-{removed}")),
            (added, removed) => parts.push(format!("+{added} -{removed}")),
        },
        Some(Measure::Binary {
            old_bytes,
            new_bytes,
        }) => parts.push(match (file.old, file.new) {
            (None, _) => format!("binary, {new_bytes} bytes"),
            (_, None) => format!("binary, {old_bytes} bytes"),
            _ => format!("binary, {old_bytes} {} {new_bytes} bytes", style.to()),
        }),
        None => {}
    }
    if let Some(percent) = file.similarity.filter(|percent| *percent < 100) {
        parts.push(format!("{percent} % the same"));
    }
    if let (Some(old), Some(new)) = (file.old, file.new)
        && old.mode != new.mode
    {
        let to = style.to();
        parts.push(match file.status {
            FileStatus::TypeChanged => format!("{} {to} {}", kind(old.kind), kind(new.kind)),
            _ => format!("mode {} {to} {}", old.mode, new.mode),
        });
    } else if let Some(item) = file.new.or(file.old)
        && matches!(item.kind, FileKind::Executable | FileKind::Symlink)
        && (file.old.is_none() || file.new.is_none() || item.kind == FileKind::Symlink)
    {
        parts.push(kind(item.kind).to_owned());
    }
    parts.join(", ")
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Executable => "executable",
        FileKind::Symlink => "symlink",
        FileKind::Submodule => "submodule",
    }
}

/// `3 changed: 1 created, 2 modified; +5 -1 lines`.
fn totals(totals: &Totals) -> String {
    let kinds = [
        (totals.created, "created"),
        (totals.modified, "modified"),
        (totals.deleted, "deleted"),
        (totals.renamed, "renamed"),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let binary = match totals.binary {
        0 => String::new(),
        binary => format!(", {binary} binary"),
    };
    format!(
        "{} changed: {}; +{} -{} lines{binary}",
        totals.paths(),
        kinds.join(", "),
        totals.added_lines,
        totals.removed_lines
    )
}
