//! Tables in boxes, as wide as they need and no wider than there is room.

use unicode_width::UnicodeWidthStr as _;

use super::style::{Charset, Role, Style};

/// A column.
#[derive(Debug, Clone)]
pub struct Column<'t> {
    /// Its heading.
    pub title: &'t str,
    /// As wide as this even if less would do.
    pub roomy: usize,
    /// Not narrower than this.
    pub least: usize,
    /// Those with a lower number give way first.
    pub rank: u8,
}

/// What is in one place.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The text, fit to be shown.
    pub text: String,
    /// What it stands for.
    pub role: Option<Role>,
}

impl Cell {
    /// Text that stands for itself.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            role: None,
        }
    }

    /// Text that stands for something.
    #[must_use]
    pub fn with(role: Role, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            role: Some(role),
        }
    }
}

/// The pieces that a box is drawn with.
struct Lines {
    across: &'static str,
    down: &'static str,
    top: [&'static str; 3],
    middle: [&'static str; 3],
    bottom: [&'static str; 3],
}

const UNICODE: Lines = Lines {
    across: "─",
    down: "│",
    top: ["┌", "┬", "┐"],
    middle: ["├", "┼", "┤"],
    bottom: ["└", "┴", "┘"],
};

const ASCII: Lines = Lines {
    across: "-",
    down: "|",
    top: ["+", "+", "+"],
    middle: ["+", "+", "+"],
    bottom: ["+", "+", "+"],
};

/// Draws a table.
#[must_use]
pub fn table(columns: &[Column<'_>], rows: &[Vec<Cell>], style: &Style) -> String {
    let lines = match style.charset {
        Charset::Unicode => &UNICODE,
        Charset::Ascii => &ASCII,
    };
    let widths = widths(columns, rows, style.width);
    let rule = |[left, between, right]: [&str; 3]| {
        let parts = widths.iter().map(|width| lines.across.repeat(width + 2));
        let parts: Vec<String> = parts.collect();
        format!("{left}{}{right}\n", parts.join(between))
    };
    let row = |cells: Vec<(&str, Option<Role>)>| {
        let mut out = String::from(lines.down);
        for (&(text, role), &width) in cells.iter().zip(&widths) {
            let text = style.cut(text, width);
            let gap = " ".repeat(width.saturating_sub(text.width()));
            let text = role.map_or(text.clone(), |role| style.paint(role, &text));
            out.push(' ');
            out.push_str(&text);
            out.push_str(&gap);
            out.push(' ');
            out.push_str(lines.down);
        }
        out.push('\n');
        out
    };
    let mut out = rule(lines.top);
    out.push_str(&row(columns
        .iter()
        .map(|column| (column.title, None))
        .collect()));
    out.push_str(&rule(lines.middle));
    for cells in rows {
        let cells = cells.iter().map(|cell| (cell.text.as_str(), cell.role));
        out.push_str(&row(cells.collect()));
    }
    out.push_str(&rule(lines.bottom));
    out
}

/// How wide a table would like to be.
#[must_use]
pub fn full_width(columns: &[Column<'_>], rows: &[Vec<Cell>]) -> usize {
    let needed = needed(columns, rows);
    let wanted = needed.iter().zip(columns);
    let wanted = wanted.map(|(needed, column)| column.roomy.max(*needed));
    wanted.sum::<usize>() + 3 * columns.len() + 1
}

/// How wide the content of each column is.
fn needed(columns: &[Column<'_>], rows: &[Vec<Cell>]) -> Vec<usize> {
    let mut needed: Vec<usize> = columns.iter().map(|column| column.title.width()).collect();
    for cells in rows {
        for (needed, cell) in needed.iter_mut().zip(cells) {
            *needed = (*needed).max(cell.text.width());
        }
    }
    needed
}

/// How wide each column is: first as it would like, then those of low rank give way until all fits.
fn widths(columns: &[Column<'_>], rows: &[Vec<Cell>], room: usize) -> Vec<usize> {
    let needed = needed(columns, rows);
    let borders = 3 * columns.len() + 1;
    let room = room.saturating_sub(borders);
    let mut widths: Vec<usize> = needed
        .iter()
        .zip(columns)
        .map(|(needed, column)| column.roomy.max(*needed))
        .collect();
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&nth| columns[nth].rank);
    // What is only roomy gives way before anything is cut.
    for least in [
        needed.clone(),
        columns.iter().map(|column| column.least).collect(),
    ] {
        for &nth in &order {
            let over = widths.iter().sum::<usize>().saturating_sub(room);
            widths[nth] = widths[nth]
                .saturating_sub(over)
                .max(least[nth].min(widths[nth]));
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::super::style::plain;
    use super::*;

    fn sample(width: usize, charset: Charset) -> String {
        let columns = [
            Column {
                title: "#",
                roomy: 2,
                least: 1,
                rank: 2,
            },
            Column {
                title: "Step",
                roomy: 10,
                least: 4,
                rank: 0,
            },
            Column {
                title: "Id",
                roomy: 0,
                least: 3,
                rank: 3,
            },
        ];
        let row = |cells: [&str; 3]| cells.map(Cell::plain).to_vec();
        let rows = [
            row(["1", "init", "cp-01-init"]),
            row(["2.1", "日本語日本", "cp"]),
        ];
        let style = Style {
            charset,
            ..plain(width)
        };
        table(&columns, &rows, &style)
    }

    #[test]
    fn is_as_wide_as_its_content() {
        insta::assert_snapshot!(sample(80, Charset::Unicode), @r"
        ┌─────┬────────────┬────────────┐
        │ #   │ Step       │ Id         │
        ├─────┼────────────┼────────────┤
        │ 1   │ init       │ cp-01-init │
        │ 2.1 │ 日本語日本 │ cp         │
        └─────┴────────────┴────────────┘
        ");
        insta::assert_snapshot!(sample(80, Charset::Ascii), @r"
        +-----+------------+------------+
        | #   | Step       | Id         |
        +-----+------------+------------+
        | 1   | init       | cp-01-init |
        | 2.1 | 日本語日本 | cp         |
        +-----+------------+------------+
        ");
    }

    #[test]
    fn gives_way_by_rank() {
        insta::assert_snapshot!(sample(28, Charset::Unicode), @r"
        ┌─────┬───────┬────────────┐
        │ #   │ Step  │ Id         │
        ├─────┼───────┼────────────┤
        │ 1   │ init  │ cp-01-init │
        │ 2.1 │ 日本… │ cp         │
        └─────┴───────┴────────────┘
        ");
        insta::assert_snapshot!(sample(20, Charset::Unicode), @r"
        ┌───┬──────┬───────┐
        │ # │ Step │ Id    │
        ├───┼──────┼───────┤
        │ 1 │ init │ cp-0… │
        │ … │ 日…  │ cp    │
        └───┴──────┴───────┘
        ");
    }
}
