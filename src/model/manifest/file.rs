//! The manifest's file.
//!
//! People can read it and diff it: one field a line, one checkpoint a line. Its checksum is over the canonical JSON,
//! which `jq -cjS 'del(.checksum)' manifest.json | sha256sum` gives as well. Since each checkpoint's line is its
//! canonical JSON, the lines of an unchanged list are hashed and written again as they are: reading, appending to and
//! writing a manifest of 10,000 checkpoints costs little more than parsing it (`benches/manifest_timing.rs`).

use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::text::{EntryText, INDENT, LONG};
use super::{
    Entry, Manifest, OrdinalRange, PrunedParent, PrunedRange, RollbackRecord, StatusChange,
};
use crate::model::digest::{DigestWriter, Sha256Digest};
use crate::model::format::{self, FormatError};
use crate::model::ids::{CheckpointId, SessionId};
use crate::model::json::{self, JsonError, Limits};
use crate::model::status::SessionStatus;
use crate::model::timestamp;
use crate::model::trigger::Trigger;
use chrono::{DateTime, Utc};

const OPEN: &str = "\n  \"checkpoints\": [\n";

/// How a manifest's file will begin once another checkpoint is in it: all but the checkpoint's own line and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    head: Vec<u8>,
    loaded: usize,
}

/// What comes after the checkpoints in the canonical JSON: the fields by name.
#[derive(Serialize)]
struct Rest<'a> {
    #[serde(with = "timestamp")]
    created_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_checkpoint: Option<&'a CheckpointId>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    next_ordinals: &'a [OrdinalRange],
    next_seq: u64,
    pruned: &'a [PrunedRange],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pruned_parents: &'a [PrunedParent],
    rollback_history: &'a [RollbackRecord],
    session_id: &'a SessionId,
    status: SessionStatus,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    status_history: &'a [StatusChange],
    topic: &'a str,
    #[serde(with = "timestamp")]
    updated_at: DateTime<Utc>,
    version: u32,
    workflow: &'a str,
}

/// The file as a whole.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    checkpoints: Vec<Entry>,
    checksum: Sha256Digest,
    #[serde(with = "timestamp")]
    created_at: DateTime<Utc>,
    #[serde(default)]
    current_checkpoint: Option<CheckpointId>,
    #[serde(default)]
    next_ordinals: Vec<OrdinalRange>,
    next_seq: u64,
    pruned: Vec<PrunedRange>,
    #[serde(default)]
    pruned_parents: Vec<PrunedParent>,
    rollback_history: Vec<RollbackRecord>,
    session_id: SessionId,
    status: SessionStatus,
    #[serde(default)]
    status_history: Vec<StatusChange>,
    topic: String,
    #[serde(with = "timestamp")]
    updated_at: DateTime<Utc>,
    version: Value,
    workflow: String,
}

#[derive(Deserialize)]
struct Probe {
    version: Option<Value>,
}

