//! JSON that a user hands in, as a file or on stdin: bounded, and refused with the place of what is wrong.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::context::show;
use super::error::{Exit, Failure};
use crate::model::json::{JsonError, Limits, parse_object};

/// Where input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// As typed.
    pub(super) fn parse(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(path)
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) => show(path),
        }
    }

    /// Reads one JSON object; relative paths begin at `start`.
    pub(super) fn read_object(
        &self,
        flag: &str,
        start: &Path,
    ) -> Result<Map<String, Value>, Failure> {
        let bytes = self.read(start).map_err(|error| {
            let (kind, exit) = match error.kind() {
                io::ErrorKind::NotFound => ("no-such-file", Exit::NotFound),
                _ => ("unreadable-input", Exit::Failure),
            };
            let message = format!("{flag}: cannot read {}: {error}", self.name());
            Failure::new(kind, exit, message).hint(format!("{flag} takes a file, or - for stdin"))
        })?;
        let too_large = JsonError::TooLarge {
            limit: Limits::INPUT.bytes,
        };
        let parsed = bytes.map_or(Err(too_large), |bytes| parse_object(&bytes, Limits::INPUT));
        parsed.map_err(|error| {
            let kind = match error {
                JsonError::TooLarge { .. }
                | JsonError::TooDeep { .. }
                | JsonError::TooMany { .. } => "input-too-large",
                JsonError::DuplicateKey { .. } | JsonError::Syntax { .. } => "bad-json",
            };
            let message = format!("{flag}: {} is refused: {error}", self.name());
            Failure::new(kind, Exit::Usage, message).hint(format!(
                "{flag} takes one JSON object of at most 16 MiB, nested at most 128 levels deep"
            ))
        })
    }

    /// Reads one byte more than is allowed at most; `None` for a file that says it is larger, of which nothing is read.
    fn read(&self, start: &Path) -> io::Result<Option<Vec<u8>>> {
        let limit = Limits::INPUT.bytes as u64 + 1;
        match self {
            Self::Stdin => read_up_to(io::stdin().lock(), limit).map(Some),
            Self::File(path) => {
                let file = File::open(start.join(path))?;
                let metadata = file.metadata()?;
                if metadata.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                if metadata.len() >= limit {
                    return Ok(None);
                }
                read_up_to(file, limit).map(Some)
            }
        }
    }
}

fn read_up_to(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
