//! Damaged files are kept, beside those that take their place; and files that nobody knows.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::durable::{self, on};
use super::{Error, Store, is_missing};
use crate::model::ids::{CheckpointId, SessionId};

/// The names in a session's directory that are not records.
const KNOWN: [&str; 11] = [
    "manifest.json",
    "latest",
    "state.json",
    "rollback-history.json",
    "journal.json",
    "rollback.json",
    "errors.jsonl",
    "errors.1.jsonl",
    "size.json",
    "exports",
    "damaged",
];

impl Store {
    /// Keeps a copy of a damaged file in the session's directory `damaged`, for good; says where. What is kept there
    /// already is not kept twice, and a file that is not there needs no keeping.
    ///
    /// # Errors
    /// When the copy cannot be made; the file is then still where it was.
    pub fn set_aside(&self, session: &SessionId, file: &Path) -> Result<Option<PathBuf>, Error> {
        let metadata = match file.symlink_metadata() {
            Err(error) if is_missing(&error) => return Ok(None),
            metadata => metadata.map_err(on("look at", file))?,
        };
        let dir = self.layout().damaged(session);
        durable::create_dir_all(&dir, self.durability())?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for nth in 1.. {
            let target = dir.join(format!("{name}.{nth}"));
            if target.symlink_metadata().is_ok() {
                if metadata.is_file() && is_same(file, &target) {
                    return Ok(Some(target));
                }
                continue;
            }
            // A second name of the file keeps it whatever its size; where that is not possible it is moved.
            if !metadata.is_file() || fs::hard_link(file, &target).is_err() {
                fs::rename(file, &target).map_err(on("set aside", file))?;
                durable::sync_parent(file, self.durability())?;
            }
            durable::sync_dir(&dir, self.durability())?;
            return Ok(Some(target));
        }
        unreachable!("the numbers do not end")
    }

    /// The names in a session's directory that go-team gives no file.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn stray_names(&self, session: &SessionId) -> Result<Vec<OsString>, Error> {
        let dir = self.layout().session(session);
        let mut strays = Vec::new();
        for entry in fs::read_dir(&dir).map_err(on("read", &dir))? {
            let name = entry.map_err(on("read", &dir))?.file_name();
            let text = name.to_str().unwrap_or_default();
            let is_record = text
                .strip_suffix(".json")
                .is_some_and(|stem| stem.starts_with("cp-") && CheckpointId::parse(stem).is_ok());
            if !KNOWN.contains(&text) && !is_record && !durable::is_temp(&name) {
                strays.push(name);
            }
        }
        strays.sort();
        Ok(strays)
    }
}

/// Whether two files are one, or have the same content.
fn is_same(a: &Path, b: &Path) -> bool {
    let length = |path: &Path| path.metadata().map(|meta| meta.len()).ok();
    length(a) == length(b) && matches!((fs::read(a), fs::read(b)), (Ok(a), Ok(b)) if a == b)
}