impl Manifest {
    /// The bytes of its file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        self.with_file_parts(|parts| parts.concat())
    }

    /// The bytes of its file in three parts, of which the second is long and has not been copied.
    pub fn with_file_parts<T>(&self, write: impl FnOnce([&[u8]; 3]) -> T) -> T {
        let written;
        let text = if let Some(text) = &self.text {
            text
        } else {
            written = EntryText::of(&self.checkpoints);
            &written
        };
        let checksum = self.checksum_after(&text.hash);
        let entries = text.lines();
        let head = self.head(
            self.updated_at,
            self.current_checkpoint.as_ref(),
            self.next_seq,
            entries,
        );
        let mut out = Vec::new();
        list_end(&mut out, entries);
        list(&mut out, "rollback_history", &lines(&self.rollback_history));
        if !self.status_history.is_empty() {
            list(&mut out, "status_history", &lines(&self.status_history));
        }
        list(&mut out, "pruned", &lines(&self.pruned));
        if !self.pruned_parents.is_empty() {
            list(&mut out, "pruned_parents", &lines(&self.pruned_parents));
        }
        if !self.next_ordinals.is_empty() {
            list(&mut out, "next_ordinals", &lines(&self.next_ordinals));
        }
        field(&mut out, "checksum", &checksum);
        out.truncate(out.len() - 1);
        out.extend_from_slice(b"\n}\n");
        write([&head, entries, &out])
    }

    /// What comes before the list.
    fn head(
        &self,
        updated_at: DateTime<Utc>,
        current_checkpoint: Option<&CheckpointId>,
        next_seq: u64,
        entries: &[u8],
    ) -> Vec<u8> {
        let mut out = Vec::new();
        out.push(b'{');
        field(&mut out, "version", &format::VERSION);
        field(&mut out, "session_id", &self.session_id);
        field(&mut out, "topic", &self.topic);
        field(&mut out, "workflow", &self.workflow);
        field(&mut out, "status", &self.status);
        field(&mut out, "created_at", &timestamp::format(self.created_at));
        field(&mut out, "updated_at", &timestamp::format(updated_at));
        if let Some(current) = current_checkpoint {
            field(&mut out, "current_checkpoint", current);
        }
        field(&mut out, "next_seq", &next_seq);
        list_name(&mut out, "checkpoints");
        if !entries.is_empty() {
            out.push(b'\n');
        }
        out
    }

    /// How the file will begin once a checkpoint is appended, where the list is long enough for that to be of use.
    #[must_use]
    pub fn beginning(
        &self,
        next: &CheckpointId,
        trigger: Trigger,
        created_at: DateTime<Utc>,
    ) -> Option<Beginning> {
        let text = self.text.as_ref().filter(|text| text.loaded >= LONG)?;
        let current = match trigger {
            Trigger::Safety => self.current_checkpoint.as_ref(),
            _ => Some(next),
        };
        let updated_at = self.updated_at.max(timestamp::to_millis(created_at));
        Some(Beginning {
            head: self.head(updated_at, current, self.next_seq + 1, text.lines()),
            loaded: text.loaded,
        })
    }

    /// The bytes of a beginning, in two parts.
    #[must_use]
    pub fn beginning_parts<'m>(&'m self, beginning: &'m Beginning) -> [&'m [u8]; 2] {
        let lines = self.text.as_ref().map_or(&[][..], EntryText::lines);
        [&beginning.head, &lines[..beginning.loaded.min(lines.len())]]
    }

    /// What follows a beginning in the file; `None` when the file begins otherwise.
    pub fn with_rest_after<T>(
        &self,
        beginning: &Beginning,
        write: impl FnOnce([&[u8]; 2]) -> T,
    ) -> Option<T> {
        let is_added_to = |text: &&EntryText| text.loaded == beginning.loaded;
        self.text.as_ref().filter(is_added_to)?;
        self.with_file_parts(|[head, lines, tail]| {
            (head == beginning.head).then(|| write([&lines[beginning.loaded..], tail]))
        })
    }

    /// The checksum of everything else.
    #[must_use]
    pub fn checksum(&self) -> Sha256Digest {
        match &self.text {
            Some(text) => self.checksum_after(&text.hash),
            None => self.checksum_after(&EntryText::of(&self.checkpoints).hash),
        }
    }

    fn checksum_after(&self, entries: &DigestWriter) -> Sha256Digest {
        let rest = Rest {
            created_at: self.created_at,
            current_checkpoint: self.current_checkpoint.as_ref(),
            next_ordinals: &self.next_ordinals,
            next_seq: self.next_seq,
            pruned: &self.pruned,
            pruned_parents: &self.pruned_parents,
            rollback_history: &self.rollback_history,
            session_id: &self.session_id,
            status: self.status,
            status_history: &self.status_history,
            topic: &self.topic,
            updated_at: self.updated_at,
            version: format::VERSION,
            workflow: &self.workflow,
        };
        let mut tail = Vec::new();
        json::write_compact(&rest, &mut tail);
        let mut hash = entries.clone();
        hash.update(b"],");
        hash.update(tail.strip_prefix(b"{").expect("a struct with fields"));
        hash.finish()
    }

    /// Reads a manifest's file.
    ///
    /// # Errors
    /// For text that is not JSON, an unknown version, another shape, a checksum that the content does not have, an id
    /// that is listed twice, a seq that does not rise, or a next seq that has been used: a variant for each, found in
    /// this order.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_file_vec(bytes.to_vec())
    }

    /// As [`Manifest::from_file_bytes`], for whoever needs the bytes no more.
    ///
    /// # Errors
    /// The same.
    pub fn from_file_vec(mut bytes: Vec<u8>) -> Result<Self, FormatError> {
        let limit = Limits::MANIFEST.bytes;
        if bytes.len() > limit {
            return Err(JsonError::TooLarge { limit }.into());
        }
        let manifest = match Self::from_own_layout(&bytes) {
            Some((mut manifest, hash, lines)) => {
                bytes.truncate(lines.end);
                manifest.text = Some(EntryText {
                    bytes,
                    start: lines.start,
                    loaded: lines.len(),
                    hash,
                });
                manifest
            }
            None => Self::from_any_layout(&bytes)?,
        };
        manifest.check_order()?;
        Ok(manifest)
    }

    /// Reads what [`Manifest::to_file_bytes`] wrote, line by line; `None` when anything is different.
    /// Gives the state of the checksum after the list too, and where the list is.
    fn from_own_layout(bytes: &[u8]) -> Option<(Self, DigestWriter, Range<usize>)> {
        let text = std::str::from_utf8(bytes).ok()?;
        // No string of valid JSON holds a bare newline, so this can only be the mark itself.
        let (head, rest) = text.split_once(OPEN)?;
        let (hash, entries, tail) = EntryText::parse(rest)?;
        let start = head.len() + OPEN.len();
        let end = bytes.len() - tail.len() - 1;
        let file: File = serde_json::from_str(&[head, OPEN, tail].concat()).ok()?;
        format::check_version(Some(&file.version)).ok()?;
        if !file.checkpoints.is_empty() {
            return None;
        }
        let found = file.checksum;
        let mut manifest = file.into_manifest();
        manifest.checkpoints = entries;
        (manifest.checksum_after(&hash) == found).then_some((manifest, hash, start..end))
    }

    /// Reads a manifest however it is laid out, and says what is wrong with it.
    fn from_any_layout(bytes: &[u8]) -> Result<Self, FormatError> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| {
            // Another version may well have another shape: what it says about itself comes first.
            let probe: Option<Probe> = serde_json::from_slice(bytes).ok();
            let version = probe.and_then(|probe| probe.version);
            let other = version.and_then(|version| format::check_version(Some(&version)).err());
            other.unwrap_or_else(|| FormatError::from_serde(&error))
        })?;
        format::check_version(Some(&file.version))?;
        let found = file.checksum;
        let manifest = file.into_manifest();
        let actual = manifest.checksum();
        if actual != found {
            return Err(FormatError::Checksum { found, actual });
        }
        Ok(manifest)
    }

    fn check_order(&self) -> Result<(), FormatError> {
        let mut seen = HashSet::with_capacity(self.checkpoints.len());
        if let Some(twin) = self
            .checkpoints
            .iter()
            .find(|entry| !seen.insert(&entry.id))
        {
            let id = twin.id.clone();
            return Err(FormatError::DuplicateId { id });
        }
        let mut last = 0;
        for entry in &self.checkpoints {
            if entry.seq <= last {
                let (id, seq) = (entry.id.clone(), entry.seq);
                return Err(FormatError::SeqOrder { id, seq });
            }
            last = entry.seq;
        }
        let pruned = self.pruned.iter().map(|range| range.to_seq).max();
        let last = last.max(pruned.unwrap_or(0));
        let next_seq = self.next_seq;
        if next_seq <= last {
            return Err(FormatError::NextSeq { next_seq, last });
        }
        Ok(())
    }
}

