//! Members on their way into an archive or out of one, in a file without a name: whatever happens, nothing stays.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use crate::model::archive::{Member, MemberKind};
use crate::model::digest::DigestWriter;

/// A member, and where its bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is, how large, and its digest.
    pub member: Member,
    /// Where it begins.
    pub offset: u64,
}

/// A spool that is being filled.
pub struct SpoolWriter {
    out: BufWriter<File>,
    at: u64,
    parts: Vec<Part>,
    open: Option<(MemberKind, u64, DigestWriter)>,
}

impl SpoolWriter {
    /// Fills an empty file.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 16, file),
            at: 0,
            parts: Vec::new(),
            open: None,
        }
    }

    /// Adds a member whole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, kind: MemberKind, bytes: &[u8]) -> io::Result<()> {
        self.begin(kind);
        self.write_all(bytes)?;
        self.end();
        Ok(())
    }

    /// Begins a member that is written piece by piece.
    pub fn begin(&mut self, kind: MemberKind) {
        self.open = Some((kind, self.at, DigestWriter::new()));
    }

    /// Ends the member that was begun.
    pub fn end(&mut self) {
        if let Some((kind, offset, digest)) = self.open.take() {
            let member = Member {
                kind,
                size: self.at - offset,
                sha256: digest.finish(),
            };
            self.parts.push(Part { member, offset });
        }
    }

    /// Makes it ready to be read.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<Spool> {
        let file = self
            .out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok(Spool {
            file: Arc::new(file),
            parts: self.parts,
        })
    }
}

impl io::Write for SpoolWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.at += n as u64;
        if let Some((_, _, digest)) = &mut self.open {
            digest.update(&bytes[..n]);
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Members that can be read in any order.
#[derive(Debug)]
pub struct Spool {
    file: Arc<File>,
    parts: Vec<Part>,
}

impl Spool {
    /// The members, in the order in which they came.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The member of a kind.
    #[must_use]
    pub fn part(&self, kind: &MemberKind) -> Option<&Part> {
        self.parts.iter().find(|part| part.member.kind == *kind)
    }

    /// The file, for those who read it in places.
    #[must_use]
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// A member's bytes.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn bytes(&self, part: &Part) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader(part).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a member.
    #[must_use]
    pub fn reader(&self, part: &Part) -> impl Read + use<> {
        PartReader {
            file: self.file(),
            at: part.offset,
            end: part.offset + part.member.size,
        }
    }
}

struct PartReader {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for PartReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let n = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
