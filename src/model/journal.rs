//! The journal: what an operation is about to do, on disk before it does it.
//!
//! A journal that is still there means that the operation did not end; the next command reads it and finishes or
//! undoes the work. Each operation is a variant with a struct of its own.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::format::{self, FormatError};
use super::ids::{CheckpointId, SessionId};
use super::json::Limits;
use super::manifest::RollbackRecord;
use super::object_id::ObjectId;
use super::timestamp;

/// An operation under way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Journal {
    /// A checkpoint is being published.
    Create(CreateJournal),
    /// Files, index, HEAD and state are being taken to another checkpoint's.
    Rollback(Box<RollbackJournal>),
    /// Checkpoints are being deleted.
    Delete(DeleteJournal),
}

/// What it takes to finish or to undo a rollback, an undo or a redo that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollbackJournal {
    /// The session it belongs to.
    pub session: SessionId,
    /// What the manifest says of it once it is done.
    pub record: RollbackRecord,
    /// The checkpoint that is restored.
    pub source: CheckpointId,
    /// Its commit.
    pub source_commit: ObjectId,
    /// The commit of the safety checkpoint, which holds how it was before.
    pub safety_commit: ObjectId,
    /// Where HEAD was.
    pub head_from: JournalHead,
    /// Where HEAD goes.
    pub head_to: JournalHead,
    /// Paths that differ and are left alone, as people write them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// When it began.
    #[serde(with = "timestamp")]
    pub started_at: DateTime<Utc>,
}

/// Where HEAD points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalHead {
    /// The branch's full name; absent when HEAD is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit; absent when there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<ObjectId>,
}

/// What it takes to finish or to clear away a checkpoint that is being published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateJournal {
    /// The session it belongs to.
    pub session: SessionId,
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// The name of the git pack that is kept from collection until the ref is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// Checkpoints that leave the manifest with this one; their files and refs go after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prune: Vec<CheckpointId>,
    /// When publishing began.
    #[serde(with = "timestamp")]
    pub started_at: DateTime<Utc>,
}

/// What it takes to finish deleting checkpoints: those that the manifest does not list any more lose their files and
/// refs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteJournal {
    /// The session they belong to.
    pub session: SessionId,
    /// The checkpoints.
    pub checkpoints: Vec<CheckpointId>,
    /// When deleting began.
    #[serde(with = "timestamp")]
    pub started_at: DateTime<Utc>,
}

impl Journal {
    /// The operation's name, as the file has it.
    #[must_use]
    pub const fn op(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Rollback(_) => "rollback",
            Self::Delete(_) => "delete",
        }
    }

    /// The session that the operation works on.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        match self {
            Self::Create(create) => &create.session,
            Self::Rollback(rollback) => &rollback.session,
            Self::Delete(delete) => &delete.session,
        }
    }

    /// The bytes of its file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        let body = match self {
            Self::Create(create) => serde_json::to_value(create),
            Self::Rollback(rollback) => serde_json::to_value(rollback),
            Self::Delete(delete) => serde_json::to_value(delete),
        };
        let mut object = Map::new();
        object.insert("op".to_owned(), self.op().into());
        if let Value::Object(fields) = body.expect("plain values with text keys") {
            object.extend(fields);
        }
        format::versioned_bytes(&object)
    }

    /// Reads its file.
    ///
    /// # Errors
    /// For text that is not JSON, an unknown version, an unknown operation, or another shape.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut object = format::parse_versioned(bytes, Limits::RECORD)?;
        match object.remove("op") {
            Some(Value::String(op)) if op == "create" => format::shaped(object).map(Self::Create),
            Some(Value::String(op)) if op == "rollback" => {
                format::shaped(object).map(Box::new).map(Self::Rollback)
            }
            Some(Value::String(op)) if op == "delete" => format::shaped(object).map(Self::Delete),
            Some(Value::String(op)) => Err(FormatError::UnknownOp { op }),
            _ => Err(FormatError::Shape {
                reason: "missing field `op`".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(keep: Option<&str>) -> Journal {
        Journal::Create(CreateJournal {
            session: SessionId::parse("auth-1f3c").unwrap(),
            checkpoint: CheckpointId::parse("cp-01-init-20251228-210000").unwrap(),
            keep: keep.map(str::to_owned),
            prune: Vec::new(),
            started_at: timestamp::parse("2025-12-28T21:00:00.000Z").unwrap(),
        })
    }

    #[test]
    fn round_trips() {
        let delete = Journal::Delete(DeleteJournal {
            session: SessionId::parse("auth-1f3c").unwrap(),
            checkpoints: vec![CheckpointId::parse("cp-01-init-20251228-210000").unwrap()],
            started_at: timestamp::parse("2025-12-28T21:00:00.000Z").unwrap(),
        });
        for journal in [journal(None), journal(Some("pack-1234")), delete] {
            assert_eq!(
                Journal::from_file_bytes(&journal.to_file_bytes()),
                Ok(journal)
            );
        }
    }

    #[test]
    fn an_unknown_operation_is_its_own_error() {
        let text = String::from_utf8(journal(None).to_file_bytes()).unwrap();
        let read = |from: &str, to: &str| {
            Journal::from_file_bytes(text.replace(from, to).as_bytes()).unwrap_err()
        };
        assert_eq!(
            read("\"create\"", "\"melt\""),
            FormatError::UnknownOp { op: "melt".into() }
        );
        assert_eq!(
            read("\"version\": 1", "\"version\": 2"),
            FormatError::UnknownVersion { found: "2".into() }
        );
        assert!(matches!(
            read("\"session\"", "\"other\""),
            FormatError::Shape { .. }
        ));
        assert!(matches!(
            read("\"op\"", "\"po\""),
            FormatError::Shape { .. }
        ));
    }
}
