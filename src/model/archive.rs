//! What an export holds: the names of its members, the list of them that comes first, and the rollbacks as a file.
//!
//! The list makes an archive checkable before anything of it is used: each member's name, size and SHA-256, in the order
//! in which they follow. Names come from ids and constants only, so none can lead out of a directory.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::digest::Sha256Digest;
use super::format::{self, FormatError};
use super::ids::{CheckpointId, SessionId};
use super::json::{self, Limits};
use super::manifest::RollbackRecord;
use super::object_id::ObjectId;
use super::timestamp;

/// The list of members, the first of them.
pub const CONTENTS: &str = "contents.json";

const MANIFEST: &str = "manifest.json";
const ROLLBACK_HISTORY: &str = "rollback-history.json";
const STATE: &str = "state.json";
const BUNDLE: &str = "checkpoints.bundle";

/// What a member is. They follow each other in the order in which they are declared here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberKind {
    /// The manifest.
    Manifest,
    /// The rollbacks.
    RollbackHistory,
    /// The live state.
    State,
    /// A checkpoint's record.
    Record(CheckpointId),
    /// The commits and all that they need.
    Bundle,
}

impl MemberKind {
    /// The file name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Manifest => MANIFEST.to_owned(),
            Self::RollbackHistory => ROLLBACK_HISTORY.to_owned(),
            Self::State => STATE.to_owned(),
            Self::Record(id) => format!("{id}.json"),
            Self::Bundle => BUNDLE.to_owned(),
        }
    }

    /// What a file name means; `None` for one that no member has.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            MANIFEST => Some(Self::Manifest),
            ROLLBACK_HISTORY => Some(Self::RollbackHistory),
            STATE => Some(Self::State),
            BUNDLE => Some(Self::Bundle),
            name => {
                let id = name.strip_suffix(".json")?;
                let id = Some(id).filter(|id| id.starts_with("cp-"))?;
                CheckpointId::parse(id).ok().map(Self::Record)
            }
        }
    }

    /// The size that no such member passes; the bundle has none.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        let bytes = match self {
            Self::Manifest | Self::RollbackHistory => Limits::MANIFEST.bytes,
            Self::State => Limits::STATE.bytes,
            Self::Record(_) => Limits::RECORD.bytes,
            Self::Bundle => return u64::MAX,
        };
        bytes as u64
    }

    /// Records have no order among themselves here: the manifest says theirs.
    const fn rank(&self) -> u8 {
        match self {
            Self::Manifest => 0,
            Self::RollbackHistory => 1,
            Self::State => 2,
            Self::Record(_) => 3,
            Self::Bundle => 4,
        }
    }
}

/// A member as the list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// What it is.
    pub kind: MemberKind,
    /// How many bytes it has.
    pub size: u64,
    /// Their digest.
    pub sha256: Sha256Digest,
}

/// The list of members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The session that was exported.
    pub session_id: SessionId,
    /// The members, in the order in which they follow.
    pub members: Vec<Member>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedMember {
    name: String,
    size: u64,
    sha256: Sha256Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentsFile {
    session_id: SessionId,
    members: Vec<ListedMember>,
}

impl Contents {
    /// How much of a list is looked at: enough for more than 100,000 checkpoints.
    pub const LIMITS: Limits = Limits {
        bytes: 32 << 20,
        depth: 8,
        values: 1 << 20,
    };

    /// The bytes of its file: a member a line.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        let mut out = format!(
            "{{\n  \"version\": {},\n  \"session_id\": \"{}\",\n  \"members\": [",
            format::VERSION,
            self.session_id
        )
        .into_bytes();
        for (nth, member) in self.members.iter().enumerate() {
            out.extend_from_slice(if nth == 0 { b"\n    " } else { b",\n    " });
            let listed = ListedMember {
                name: member.kind.name(),
                size: member.size,
                sha256: member.sha256,
            };
            json::write_compact(&listed, &mut out);
        }
        out.extend_from_slice(b"\n  ]\n}\n");
        out
    }

    /// Reads its file.
    ///
    /// # Errors
    /// For text that is not JSON, an unknown version, another shape, a name that no member has, a size that no such
    /// member has, or members that are missing, there twice, or out of order.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let file: ContentsFile = format::shaped(format::parse_versioned(bytes, Self::LIMITS)?)?;
        let mut members = Vec::with_capacity(file.members.len());
        let mut seen = std::collections::HashSet::new();
        let wrong = |reason: String| FormatError::Shape { reason };
        let mut last = 0;
        for listed in file.members {
            let name: String = listed.name.chars().take(200).collect();
            let kind = MemberKind::from_name(&listed.name)
                .ok_or_else(|| wrong(format!("a member called {name:?}")))?;
            if listed.size > kind.limit() {
                return Err(wrong(format!(
                    "{name} is said to have {} bytes",
                    listed.size
                )));
            }
            if kind.rank() < last {
                return Err(wrong(format!("{name} is out of order")));
            }
            last = kind.rank();
            if !seen.insert(kind.clone()) {
                return Err(wrong(format!("{name} is listed twice")));
            }
            members.push(Member {
                kind,
                size: listed.size,
                sha256: listed.sha256,
            });
        }
        for needed in [
            MemberKind::Manifest,
            MemberKind::RollbackHistory,
            MemberKind::State,
        ] {
            if !seen.contains(&needed) {
                return Err(wrong(format!("{} is not listed", needed.name())));
            }
        }
        Ok(Self {
            session_id: file.session_id,
            members,
        })
    }

    /// How many bytes the members have together.
    #[must_use]
    pub fn total_size(&self) -> u64 {
        let sizes = self.members.iter().map(|member| member.size);
        sizes.fold(0, u64::saturating_add)
    }

    /// The bundle, where there is one.
    #[must_use]
    pub fn bundle(&self) -> Option<&Member> {
        let last = self.members.last()?;
        (last.kind == MemberKind::Bundle).then_some(last)
    }
}

