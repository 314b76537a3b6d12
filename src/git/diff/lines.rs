//! Which lines differ, by the algorithm and the heuristics of `git diff`.

mod quick;

use git2::{DiffOptions, Patch};

use crate::git::Error;

/// How many lines came and went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct LineCounts {
    /// Lines that only the new content has.
    pub added: u64,
    /// Lines that only the old content has.
    pub removed: u64,
}

/// Lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The first line of the old content, from 1; the line before when there is none.
    pub old_start: usize,
    /// How many lines of it.
    pub old_lines: usize,
    /// The first line of the new content, from 1; the line before when there is none.
    pub new_start: usize,
    /// How many lines of it.
    pub new_lines: usize,
    /// The lines with their signs, as a patch has them.
    pub body: Vec<u8>,
}

/// What is at the end of a patch's line whose content has no line end.
const UNENDED: &[u8] = b"\n\\ No newline at end of file\n";

/// Counts as `git diff --stat` does.
///
/// # Errors
/// When a content is too large to be compared by lines.
pub fn count(old: &[u8], new: &[u8]) -> Result<LineCounts, Error> {
    if old.is_empty() || new.is_empty() {
        return Ok(LineCounts {
            added: lines(new),
            removed: lines(old),
        });
    }
    let (old, new) = without_common_end(old, new);
    match quick::count(old, new) {
        Some(counts) => Ok(counts),
        None => compared(old, new),
    }
}

/// Counts by comparing all of it.
fn compared(old: &[u8], new: &[u8]) -> Result<LineCounts, Error> {
    let patch = compare(old, new, 0)?;
    let (_, added, removed) = patch.line_stats().map_err(|error| wrap(&error))?;
    Ok(LineCounts {
        added: added as u64,
        removed: removed as u64,
    })
}

/// The lines that differ, with three lines around them.
///
/// # Errors
/// When a content is too large to be compared by lines.
pub fn hunks(old: &[u8], new: &[u8]) -> Result<Vec<Hunk>, Error> {
    let patch = compare(old, new, 3)?;
    let mut hunks = Vec::with_capacity(patch.num_hunks());
    for nth in 0..patch.num_hunks() {
        let (hunk, lines) = patch.hunk(nth).map_err(|error| wrap(&error))?;
        let mut found = Hunk {
            old_start: hunk.old_start() as usize,
            old_lines: hunk.old_lines() as usize,
            new_start: hunk.new_start() as usize,
            new_lines: hunk.new_lines() as usize,
            body: Vec::new(),
        };
        for place in 0..lines {
            let line = patch
                .line_in_hunk(nth, place)
                .map_err(|error| wrap(&error))?;
            // Anything else is the remark on a missing line end, which follows from the line before it.
            let sign @ (' ' | '+' | '-') = line.origin() else {
                continue;
            };
            found.body.push(sign as u8);
            found.body.extend_from_slice(line.content());
            if line.content().last() != Some(&b'\n') {
                found.body.extend_from_slice(UNENDED);
            }
        }
        hunks.push(found);
    }
    Ok(hunks)
}

fn compare<'b>(old: &'b [u8], new: &'b [u8], context: u32) -> Result<Patch<'b>, Error> {
    let mut options = DiffOptions::new();
    options
        .context_lines(context)
        .interhunk_lines(0)
        .indent_heuristic(true)
        .force_text(true)
        .max_size(i64::MAX);
    Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(|error| wrap(&error))
}

fn wrap(error: &git2::Error) -> Error {
    Error::git("compare lines", error)
}

fn lines(content: &[u8]) -> u64 {
    content.split_inclusive(|byte| *byte == b'\n').count() as u64
}

/// git takes whole blocks off a common end before it counts, which now and then makes it count otherwise.
fn without_common_end<'c>(old: &'c [u8], new: &'c [u8]) -> (&'c [u8], &'c [u8]) {
    const BLOCK: usize = 1024;
    let mut cut = 0;
    while cut + BLOCK <= old.len().min(new.len())
        && old[old.len() - cut - BLOCK..old.len() - cut]
            == new[new.len() - cut - BLOCK..new.len() - cut]
    {
        cut += BLOCK;
    }
    let tail = &old[old.len() - cut..];
    let kept = tail
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(cut, |at| at + 1);
    let cut = cut - kept;
    (&old[..old.len() - cut], &new[..new.len() - cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(hunks: &[Hunk]) -> String {
        let lines = hunks.iter().map(|hunk| {
            let Hunk {
                old_start,
                old_lines,
                new_start,
                new_lines,
                body,
            } = hunk;
            let body = String::from_utf8_lossy(body);
            format!("{old_start},{old_lines} {new_start},{new_lines}\n{body}")
        });
        lines.collect()
    }

    #[test]
    fn hunks_have_signs_and_say_where_a_line_end_is_missing() {
        assert_eq!(
            text(&hunks(b"a\nb\nc", b"a\nB\nc\n").unwrap()),
            "1,3 1,3\n a\n-b\n-c\n\\ No newline at end of file\n+B\n+c\n"
        );
        assert_eq!(text(&hunks(b"", b"x\n").unwrap()), "0,0 1,1\n+x\n");
        assert_eq!(hunks(b"same\n", b"same\n").unwrap(), []);
    }

    #[test]
    fn counts_what_hunks_show() {
        let counts = |old: &[u8], new: &[u8]| {
            let counts = count(old, new).unwrap();
            (counts.added, counts.removed)
        };
        assert_eq!(counts(b"", b""), (0, 0));
        assert_eq!(counts(b"", b"a\nb"), (2, 0));
        assert_eq!(counts(b"a\nb\n", b""), (0, 2));
        assert_eq!(counts(b"a\nb\n", b"a\nc\nd\n"), (2, 1));
        let tail = "line\n".repeat(1000);
        assert_eq!(
            counts(
                format!("x\n{tail}").as_bytes(),
                format!("y\n{tail}").as_bytes()
            ),
            (1, 1)
        );
    }
}
