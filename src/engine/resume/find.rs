//! Which session is meant: the one that is named, else this work tree's own, else the newest that nobody is in.

use crate::engine::life::key_of;
use crate::engine::summary::path_text;
use crate::engine::{Error, Workspace};
use crate::model::{Manifest, SessionId};
use crate::store::SessionItem;

/// Why there is nothing to take up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no session is active or interrupted{}", if elsewhere.is_empty() { "" } else { " that this work tree could take up" })]
pub struct NothingToResume {
    /// Sessions that other work trees are in, with their paths.
    pub elsewhere: Vec<(SessionId, String)>,
    /// Sessions whose end was recorded, the newest first.
    pub ended: Vec<SessionId>,
}

impl Workspace {
    /// The session to take up.
    pub(super) fn session_to_resume(&self, wanted: Option<&SessionId>) -> Result<SessionId, Error> {
        if wanted.is_some() {
            return self.find_session(wanted);
        }
        // A session of this work tree whose manifest cannot be read is the one that somebody wants to know about.
        if let Ok(session) = self.find_session(None)
            && self
                .store
                .load_manifest(&session)
                .map_or(true, |manifest| manifest.status.is_open())
        {
            return Ok(session);
        }
        let mut nothing = NothingToResume {
            elsewhere: Vec::new(),
            ended: Vec::new(),
        };
        let mut found: Vec<Manifest> = self
            .store
            .list_sessions()?
            .into_iter()
            .filter_map(|SessionItem { manifest, .. }| manifest.ok())
            .collect();
        found.sort_by(|a, b| {
            let newest = b.updated_at.cmp(&a.updated_at);
            newest.then_with(|| a.session_id.cmp(&b.session_id))
        });
        for manifest in found {
            let session = manifest.session_id;
            if !manifest.status.is_open() {
                nothing.ended.push(session);
            } else if self.is_bound_elsewhere(&session)? {
                let path = self.work_tree_of(&session)?;
                nothing.elsewhere.push((session, path.unwrap_or_default()));
            } else {
                return Ok(session);
            }
        }
        Err(nothing.into())
    }

    /// The root of the other work tree that is in a session, if git knows one.
    fn work_tree_of(&self, session: &SessionId) -> Result<Option<String>, Error> {
        let bound = self.store.bound_to(session)?;
        let mut known = self.work_trees().into_iter();
        let found = known.find(|tree| {
            let key = key_of(tree);
            bound.iter().any(|name| *name == key.as_str())
        });
        Ok(found.map(|tree| path_text(&tree.path)))
    }

    /// The work trees that the session was in and that are gone: their paths, or their names where git has forgotten
    /// them.
    pub(super) fn missing_work_trees(&self, session: &SessionId) -> Result<Vec<String>, Error> {
        let known = self.work_trees();
        let mut missing = Vec::new();
        for name in self.store.bound_to(session)? {
            match known.iter().find(|tree| name == key_of(tree).as_str()) {
                Some(tree) if tree.is_there || tree.is_locked => {}
                Some(tree) => missing.push(path_text(&tree.path)),
                None => missing.push(path_text(name.as_ref())),
            }
        }
        Ok(missing)
    }
}
