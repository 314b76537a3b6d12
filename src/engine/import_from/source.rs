//! Reading what another program left: no link is followed, nothing is changed, and no more is read than is sensible.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use chrono::{DateTime, Utc};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use serde_json::{Map, Value};

use crate::model::json::{self, JsonError, Limits};
use crate::model::path_text::quote_path;
use crate::model::yaml;
use crate::plan::import_from::Document;

/// More entries of one directory than any scheme makes.
const MOST_ENTRIES: usize = 100_000;

/// A directory that is held open, so that nobody can put another in its place.
pub(super) struct Dir {
    handle: OwnedFd,
    /// Its path below what is imported, as text; empty for that itself.
    pub path: String,
}

/// Something in a directory.
pub(super) struct Item {
    pub name: OsString,
    pub kind: FileType,
    pub size: u64,
    pub is_executable: bool,
    pub modified: DateTime<Utc>,
}

/// Why a document cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error("is no regular file, and links are not followed")]
    NotAFile,
    #[error("is no directory, and links are not followed")]
    NotADirectory,
    #[error("is not there")]
    Missing,
    #[error("cannot be read: {0}")]
    Io(io::Error),
    #[error("has more than {MOST_ENTRIES} entries")]
    TooMany,
    #[error("is {what}: {source}", what = format)]
    Syntax {
        format: &'static str,
        source: JsonError,
    },
    #[error("is no object")]
    NotAnObject,
}

impl From<rustix::io::Errno> for Unusable {
    fn from(error: rustix::io::Errno) -> Self {
        match error {
            rustix::io::Errno::LOOP => Self::NotAFile,
            rustix::io::Errno::NOENT => Self::Missing,
            rustix::io::Errno::NOTDIR => Self::NotADirectory,
            other => Self::Io(other.into()),
        }
    }
}

impl Dir {
    /// Opens the directory that the user named; that one may be reached through links.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            handle: rustix::fs::open(path, flags, Mode::empty())?,
            path: String::new(),
        })
    }

    /// The path of something in it, as text.
    pub fn path_of(&self, name: &OsStr) -> String {
        let name = quote_path(name.as_bytes());
        if self.path.is_empty() {
            return name;
        }
        format!("{}/{name}", self.path)
    }

    /// Opens a directory in it.
    pub fn enter(&self, name: &OsStr) -> Result<Self, Unusable> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self {
            handle: rustix::fs::openat(&self.handle, name, flags, Mode::empty())?,
            path: self.path_of(name),
        })
    }

    /// What is in it, by name.
    pub fn items(&self) -> Result<Vec<Item>, Unusable> {
        let mut items = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if items.len() == MOST_ENTRIES {
                return Err(Unusable::TooMany);
            }
            let name = OsString::from_vec(name.to_vec());
            items.extend(self.look_at(name)?);
        }
        items.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(items)
    }

    /// What something in it is; none when it has gone.
    fn look_at(&self, name: OsString) -> Result<Option<Item>, Unusable> {
        let found = rustix::fs::statat(&self.handle, &name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = match found {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Item {
            name,
            kind: FileType::from_raw_mode(stat.st_mode),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            is_executable: stat.st_mode & 0o100 != 0,
            modified: DateTime::from_timestamp(stat.st_mtime, 0).unwrap_or_default(),
        }))
    }

    /// Reads a regular file of at most `most` bytes; none when it is larger.
    pub fn read(&self, name: &OsStr, most: u64) -> Result<Option<Vec<u8>>, Unusable> {
        // A pipe would block, so nothing is waited for before it is known what it is.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.handle, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(handle.as_fd())?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Unusable::NotAFile);
        }
        let mut bytes = Vec::new();
        let mut file = File::from(handle).take(most.saturating_add(1));
        file.read_to_end(&mut bytes).map_err(Unusable::Io)?;
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }

    /// What a link in it says.
    pub fn link(&self, name: &OsStr) -> Result<Vec<u8>, Unusable> {
        let target = rustix::fs::readlinkat(&self.handle, name, Vec::new())?;
        Ok(target.into_bytes())
    }

    /// Reads a file of JSON or YAML that holds an object.
    pub fn document(&self, name: &OsStr) -> Result<Document, Unusable> {
        let limits = Limits::INPUT;
        let item = self.look_at(name.to_owned())?;
        let bytes = self.read(name, limits.bytes as u64)?;
        let is_yaml = matches!(
            Path::new(name).extension().and_then(OsStr::to_str),
            Some("yaml" | "yml")
        );
        let (format, parsed) = match bytes {
            None => (
                "too large",
                Err(JsonError::TooLarge {
                    limit: limits.bytes,
                }),
            ),
            Some(bytes) if is_yaml => (
                "no YAML that can be used",
                yaml::parse_limited(&bytes, limits),
            ),
            Some(bytes) => (
                "no JSON that can be used",
                json::parse_limited(&bytes, limits),
            ),
        };
        let fields: Map<String, Value> = match parsed {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(Unusable::NotAnObject),
            Err(source) => return Err(Unusable::Syntax { format, source }),
        };
        Ok(Document {
            path: self.path_of(name),
            fields,
            modified: item.map(|item| item.modified).unwrap_or_default(),
        })
    }
}

impl Item {
    /// Its name, where that is text.
    pub fn text(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }

    pub fn is_dir(&self) -> bool {
        self.kind == FileType::Directory
    }
}
