//! A session that comes from an archive, put on the disk in one step; and the files of one that goes into an archive.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::model::json::Limits;
use crate::model::{CheckpointId, Entry, Record, SessionId};
use crate::store::durable::{self, Durability, Staged, Temp, on};
use crate::store::layout::record_name;
use crate::store::{Error, Store, platform};

/// Syncing waits for the disk, not for the processor; the more wait at once, the fewer times the disk is asked.
const SYNCERS: usize = 16;

/// A record with the bytes of its file.
pub struct RecordFile {
    /// What it says.
    pub record: Record,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Store {
    /// Loads the record that the manifest lists together with the bytes that say it.
    ///
    /// # Errors
    /// As [`Store::load_listed`].
    pub fn load_record_file(
        &self,
        session: &SessionId,
        entry: &Entry,
    ) -> Result<RecordFile, Error> {
        let path = self.layout().record(session, &entry.id);
        let mut kept = Vec::new();
        let record = Self::read(&path, Limits::RECORD.bytes, |bytes| {
            kept = bytes.to_vec();
            Record::from_file_bytes(bytes)
        })?;
        if record.id != entry.id || record.session_id != *session {
            let found = format!("{} of session {}", record.id, record.session_id);
            return Err(Error::Misplaced { path, found });
        }
        if record.checksum() != entry.checksum {
            return Err(Error::Replaced {
                path,
                listed: entry.checksum,
                found: record.checksum(),
            });
        }
        Ok(RecordFile {
            record,
            bytes: kept,
        })
    }

    /// Makes a directory that will be a session's. The caller holds the lock and knows that there is no such session.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn stage_session(&self, session: &SessionId) -> Result<StagedSession, Error> {
        self.prepare()?;
        let target = self.layout().open_session(session);
        let ((), temp) = Temp::beside(&target, platform::create_private_dir)?;
        Ok(StagedSession {
            temp,
            target,
            durability: self.durability(),
            written: Vec::new(),
        })
    }
}

/// A session's directory that is not yet in its place. Dropped, it goes away.
pub struct StagedSession {
    temp: Temp,
    target: PathBuf,
    durability: Durability,
    written: Vec<PathBuf>,
}

impl StagedSession {
    /// Writes a file; it is synced by [`StagedSession::sync`].
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.temp.path.join(name);
        Staged::write(&path, bytes, Durability::None)?.publish()?;
        self.written.push(path);
        Ok(())
    }

    /// Points `latest` at a record.
    ///
    /// # Errors
    /// When the link cannot be made.
    pub fn point_latest(&self, checkpoint: &CheckpointId) -> Result<(), Error> {
        let link = self.temp.path.join("latest");
        Ok(durable::replace_symlink(
            &link,
            Path::new(&record_name(checkpoint)),
        )?)
    }

    /// Makes all of it durable.
    ///
    /// # Errors
    /// When the system cannot promise it.
    pub fn sync(&self) -> Result<(), Error> {
        if self.durability == Durability::None {
            return Ok(());
        }
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(path) = self.written.get(next.fetch_add(1, Ordering::Relaxed)) {
                let synced = File::open(path).and_then(|file| file.sync_all());
                synced.map_err(on("sync", path))?;
            }
            Ok::<(), Error>(())
        };
        std::thread::scope(|scope| {
            let count = SYNCERS.min(self.written.len());
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
            let mut results = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            // Syncing a file does not panic; if it did, nothing could be promised.
            let lost = |_| std::io::Error::other("a thread was lost");
            let lost = |panic| on("sync", &self.temp.path)(lost(panic));
            results.try_for_each(|result| result.map_err(lost)?)
        })?;
        Ok(durable::sync_dir(&self.temp.path, self.durability)?)
    }

    /// Puts the session in its place, for good.
    ///
    /// # Errors
    /// When it cannot be put there; then there is no session.
    pub fn publish(mut self) -> Result<(), Error> {
        self.temp.rename_to(&self.target)?;
        Ok(durable::sync_parent(&self.target, self.durability)?)
    }
}
