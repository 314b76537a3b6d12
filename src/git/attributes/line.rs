//! The lines of an attribute file: a pattern or a macro, and what it says.

use super::State;
use crate::git::pattern::{Pattern, Target};

/// git passes over longer lines.
const MAX_LINE: usize = 2048;
const MACRO: &[u8] = b"[attr]";

/// What a line says of one attribute.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub name: Box<[u8]>,
    pub state: State,
}

/// Where the bytes of a list come from; git reads a file and an object a little differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    File,
    Object,
}

/// The lines of one file, in order.
#[derive(Debug, Default)]
pub(super) struct List {
    /// The directory the file is in, from the top of the work tree.
    base: Vec<u8>,
    lines: Vec<(Pattern, Vec<Assignment>)>,
    macros: Vec<(Box<[u8]>, Vec<Assignment>)>,
}

enum Line {
    Pattern(Pattern, Vec<Assignment>),
    Macro(Box<[u8]>, Vec<Assignment>),
}

impl List {
    /// Reads the lines of a file in the directory `base`. Macros count only at the top.
    pub fn parse(base: &[u8], bytes: &[u8], source: Source) -> Self {
        let bytes = match source {
            Source::File => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            Source::Object => until_nul(bytes),
        };
        let mut list = Self {
            base: base.to_vec(),
            ..Self::default()
        };
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = match source {
                Source::File => line.strip_suffix(b"\r").unwrap_or(line),
                Source::Object => line,
            };
            match Line::parse(until_nul(line)) {
                Some(Line::Pattern(pattern, assignments)) => {
                    list.lines.push((pattern, assignments));
                }
                Some(Line::Macro(name, assignments)) if base.is_empty() => {
                    list.macros.push((name, assignments));
                }
                _ => {}
            }
        }
        list
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.macros.is_empty()
    }

    /// What the lines that match say, the last line first.
    pub fn matching(&self, target: Target<'_>) -> impl Iterator<Item = &[Assignment]> {
        let lines = self.lines.iter().rev();
        lines
            .filter(move |(pattern, _)| pattern.matches(&self.base, target))
            .map(|(_, assignments)| &**assignments)
    }

    /// What a macro stands for.
    pub fn expansion(&self, name: &[u8]) -> Option<&[Assignment]> {
        let mut macros = self.macros.iter().rev();
        let (_, assignments) = macros.find(|(own, _)| **own == *name)?;
        Some(assignments)
    }
}

impl Line {
    /// None for a line that git passes over.
    fn parse(line: &[u8]) -> Option<Self> {
        let text = without_blanks(line);
        if line.len() >= MAX_LINE || text.is_empty() || text[0] == b'#' {
            return None;
        }
        let (name, states) = unquote(text).unwrap_or_else(|| {
            let (name, rest) = split_word(text);
            (name.to_vec(), rest)
        });
        let assignments = assignments(states)?;
        if name.len() > MACRO.len() && name.starts_with(MACRO) {
            let (name, _) = split_word(without_blanks(&name[MACRO.len()..]));
            return is_valid_name(name).then(|| Self::Macro(name.into(), assignments));
        }
        let pattern = Pattern::new(until_nul(&name))?;
        // Nothing that has attributes is a directory, and git refuses to negate.
        (!pattern.negative && !pattern.dirs_only).then_some(Self::Pattern(pattern, assignments))
    }
}

/// What stands behind a pattern; one word that is no attribute makes git pass over the line.
fn assignments(mut rest: &[u8]) -> Option<Vec<Assignment>> {
    let mut all = Vec::new();
    loop {
        rest = without_blanks(rest);
        if rest.is_empty() {
            return Some(all);
        }
        let (word, behind) = split_word(rest);
        rest = behind;
        let equals = word.iter().position(|byte| *byte == b'=');
        let (name, state) = match (word[0], equals) {
            (b'-', _) => (&word[1..equals.unwrap_or(word.len()).max(1)], State::Unset),
            (b'!', _) => (
                &word[1..equals.unwrap_or(word.len()).max(1)],
                State::Unspecified,
            ),
            (_, None) => (word, State::Set),
            (_, Some(at)) => (&word[..at], State::Value(word[at + 1..].into())),
        };
        if !is_valid_name(name) || name.starts_with(b"builtin_") {
            return None;
        }
        all.push(Assignment {
            name: name.into(),
            state,
        });
    }
}

fn is_valid_name(name: &[u8]) -> bool {
    let is_part = |byte: &u8| matches!(byte, b'-' | b'.' | b'_') || byte.is_ascii_alphanumeric();
    name.first().is_some_and(|first| *first != b'-') && name.iter().all(is_part)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_blank(*byte));
    &text[start.unwrap_or(text.len())..]
}

fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| is_blank(*byte));
    text.split_at(end.unwrap_or(text.len()))
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// A pattern in quotes and what follows it; none when the quotes are not well formed, and so part of the pattern.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?.iter();
    let mut bytes = Vec::new();
    loop {
        match rest.next()? {
            b'"' => return Some((bytes, rest.as_slice())),
            b'\\' => bytes.push(match rest.next()? {
                b'a' => 7,
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 11,
                literal @ (b'\\' | b'"') => *literal,
                high @ b'0'..=b'3' => {
                    let mut value = high - b'0';
                    for _ in 0..2 {
                        let digit = rest.next().filter(|digit| (b'0'..=b'7').contains(digit))?;
                        value = value << 3 | (digit - b'0');
                    }
                    value
                }
                _ => return None,
            }),
            byte => bytes.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(line: &str) -> Option<String> {
        let (what, assignments) = match Line::parse(line.as_bytes())? {
            Line::Pattern(_, assignments) => ("pattern".to_owned(), assignments),
            Line::Macro(name, assignments) => {
                (format!("macro {}", name.escape_ascii()), assignments)
            }
        };
        let words = assignments.iter().map(|assignment| {
            let name = assignment.name.escape_ascii();
            match &assignment.state {
                State::Set => format!(" {name}"),
                State::Unset => format!(" -{name}"),
                State::Unspecified => format!(" !{name}"),
                State::Value(value) => format!(" {name}={}", value.escape_ascii()),
            }
        });
        Some(what + &words.collect::<String>())
    }

    #[test]
    fn lines() {
        let said = |line| says(line).unwrap_or_default();
        assert_eq!(
            said("a text -diff !x v=1=2 e="),
            "pattern text -diff !x v=1=2 e="
        );
        assert_eq!(said("\ta\r"), "pattern");
        assert_eq!(said("\"a b\"text"), "pattern text");
        assert_eq!(said("\"a b text"), "pattern b text");
        assert_eq!(said("-x=1 -text=1"), "pattern -text");
        assert_eq!(said("[attr]m text"), "macro m text");
        assert_eq!(said("[attr] text"), "pattern text");
        for nothing in [
            "",
            " ",
            "# a",
            "!a text",
            "a/ text",
            "a b*d",
            "a --x",
            "a -",
            "a =1",
            "a builtin_x",
            "[attr]m* text",
        ] {
            assert_eq!(says(nothing), None, "{nothing}");
        }
        assert_eq!(says(&format!("a {}", "x".repeat(MAX_LINE))), None);
    }

    #[test]
    fn quotes() {
        let name = |text: &str| unquote(text.as_bytes()).map(|(name, _)| name);
        assert_eq!(name("\"a\\tb\\\"\\101\""), Some(b"a\tb\"A".to_vec()));
        for bad in ["\"a", "\"\\x\"", "\"\\400\"", "\"\\18\"", "a"] {
            assert_eq!(name(bad), None, "{bad}");
        }
    }
}
