//! What an observer typed at the prompt, line by line, on disk.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use super::durable::{self, on};
use super::{Error, Store, if_there, platform};

/// The largest file, in bytes; when it is reached, the older half goes.
const MAX_FILE: usize = 64 << 10;

impl Store {
    /// What was typed, oldest first.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn load_history(&self) -> Result<Vec<String>, Error> {
        let path = self.layout().history();
        let limit = 2 * MAX_FILE;
        let bytes = if_there(durable::read_limited(&path, limit))?.flatten();
        let bytes = bytes.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter(|line| !line.is_empty());
        Ok(lines.map(str::to_owned).collect())
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append_history(&self, line: &str) -> Result<(), Error> {
        let path = self.layout().history();
        let line = line.replace(['\n', '\r'], " ");
        let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if size + line.len() as u64 >= MAX_FILE as u64 {
            let lines = self.load_history()?;
            let mut newer: String = lines[lines.len() / 2..].join("\n");
            newer.push('\n');
            self.write(&path, newer.as_bytes())?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let mut file = platform::open_private(&mut options, &path).map_err(on("open", &path))?;
        let line = format!("{line}\n");
        file.write_all(line.as_bytes())
            .map_err(on("write", &path))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Durability;

    #[test]
    fn what_was_typed_is_kept_for_the_owner_alone_and_stays_small() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned(), Durability::None);
        assert_eq!(store.load_history().unwrap(), [""; 0]);
        store.append_history("*cp-list").unwrap();
        store.append_history("*rollback:2\n*undo").unwrap();
        assert_eq!(
            store.load_history().unwrap(),
            ["*cp-list", "*rollback:2 *undo"]
        );
        let metadata = fs::metadata(store.layout().history()).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        for nth in 0..4000 {
            store
                .append_history(&format!("*cp-show:{nth} with some more text"))
                .unwrap();
        }
        let lines = store.load_history().unwrap();
        assert_eq!(lines.last().unwrap(), "*cp-show:3999 with some more text");
        assert!(lines.len() > 500);
        let metadata = fs::metadata(store.layout().history()).unwrap();
        assert!(metadata.len() <= MAX_FILE as u64);
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
}
