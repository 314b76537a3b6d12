//! The lock that writers hold: advisory, freed by the kernel when its holder dies, never stolen.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::durable::{IoError, on};
use super::platform;
use crate::model::timestamp;

/// What to do while another process holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Give up at once.
    Fail,
    /// Try again for so long.
    Timeout(Duration),
}

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// What it is doing.
    pub command: String,
    /// Since when.
    #[serde(with = "timestamp")]
    pub started_at: DateTime<Utc>,
}

impl Holder {
    /// This process.
    #[must_use]
    pub fn this_process(command: &str, started_at: DateTime<Utc>) -> Self {
        Self {
            pid: std::process::id(),
            command: command.to_owned(),
            started_at: timestamp::to_millis(started_at),
        }
    }
}

/// Why the lock cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("{} is held{}", path.display(), by(holder.as_ref()))]
    Locked {
        /// Who, as far as it can be read.
        holder: Option<Holder>,
        /// The lock file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    Io(#[from] IoError),
}

fn by(holder: Option<&Holder>) -> String {
    let Some(holder) = holder else {
        return String::new();
    };
    let since = timestamp::format(holder.started_at);
    format!(
        " by process {} ({}) since {since}",
        holder.pid, holder.command
    )
}

/// The lock, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock at `path`, and writes there who has it.
    ///
    /// # Errors
    /// When another process holds it for longer than `wait` allows, or the file cannot be used.
    pub fn acquire(path: &Path, wait: Wait, holder: &Holder) -> Result<Self, LockError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = platform::open_private(&mut options, path).map_err(on("open", path))?;
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(on("lock", path)(error).into()),
            }
            let waited = started.elapsed();
            let left = match wait {
                Wait::Fail => Duration::ZERO,
                Wait::Timeout(timeout) => timeout.saturating_sub(waited),
            };
            if left.is_zero() {
                return Err(LockError::Locked {
                    holder: read_holder(&mut file),
                    path: path.to_owned(),
                    waited,
                });
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        let mut text = serde_json::to_vec(holder).unwrap_or_default();
        text.push(b'\n');
        // Best effort: the name is for others to read, and a full disk must not keep anybody from making room.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(&text));
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Best effort: closing the file frees the lock, and whoever is next writes its own name over this one.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Who wrote its name into the file; it may be about to, or just gone.
fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.take(1 << 16).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(command: &str) -> Holder {
        Holder::this_process(
            command,
            timestamp::parse("2025-12-28T21:00:00.000Z").unwrap(),
        )
    }

    #[test]
    fn one_holder_at_a_time_and_the_error_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = Lock::acquire(&path, Wait::Fail, &holder("cp-create")).unwrap();
        let wait = Duration::from_millis(30);
        for (wait, at_least) in [(Wait::Fail, Duration::ZERO), (Wait::Timeout(wait), wait)] {
            let error = Lock::acquire(&path, wait, &holder("rollback")).unwrap_err();
            assert!(
                error.to_string().contains("(cp-create) since 2025-12-28"),
                "{error}"
            );
            let LockError::Locked {
                holder: found,
                waited,
                ..
            } = error
            else {
                panic!("{error}");
            };
            assert_eq!(found, Some(holder("cp-create")));
            assert!(waited >= at_least);
        }
        drop(lock);
        drop(Lock::acquire(&path, Wait::Fail, &holder("rollback")).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn waits_until_it_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = Lock::acquire(&path, Wait::Fail, &holder("first")).unwrap();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                Lock::acquire(
                    &path,
                    Wait::Timeout(Duration::from_secs(60)),
                    &holder("second"),
                )
                .map(drop)
            });
            thread::sleep(Duration::from_millis(20));
            drop(first);
            second.join().unwrap().unwrap();
        });
    }

    #[test]
    fn what_a_killed_holder_wrote_blocks_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        std::fs::write(&path, "{\"pid\":1,".repeat(100)).unwrap();
        let _lock = Lock::acquire(&path, Wait::Fail, &holder("next")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            serde_json::from_str::<Holder>(&text).unwrap(),
            holder("next")
        );
    }
}
