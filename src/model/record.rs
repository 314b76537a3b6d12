//! A checkpoint's record: what was known when it was made, sealed by a checksum.
//!
//! A [`RecordDraft`] is filled in; [`RecordDraft::seal`] turns it into a [`Record`], which does not change any more.
//! Besides its own file, a record lives in the repository as the sidecar's `record.json`: the same without
//! `git.commit_hash` and `checksum`, because both follow from the commit that holds it. Either gives the other back.

use std::ops::Deref;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::digest::Sha256Digest;
use super::files::Files;
use super::format::{self, FormatError};
use super::ids::{CheckpointId, SessionId};
use super::json::{self, Limits};
use super::object_id::ObjectId;
use super::state::State;
use super::timestamp;
use super::trigger::Trigger;

/// Everything a record says but its checksum, in the order in which its file says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordDraft {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// Its place in the session's history, from 1.
    pub seq: u64,
    /// The step that was done.
    pub step_number: u32,
    /// The how-manieth checkpoint of that step, from 1.
    pub ordinal: u32,
    /// The step's name.
    pub step_name: String,
    /// Where the workflow was.
    pub phase: String,
    /// Why the checkpoint was made.
    pub trigger: Trigger,
    /// What the maker said about it.
    pub description: String,
    /// When it was made.
    #[serde(with = "timestamp")]
    pub created_at: DateTime<Utc>,
    /// The checkpoint that the work tree descended from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CheckpointId>,
    /// The checksum of the record before this one by `seq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev_checksum: Option<Sha256Digest>,
    /// How many turns the agents had taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<u64>,
    /// The workflow's state.
    pub state: State,
    /// What the workflow had produced.
    pub outputs: Map<String, Value>,
    /// What changed since the parent.
    pub files: Files,
    /// What the repository looked like.
    pub git: GitSnapshot,
    /// What is needed to carry on.
    pub recovery: Recovery,
}

/// The repository at the time of a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitSnapshot {
    /// Whether files were captured at all; nothing below is present otherwise.
    pub enabled: bool,
    /// The checkpoint commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<ObjectId>,
    /// The work tree as a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<ObjectId>,
    /// The index as a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_tree: Option<ObjectId>,
    /// The branch that was checked out; absent when HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that HEAD was at; absent when there was none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<ObjectId>,
}

/// What is needed to carry on from a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// Whether work can go on from here.
    pub can_resume: bool,
    /// Where, for people; absent after the last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_from: Option<String>,
    /// Whether all that the next step needs is there.
    pub prerequisites_met: bool,
    /// What to know before going on.
    pub warnings: Vec<String>,
}

impl RecordDraft {
    /// Computes the checksum, after which nothing changes any more.
    #[must_use]
    pub fn seal(mut self) -> Record {
        self.created_at = timestamp::to_millis(self.created_at);
        let checksum = Sha256Digest::of(&json::canonical(&self.to_value()));
        Record {
            draft: self,
            checksum,
        }
    }

    fn to_value(&self) -> Value {
        let mut value = serde_json::to_value(self).expect("a draft is plain values with text keys");
        value["version"] = format::VERSION.into();
        value
    }

    /// Readable JSON with the version first and, if given, the checksum last.
    fn to_file_bytes(&self, checksum: Option<&Sha256Digest>) -> Vec<u8> {
        let text = json::readable(self);
        let inner = text
            .strip_prefix(b"{")
            .and_then(|text| text.strip_suffix(b"}\n"));
        let inner = inner.expect("a struct with fields").trim_ascii_end();
        let mut out = format!("{{\n  \"version\": {},", format::VERSION).into_bytes();
        out.extend_from_slice(inner);
        if let Some(checksum) = checksum {
            out.extend_from_slice(format!(",\n  \"checksum\": \"{checksum}\"").as_bytes());
        }
        out.extend_from_slice(b"\n}\n");
        out
    }
}

/// A sealed record. Its fields are those of [`RecordDraft`], readable but not writable.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    draft: RecordDraft,
    checksum: Sha256Digest,
}

impl Deref for Record {
    type Target = RecordDraft;

    fn deref(&self) -> &RecordDraft {
        &self.draft
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = self.draft.to_value();
        value["checksum"] = self.checksum.to_string().into();
        value.serialize(serializer)
    }
}

impl Record {
    /// The checksum of everything else.
    #[must_use]
    pub fn checksum(&self) -> Sha256Digest {
        self.checksum
    }

    /// Takes the record apart, to make another of it.
    #[must_use]
    pub fn into_draft(self) -> RecordDraft {
        self.draft
    }

