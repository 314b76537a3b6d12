//! Writing an archive: the same contents give the same bytes.

use std::io::{self, Read, Write};

use flate2::{Compression, GzBuilder, write::GzEncoder};
use tar::{Builder, EntryType, Header};

use crate::model::SessionId;
use crate::model::digest::{DigestWriter, Sha256Digest};

/// Most of an archive is compressed already; what is not is text that any level makes small.
const LEVEL: Compression = Compression::new(3);

/// The size and digest of what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// How many bytes.
    pub size: u64,
    /// Their digest.
    pub sha256: Sha256Digest,
}

/// Passes bytes on and computes their seal.
struct Sealing<W> {
    inner: W,
    size: u64,
    digest: DigestWriter,
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.digest.update(&bytes[..n]);
        self.size += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// An archive that is being written.
pub struct ArchiveWriter<W: Write> {
    tar: Builder<GzEncoder<Sealing<W>>>,
    session: SessionId,
    mtime: u64,
}

impl<W: Write> ArchiveWriter<W> {
    /// Begins an archive. All members say that they were changed at `mtime`, in seconds: a time that belongs to the
    /// contents, so that exporting them again gives the same bytes.
    pub fn new(inner: W, session: &SessionId, mtime: u64) -> Self {
        let sealing = Sealing {
            inner,
            size: 0,
            digest: DigestWriter::new(),
        };
        // No name, no time, and a system that says nothing.
        let gzip = GzBuilder::new()
            .mtime(0)
            .operating_system(255)
            .write(sealing, LEVEL);
        Self {
            tar: Builder::new(gzip),
            session: session.clone(),
            mtime,
        }
    }

    /// Adds a member of exactly `size` bytes.
    ///
    /// # Errors
    /// When the archive cannot be written, or there are more or fewer bytes.
    pub fn add(&mut self, name: &str, size: u64, data: &mut dyn Read) -> io::Result<()> {
        let mut header = Header::new_ustar();
        header.set_path(format!("{}/{name}", self.session))?;
        header.set_entry_type(EntryType::Regular);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(self.mtime);
        header.set_cksum();
        let mut taken = Counting {
            inner: data.take(size),
            count: 0,
        };
        self.tar.append(&header, &mut taken)?;
        if taken.count == size {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    /// Completes the archive.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<(W, Seal)> {
        let sealing = self.tar.into_inner()?.finish()?;
        let seal = Seal {
            size: sealing.size,
            sha256: sealing.digest.finish(),
        };
        Ok((sealing.inner, seal))
    }
}

struct Counting<R> {
    inner: R,
    count: u64,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> (Vec<u8>, Seal) {
        let session = SessionId::parse(&"s".repeat(80)).unwrap();
        let mut writer = ArchiveWriter::new(Vec::new(), &session, 7);
        let name = format!("cp-{}.json", "x".repeat(77));
        writer.add(&name, 3, &mut &b"abc"[..]).unwrap();
        assert!(writer.add("short", 4, &mut &b"abc"[..]).is_err());
        writer.finish().unwrap()
    }

    #[test]
    fn the_same_contents_give_the_same_bytes_and_their_seal() {
        let (bytes, seal) = archive();
        assert_eq!(archive(), (bytes.clone(), seal));
        assert_eq!(seal.size, bytes.len() as u64);
        assert_eq!(seal.sha256, Sha256Digest::of(&bytes));
    }
}
