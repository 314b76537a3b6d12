//! What all of go-team's files share: a version that is looked at first, and the ways in which a file can be wrong.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::digest::Sha256Digest;
use super::ids::CheckpointId;
use super::json::{self, JsonError, Limits};

/// The version of every format that this crate writes.
pub const VERSION: u32 = 1;

/// Why the bytes of a file are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Not JSON at all, or beyond the limits.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A format version that this crate does not know.
    #[error("format version {found} is not known")]
    UnknownVersion {
        /// What the file says, as JSON text.
        found: String,
    },
    /// JSON, but not of this shape: a field is missing, unknown, or holds something else.
    #[error("{reason}")]
    Shape {
        /// What is wrong.
        reason: String,
    },
    /// The content is not what was sealed.
    #[error("checksum is {found}, the content has {actual}")]
    Checksum {
        /// What the file says.
        found: Sha256Digest,
        /// What its content gives.
        actual: Sha256Digest,
    },
    /// Two entries of a manifest have the same id.
    #[error("{id} is listed twice")]
    DuplicateId {
        /// The id.
        id: CheckpointId,
    },
    /// An entry of a manifest is not after the one before it.
    #[error("{id} has seq {seq}, which does not rise")]
    SeqOrder {
        /// The entry out of order.
        id: CheckpointId,
        /// Its seq.
        seq: u64,
    },
    /// The next seq of a manifest has been used already.
    #[error("next_seq is {next_seq}, but {last} has been used")]
    NextSeq {
        /// What the file says.
        next_seq: u64,
        /// The highest seq in use.
        last: u64,
    },
    /// A journal of an operation that this crate does not know.
    #[error("operation {op:?} is not known")]
    UnknownOp {
        /// What the file says.
        op: String,
    },
}

impl FormatError {
    /// A [`FormatError::Shape`] or [`FormatError::Json`] from what serde says about text.
    pub(super) fn from_serde(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        if error.is_data() {
            return Self::Shape { reason: text };
        }
        let reason = text
            .split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned();
        JsonError::Syntax {
            reason,
            line,
            column,
        }
        .into()
    }
}

/// Parses an object and takes its `version` out, which must be the known one.
pub(super) fn parse_versioned(
    bytes: &[u8],
    limits: Limits,
) -> Result<Map<String, Value>, FormatError> {
    let mut object = json::parse_object(bytes, limits)?;
    let version = object.remove("version");
    check_version(version.as_ref())?;
    Ok(object)
}

/// Refuses any version but the known one.
pub(super) fn check_version(version: Option<&Value>) -> Result<(), FormatError> {
    match version {
        Some(version) if version.as_u64() == Some(u64::from(VERSION)) => Ok(()),
        Some(other) => Err(FormatError::UnknownVersion {
            found: other.to_string().chars().take(80).collect(),
        }),
        None => Err(FormatError::Shape {
            reason: "missing field `version`".to_owned(),
        }),
    }
}

/// Reads a value of a known shape out of an object.
pub(super) fn shaped<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, FormatError> {
    serde_json::from_value(Value::Object(object)).map_err(|error| FormatError::Shape {
        reason: error.to_string(),
    })
}

/// Pretty JSON of a struct with the version first and a newline at the end.
pub(super) fn versioned_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    let pretty = serde_json::to_vec_pretty(value).expect("plain values with text keys");
    let body = pretty.strip_prefix(b"{").expect("a struct with fields");
    let mut out = format!("{{\n  \"version\": {VERSION},").into_bytes();
    out.extend_from_slice(body);
    out.push(b'\n');
    out
}
