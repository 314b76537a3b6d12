//! A checkpoint's line, read by knowing how it was written.
//!
//! The fields have a fixed order and are spelt in one way, so most of a line is compared rather than parsed; that makes
//! a long manifest several times as quick to read. Whatever looks different goes to serde.

use chrono::{DateTime, Utc};

use super::Entry;
use crate::model::digest::Sha256Digest;
use crate::model::ids::{CheckpointId, RollbackId};
use crate::model::object_id::ObjectId;
use crate::model::timestamp;
use crate::model::trigger::Trigger;

/// Reads the line of an entry; `None` when it is none.
pub(super) fn parse(line: &str) -> Option<Entry> {
    Cursor(line)
        .entry()
        .or_else(|| serde_json::from_str(line).ok())
}

struct Cursor<'t>(&'t str);

impl<'t> Cursor<'t> {
    fn entry(mut self) -> Option<Entry> {
        let entry = Entry {
            checksum: Sha256Digest::parse(self.text("{\"checksum\":\"")?).ok()?,
            commit_hash: match self.text(",\"commit_hash\":\"") {
                Some(text) => Some(ObjectId::parse(text).ok()?),
                None => None,
            },
            corrupted_at: match self.text(",\"corrupted_at\":\"") {
                Some(text) => Some(timestamp::parse(text)?),
                None => None,
            },
            id: CheckpointId::parse(self.text(",\"id\":\"")?).ok()?,
            invalidated_by: match self.text(",\"invalidated_by\":\"") {
                Some(text) => Some(RollbackId::parse(text).ok()?),
                None => None,
            },
            name: self.text(",\"name\":\"")?.to_owned(),
            ordinal: self.number(",\"ordinal\":")?.try_into().ok()?,
            parent: match self.text(",\"parent\":\"") {
                Some(text) => Some(CheckpointId::parse(text).ok()?),
                None => None,
            },
            phase: self.text(",\"phase\":\"")?.to_owned(),
            seq: self.number(",\"seq\":")?,
            step: self.number(",\"step\":")?.try_into().ok()?,
            timestamp: self.time(",\"timestamp\":\"")?,
            trigger: self.text(",\"trigger\":\"")?.parse::<Trigger>().ok()?,
            valid: match self.0 {
                ",\"valid\":true}" => true,
                ",\"valid\":false}" => false,
                _ => return None,
            },
        };
        Some(entry)
    }

    /// What follows `field` up to the closing quote; `None`, with nothing consumed, unless it is plain text.
    fn text(&mut self, field: &str) -> Option<&'t str> {
        let rest = self.0.strip_prefix(field)?;
        let end = rest
            .bytes()
            .position(|byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
        let (text, rest) = rest.split_at(end);
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }

    fn time(&mut self, field: &str) -> Option<DateTime<Utc>> {
        timestamp::parse(self.text(field)?)
    }

    fn number(&mut self, field: &str) -> Option<u64> {
        let rest = self.0.strip_prefix(field)?;
        let end = rest.bytes().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = rest.split_at(end);
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        self.0 = rest;
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::manifest::Manifest;
    use crate::model::sample;

    fn entries() -> Vec<Entry> {
        let mut manifest: Manifest = sample::manifest();
        sample::append(&mut manifest, 1, "init", Trigger::Manual);
        sample::append(
            &mut manifest,
            2,
            "a \"quoted\"\u{1b}\u{202e} name\n",
            Trigger::Safety,
        );
        sample::append(&mut manifest, 3, "ünï", Trigger::PhaseTransition);
        let mut entries = manifest.checkpoints().to_vec();
        let mut bare = entries[2].clone();
        bare.commit_hash = None;
        bare.valid = false;
        bare.corrupted_at = Some(sample::at(5));
        bare.invalidated_by = Some(RollbackId::compose(sample::at(6), 2));
        bare.seq = u64::MAX;
        entries.push(bare);
        entries
    }

    #[test]
    fn reads_what_serde_wrote() {
        for entry in entries() {
            let line = serde_json::to_string(&entry).unwrap();
            assert_eq!(parse(&line), Some(entry.clone()), "{line}");
            assert_eq!(
                Cursor(&line).entry().is_some(),
                !line.contains('\\'),
                "{line}"
            );
        }
    }

    #[test]
    fn never_reads_what_serde_would_read_differently() {
        for entry in entries() {
            let line = serde_json::to_string(&entry).unwrap();
            for at in 0..line.len() {
                for byte in *b"0\",:{}\\ aA\x01" {
                    let mut changed = line.clone().into_bytes();
                    changed[at] = byte;
                    for changed in [&changed[..], &changed[..at]] {
                        let Ok(text) = std::str::from_utf8(changed) else {
                            continue;
                        };
                        if let Some(read) = Cursor(text).entry() {
                            assert_eq!(
                                serde_json::from_str::<Entry>(text).unwrap(),
                                read,
                                "{text}"
                            );
                        }
                    }
                }
            }
        }
    }
}
