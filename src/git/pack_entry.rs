//! One object as a pack holds it: type, size, compressed content.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::hash::Kind;
use super::{Error, IoContext as _};

/// Fast, and within a few per cent of git's default on source code.
const LEVEL: Compression = Compression::new(2);

/// Compresses a large object into an unnamed file, so that it never is in memory whole.
pub struct Spill(ZlibEncoder<BufWriter<File>>);

impl Spill {
    /// Starts an object of a known size; `dir` says on which file system.
    ///
    /// # Errors
    /// When no temporary file can be made.
    pub fn new(dir: &Path, kind: Kind, size: u64) -> Result<Self, Error> {
        fs::create_dir_all(dir).at("create directory", dir)?;
        let mut file =
            BufWriter::new(tempfile::tempfile_in(dir).at("create temporary file in", dir)?);
        file.write_all(&entry_header(kind, size)).at("write", dir)?;
        Ok(Self(ZlibEncoder::new(file, LEVEL)))
    }

    /// Adds content.
    ///
    /// # Errors
    /// When the disk is full or broken.
    pub fn write(&mut self, bytes: &[u8], dir: &Path) -> Result<(), Error> {
        self.0.write_all(bytes).at("write temporary file in", dir)
    }

    pub(super) fn finish(self, dir: &Path) -> Result<File, Error> {
        let buffered = self.0.finish().at("write temporary file in", dir)?;
        buffered
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .at("write temporary file in", dir)
    }
}

/// Type and inflated size: four bits of size in the first byte, seven in each that follows.
pub(super) fn entry_header(kind: Kind, size: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10);
    let mut rest = size >> 4;
    let mut byte = (kind.pack_number() << 4) | (size & 0x0f) as u8;
    while rest > 0 {
        bytes.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    bytes.push(byte);
    bytes
}

/// A whole entry in memory.
pub(super) fn compress(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let mut entry = entry_header(kind, bytes.len() as u64);
    entry.reserve(bytes.len() / 2 + 64);
    let mut encoder = ZlibEncoder::new(entry, LEVEL);
    encoder.write_all(bytes).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_headers_hold_sizes_of_any_length() {
        assert_eq!(entry_header(Kind::Blob, 0), [0x30]);
        assert_eq!(entry_header(Kind::Blob, 15), [0x3f]);
        assert_eq!(entry_header(Kind::Tree, 16), [0xa0, 0x01]);
        assert_eq!(
            entry_header(Kind::Commit, 0x1234_5678),
            [0x98, 0xe7, 0x8a, 0x8d, 0x09]
        );
    }
}