impl File {
    fn into_manifest(self) -> Manifest {
        Manifest {
            session_id: self.session_id,
            topic: self.topic,
            workflow: self.workflow,
            status: self.status,
            created_at: self.created_at,
            updated_at: self.updated_at,
            current_checkpoint: self.current_checkpoint,
            rollback_history: self.rollback_history,
            status_history: self.status_history,
            next_seq: self.next_seq,
            checkpoints: self.checkpoints,
            pruned: self.pruned,
            pruned_parents: self.pruned_parents,
            next_ordinals: self.next_ordinals,
            text: None,
        }
    }
}

fn field<T: Serialize>(out: &mut Vec<u8>, name: &str, value: &T) {
    out.extend_from_slice(format!("\n  \"{name}\": ").as_bytes());
    json::write_compact(value, out);
    out.push(b',');
}

fn list(out: &mut Vec<u8>, name: &str, lines: &[u8]) {
    list_name(out, name);
    if !lines.is_empty() {
        out.push(b'\n');
        out.extend_from_slice(lines);
    }
    list_end(out, lines);
}

fn list_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(format!("\n  \"{name}\": [").as_bytes());
}

fn list_end(out: &mut Vec<u8>, lines: &[u8]) {
    let end: &[u8] = if lines.is_empty() { b"]," } else { b"\n  ]," };
    out.extend_from_slice(end);
}

fn lines<T: Serialize>(items: &[T]) -> Vec<u8> {
    let mut out = Vec::new();
    for item in items {
        out.extend_from_slice(if out.is_empty() { b"" } else { b",\n" });
        out.extend_from_slice(INDENT.as_bytes());
        json::write_compact(item, &mut out);
    }
    out
}
