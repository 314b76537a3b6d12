//! A part of a file, read from any place without moving anybody's position.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// A part of a file. Reading goes on from where the last reading stopped; copies read on their own.
#[derive(Debug, Clone)]
pub struct Region {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Region {
    /// The bytes from `start`, as many as `len`.
    #[must_use]
    pub fn new(file: Arc<File>, start: u64, len: u64) -> Self {
        Self {
            file,
            at: start,
            end: start.saturating_add(len),
        }
    }

    /// How many bytes are left.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// Whether none is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is left from `offset` on.
    #[must_use]
    pub fn from(&self, offset: u64) -> Self {
        Self {
            file: Arc::clone(&self.file),
            at: self.at.saturating_add(offset).min(self.end),
            end: self.end,
        }
    }
}

impl Read for Region {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted =
            usize::try_from(self.len()).map_or(buffer.len(), |left| left.min(buffer.len()));
        if wanted == 0 {
            return Ok(0);
        }
        let n = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
