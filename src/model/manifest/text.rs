//! The list of checkpoints as text: the lines of the file, with the state of the checksum after them.

use super::{Entry, line};
use crate::model::digest::DigestWriter;
use crate::model::json;

/// What each line of a list begins with.
pub(super) const INDENT: &str = "    ";
const CLOSE: &str = "\n  ],\n  \"rollback_history\": [";
/// From so many bytes on a list is long: it is read by two threads, and written before its end is known.
pub(super) const LONG: usize = 256 << 10;

/// The canonical text of a list of entries, and the state of the checksum after them.
#[derive(Debug, Clone)]
pub(super) struct EntryText {
    /// What was read, up to the end of the list: nothing is copied that need not be.
    pub(super) bytes: Vec<u8>,
    /// Where in it the list begins.
    pub(super) start: usize,
    /// How much of the list was there when it was read: lines are only added to it.
    pub(super) loaded: usize,
    pub(super) hash: DigestWriter,
}

impl Default for EntryText {
    fn default() -> Self {
        let mut hash = DigestWriter::new();
        hash.update(b"{\"checkpoints\":[");
        Self {
            bytes: Vec::new(),
            start: 0,
            loaded: 0,
            hash,
        }
    }
}

impl EntryText {
    pub(super) fn lines(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut text = Self::default();
        for entry in entries {
            text.push(entry);
        }
        text
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        let separator: &[u8] = if self.lines().is_empty() { b"" } else { b",\n" };
        self.bytes.extend_from_slice(separator);
        self.bytes.extend_from_slice(INDENT.as_bytes());
        let start = self.bytes.len();
        json::write_compact(entry, &mut self.bytes);
        self.hash.update(&separator[..separator.len().min(1)]);
        self.hash.update(&self.bytes[start..]);
    }

    /// Reads the lines at the start of `text`, and gives the state of the checksum after them and what follows; `None`
    /// when one is not as [`EntryText::push`] writes it. Of a long list another thread reads the second half.
    pub(super) fn parse(text: &str) -> Option<(DigestWriter, Vec<Entry>, &str)> {
        // From behind: what follows the list is short.
        let end = text.rfind(CLOSE)? + 1;
        let (list, rest) = text.split_at(end);
        let middle = match list.len() {
            0..LONG => 0,
            length => {
                let half = &list.as_bytes()[length / 2..];
                length / 2 + half.iter().position(|byte| *byte == b'\n')? + 1
            }
        };
        let (first, second) = list.split_at(middle);
        if first.is_empty() {
            return Some((hash_of(list)?, entries(second)?, rest));
        }
        let (first, (second, hash)) =
            rayon::join(|| entries(first), || (entries(second), hash_of(list)));
        let mut entries = first?;
        entries.extend(second?);
        Some((hash?, entries, rest))
    }
}

/// The state of the checksum after the lines of a list; `None` when one of them is not separated as it should be.
fn hash_of(list: &str) -> Option<DigestWriter> {
    let mut hash = EntryText::default().hash;
    let mut lines = list.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let line = line.strip_prefix(INDENT)?;
        let end = if lines.peek().is_some() { ",\n" } else { "\n" };
        let line = line.strip_suffix(end)?;
        hash.update(line.as_bytes());
        hash.update(&end.as_bytes()[..end.len() - 1]);
    }
    Some(hash)
}

/// The entries of some lines of a list; how the lines are separated is [`hash_of`]'s to see.
fn entries(lines: &str) -> Option<Vec<Entry>> {
    let mut entries = Vec::with_capacity(lines.len() / 256);
    for line in lines.lines() {
        let line = line.strip_suffix(',').unwrap_or(line);
        entries.push(line::parse(line.strip_prefix(INDENT)?)?);
    }
    Some(entries)
}
