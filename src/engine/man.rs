//! Manual pages as files.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Error;
use crate::store::{self, Durability, durable};

/// A manual page.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    /// What it is about, `go-team-cp-create`.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// The page, for `man`.
    pub text: String,
}

/// Pages that were written.
#[derive(Debug, Clone, Serialize)]
pub struct PagesReport {
    /// Where.
    pub directory: PathBuf,
    /// The names of the files.
    pub files: Vec<String>,
}

/// Writes pages into a directory, which is made if it is not there. Pages of the same names are replaced.
///
/// # Errors
/// When one cannot be written.
pub fn write_pages(directory: &Path, pages: Vec<Page>) -> Result<PagesReport, Error> {
    let made = durable::create_shared_dir_all(directory);
    made.map_err(store::Error::from)?;
    let mut files = Vec::new();
    for page in pages {
        let path = directory.join(&page.file);
        // They can be made again at any time, so they need not survive a power cut.
        let text = page.text.as_bytes();
        let written = durable::write_shared(&path, text, None, Durability::None, None);
        written.map_err(store::Error::from)?;
        files.push(page.file);
    }
    Ok(PagesReport {
        directory: directory.to_owned(),
        files,
    })
}
