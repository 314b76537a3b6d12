//! One pattern of an ignore or attribute file: how it is read, and what it matches.

use super::wildmatch::{self, How};

/// A pattern as git reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    text: Vec<u8>,
    /// How much of the text holds no wildcard.
    literal: usize,
    /// It begins with `!`.
    pub negative: bool,
    /// It ends in a slash.
    pub dirs_only: bool,
    form: Form,
}

/// What it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The last part of a path: there is no slash in it.
    Name,
    /// The end of the last part: it is a star and then nothing but literal bytes.
    Ending,
    /// The path.
    Path,
}

/// What patterns are compared with.
#[derive(Clone, Copy)]
pub(super) struct Target<'p> {
    path: &'p [u8],
    /// The last part of the path.
    name: &'p [u8],
    /// Upper and lower case are the same.
    fold: bool,
}

impl<'p> Target<'p> {
    pub fn new(path: &'p [u8], fold: bool) -> Self {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let name = &path[slash.map_or(0, |slash| slash + 1)..];
        Self { path, name, fold }
    }
}

impl Pattern {
    /// None for one that matches nothing.
    pub fn new(text: &[u8]) -> Option<Self> {
        let (negative, text) = match text.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (dirs_only, text) = match text.strip_suffix(b"/") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        // A lone slash matches nothing.
        if text.is_empty() {
            return None;
        }
        Some(Self {
            text: text.to_vec(),
            literal: literal_length(text),
            negative,
            dirs_only,
            form: match text {
                text if text.contains(&b'/') => Form::Path,
                [b'*', rest @ ..] if literal_length(rest) == rest.len() => Form::Ending,
                _ => Form::Name,
            },
        })
    }

    /// Whether it matches a path below the directory `base`, by its last part or by what follows `base`.
    pub fn matches(&self, base: &[u8], target: Target<'_>) -> bool {
        let Target { path, name, fold } = target;
        match self.form {
            Form::Name if self.literal == self.text.len() => same(&self.text, name, fold),
            Form::Name => wildmatch::matches(&self.text, name, How { path: false, fold }),
            Form::Ending => {
                let ending = &self.text[1..];
                let start = name.len().checked_sub(ending.len());
                start.is_some_and(|start| same(ending, &name[start..], fold))
            }
            Form::Path if base.is_empty() => self.matches_path(path, fold),
            Form::Path => {
                let inside = path.get(base.len() + 1..);
                inside.is_some_and(|inside| self.matches_path(inside, fold))
            }
        }
    }

    /// `path` is relative to the directory of the file.
    fn matches_path(&self, path: &[u8], fold: bool) -> bool {
        let (text, literal) = match self.text.strip_prefix(b"/") {
            Some(rest) => (rest, self.literal - 1),
            None => (&*self.text, self.literal),
        };
        if literal > path.len() || !same(&text[..literal], &path[..literal], fold) {
            return false;
        }
        let (text, path) = (&text[literal..], &path[literal..]);
        if text.is_empty() && path.is_empty() && literal > 0 {
            return true;
        }
        wildmatch::matches(text, path, How { path: true, fold })
    }
}

/// How many bytes come before the first wildcard.
fn literal_length(text: &[u8]) -> usize {
    let special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
    text.iter().position(special).unwrap_or(text.len())
}

fn same(a: &[u8], b: &[u8], fold: bool) -> bool {
    if fold {
        a.eq_ignore_ascii_case(b)
    } else {
        a == b
    }
}