/// The rollbacks of a session, for those who look at nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollbackHistory {
    /// The session.
    pub session_id: SessionId,
    /// Its rollbacks, oldest first.
    pub rollback_history: Vec<RollbackRecord>,
}

impl RollbackHistory {
    /// The bytes of its file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        format::versioned_bytes(self)
    }

    /// Reads its file.
    ///
    /// # Errors
    /// For text that is not JSON, an unknown version, or another shape.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        format::shaped(format::parse_versioned(bytes, Limits::MANIFEST)?)
    }
}

/// What it takes to finish an import that was cut short, or to clear it away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportJournal {
    /// The session, under the name it gets here.
    pub session: SessionId,
    /// When it began.
    #[serde(with = "timestamp")]
    pub started_at: DateTime<Utc>,
    /// The names of the git packs that are kept from collection until the refs are there.
    pub keep: Vec<String>,
    /// The refs that it makes, by checkpoint.
    pub refs: BTreeMap<CheckpointId, ObjectId>,
}

impl ImportJournal {
    /// The bytes of its file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        format::versioned_bytes(self)
    }

    /// Reads its file.
    ///
    /// # Errors
    /// For text that is not JSON, an unknown version, or another shape.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        format::shaped(format::parse_versioned(bytes, Limits::MANIFEST)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents() -> Contents {
        let record = CheckpointId::parse("cp-01-init-20251228-210000").unwrap();
        let kinds = [
            MemberKind::Manifest,
            MemberKind::RollbackHistory,
            MemberKind::State,
            MemberKind::Record(record),
            MemberKind::Bundle,
        ];
        Contents {
            session_id: SessionId::parse("auth-1f3c").unwrap(),
            members: kinds
                .into_iter()
                .map(|kind| Member {
                    kind,
                    size: 7,
                    sha256: Sha256Digest::of(b"x"),
                })
                .collect(),
        }
    }

    #[test]
    fn round_trips_a_member_a_line() {
        let contents = contents();
        let bytes = contents.to_file_bytes();
        assert_eq!(Contents::from_file_bytes(&bytes), Ok(contents));
        let text = String::from_utf8(bytes).unwrap();
        let digest = Sha256Digest::of(b"x");
        assert!(text.starts_with("{\n  \"version\": 1,\n  \"session_id\": \"auth-1f3c\",\n"));
        let line = format!(
            "\n    {{\"name\":\"cp-01-init-20251228-210000.json\",\"size\":7,\"sha256\":\"{digest}\"}},\n"
        );
        assert!(text.contains(&line), "{text}");
    }

    #[test]
    fn refuses_names_sizes_order_and_twins() {
        let text = String::from_utf8(contents().to_file_bytes()).unwrap();
        let refused = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            let changed = text.replacen(from, to, 1);
            Contents::from_file_bytes(changed.as_bytes())
                .unwrap_err()
                .to_string()
        };
        assert!(refused("state.json", "../state.json").contains("a member called"));
        assert!(refused("cp-01-init", "/cp-01-init").contains("a member called"));
        assert!(refused("cp-01-init", "init").contains("a member called"));
        assert!(refused("state.json", "manifest.json").contains("order"));
        assert!(refused("cp-01-init-20251228-210000.json", "state.json").contains("twice"));
        assert!(refused("state.json", "cp-02-x.json").contains("not listed"));
        assert!(refused("\"size\":7", "\"size\":999999999999").contains("said to have"));
        assert!(refused("\"version\": 1", "\"version\": 2").contains("version 2"));
        assert!(refused("auth-1f3c", "../x").contains("session id"));
    }
}
