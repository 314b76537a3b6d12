//! Naming objects: the hash of an object's header and content.

use sha1_checked::Digest as _;

use super::Error;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// The four kinds of git objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A commit.
    Commit,
    /// A directory.
    Tree,
    /// File content.
    Blob,
    /// An annotated tag.
    Tag,
}

impl Kind {
    /// The word git uses in object headers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }

    /// The type number in pack entries.
    pub(super) const fn pack_number(self) -> u8 {
        match self {
            Self::Commit => 1,
            Self::Tree => 2,
            Self::Blob => 3,
            Self::Tag => 4,
        }
    }
}

enum Inner {
    Sha1(Box<sha1_checked::Sha1>),
    Sha256(sha2::Sha256),
}

/// Hashes an object piece by piece. SHA-1 is computed with collision detection, as git does: two contents with one id
/// would make a checkpoint give back the wrong bytes.
pub struct ObjectHasher(Inner);

impl ObjectHasher {
    /// Starts an object of a known size.
    #[must_use]
    pub fn new(format: ObjectFormat, kind: Kind, size: u64) -> Self {
        let header = format!("{} {size}\0", kind.as_str());
        let mut hasher = Self(match format {
            ObjectFormat::Sha1 => Inner::Sha1(Box::default()),
            ObjectFormat::Sha256 => Inner::Sha256(sha2::Sha256::default()),
        });
        hasher.update(header.as_bytes());
        hasher
    }

    /// Adds content.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Inner::Sha1(sha) => sha.update(bytes),
            Inner::Sha256(sha) => sha.update(bytes),
        }
    }

    /// Finishes the id.
    ///
    /// # Errors
    /// When the content is one of a crafted pair with the same SHA-1.
    pub fn finish(self) -> Result<ObjectId, Error> {
        let id = match self.0 {
            Inner::Sha1(sha) => {
                let result = sha.try_finalize();
                if result.has_collision() {
                    return Err(Error::Collision);
                }
                ObjectId::from_bytes(result.hash())
            }
            Inner::Sha256(sha) => ObjectId::from_bytes(&sha.finalize()),
        };
        Ok(id.expect("a digest has the length of its format"))
    }
}

/// Names an object that is in memory.
///
/// # Errors
/// See [`ObjectHasher::finish`].
pub fn hash_object(format: ObjectFormat, kind: Kind, bytes: &[u8]) -> Result<ObjectId, Error> {
    let mut hasher = ObjectHasher::new(format, kind, bytes.len() as u64);
    hasher.update(bytes);
    hasher.finish()
}

/// A plain checksum in the repository's hash, for pack and index files.
pub(super) struct Checksum(Plain);

enum Plain {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl Checksum {
    pub(super) fn new(format: ObjectFormat) -> Self {
        Self(match format {
            ObjectFormat::Sha1 => Plain::Sha1(sha1::Sha1::default()),
            ObjectFormat::Sha256 => Plain::Sha256(sha2::Sha256::default()),
        })
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Plain::Sha1(sha) => sha.update(bytes),
            Plain::Sha256(sha) => sha.update(bytes),
        }
    }

    pub(super) fn finish(self) -> ObjectId {
        match self.0 {
            Plain::Sha1(sha) => ObjectId::from_bytes(&sha.finalize()),
            Plain::Sha256(sha) => ObjectId::from_bytes(&sha.finalize()),
        }
        .expect("a digest has the length of its format")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_objects_as_git_does() {
        let id = |format, bytes: &[u8]| hash_object(format, Kind::Blob, bytes).unwrap().to_string();
        assert_eq!(
            id(ObjectFormat::Sha1, b""),
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        );
        assert_eq!(
            id(ObjectFormat::Sha1, b"hello\n"),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
        assert_eq!(
            id(ObjectFormat::Sha256, b"hello\n"),
            "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"
        );
    }
}
