//! The first look at a pack: where each object is, how large, and, where it is stored whole, what its id is.
//!
//! Everything is inflated once, in pieces, and thrown away; no size that the pack claims is believed before that many
//! bytes have been seen.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::ZlibDecoder;

use super::BundleError;
use super::delta::MAX_DELTA_OBJECT;
use super::region::Region;
use crate::git::hash::{Checksum, Kind, ObjectHasher};
use crate::git::{Error, IoContext as _};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// The least room that an object takes: a header, and the shortest compressed stream.
const LEAST_ENTRY: u64 = 9;

/// What an entry is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The object itself.
    Whole { kind: Kind, id: ObjectId },
    /// Changes to the entry at this offset.
    OffsetDelta(u64),
    /// Changes to the object of this id.
    RefDelta(ObjectId),
}

/// An entry of a pack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub offset: u64,
    /// Where the compressed stream begins.
    pub data: u64,
    /// The size of what is compressed.
    pub size: u64,
    pub crc: u32,
    pub form: Form,
}

/// What a pack holds, in its order, and its checksum.
pub(super) struct Scanned {
    pub entries: Vec<Entry>,
    pub trailer: ObjectId,
}

/// The error of reading: an early end is the bundle's fault, anything else is the disk's.
pub(super) fn reading(error: io::Error) -> BundleError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => BundleError::Truncated,
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            BundleError::Pack("a compressed object is damaged")
        }
        _ => BundleError::Git(Error::Io {
            op: "read",
            path: "the bundle".into(),
            source: error,
        }),
    }
}

/// Counts and sums what is taken from a reader.
struct Tracked<R> {
    inner: R,
    at: u64,
    crc: crc32fast::Hasher,
    sum: Checksum,
}

impl<R: BufRead> Read for Tracked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buffer)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Tracked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        // What is consumed is still in the buffer, so this reads nothing.
        if let Ok(buffer) = self.inner.fill_buf() {
            self.crc.update(&buffer[..n]);
            self.sum.update(&buffer[..n]);
        }
        self.at += n as u64;
        self.inner.consume(n);
    }
}

/// Looks through a pack.
pub(super) fn scan(pack: &Region, format: ObjectFormat) -> Result<Scanned, BundleError> {
    let mut input = Tracked {
        inner: BufReader::with_capacity(1 << 16, pack.clone()),
        at: 0,
        crc: crc32fast::Hasher::new(),
        sum: Checksum::new(format),
    };
    let mut start = [0; 12];
    input.read_exact(&mut start).map_err(reading)?;
    let Some(count) = start.strip_prefix(b"PACK\0\0\0\x02") else {
        return Err(BundleError::Pack("it is no pack of version 2"));
    };
    let count = u32::from_be_bytes(count.try_into().expect("four bytes are left"));
    if u64::from(count) > pack.len() / LEAST_ENTRY {
        return Err(BundleError::Pack(
            "it claims more objects than it has room for",
        ));
    }
    let mut entries = Vec::with_capacity(count as usize);
    let mut buffer = vec![0; 1 << 15];
    for _ in 0..count {
        entries.push(entry(&mut input, format, &mut buffer)?);
    }
    let sum = std::mem::replace(&mut input.sum, Checksum::new(format)).finish();
    let mut trailer = vec![0; format.len()];
    input.read_exact(&mut trailer).map_err(reading)?;
    if trailer != sum.as_bytes() {
        return Err(BundleError::Pack("its checksum is wrong"));
    }
    if !input.fill_buf().map_err(reading)?.is_empty() {
        return Err(BundleError::Pack("there is more after its end"));
    }
    Ok(Scanned {
        entries,
        trailer: sum,
    })
}

