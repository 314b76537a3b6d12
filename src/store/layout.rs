//! Where each of go-team's files is.
//!
//! ```text
//! lock, import.json, life.json, observe-history        worktrees/<key>/current, stat-cache, clock
//! sessions/<session>/         manifest.json, <checkpoint>.json, latest, state.json, journal.json,
//!                             rollback-history.json, errors.jsonl, errors.1.jsonl, size.json, exports/, damaged/
//! failed/<session>/           the same, archived
//! ```

use std::path::{Path, PathBuf};

use crate::model::digest::Sha256Digest;
use crate::model::ids::{CheckpointId, SessionId, slug};

/// The paths below a storage root. Names come from ids only, so none can lead outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

/// The directory name of a work tree: readable where git's name for it is harmless, unique in any case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorktreeKey(String);

impl WorktreeKey {
    /// The main work tree.
    #[must_use]
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// A linked work tree, by git's name for it.
    #[must_use]
    pub fn linked(name: &[u8]) -> Self {
        let slug = slug(&String::from_utf8_lossy(name));
        if slug.as_bytes() == name && slug != "main" && slug.len() <= 60 && !slug.is_empty() {
            return Self(slug);
        }
        // The dot keeps these apart from the names above.
        let digest = Sha256Digest::of(name).to_string();
        let start = slug.get(..40).unwrap_or(&slug);
        Self(format!("wt-{start}.{}", &digest[..16]))
    }

    /// The name of the directory.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Layout {
    /// The paths below `root`.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The root itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The lock that writers hold.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// What an observer typed.
    #[must_use]
    pub fn history(&self) -> PathBuf {
        self.root.join("observe-history")
    }

    /// What an import is about to do.
    #[must_use]
    pub fn import_journal(&self) -> PathBuf {
        self.root.join("import.json")
    }

    /// What is about to happen to a session as a whole.
    #[must_use]
    pub fn life_journal(&self) -> PathBuf {
        self.root.join("life.json")
    }

    /// The directory of all work trees.
    #[must_use]
    pub fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    /// The directory of one work tree.
    #[must_use]
    pub fn worktree(&self, key: &WorktreeKey) -> PathBuf {
        self.worktrees().join(key.as_str())
    }

    /// Which session a work tree is in.
    #[must_use]
    pub fn current(&self, key: &WorktreeKey) -> PathBuf {
        self.worktree(key).join("current")
    }

    /// The scanner's cache.
    #[must_use]
    pub fn stat_cache(&self, key: &WorktreeKey) -> PathBuf {
        self.worktree(key).join("stat-cache")
    }

    /// The directory of all sessions.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The directory of one session, wherever it is: among all sessions or, when it is there alone, in the archive.
    #[must_use]
    pub fn session(&self, session: &SessionId) -> PathBuf {
        let open = self.open_session(session);
        if open.is_dir() {
            return open;
        }
        let archived = self.failed_session(session);
        if archived.is_dir() { archived } else { open }
    }

    /// The directory of one session that is not archived.
    #[must_use]
    pub fn open_session(&self, session: &SessionId) -> PathBuf {
        self.sessions().join(session.as_str())
    }

    /// The directory of archived sessions.
    #[must_use]
    pub fn failed(&self) -> PathBuf {
        self.root.join("failed")
    }

    /// The directory of one archived session.
    #[must_use]
    pub fn failed_session(&self, session: &SessionId) -> PathBuf {
        self.failed().join(session.as_str())
    }

    /// A session's manifest.
    #[must_use]
    pub fn manifest(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("manifest.json")
    }

    /// A checkpoint's record.
    #[must_use]
    pub fn record(&self, session: &SessionId, checkpoint: &CheckpointId) -> PathBuf {
        self.session(session).join(record_name(checkpoint))
    }

    /// The link to the newest record.
    #[must_use]
    pub fn latest(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("latest")
    }

    /// A session's live state.
    #[must_use]
    pub fn state(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("state.json")
    }

    /// The rollbacks, as exports carry them.
    #[must_use]
    pub fn rollback_history(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("rollback-history.json")
    }

    /// What an operation is about to do.
    #[must_use]
    pub fn journal(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("journal.json")
    }

    /// What a rollback is about to do.
    #[must_use]
    pub fn rollback_journal(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("rollback.json")
    }

    /// The log of failed operations.
    #[must_use]
    pub fn errors(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("errors.jsonl")
    }

    /// The log before it was last rotated.
    #[must_use]
    pub fn old_errors(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("errors.1.jsonl")
    }

    /// How much a session takes, as far as that was measured.
    #[must_use]
    pub fn size(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("size.json")
    }

    /// Where damaged files are kept.
    #[must_use]
    pub fn damaged(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("damaged")
    }

    /// Where exports go.
    #[must_use]
    pub fn exports(&self, session: &SessionId) -> PathBuf {
        self.session(session).join("exports")
    }
}

/// The file name of a record.
pub(super) fn record_name(checkpoint: &CheckpointId) -> String {
    format!("{checkpoint}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_trees_never_share_a_directory_and_never_leave_theirs() {
        let names: [&[u8]; 12] = [
            b"main",
            b"Main",
            b"feature",
            b"Feature",
            b"feature-",
            b"../x",
            b"",
            b".",
            b"..",
            b"a/b",
            b"caf\xe9",
            &[b'a'; 300],
        ];
        let mut keys: Vec<_> = names
            .iter()
            .map(|name| WorktreeKey::linked(name).0)
            .collect();
        keys.push(WorktreeKey::main().0);
        assert_eq!(keys[2], "feature");
        for key in &keys {
            assert!(
                !key.starts_with('.') && !key.contains('/') && key.len() < 100,
                "{key}"
            );
        }
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), names.len() + 1);
    }
}
