//! Which session an operation is about, and how one begins.

use super::{Error, Workspace};
use crate::model::path_text::quote_path;
use crate::model::workflow::{self, Workflow};
use crate::model::{CurrentPointer, Manifest, SessionId, SessionStatus, State};
use crate::store;

/// The workflow of sessions that begin by themselves.
pub const DEFAULT_WORKFLOW: &str = "free";

/// The session to work in.
pub(super) struct Opened {
    pub session: SessionId,
    /// Its manifest, where it could be read.
    pub manifest: Option<Manifest>,
    pub is_new: bool,
}

impl Workspace {
    /// The session asked for, this work tree's own, or a new one named after the branch. What killed processes left is
    /// cleared away meanwhile; [`Workspace::recover_journal`] remains to be done. The caller holds the lock.
    pub(super) fn open_session(&self, wanted: Option<&SessionId>) -> Result<Opened, Error> {
        let found = match self.find_session(wanted) {
            Ok(session) => Some(session),
            Err(Error::NoSession) => None,
            Err(error) => return Err(error),
        };
        if let Some(session) = found {
            let load = || self.store.load_manifest(&session).ok();
            let (manifest, cleared) = if self.store.is_long(&session) {
                // Both take their time in a long session.
                std::thread::scope(|scope| {
                    let clearing = scope.spawn(|| self.clear_leftovers(&session));
                    let manifest = load();
                    let cleared = clearing.join();
                    (manifest, cleared.expect("removing files does not panic"))
                })
            } else {
                (load(), self.clear_leftovers(&session))
            };
            cleared?;
            let ended = wanted.is_none()
                && manifest
                    .as_ref()
                    .is_some_and(|manifest| !is_open(manifest.status));
            if !ended {
                if self.is_bound_elsewhere(&session)? {
                    return Err(Error::OtherWorktree { session });
                }
                return Ok(Opened {
                    session,
                    manifest,
                    is_new: false,
                });
            }
        }
        let topic = self.topic_of_head()?;
        let manifest = self.begin_session(&topic, DEFAULT_WORKFLOW)?;
        self.clear_leftovers(&manifest.session_id)?;
        Ok(Opened {
            session: manifest.session_id.clone(),
            manifest: Some(manifest),
            is_new: true,
        })
    }

    /// The session asked for, or the work tree's own.
    ///
    /// # Errors
    /// [`Error::NoSession`] when none was asked for and the work tree has none; [`Error::NoSuchSession`] when the one
    /// asked for does not exist.
    pub fn find_session(&self, wanted: Option<&SessionId>) -> Result<SessionId, Error> {
        if let Some(wanted) = wanted {
            if self.store.has_session(wanted) {
                return Ok(wanted.clone());
            }
            return Err(Error::NoSuchSession {
                wanted: wanted.clone(),
                known: self.session_ids()?,
            });
        }
        let current = self
            .store
            .load_current(&self.worktree)?
            .ok_or(Error::NoSession)?;
        if self.store.has_session(&current.session_id) {
            Ok(current.session_id)
        } else {
            Err(Error::NoSession)
        }
    }

    /// All sessions there are.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn session_ids(&self) -> Result<Vec<SessionId>, Error> {
        let mut items = self.store.list_sessions()?;
        items.extend(self.store.list_failed()?);
        Ok(items
            .iter()
            .filter_map(|item| SessionId::parse(item.name.to_str()?).ok())
            .collect())
    }

    /// Begins a session and makes it this work tree's own. The caller holds the lock.
    ///
    /// # Errors
    /// When the workflow is unknown or the session's files cannot be written.
    pub fn begin_session(&self, topic: &str, workflow: &str) -> Result<Manifest, Error> {
        let workflow = self.workflow(workflow)?;
        let now = self.clock.now();
        if let Some(manifest) = self.unused_session(topic, workflow.name())? {
            let id = manifest.session_id.clone();
            self.store
                .write_current(&self.worktree, &CurrentPointer::new(id, now))?;
            return Ok(manifest);
        }
        let mut attempt = 0;
        loop {
            let id = SessionId::compose(topic, now, attempt);
            let manifest = Manifest::new(id.clone(), topic, workflow.name(), now);
            let mut state = State::default();
            state.set("topic", topic.into())?;
            state.maintain_checkpoint(None, 0, now);
            match self.store.create_session(&manifest, &state) {
                Ok(()) => {
                    self.store
                        .write_current(&self.worktree, &CurrentPointer::new(id, now))?;
                    return Ok(manifest);
                }
                Err(store::Error::Exists { .. }) => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A session of this topic and workflow that has no checkpoint and no work tree: what a process leaves that is
    /// killed while it begins one.
    fn unused_session(&self, topic: &str, workflow: &str) -> Result<Option<Manifest>, Error> {
        for item in self.store.list_sessions()? {
            let Ok(manifest) = item.manifest else {
                continue;
            };
            let is_unused = manifest.checkpoints().is_empty()
                && manifest.next_seq() == 1
                && manifest.status == SessionStatus::Active
                && manifest.topic == topic
                && manifest.workflow == workflow;
            if is_unused && self.store.bound_to(&manifest.session_id)?.is_empty() {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }

    /// A built-in or configured workflow.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn workflow(&self, name: &str) -> Result<&Workflow, Error> {
        Ok(workflow::find(name, &self.config.settings.workflows)?)
    }

    /// The topic of a session that begins by itself: the branch, or the short commit of a detached HEAD.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn topic_of_head(&self) -> Result<String, Error> {
        let head = self.repo.backend.head()?;
        Ok(match (head.branch(), head.commit()) {
            (Some(branch), _) => quote_path(branch),
            (None, Some(commit)) => format!("detached {}", commit.short()),
            (None, None) => "session".to_owned(),
        })
    }
}

/// Whether a session takes new checkpoints.
#[must_use]
pub fn is_open(status: SessionStatus) -> bool {
    matches!(status, SessionStatus::Active | SessionStatus::Interrupted)
}
