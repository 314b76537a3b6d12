//! A patch for a program, byte for byte; for a terminal, with colours and without anything that could attack it.

use super::super::escape::escape;
use super::super::style::{Colour, Reader, Role, Style};

/// What a line of a patch is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Header,
    Hunk,
    Added,
    Removed,
    Other,
}

/// The patch as it is printed.
#[must_use]
pub fn patch_text(patch: &[u8], style: &Style) -> Vec<u8> {
    if style.reader == Reader::Program && style.colour == Colour::Off {
        return patch.to_vec();
    }
    let mut out = Vec::with_capacity(patch.len() + patch.len() / 4);
    let mut lines = Lines::default();
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        let kind = lines.kind(line);
        let (content, end): (&[u8], &[u8]) = match line.strip_suffix(b"\n") {
            Some(content) => (content, b"\n"),
            None => (line, b""),
        };
        let harmless = match style.reader {
            Reader::Terminal => tame(content).into_bytes(),
            Reader::Program => content.to_vec(),
        };
        paint(&harmless, kind, style, &mut out);
        out.extend_from_slice(end);
    }
    out
}

/// Shows what is not harmless by its code; tabs stay.
fn tame(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let parts: Vec<String> = text.split('\t').map(escape).collect();
    parts.join("\t")
}

fn paint(line: &[u8], kind: Kind, style: &Style, out: &mut Vec<u8>) {
    let role = match kind {
        Kind::Header => Role::Title,
        Kind::Hunk => Role::Here,
        Kind::Added => Role::Good,
        Kind::Removed => Role::Bad,
        Kind::Other => return out.extend_from_slice(line),
    };
    let painted = style.paint(role, "\0");
    let (before, after) = painted.split_once('\0').unwrap_or_default();
    out.extend_from_slice(before.as_bytes());
    out.extend_from_slice(line);
    out.extend_from_slice(after.as_bytes());
}

/// Knows by the numbers of a hunk where it ends: a removed line may look like a header.
#[derive(Default)]
struct Lines {
    old: u64,
    new: u64,
}

impl Lines {
    fn kind(&mut self, line: &[u8]) -> Kind {
        if self.old == 0 && self.new == 0 {
            if let Some((old, new)) = numbers(line) {
                (self.old, self.new) = (old, new);
                return Kind::Hunk;
            }
            return if line.starts_with(b"\\") {
                Kind::Other
            } else {
                Kind::Header
            };
        }
        match line.first() {
            Some(b'+') => {
                self.new = self.new.saturating_sub(1);
                Kind::Added
            }
            Some(b'-') => {
                self.old = self.old.saturating_sub(1);
                Kind::Removed
            }
            Some(b'\\') => Kind::Other,
            _ => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
                Kind::Other
            }
        }
    }
}

/// How many lines of each side a hunk has, from its first line.
fn numbers(line: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(line.strip_prefix(b"@@ -")?);
    // What follows the numbers may be any bytes.
    let text = match text {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&line[4..4 + error.valid_up_to()]).ok()?,
    };
    let mut words = text.split(' ');
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let old = count(words.next()?)?;
    let new = count(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

#[cfg(test)]
mod tests {
    use super::super::super::style::plain;
    use super::*;

    const PATCH: &[u8] = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ \xff\n--- a\n-b\x1b[2J\n+++ c\t\xff\ndiff --git a/y b/y\n";

    #[test]
    fn a_program_gets_the_bytes() {
        assert_eq!(patch_text(PATCH, &plain(80)), PATCH);
    }

    #[test]
    fn a_terminal_gets_colours_and_nothing_that_moves_the_cursor() {
        let style = Style {
            colour: Colour::On,
            reader: Reader::Terminal,
            ..plain(80)
        };
        let text = String::from_utf8(patch_text(PATCH, &style)).unwrap();
        assert_eq!(
            text,
            "\u{1b}[1mdiff --git a/x b/x\u{1b}[0m\n\u{1b}[1mindex 1..2 100644\u{1b}[0m\n\
             \u{1b}[1m--- a/x\u{1b}[0m\n\u{1b}[1m+++ b/x\u{1b}[0m\n\
             \u{1b}[1m\u{1b}[36m@@ -1,2 +1 @@ \u{fffd}\u{1b}[0m\n\
             \u{1b}[31m--- a\u{1b}[0m\n\u{1b}[31m-b\\x1b[2J\u{1b}[0m\n\
             \u{1b}[32m+++ c\t\u{fffd}\u{1b}[0m\n\u{1b}[1mdiff --git a/y b/y\u{1b}[0m\n"
        );
    }
}
