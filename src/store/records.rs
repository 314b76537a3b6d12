//! Records on disk, and the link to the newest.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::durable::{self, on};
use super::layout::record_name;
use super::{Error, Staged, Store, is_missing};
use crate::model::ids::{CheckpointId, SessionId};
use crate::model::json::Limits;
use crate::model::manifest::Entry;
use crate::model::record::Record;

impl Store {
    /// Loads the record of a checkpoint, checked by itself.
    ///
    /// # Errors
    /// When it is missing, damaged, of another version, or that of another checkpoint.
    pub fn load_record(
        &self,
        session: &SessionId,
        checkpoint: &CheckpointId,
    ) -> Result<Record, Error> {
        let path = self.layout().record(session, checkpoint);
        let record = Self::read(&path, Limits::RECORD.bytes, Record::from_file_bytes)?;
        if record.id != *checkpoint || record.session_id != *session {
            let found = format!("{} of session {}", record.id, record.session_id);
            return Err(Error::Misplaced { path, found });
        }
        Ok(record)
    }

    /// Loads the record that the manifest lists.
    ///
    /// # Errors
    /// As [`Store::load_record`], and when it is whole but another one.
    pub fn load_listed(&self, session: &SessionId, entry: &Entry) -> Result<Record, Error> {
        let record = self.load_record(session, &entry.id)?;
        if record.checksum() != entry.checksum {
            return Err(Error::Replaced {
                path: self.layout().record(session, &entry.id),
                listed: entry.checksum,
                found: record.checksum(),
            });
        }
        Ok(record)
    }

    /// Writes a record beside where it will be.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn stage_record(&self, record: &Record) -> Result<Staged, Error> {
        let target = self.layout().record(&record.session_id, &record.id);
        self.stage(&target, &record.to_file_bytes())
    }

    /// Removes a record if it is there; says whether it was. The directory remains to be synced.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove_record(
        &self,
        session: &SessionId,
        checkpoint: &CheckpointId,
    ) -> Result<bool, Error> {
        Ok(durable::remove_file(
            &self.layout().record(session, checkpoint),
        )?)
    }

    /// The checkpoints of which there is a record, listed in the manifest or not.
    ///
    /// # Errors
    /// When the session's directory is missing or cannot be read.
    pub fn record_ids(&self, session: &SessionId) -> Result<BTreeSet<CheckpointId>, Error> {
        let dir = self.layout().session(session);
        let mut ids = BTreeSet::new();
        let entries = match fs::read_dir(&dir) {
            Err(error) if is_missing(&error) => return Err(Error::Missing { path: dir }),
            entries => entries.map_err(on("read", &dir))?,
        };
        for entry in entries {
            let name = entry.map_err(on("read", &dir))?.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".json"));
            let id = stem
                .filter(|stem| stem.starts_with("cp-"))
                .map(CheckpointId::parse);
            ids.extend(id.and_then(Result::ok));
        }
        Ok(ids)
    }

    /// Points the session's `latest` at a record. The directory remains to be synced.
    ///
    /// # Errors
    /// When the link cannot be made; it then points where it did.
    pub fn point_latest(
        &self,
        session: &SessionId,
        checkpoint: &CheckpointId,
    ) -> Result<(), Error> {
        let link = self.layout().latest(session);
        Ok(durable::replace_symlink(
            &link,
            Path::new(&record_name(checkpoint)),
        )?)
    }

    /// Where the session's `latest` points, if it points at a record's name.
    #[must_use]
    pub fn latest(&self, session: &SessionId) -> Option<CheckpointId> {
        let target = fs::read_link(self.layout().latest(session)).ok()?;
        CheckpointId::parse(target.to_str()?.strip_suffix(".json")?).ok()
    }
}
