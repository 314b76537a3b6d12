//! Reading an archive that may be anybody's: one member after the other, each exactly as the list says.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};

use flate2::bufread::GzDecoder;
use tar::{EntryType, Header};

use super::ArchiveError;
use crate::model::SessionId;
use crate::model::archive::{CONTENTS, Contents, Member, MemberKind};
use crate::model::digest::DigestWriter;

const BLOCK: usize = 512;
/// How many zeros may follow the end; programs fill up to the size that tapes had.
const PADDING: u64 = 1 << 16;

/// An archive that is being read. Memory does not grow with its size.
pub struct ArchiveReader<R: Read> {
    input: GzDecoder<BufReader<R>>,
    contents: Contents,
    left: VecDeque<Member>,
}

impl<R: Read> ArchiveReader<R> {
    /// Reads the list of contents.
    ///
    /// # Errors
    /// When there is none at the beginning, or it cannot be used.
    pub fn open(input: R) -> Result<Self, ArchiveError> {
        let mut input = GzDecoder::new(BufReader::with_capacity(1 << 16, input));
        let Some(Found { name, size }) = header(&mut input)? else {
            return Err(ArchiveError::Truncated);
        };
        let session = name.strip_suffix(CONTENTS);
        let session = session.and_then(|session| session.strip_suffix('/'));
        let session = session.and_then(|session| SessionId::parse(session).ok());
        let Some(session) = session else {
            return Err(ArchiveError::BadName { name });
        };
        let limit = Contents::LIMITS.bytes as u64;
        if size > limit {
            return Err(ArchiveError::TooLarge { name, limit });
        }
        let mut bytes = Vec::new();
        read_body(&mut input, size, &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        let contents = Contents::from_file_bytes(&bytes)
            .map_err(|source| ArchiveError::Member { name, source })?;
        if contents.session_id != session {
            let what = format!(
                "the directory is that of {session}, the list of contents that of {}",
                contents.session_id
            );
            return Err(ArchiveError::Mismatch { what });
        }
        Ok(Self {
            input,
            left: contents.members.iter().cloned().collect(),
            contents,
        })
    }

    /// What the archive says it holds.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Reads the next member whole, if it is not the bundle.
    ///
    /// # Errors
    /// When it is not as the list says.
    pub fn next_file(&mut self) -> Result<Option<(MemberKind, Vec<u8>)>, ArchiveError> {
        let is_file = |member: &Member| member.kind != MemberKind::Bundle;
        let Some(member) = self.left.front().cloned().filter(is_file) else {
            return Ok(None);
        };
        self.left.pop_front();
        let mut bytes = Vec::new();
        self.read_member::<ArchiveError>(&member, &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(Some((member.kind, bytes)))
    }

    /// Hands the bundle on in pieces, if it is next. The digest is only known at the end, so nothing may be made of the
    /// pieces before this returns.
    ///
    /// # Errors
    /// When it is not as the list says, and whatever `sink` fails with.
    pub fn next_bundle<E: From<ArchiveError>>(
        &mut self,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        let Some(member) = self.left.pop_front() else {
            return Ok(None);
        };
        self.read_member(&member, sink)?;
        Ok(Some(member.size))
    }

    fn read_member<E: From<ArchiveError>>(
        &mut self,
        member: &Member,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = member.kind.name();
        let expected = format!("{}/{name}", self.contents.session_id);
        let Some(found) = header(&mut self.input)? else {
            return Err(ArchiveError::Truncated.into());
        };
        if found.name != expected {
            let found = found.name;
            return Err(ArchiveError::Unexpected { found, expected }.into());
        }
        if found.size != member.size {
            let (found, listed) = (found.size, member.size);
            return Err(ArchiveError::Size {
                name,
                found,
                listed,
            }
            .into());
        }
        let mut digest = DigestWriter::new();
        read_body(&mut self.input, member.size, &mut |part| {
            digest.update(part);
            sink(part)
        })?;
        if digest.finish() != member.sha256 {
            return Err(ArchiveError::Digest { name }.into());
        }
        Ok(())
    }

    /// Makes sure that nothing follows, and that the whole stream was as it was written.
    ///
    /// # Errors
    /// When something follows, or the stream's checksum is wrong.
    pub fn finish(mut self) -> Result<R, ArchiveError> {
        debug_assert!(self.left.is_empty(), "every member was read");
        if let Some(found) = header(&mut self.input)? {
            return Err(ArchiveError::Unlisted { name: found.name });
        }
        let mut buffer = [0; 4096];
        let mut zeros = 0;
        loop {
            let n = self.input.read(&mut buffer).map_err(ArchiveError::of_io)?;
            if n == 0 {
                break;
            }
            zeros += n as u64;
            if zeros > PADDING || buffer[..n].iter().any(|byte| *byte != 0) {
                return Err(ArchiveError::TrailingData);
            }
        }
        // The end is two blocks, of which `header` took one.
        if zeros < BLOCK as u64 {
            return Err(ArchiveError::Truncated);
        }
        let mut rest = self.input.into_inner();
        if rest.fill_buf().map_err(ArchiveError::of_io)?.is_empty() {
            Ok(rest.into_inner())
        } else {
            Err(ArchiveError::TrailingData)
        }
    }
}

struct Found {
    name: String,
    size: u64,
}

/// Reads a member's header; `None` at the end of the archive.
fn header(input: &mut impl Read) -> Result<Option<Found>, ArchiveError> {
    let mut block = [0; BLOCK];
    input.read_exact(&mut block).map_err(ArchiveError::of_io)?;
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let header = Header::from_byte_slice(&block);
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    let field: u32 = block[148..156].iter().map(|byte| u32::from(*byte)).sum();
    if header.cksum().ok() != Some(sum - field + 8 * u32::from(b' ')) {
        return Err(ArchiveError::Header);
    }
    let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
    let what = match header.entry_type() {
        EntryType::Regular if header.as_ustar().is_some() => None,
        EntryType::Symlink => Some("symbolic link"),
        EntryType::Link => Some("hard link"),
        EntryType::Directory => Some("directory"),
        EntryType::Char | EntryType::Block => Some("device"),
        EntryType::Fifo => Some("named pipe"),
        EntryType::GNULongName | EntryType::GNULongLink => Some("long name"),
        EntryType::XHeader | EntryType::XGlobalHeader => Some("set of extended attributes"),
        EntryType::GNUSparse => Some("sparse file"),
        _ => Some("member of an unknown kind"),
    };
    if let Some(what) = what {
        return Err(ArchiveError::NotAFile { name, what });
    }
    let size = header.entry_size().map_err(|_| ArchiveError::Header)?;
    Ok(Some(Found { name, size }))
}

/// Reads a member's content and what fills its last block.
fn read_body<E: From<ArchiveError>>(
    input: &mut impl Read,
    size: u64,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut buffer = vec![0; 1 << 15];
    let mut left = size;
    while left > 0 {
        let wanted = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let n = input
            .read(&mut buffer[..wanted])
            .map_err(ArchiveError::of_io)?;
        if n == 0 {
            return Err(ArchiveError::Truncated.into());
        }
        sink(&buffer[..n])?;
        left -= n as u64;
    }
    let fill = usize::try_from(size.wrapping_neg() % BLOCK as u64).unwrap_or_default();
    input
        .read_exact(&mut buffer[..fill])
        .map_err(ArchiveError::of_io)?;
    if buffer[..fill].iter().any(|byte| *byte != 0) {
        return Err(ArchiveError::Header.into());
    }
    Ok(())
}
