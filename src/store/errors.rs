//! The log of failed operations: one JSON object a line, appended, rotated before it grows past 1 MiB.
//!
//! It helps people to find out what happened and nothing depends on it, so it is not synced, and a line torn by a
//! crash is skipped.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::durable::{self, on};
use super::{Error, Store, if_there, platform};
use crate::model::ids::SessionId;
use crate::model::timestamp;

/// The largest log, in bytes.
pub const MAX_LOG: u64 = 1 << 20;

/// The longest message that is kept, in bytes.
const MAX_MESSAGE: usize = 16 << 10;

/// An operation that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorLine {
    /// When.
    #[serde(with = "timestamp")]
    pub timestamp: DateTime<Utc>,
    /// Which operation.
    pub operation: String,
    /// In which step, if in any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What went wrong.
    pub error: String,
}

impl ErrorLine {
    /// The bytes of its line, newline included; a very long message is cut.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = self.clone();
        if line.error.len() > MAX_MESSAGE {
            let end = (0..=MAX_MESSAGE)
                .rev()
                .find(|&end| line.error.is_char_boundary(end));
            line.error.truncate(end.unwrap_or(0));
        }
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl Store {
    /// Appends to a session's log.
    ///
    /// # Errors
    /// When the log cannot be rotated or written.
    pub fn append_error(&self, session: &SessionId, line: &ErrorLine) -> Result<(), Error> {
        let path = self.layout().errors(session);
        let mut bytes = line.to_line();
        let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if size + bytes.len() as u64 > MAX_LOG {
            fs::rename(&path, self.layout().old_errors(session)).map_err(on("rotate", &path))?;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let mut file = platform::open_private(&mut options, &path).map_err(on("open", &path))?;
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() {
            file.read_exact(&mut last).map_err(on("read", &path))?;
        }
        if last != [b'\n'] {
            bytes.insert(0, b'\n');
        }
        file.write_all(&bytes).map_err(on("write", &path))?;
        Ok(())
    }

    /// What a session's logs hold, oldest first.
    ///
    /// # Errors
    /// When a log is there and cannot be read.
    pub fn load_errors(&self, session: &SessionId) -> Result<Vec<ErrorLine>, Error> {
        let mut lines = Vec::new();
        for path in [
            self.layout().old_errors(session),
            self.layout().errors(session),
        ] {
            let limit = 2 * usize::try_from(MAX_LOG).unwrap_or(usize::MAX);
            let Some(bytes) = if_there(durable::read_limited(&path, limit))? else {
                continue;
            };
            let bytes = bytes.ok_or(Error::TooLarge { path, limit })?;
            let parsed = bytes
                .split(|&byte| byte == b'\n')
                .map(serde_json::from_slice);
            lines.extend(parsed.filter_map(Result::ok));
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;
    use crate::model::state::State;
    use crate::store::Durability;

    fn line(error: &str) -> ErrorLine {
        ErrorLine {
            timestamp: sample::at(0),
            operation: "cp-create".to_owned(),
            step: None,
            error: error.to_owned(),
        }
    }

    #[test]
    fn the_log_survives_a_torn_line_and_stays_small() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned(), Durability::None);
        let manifest = sample::manifest();
        let session = &manifest.session_id;
        store.create_session(&manifest, &State::default()).unwrap();
        assert_eq!(store.load_errors(session).unwrap(), []);
        store.append_error(session, &line("first")).unwrap();
        let path = store.layout().errors(session);
        let torn = fs::read_to_string(&path).unwrap() + "{\"timest";
        fs::write(&path, torn).unwrap();
        store.append_error(session, &line("second")).unwrap();
        assert_eq!(
            store.load_errors(session).unwrap(),
            [line("first"), line("second")]
        );
        let long = line(&"ü".repeat(100_000));
        for _ in 0..100 {
            store.append_error(session, &long).unwrap();
        }
        let sizes = [&path, &store.layout().old_errors(session)]
            .map(|path| fs::metadata(path).unwrap().len());
        assert!(sizes.iter().all(|&size| size <= MAX_LOG), "{sizes:?}");
        let newest = store.load_errors(session).unwrap().pop().unwrap();
        assert_eq!(newest.error.len(), MAX_MESSAGE);
    }
}
