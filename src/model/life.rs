//! The journal of a change in a session's life: on disk before the first step of it, gone after the last.
//!
//! Such a change is about the session as a whole, its directory included, so the journal lies beside the sessions and not
//! in one of them. Whoever writes next takes the steps again; each of them can be taken twice.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::format::{self, FormatError};
use super::ids::SessionId;
use super::json::Limits;
use super::status::SessionStatus;
use super::timestamp;

/// What happens to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LifeChange {
    /// It gets another status, and its directory goes where sessions of that status are.
    Settle {
        /// The status.
        status: SessionStatus,
        /// What the user said about it; may be empty.
        reason: String,
    },
    /// It goes for good: directory, refs, and the pointers of work trees at it.
    Remove,
}

/// A change in a session's life that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifeJournal {
    /// The session.
    pub session: SessionId,
    /// What happens to it.
    pub change: LifeChange,
    /// When it began.
    pub started_at: DateTime<Utc>,
}

/// The file, without its version and operation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settle {
    session: SessionId,
    status: SessionStatus,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(with = "timestamp")]
    started_at: DateTime<Utc>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remove {
    session: SessionId,
    #[serde(with = "timestamp")]
    started_at: DateTime<Utc>,
}

impl LifeJournal {
    /// The operation's name, as the file has it.
    #[must_use]
    pub const fn op(&self) -> &'static str {
        match self.change {
            LifeChange::Settle { .. } => "settle",
            LifeChange::Remove => "remove",
        }
    }

    /// The bytes of its file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        let session = self.session.clone();
        let started_at = self.started_at;
        let body = match &self.change {
            LifeChange::Settle { status, reason } => serde_json::to_value(Settle {
                session,
                status: *status,
                reason: reason.clone(),
                started_at,
            }),
            LifeChange::Remove => serde_json::to_value(Remove {
                session,
                started_at,
            }),
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
            Some(Value::String(op)) if op == "settle" => {
                let Settle {
                    session,
                    status,
                    reason,
                    started_at,
                } = format::shaped(object)?;
                Ok(Self {
                    session,
                    change: LifeChange::Settle { status, reason },
                    started_at,
                })
            }
            Some(Value::String(op)) if op == "remove" => {
                let Remove {
                    session,
                    started_at,
                } = format::shaped(object)?;
                Ok(Self {
                    session,
                    change: LifeChange::Remove,
                    started_at,
                })
            }
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

    fn journal(change: LifeChange) -> LifeJournal {
        LifeJournal {
            session: SessionId::parse("auth-1f3c").unwrap(),
            change,
            started_at: timestamp::parse("2025-12-28T21:00:00.000Z").unwrap(),
        }
    }

    #[test]
    fn round_trips() {
        let settle = |reason: &str| LifeChange::Settle {
            status: SessionStatus::Failed,
            reason: reason.to_owned(),
        };
        for change in [settle(""), settle("no \"budget\"\n"), LifeChange::Remove] {
            let journal = journal(change);
            let bytes = journal.to_file_bytes();
            assert_eq!(LifeJournal::from_file_bytes(&bytes), Ok(journal));
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let text = String::from_utf8(journal(LifeChange::Remove).to_file_bytes()).unwrap();
        let read = |from: &str, to: &str| {
            LifeJournal::from_file_bytes(text.replace(from, to).as_bytes()).unwrap_err()
        };
        let unknown = FormatError::UnknownOp { op: "melt".into() };
        assert_eq!(read("\"remove\"", "\"melt\""), unknown);
        let newer = FormatError::UnknownVersion { found: "2".into() };
        assert_eq!(read("\"version\": 1", "\"version\": 2"), newer);
        for (from, to) in [("\"op\"", "\"po\""), ("auth-1f3c", "../x")] {
            assert!(
                matches!(read(from, to), FormatError::Shape { .. }),
                "{from}"
            );
        }
    }
}
