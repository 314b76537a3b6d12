//! Tree objects: encoding, decoding and git's order of entries.

use std::cmp::Ordering;

use super::Error;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// What a tree or index entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// A regular file.
    File = 0,
    /// A regular file that may be run.
    Executable = 1,
    /// A symbolic link.
    Symlink = 2,
    /// A commit of another repository: a submodule or a nested repository.
    Gitlink = 3,
    /// A directory.
    Tree = 4,
}

impl Mode {
    /// The octal text trees hold.
    #[must_use]
    pub const fn as_octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Gitlink => "160000",
            Self::Tree => "40000",
        }
    }

    /// Reads a mode; odd regular modes of old repositories count as plain files, as git reads them.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits & 0o170_000 {
            0o100_000 if bits & 0o100 != 0 => Some(Self::Executable),
            0o100_000 => Some(Self::File),
            0o120_000 => Some(Self::Symlink),
            0o160_000 => Some(Self::Gitlink),
            0o040_000 => Some(Self::Tree),
            _ => None,
        }
    }

    /// The mode's number in stored form.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::File),
            1 => Some(Self::Executable),
            2 => Some(Self::Symlink),
            3 => Some(Self::Gitlink),
            4 => Some(Self::Tree),
            _ => None,
        }
    }

    /// Whether this is a regular file, runnable or not.
    #[must_use]
    pub const fn is_regular(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }
}

/// One entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeEntry<'a> {
    /// What it is.
    pub mode: Mode,
    /// Its name, any bytes but NUL and `/`.
    pub name: &'a [u8],
    /// The object.
    pub id: ObjectId,
}

/// git's order: by bytes, a directory's name counting as if it ended in `/`.
#[must_use]
pub fn entry_order(a: (&[u8], bool), b: (&[u8], bool)) -> Ordering {
    let common = a.0.len().min(b.0.len());
    a.0[..common].cmp(&b.0[..common]).then_with(|| {
        let next = |(name, is_tree): (&[u8], bool)| match name.get(common) {
            Some(byte) => u16::from(*byte),
            None if is_tree => u16::from(b'/'),
            None => 0,
        };
        next(a).cmp(&next(b)).then(a.0.len().cmp(&b.0.len()))
    })
}

/// Encodes entries, which need not be in order.
#[must_use]
pub fn encode(entries: &mut [TreeEntry<'_>]) -> Vec<u8> {
    entries.sort_unstable_by(|a, b| {
        entry_order(
            (a.name, a.mode == Mode::Tree),
            (b.name, b.mode == Mode::Tree),
        )
    });
    let size = entries
        .iter()
        .map(|e| 8 + e.name.len() + e.id.as_bytes().len())
        .sum();
    let mut bytes = Vec::with_capacity(size);
    for entry in entries.iter() {
        bytes.extend_from_slice(entry.mode.as_octal().as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(entry.name);
        bytes.push(0);
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    bytes
}

/// Reads the entries of a tree object.
///
/// # Errors
/// When the bytes are no tree.
pub fn decode(format: ObjectFormat, mut bytes: &[u8]) -> Result<Vec<TreeEntry<'_>>, Error> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let damaged = || Error::Damaged {
            what: "tree object".into(),
        };
        let space = bytes.iter().position(|b| *b == b' ').ok_or_else(damaged)?;
        let octal = std::str::from_utf8(&bytes[..space]).map_err(|_| damaged())?;
        let bits = u32::from_str_radix(octal, 8).map_err(|_| damaged())?;
        let mode = Mode::from_bits(bits).ok_or_else(damaged)?;
        let rest = &bytes[space + 1..];
        let nul = rest.iter().position(|b| *b == 0).ok_or_else(damaged)?;
        let id = rest
            .get(nul + 1..nul + 1 + format.len())
            .ok_or_else(damaged)?;
        let id = ObjectId::from_bytes(id).map_err(|_| damaged())?;
        entries.push(TreeEntry {
            mode,
            name: &rest[..nul],
            id,
        });
        bytes = &rest[nul + 1 + format.len()..];
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_sort_as_if_they_ended_in_a_slash() {
        let order = |a: (&str, bool), b: (&str, bool)| {
            entry_order((a.0.as_bytes(), a.1), (b.0.as_bytes(), b.1))
        };
        assert_eq!(order(("a", true), ("a-b", false)), Ordering::Greater);
        assert_eq!(order(("a", false), ("a-b", false)), Ordering::Less);
        assert_eq!(order(("a", true), ("a0", false)), Ordering::Less);
        assert_eq!(order(("a", false), ("a", true)), Ordering::Less);
        assert_eq!(order(("a", false), ("a", false)), Ordering::Equal);
    }

    #[test]
    fn round_trip_and_damage() {
        let id = ObjectId::from_bytes(&[7; 20]).unwrap();
        let mut entries = [
            TreeEntry {
                mode: Mode::File,
                name: b"b\xff",
                id,
            },
            TreeEntry {
                mode: Mode::Tree,
                name: b"a",
                id,
            },
        ];
        let bytes = encode(&mut entries);
        assert_eq!(decode(ObjectFormat::Sha1, &bytes).unwrap(), entries);
        for cut in 1..bytes.len() {
            if cut != bytes.len() / 2 - 1 {
                let _ = decode(ObjectFormat::Sha1, &bytes[..cut]);
            }
        }
        assert!(decode(ObjectFormat::Sha1, &bytes[..bytes.len() - 1]).is_err());
    }
}
