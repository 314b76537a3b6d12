//! The line above a hunk that says where in the file it is, and what it is in.

use std::io::Write as _;

use crate::git::diff::lines::Hunk;

/// No heading takes more of a line than this.
const LONGEST: usize = 80;
/// No line with a heading is longer than this, its end included.
const LINE: usize = 128;

/// Finds headings in the old content, hunk after hunk.
pub(super) struct Headings<'c> {
    lines: Vec<&'c [u8]>,
    /// The lines that were looked through so far.
    looked_through: usize,
    last: &'c [u8],
}

impl<'c> Headings<'c> {
    pub fn new(old: &'c [u8]) -> Self {
        Self {
            lines: old.split_inclusive(|byte| *byte == b'\n').collect(),
            looked_through: 0,
            last: b"",
        }
    }

    /// Writes the line above a hunk; hunks come in order.
    pub fn write(&mut self, hunk: &Hunk, out: &mut Vec<u8>) {
        let first = if hunk.old_lines == 0 {
            hunk.old_start
        } else {
            hunk.old_start.saturating_sub(1)
        };
        let first = first.min(self.lines.len());
        let passed = self
            .lines
            .get(self.looked_through..first)
            .unwrap_or_default();
        if let Some(heading) = passed.iter().rev().find_map(|line| heading(line)) {
            self.last = heading;
        }
        self.looked_through = self.looked_through.max(first);
        let range = |start: usize, lines: usize| match lines {
            1 => start.to_string(),
            _ => format!("{start},{lines}"),
        };
        let start = out.len();
        // Writing to memory does not fail.
        let _ = write!(
            out,
            "@@ -{} +{} @@",
            range(hunk.old_start, hunk.old_lines),
            range(hunk.new_start, hunk.new_lines)
        );
        if !self.last.is_empty() {
            out.push(b' ');
            let room = LINE.saturating_sub(out.len() - start + 1);
            out.extend_from_slice(&self.last[..self.last.len().min(room)]);
        }
        out.push(b'\n');
    }
}

/// What a line says as a heading: one that begins with a letter, `_` or `$` is taken for the start of something.
fn heading(line: &[u8]) -> Option<&[u8]> {
    let first = line.first()?;
    if !first.is_ascii_alphabetic() && !b"_$".contains(first) {
        return None;
    }
    let line = &line[..line.len().min(LONGEST)];
    let end = line.iter().rposition(|byte| !b" \t\n\r".contains(byte));
    Some(&line[..end.map_or(0, |end| end + 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_the_nearest_line_above_that_begins_something() {
        let old = format!("fn a() {{\n  x\n}}\n{}  \nend\n", "y".repeat(90));
        let mut headings = Headings::new(old.as_bytes());
        let mut out = Vec::new();
        for (old_start, old_lines) in [(1, 1), (3, 2), (5, 0)] {
            let hunk = Hunk {
                old_start,
                old_lines,
                new_start: old_start,
                new_lines: 1,
                body: Vec::new(),
            };
            headings.write(&hunk, &mut out);
        }
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!(
                "@@ -1 +1 @@\n@@ -3,2 +3 @@ fn a() {{\n@@ -5,0 +5 @@ {}\n",
                "end"
            )
        );
        assert_eq!(heading("é".as_bytes()), None);
        assert_eq!(heading(b"x \t\r\n"), Some(&b"x"[..]));
        assert_eq!(
            heading(b"y".repeat(90).as_slice()).map(<[u8]>::len),
            Some(80)
        );
    }
}