fn entry<R: BufRead>(
    input: &mut Tracked<R>,
    format: ObjectFormat,
    buffer: &mut [u8],
) -> Result<Entry, BundleError> {
    let offset = input.at;
    input.crc = crc32fast::Hasher::new();
    let (number, size) = type_and_size(input)?;
    let kind = match number {
        1 => Some(Kind::Commit),
        2 => Some(Kind::Tree),
        3 => Some(Kind::Blob),
        4 => return Err(BundleError::Pack("it holds a tag")),
        6 | 7 => None,
        _ => return Err(BundleError::Pack("it holds an object of an unknown kind")),
    };
    let delta = match number {
        6 => {
            let back = distance(input)?;
            let base = offset.checked_sub(back).filter(|_| back > 0);
            let base = base.ok_or(BundleError::Pack("a delta's base is outside of it"))?;
            Some(Form::OffsetDelta(base))
        }
        7 => {
            let mut id = vec![0; format.len()];
            input.read_exact(&mut id).map_err(reading)?;
            let id = ObjectId::from_bytes(&id).expect("as long as the format says");
            Some(Form::RefDelta(id))
        }
        _ => None,
    };
    let limit = match kind {
        Some(Kind::Blob) => u64::MAX,
        Some(_) => super::objects::MAX_STRUCTURED,
        None => MAX_DELTA_OBJECT,
    };
    if size > limit {
        return Err(BundleError::TooLarge { size, limit });
    }
    let data = input.at;
    let mut hasher = kind.map(|kind| ObjectHasher::new(format, kind, size));
    inflate(&mut *input, size, buffer, &mut |part| {
        if let Some(hasher) = &mut hasher {
            hasher.update(part);
        }
    })?;
    let form = match (delta, kind, hasher) {
        (Some(delta), _, _) => delta,
        (None, Some(kind), Some(hasher)) => {
            let id = hasher.finish()?;
            Form::Whole { kind, id }
        }
        _ => unreachable!("what is no delta has a kind"),
    };
    let crc = std::mem::replace(&mut input.crc, crc32fast::Hasher::new());
    Ok(Entry {
        offset,
        data,
        size,
        crc: crc.finalize(),
        form,
    })
}

/// Inflates exactly `size` bytes, and the end of the stream after them.
pub(super) fn inflate(
    input: impl BufRead,
    size: u64,
    buffer: &mut [u8],
    sink: &mut dyn FnMut(&[u8]),
) -> Result<(), BundleError> {
    let mut decoder = ZlibDecoder::new(input);
    let mut seen = 0;
    loop {
        let n = decoder.read(buffer).map_err(reading)?;
        if n == 0 {
            break;
        }
        seen += n as u64;
        if seen > size {
            break;
        }
        sink(&buffer[..n]);
    }
    if seen == size {
        Ok(())
    } else {
        Err(BundleError::Pack(
            "an object does not have the size that it claims",
        ))
    }
}

fn byte(input: &mut impl Read) -> Result<u8, BundleError> {
    let mut byte = [0];
    input.read_exact(&mut byte).map_err(reading)?;
    Ok(byte[0])
}

/// Three bits of type, then the size: four bits, and seven in each byte that follows.
fn type_and_size(input: &mut impl Read) -> Result<(u8, u64), BundleError> {
    let first = byte(input)?;
    let mut size = u64::from(first & 0x0f);
    let mut shift = 4;
    let mut more = first & 0x80 != 0;
    while more {
        let next = byte(input)?;
        if shift > 57 {
            return Err(BundleError::Pack(
                "an object claims a size beyond all limits",
            ));
        }
        size |= u64::from(next & 0x7f) << shift;
        shift += 7;
        more = next & 0x80 != 0;
    }
    Ok((first >> 4 & 7, size))
}

/// How far back a delta's base is; each byte but the last adds one more than its bits say.
fn distance(input: &mut impl Read) -> Result<u64, BundleError> {
    let mut next = byte(input)?;
    let mut back = u64::from(next & 0x7f);
    while next & 0x80 != 0 {
        next = byte(input)?;
        back = (back + 1)
            .checked_mul(128)
            .ok_or(BundleError::Pack("a delta's base is outside of it"))?
            | u64::from(next & 0x7f);
    }
    Ok(back)
}

/// Reads what an entry holds into memory; the scan has seen that it has that size.
pub(super) fn read_entry(pack: &Region, entry: &Entry) -> Result<Vec<u8>, BundleError> {
    let size = usize::try_from(entry.size).map_err(|_| BundleError::TooLarge {
        size: entry.size,
        limit: usize::MAX as u64,
    })?;
    let mut bytes = Vec::with_capacity(size);
    let input = BufReader::with_capacity(1 << 13, pack.from(entry.data));
    inflate(input, entry.size, &mut vec![0; 1 << 13], &mut |part| {
        bytes.extend_from_slice(part);
    })?;
    Ok(bytes)
}

/// Copies a pack as it is.
pub(super) fn copy(
    pack: &Region,
    to: &mut impl io::Write,
    path: &std::path::Path,
) -> Result<(), Error> {
    io::copy(&mut pack.clone(), to).at("write", path)?;
    Ok(())
}
