//! One object as a pack holds it: type, size, compressed content.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use libdeflater::{CompressionLvl, Compressor};

use super::hash::Kind;
use super::{Error, IoContext as _};
use crate::model::object_id::ObjectFormat;

/// How hard it is tried to make an object small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Somebody waits: fast, and within a tenth of git's default on source code.
    Quick,
    /// The object stays for long: as git does.
    Thorough,
}

/// For what is too large to be in memory whole.
const STREAMED: Compression = Compression::new(2);

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
        Ok(Self(ZlibEncoder::new(file, STREAMED)))
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

/// The type of an entry that is a change of the object a number of bytes before it.
const ON_OFFSET: u8 = 6;
/// The type of an entry that is a change of the object of an id.
const ON_ID: u8 = 7;

thread_local! {
    /// Making room for a compressor takes longer than compressing a small object does.
    static COMPRESSORS: [RefCell<Option<Compressor>>; 2] =
        const { [const { RefCell::new(None) }; 2] };
}

pub(super) fn entry_header(kind: Kind, size: u64) -> Vec<u8> {
    header(kind.pack_number(), size)
}

/// Type and inflated size: four bits of size in the first byte, seven in each that follows.
fn header(number: u8, size: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10);
    let mut rest = size >> 4;
    let mut byte = (number << 4) | (size & 0x0f) as u8;
    while rest > 0 {
        bytes.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    bytes.push(byte);
    bytes
}

/// A whole entry in memory.
pub(super) fn compress(kind: Kind, bytes: &[u8], effort: Effort) -> Vec<u8> {
    let mut entry = entry_header(kind, bytes.len() as u64);
    deflate_to(&mut entry, bytes, effort);
    entry
}

/// Compressed bytes, without a header.
pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut deflated = Vec::new();
    deflate_to(&mut deflated, bytes, Effort::Thorough);
    deflated
}

fn deflate_to(out: &mut Vec<u8>, bytes: &[u8], effort: Effort) {
    let (nth, level) = match effort {
        Effort::Quick => (0, 1),
        Effort::Thorough => (1, 6),
    };
    COMPRESSORS.with(|compressors| {
        let mut compressor = compressors[nth].borrow_mut();
        let compressor = compressor.get_or_insert_with(|| {
            Compressor::new(CompressionLvl::new(level).expect("a level that exists"))
        });
        let begin = out.len();
        out.resize(begin + compressor.zlib_compress_bound(bytes.len()), 0);
        let written = compressor.zlib_compress(bytes, &mut out[begin..]);
        out.truncate(begin + written.expect("there is room for the longest outcome"));
    });
}

/// The entry of a delta whose base lies `distance` bytes before it; `size` is that of the delta.
pub(super) fn delta_entry(distance: u64, size: u64, deflated: &[u8]) -> Vec<u8> {
    let mut entry = header(ON_OFFSET, size);
    let mut groups = vec![(distance & 0x7f) as u8];
    let mut rest = distance >> 7;
    // Each further byte stands for one more than its bits say, so that there is one way to write a number.
    while rest > 0 {
        rest -= 1;
        groups.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    entry.extend(groups.iter().rev());
    entry.extend_from_slice(deflated);
    entry
}

/// An entry as it was found in a pack.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// A whole object.
    Whole {
        /// All of the entry.
        entry: Vec<u8>,
        /// The object's size.
        size: u64,
    },
    /// A change of the object of an id.
    OnId {
        /// All of the entry.
        entry: Vec<u8>,
    },
    /// A change of an earlier object of the same pack.
    OnOffset {
        /// How much earlier.
        distance: u64,
        /// The size of the delta.
        size: u64,
        /// The delta, compressed.
        deflated: Vec<u8>,
    },
}

impl Stored {
    /// Tells the parts of an entry; none when it is none.
    pub fn parse(entry: Vec<u8>, format: ObjectFormat) -> Option<Self> {
        let mut rest = entry.iter().copied();
        let first = rest.next()?;
        let mut size = u64::from(first & 0x0f);
        let mut shift = 4;
        let mut byte = first;
        while byte & 0x80 != 0 {
            byte = rest.next()?;
            size |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        match (first >> 4) & 7 {
            1..=4 => Some(Self::Whole { entry, size }),
            ON_ID => (rest.len() > format.len()).then_some(Self::OnId { entry }),
            ON_OFFSET => {
                let mut byte = rest.next()?;
                let mut distance = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = rest.next()?;
                    distance = distance.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
                }
                Some(Self::OnOffset {
                    distance,
                    size,
                    deflated: rest.collect(),
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_says_how_far_back_its_base_is() {
        for distance in [
            1,
            127,
            128,
            129,
            16_511,
            16_512,
            1 << 20,
            u64::from(u32::MAX),
        ] {
            let entry = delta_entry(distance, 300, b"data");
            let expected = Stored::OnOffset {
                distance,
                size: 300,
                deflated: b"data".to_vec(),
            };
            let stored = Stored::parse(entry.clone(), ObjectFormat::Sha1);
            assert_eq!(stored, Some(expected));
            for cut in 0..entry.len() - 4 {
                assert_eq!(
                    Stored::parse(entry[..cut].to_vec(), ObjectFormat::Sha1),
                    None
                );
            }
        }
        let whole = compress(Kind::Blob, &[b'x'; 5000], Effort::Quick);
        let stored = Stored::parse(whole.clone(), ObjectFormat::Sha1);
        assert_eq!(
            stored,
            Some(Stored::Whole {
                entry: whole,
                size: 5000
            })
        );
    }

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
