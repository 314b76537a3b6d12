//! The session's live state and the files it is linked with.

use std::io::{BufRead as _, BufReader, Read as _};

use serde_json::Value;

use super::{Error, Workspace};
use crate::git::rules::Capture;
use crate::git::walk::Progress;
use crate::git::{scan, snapshot::Snapshot};
use crate::model::json::Limits;
use crate::model::{CheckpointId, ObjectId, SessionId, State};
use crate::store::{self, durable};

/// Lines of a conversation longer than this are not looked at.
const MAX_LINE: u64 = 16 << 20;

impl Workspace {
    /// The state as it is now: the orchestrator's own file when the settings link one, else the session's.
    ///
    /// # Errors
    /// When the file cannot be read as a JSON object.
    pub fn live_state(&self, session: &SessionId) -> Result<State, Error> {
        if let Some(file) = &self.config.settings.state.file {
            let path = self.repo.work_dir.join(file);
            let limit = Limits::INPUT.bytes;
            match durable::read_limited(&path, limit) {
                Ok(Some(bytes)) => {
                    return State::parse(&bytes)
                        .map_err(|source| store::Error::Damaged { path, source }.into());
                }
                Ok(None) => return Err(store::Error::TooLarge { path, limit }.into()),
                // The orchestrator has not written it yet.
                Err(store::Error::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.store.load_state(session)?.unwrap_or_default())
    }

    /// How many turns agents took in the linked conversation: lines whose `from` is not human, coach or system.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn turn_count(&self) -> Result<Option<u64>, Error> {
        let Some(file) = &self.config.settings.capture.conversation else {
            return Ok(None);
        };
        let path = self.repo.work_dir.join(file);
        let file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(store::Error::from(store::IoError {
                    op: "open",
                    path,
                    source,
                })
                .into());
            }
        };
        let mut lines = BufReader::new(file);
        let mut turns = 0;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line);
            let read = read.map_err(|source| {
                store::Error::from(store::IoError {
                    op: "read",
                    path: path.clone(),
                    source,
                })
            })?;
            if read == 0 {
                return Ok(Some(turns));
            }
            let from = serde_json::from_slice::<Value>(&line).ok();
            let from = from
                .as_ref()
                .and_then(|value| value.get("from"))
                .and_then(Value::as_str);
            turns +=
                u64::from(from.is_some_and(|from| !matches!(from, "human" | "coach" | "system")));
        }
    }

    /// Files, index and HEAD as they are now, to be made into a checkpoint. The caller holds the lock.
    ///
    /// # Errors
    /// When the work tree cannot be read.
    pub(super) fn snapshot(&self, progress: &Progress) -> Result<Snapshot, Error> {
        let scratch = self.store.layout().worktree(&self.worktree);
        durable::create_dir_all(&scratch, self.store.durability()).map_err(store::Error::from)?;
        self.scan(scan::Objects::Keep, progress)
    }

    /// Files, index and HEAD as they are now, only to be looked at. Nothing is written.
    ///
    /// # Errors
    /// When the work tree cannot be read.
    pub fn look(&self, progress: &Progress) -> Result<Snapshot, Error> {
        self.scan(scan::Objects::Name, progress)
    }

    /// As [`Workspace::snapshot`], with some ignored paths captured too.
    ///
    /// # Errors
    /// When the work tree cannot be read.
    pub(super) fn snapshot_with(
        &self,
        paths: &[Vec<u8>],
        progress: &Progress,
    ) -> Result<Snapshot, Error> {
        let mut capture = self.capture();
        let texts = paths
            .iter()
            .filter_map(|path| std::str::from_utf8(path).ok());
        let patterns = texts.map(|path| format!("/{}", super::workspace::escape_pattern(path)));
        capture.include.extend(patterns);
        self.scan_with(&capture, scan::Objects::Keep, progress)
    }

    /// Files, index and HEAD as they are now, to be compared; what was seen may be remembered.
    ///
    /// # Errors
    /// When the work tree cannot be read.
    pub(super) fn check(&self, progress: &Progress) -> Result<Snapshot, Error> {
        self.scan(scan::Objects::Check, progress)
    }

    /// As [`Workspace::look`], with new content held in memory as far as there is room, to be compared.
    ///
    /// # Errors
    /// When the work tree cannot be read.
    pub fn look_closely(&self, progress: &Progress) -> Result<Snapshot, Error> {
        self.scan(scan::Objects::Hold, progress)
    }

    fn scan(&self, objects: scan::Objects, progress: &Progress) -> Result<Snapshot, Error> {
        self.scan_with(&self.capture(), objects, progress)
    }

    fn scan_with(
        &self,
        capture: &Capture,
        objects: scan::Objects,
        progress: &Progress,
    ) -> Result<Snapshot, Error> {
        let options = scan::ScanOptions {
            capture,
            cache: &self.stat_cache(),
            scratch: &self.store.layout().worktree(&self.worktree),
            objects,
            progress,
        };
        let scan = scan::Scan::run(&self.repo, &options)?;
        Ok(Snapshot::of(&self.repo, scan)?)
    }

    /// Removes a checkpoint that the manifest does not list any more.
    ///
    /// # Errors
    /// When its record or ref cannot be removed.
    pub(super) fn remove_checkpoint(
        &self,
        session: &SessionId,
        id: &CheckpointId,
        commit: Option<ObjectId>,
    ) -> Result<(), Error> {
        self.store.remove_record(session, id)?;
        let reference = crate::git::snapshot::reference_of(session, id);
        let commit = match commit {
            Some(commit) => Some(commit),
            None => self.repo.backend.reference(&reference)?,
        };
        if let Some(commit) = commit {
            self.repo.backend.delete_reference(&reference, commit)?;
        }
        Ok(())
    }
}
