//! Whether an archive's session can come in, under which name, and which refs it needs.

use std::collections::BTreeMap;

use crate::model::{CheckpointId, ObjectId, SessionId};

/// What an archive brings.
#[derive(Debug, Clone)]
pub struct Arrival<'a> {
    /// The session's name in the archive.
    pub session: &'a SessionId,
    /// The name that was asked for instead.
    pub rename: Option<&'a SessionId>,
    /// The checkpoints in order, each with its commit, and whether that is at hand.
    pub checkpoints: &'a [Arriving],
}

/// A checkpoint that an archive brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arriving {
    /// The checkpoint.
    pub id: CheckpointId,
    /// Its commit; absent when no files were captured.
    pub commit: Option<ObjectId>,
    /// Whether the commit and all that it needs is in the archive or in the repository.
    pub at_hand: bool,
}

/// What is there already under the name that the session would get.
#[derive(Debug, Clone, Default)]
pub struct Present {
    /// A session.
    pub session: bool,
    /// An archived session.
    pub archived: bool,
    /// Refs below the session's, by the rest of their names.
    pub refs: BTreeMap<String, ObjectId>,
}

/// What an import does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportPlan {
    /// The session's name here.
    pub session: SessionId,
    /// Its name in the archive, where that is another one.
    pub renamed_from: Option<SessionId>,
    /// The checkpoints whose refs are made.
    pub create: Vec<CheckpointId>,
    /// The checkpoints whose refs are there and right.
    pub keep: Vec<CheckpointId>,
    /// The checkpoints whose commits are nowhere.
    pub missing: Vec<CheckpointId>,
}

/// Why a session cannot come in. Sessions are never merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportConflict {
    /// There is one of that name.
    #[error("there is a session {session} already")]
    Session {
        /// The name.
        session: SessionId,
    },
    /// There was one of that name that failed.
    #[error("there is a session {session} already, among the failed ones")]
    Archived {
        /// The name.
        session: SessionId,
    },
    /// A ref of that session is there and is not the archive's.
    #[error("refs/go-team/{session}/{name} is there already and does not belong to the archive")]
    Ref {
        /// The session.
        session: SessionId,
        /// The rest of the ref's name.
        name: String,
    },
}

/// Decides how an archive's session comes in.
///
/// # Errors
/// When something of that name is there already.
pub fn plan(arrival: &Arrival<'_>, present: &Present) -> Result<ImportPlan, ImportConflict> {
    let rename = arrival.rename.filter(|name| *name != arrival.session);
    let session = rename.unwrap_or(arrival.session).clone();
    if present.session {
        return Err(ImportConflict::Session { session });
    }
    if present.archived {
        return Err(ImportConflict::Archived { session });
    }
    let mut plan = ImportPlan {
        session,
        renamed_from: rename.map(|_| arrival.session.clone()),
        create: Vec::new(),
        keep: Vec::new(),
        missing: Vec::new(),
    };
    let mut others = present.refs.clone();
    for Arriving {
        id,
        commit,
        at_hand,
    } in arrival.checkpoints
    {
        let Some(commit) = commit else { continue };
        // Under another name the commits are others too, so a ref that is there cannot be right.
        let is_right = plan.renamed_from.is_none() && others.get(id.as_str()) == Some(commit);
        match (at_hand, is_right) {
            (true, true) => plan.keep.push(id.clone()),
            (true, false) => plan.create.push(id.clone()),
            (false, _) => plan.missing.push(id.clone()),
        }
        if is_right {
            others.remove(id.as_str());
        }
    }
    match others.into_keys().next() {
        Some(name) => Err(ImportConflict::Ref {
            session: plan.session,
            name,
        }),
        None => Ok(plan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str) -> SessionId {
        SessionId::parse(name).unwrap()
    }

    fn commit(digit: u8) -> ObjectId {
        ObjectId::from_bytes(&[digit; 20]).unwrap()
    }

    fn arriving(name: &str, digit: Option<u8>, at_hand: bool) -> Arriving {
        Arriving {
            id: CheckpointId::parse(name).unwrap(),
            commit: digit.map(commit),
            at_hand,
        }
    }

    fn decide(rename: Option<&str>, present: &Present) -> Result<ImportPlan, ImportConflict> {
        let rename = rename.map(session);
        let checkpoints = [
            arriving("cp-01", Some(1), true),
            arriving("cp-02", None, false),
            arriving("cp-03", Some(3), true),
            arriving("cp-04", Some(4), false),
        ];
        let arrival = Arrival {
            session: &session("old"),
            rename: rename.as_ref(),
            checkpoints: &checkpoints,
        };
        plan(&arrival, present)
    }

    fn ids(names: &[&str]) -> Vec<CheckpointId> {
        let parse = |name: &&str| CheckpointId::parse(name).unwrap();
        names.iter().map(parse).collect()
    }

    #[test]
    fn refs_are_made_kept_or_missing() {
        let refs = BTreeMap::from([("cp-01".to_owned(), commit(1))]);
        let present = Present {
            refs,
            ..Present::default()
        };
        let plan = decide(None, &present).unwrap();
        assert_eq!(plan.session, session("old"));
        assert_eq!(plan.renamed_from, None);
        assert_eq!(plan.keep, ids(&["cp-01"]));
        assert_eq!(plan.create, ids(&["cp-03"]));
        assert_eq!(plan.missing, ids(&["cp-04"]));
        let plan = decide(Some("old"), &Present::default()).unwrap();
        assert_eq!(plan.renamed_from, None);
        let plan = decide(Some("new"), &Present::default()).unwrap();
        assert_eq!(plan.renamed_from, Some(session("old")));
        assert_eq!(plan.create, ids(&["cp-01", "cp-03"]));
    }

    #[test]
    fn nothing_is_ever_merged() {
        let there = Present {
            session: true,
            ..Present::default()
        };
        assert!(matches!(
            decide(None, &there),
            Err(ImportConflict::Session { .. })
        ));
        let archived = Present {
            archived: true,
            ..Present::default()
        };
        assert!(matches!(
            decide(None, &archived),
            Err(ImportConflict::Archived { .. })
        ));
        for (rename, name, digit) in [
            (None, "cp-01", 9),
            (None, "cp-09", 1),
            (None, "x/y", 1),
            (Some("new"), "cp-01", 1),
        ] {
            let present = Present {
                refs: BTreeMap::from([(name.to_owned(), commit(digit))]),
                ..Present::default()
            };
            assert!(matches!(
                decide(rename, &present),
                Err(ImportConflict::Ref { .. })
            ));
        }
    }
}
