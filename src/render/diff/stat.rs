//! Lists of files in the forms that git prints them in.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;
use unicode_width::UnicodeWidthStr as _;

use super::super::style::{Role, Style};
use crate::engine::diff::Measure;
use crate::engine::diff::files::{FileChange, FileChanges};

/// As `git diff --name-only`.
pub(super) fn names(files: &FileChanges) -> String {
    let names = files
        .files
        .iter()
        .map(|file| format!("{}\n", file.git_path));
    names.collect()
}

/// As `git diff --name-status`.
pub(super) fn names_with_status(files: &FileChanges) -> String {
    let mut out = String::new();
    for file in &files.files {
        out.push(file.status.letter());
        if let Some(percent) = file.similarity {
            let _ = write!(out, "{percent:03}");
        }
        if let Some(from) = &file.git_old_path {
            let _ = write!(out, "\t{from}");
        }
        let _ = writeln!(out, "\t{}", file.git_path);
    }
    out
}

/// How much changed in a file, as the columns show it.
#[derive(Clone, Copy)]
enum Amount {
    Lines { added: u64, removed: u64 },
    Bytes { old: u64, new: u64 },
}

impl Amount {
    fn of(file: &FileChange) -> Self {
        let is_same = file.old.map(|old| old.id) == file.new.map(|new| new.id);
        match file.measure {
            Some(Measure::Binary { .. }) if is_same => Self::Bytes { old: 0, new: 0 },
            Some(Measure::Binary {
                old_bytes,
                new_bytes,
            }) => Self::Bytes {
                old: old_bytes,
                new: new_bytes,
            },
            Some(Measure::Lines(counts)) => Self::Lines {
                added: counts.added,
                removed: counts.removed,
            },
            None => Self::Lines {
                added: 0,
                removed: 0,
            },
        }
    }
}

/// How wide each column is.
struct Widths {
    name: usize,
    number: usize,
    graph: usize,
    most: u64,
}

impl Widths {
    fn of(rows: &[(String, Amount)], width: usize) -> Self {
        let (mut name, mut number, mut binary, mut most) = (0, 0, 0, 0);
        for (shown, amount) in rows {
            name = name.max(shown.width());
            match *amount {
                Amount::Bytes { old, new } => {
                    binary = binary.max(14 + digits(old) + digits(new));
                    number = 3;
                }
                Amount::Lines { added, removed } => most = most.max(added + removed),
            }
        }
        number = number.max(digits(most));
        // The rest of a line: blanks and the bar between the columns.
        let around = number + 6;
        let width = width.max(16 + around);
        let lines = usize::try_from(most).unwrap_or(usize::MAX);
        let mut graph = if lines.saturating_add(4) > binary {
            lines
        } else {
            binary - 4
        };
        if name.saturating_add(around).saturating_add(graph) > width {
            // Three eighths for the graph, the rest for the name; neither takes what the other does not need.
            let share = (width * 3 / 8).saturating_sub(around);
            if graph > share {
                graph = share.max(6);
            }
            if name > width - around - graph {
                name = width - around - graph;
            } else {
                graph = width - around - name;
            }
        }
        Self {
            name,
            number,
            graph,
            most,
        }
    }

    fn scaled(&self, count: u64) -> u64 {
        match count {
            0 => 0,
            count => 1 + count * (self.graph as u64 - 1) / self.most,
        }
    }

    /// How many signs of each kind a line gets.
    fn signs(&self, added: u64, removed: u64) -> (u64, u64) {
        if self.graph as u64 > self.most {
            return (added, removed);
        }
        let mut all = self.scaled(added + removed);
        if all < 2 && added > 0 && removed > 0 {
            all = 2;
        }
        if added < removed {
            let added = self.scaled(added);
            (added, all - added)
        } else {
            let removed = self.scaled(removed);
            (all - removed, removed)
        }
    }
}

/// As `git diff --stat`.
pub(super) fn stat(files: &FileChanges, style: &Style) -> String {
    if files.files.is_empty() {
        return String::new();
    }
    let rows: Vec<(String, Amount)> = files
        .files
        .iter()
        .map(|file| (display_name(file), Amount::of(file)))
        .collect();
    let widths = Widths::of(&rows, style.width);
    let mut out = String::new();
    for (name, amount) in &rows {
        let name = fitted(name, widths.name);
        let _ = write!(out, " {name} | ");
        match *amount {
            Amount::Bytes { old, new } => {
                let _ = write!(out, "{:>1$}", "Bin", widths.number);
                if (old, new) != (0, 0) {
                    let old = style.paint(Role::Bad, &old.to_string());
                    let new = style.paint(Role::Good, &new.to_string());
                    let _ = write!(out, " {old} -> {new} bytes");
                }
            }
            Amount::Lines { added, removed } => {
                let _ = write!(out, "{:>1$}", added + removed, widths.number);
                if added + removed > 0 {
                    let (plus, minus) = widths.signs(added, removed);
                    let repeat = |sign: &str, count: u64| {
                        sign.repeat(usize::try_from(count).unwrap_or_default())
                    };
                    out.push(' ');
                    out.push_str(&style.paint(Role::Good, &repeat("+", plus)));
                    out.push_str(&style.paint(Role::Bad, &repeat("-", minus)));
                }
            }
        }
        out.push('\n');
    }
    out.push_str(&summary(files));
    out
}

fn summary(files: &FileChanges) -> String {
    let (added, removed) = (files.totals.added_lines, files.totals.removed_lines);
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let count = files.files.len() as u64;
    let mut line = format!(" {count} file{} changed", plural(count));
    if added > 0 || removed == 0 {
        let _ = write!(line, ", {added} insertion{}(+)", plural(added));
    }
    if removed > 0 || added == 0 {
        let _ = write!(line, ", {removed} deletion{}(-)", plural(removed));
    }
    line.push('\n');
    line
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// A name in so many columns: too long a one loses its beginning, up to a slash if there is one.
fn fitted(name: &str, width: usize) -> String {
    let full = name.width();
    if full <= width {
        return format!("{name}{}", " ".repeat(width - full));
    }
    let room = width.saturating_sub(3);
    let (mut rest, mut left) = (name, full);
    while left > room {
        let Some(letter) = rest.chars().next() else {
            break;
        };
        left -= letter.width().unwrap_or(0);
        rest = &rest[letter.len_utf8()..];
    }
    if let Some(slash) = rest.find('/') {
        rest = &rest[slash..];
    }
    let gap = room.saturating_sub(rest.width());
    format!("...{rest}{}", " ".repeat(gap))
}

/// `old => new`, with what both have in common only once.
fn display_name(file: &FileChange) -> String {
    let (Some(old), new) = (&file.git_old_path, &file.git_path) else {
        return file.git_path.clone();
    };
    if old.starts_with('"') || new.starts_with('"') {
        return format!("{old} => {new}");
    }
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let prefix = a[..same]
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    // The slash that ends the prefix may begin the suffix as well.
    let least = prefix.saturating_sub(1);
    let same = a[least..]
        .iter()
        .rev()
        .zip(b[least..].iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let suffix = (1..=same)
        .rev()
        .find(|length| a[a.len() - length] == b'/')
        .unwrap_or(0);
    if prefix + suffix == 0 {
        return format!("{old} => {new}");
    }
    let middle = |name: &str| {
        let end = name.len().saturating_sub(suffix).max(prefix);
        name[prefix..end].to_owned()
    };
    let (old_middle, new_middle) = (middle(old), middle(new));
    format!(
        "{}{{{old_middle} => {new_middle}}}{}",
        &old[..prefix],
        &old[old.len() - suffix..]
    )
}