    /// The bytes of the record's file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        self.draft.to_file_bytes(Some(&self.checksum))
    }

    /// Reads a record's file.
    ///
    /// # Errors
    /// For text that is not JSON, an unknown version, another shape, or a checksum that the content does not have:
    /// a variant for each, found in this order.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut object = migrated(json::parse_object(bytes, Limits::RECORD)?)?;
        let missing = || FormatError::Shape {
            reason: "missing field `checksum`".to_owned(),
        };
        let checksum = object.remove("checksum").ok_or_else(missing)?;
        let found = serde_json::from_value(checksum).map_err(|error| FormatError::Shape {
            reason: error.to_string(),
        })?;
        let record = format::shaped::<RecordDraft>(object)?.seal();
        if record.checksum != found {
            let actual = record.checksum;
            return Err(FormatError::Checksum { found, actual });
        }
        Ok(record)
    }

    /// The bytes of the sidecar's `record.json`: without `git.commit_hash` and `checksum`.
    #[must_use]
    pub fn sidecar_json(&self) -> Vec<u8> {
        self.draft.sidecar_json()
    }

    /// Gives the record back from its sidecar and the commit that holds it.
    ///
    /// # Errors
    /// As [`Record::from_file_bytes`]; there is no checksum to compare.
    pub fn from_sidecar(bytes: &[u8], commit_hash: ObjectId) -> Result<Self, FormatError> {
        let object = migrated(json::parse_object(bytes, Limits::RECORD)?)?;
        let mut draft: RecordDraft = format::shaped(object)?;
        draft.git.commit_hash = Some(commit_hash);
        Ok(draft.seal())
    }
}

impl RecordDraft {
    /// The bytes of the sidecar's `record.json`, which are needed before there is a commit to name.
    #[must_use]
    pub fn sidecar_json(&self) -> Vec<u8> {
        let mut sidecar = self.clone();
        sidecar.created_at = timestamp::to_millis(sidecar.created_at);
        sidecar.git.commit_hash = None;
        sidecar.to_file_bytes(None)
    }
}

/// Looks at the version first and brings older shapes up to date; there are none yet.
fn migrated(mut object: Map<String, Value>) -> Result<Map<String, Value>, FormatError> {
    format::check_version(object.remove("version").as_ref())?;
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;

    fn record() -> Record {
        let mut draft = sample::draft(
            &sample::manifest(),
            2,
            "requirements",
            Trigger::StepComplete,
        );
        draft.created_at += std::time::Duration::from_micros(7);
        draft.state =
            State::parse(br#"{"phase":"x","own":1.50,"big":123456789012345678901234567890}"#)
                .unwrap();
        draft.seal()
    }

    #[test]
    fn a_file_gives_the_same_record_back() {
        let record = record();
        let bytes = record.to_file_bytes();
        let read = Record::from_file_bytes(&bytes).unwrap();
        assert_eq!(read, record);
        assert_eq!(read.to_file_bytes(), bytes);
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            serde_json::from_slice::<Value>(&bytes).unwrap()
        );
    }

    #[test]
    fn the_sidecar_and_its_commit_give_the_same_record_back() {
        let record = record();
        let sidecar = record.sidecar_json();
        let text = std::str::from_utf8(&sidecar).unwrap();
        assert!(
            !text.contains("commit_hash") && !text.contains("checksum\""),
            "{text}"
        );
        let commit = record.git.commit_hash.unwrap();
        let again = Record::from_sidecar(&sidecar, commit).unwrap();
        assert_eq!(again, record);
        assert_eq!(again.to_file_bytes(), record.to_file_bytes());
        let other =
            Record::from_sidecar(&sidecar, ObjectId::from_bytes(&[8; 20]).unwrap()).unwrap();
        assert_ne!(other.checksum(), record.checksum());
        let mut unborn = record.clone().into_draft();
        unborn.git.commit_hash = None;
        assert_eq!(unborn.sidecar_json(), sidecar);
    }

    #[test]
    fn each_defect_is_an_error_of_its_own() {
        let text = String::from_utf8(record().to_file_bytes()).unwrap();
        let read = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            Record::from_file_bytes(text.replacen(from, to, 1).as_bytes()).unwrap_err()
        };
        assert!(matches!(
            read("\"seq\": 1", "\"seq\": "),
            FormatError::Json(_)
        ));
        let newer = read("\"version\": 1", "\"version\": 2, \"new\": {}");
        assert_eq!(newer, FormatError::UnknownVersion { found: "2".into() });
        assert!(matches!(
            read("  \"version\": 1,\n", ""),
            FormatError::Shape { .. }
        ));
        assert!(matches!(
            read("\"seq\": 1", "\"seq\": -1"),
            FormatError::Shape { .. }
        ));
        assert!(matches!(
            read("\"seq\": 1", "\"seq\": 1, \"extra\": 1"),
            FormatError::Shape { .. }
        ));
        assert!(matches!(
            read("\"id\": \"cp", "\"id\": \"../cp"),
            FormatError::Shape { .. }
        ));
        assert!(matches!(
            read("\"own\": 1.50", "\"own\": 1.5"),
            FormatError::Checksum { .. }
        ));
        assert!(matches!(
            read("\"own\": 1.50", "\"own\": 1.50, \"n\": 1"),
            FormatError::Checksum { .. }
        ));
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let record = record();
        let bytes = record.to_file_bytes();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                if let Ok(read) = Record::from_file_bytes(&flipped) {
                    assert!(bytes[at].is_ascii_whitespace(), "bit {bit} of byte {at}");
                    assert_eq!(read, record);
                }
            }
        }
    }

    #[test]
    fn a_record_without_files_has_no_git_ids() {
        let mut draft = record().into_draft();
        draft.git = GitSnapshot::default();
        let text = String::from_utf8(draft.seal().to_file_bytes()).unwrap();
        assert!(
            text.contains("\"git\": {\n    \"enabled\": false\n  }"),
            "{text}"
        );
    }
}
