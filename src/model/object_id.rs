//! Object ids of git, of whatever hash the repository uses.
//!
//! Nothing in the engine may assume 20 bytes: sha256 repositories have 32.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::lower_hex;

/// The hash function a repository names its objects with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectFormat {
    /// 20-byte ids, the default of git up to 2.x.
    Sha1,
    /// 32-byte ids.
    Sha256,
}

impl ObjectFormat {
    /// The length of a raw id in bytes.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "an id is never empty")]
    pub const fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// A git object id: raw bytes with their length.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    len: u8,
    bytes: [u8; 32],
}

/// Text or bytes that are no object id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an object id: {0:?}")]
pub struct ObjectIdError(String);

impl ObjectId {
    /// Builds an id from its raw bytes.
    ///
    /// # Errors
    /// When the length is neither 20 nor 32.
    pub fn from_bytes(raw: &[u8]) -> Result<Self, ObjectIdError> {
        if raw.len() != ObjectFormat::Sha1.len() && raw.len() != ObjectFormat::Sha256.len() {
            return Err(ObjectIdError(format!("{} bytes", raw.len())));
        }
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        let len = u8::try_from(raw.len()).expect("20 or 32");
        Ok(Self { len, bytes })
    }

    /// Parses full lower-case hexadecimal text.
    ///
    /// # Errors
    /// For any other length, upper-case digits, or anything that is not hexadecimal.
    pub fn parse(text: &str) -> Result<Self, ObjectIdError> {
        let refuse = || ObjectIdError(text.chars().take(80).collect());
        let raw = &mut [0; 32][..text.len().min(64) / 2];
        lower_hex::decode(text, raw).ok_or_else(refuse)?;
        Self::from_bytes(raw).map_err(|_| refuse())
    }

    /// The raw bytes, as trees hold them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The first ten hexadecimal digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        lower_hex::encode(&self.as_bytes()[..5], &mut [0; 64]).to_owned()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(lower_hex::encode(self.as_bytes(), &mut [0; 64]))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

impl Serialize for ObjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(lower_hex::encode(self.as_bytes(), &mut [0; 64]))
    }
}

impl<'de> Deserialize<'de> for ObjectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = ObjectId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object id")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                ObjectId::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_both_hash_lengths_and_nothing_else() {
        for len in [20, 32] {
            let id = ObjectId::from_bytes(&vec![0xab; len]).unwrap();
            assert_eq!(ObjectId::parse(&id.to_string()), Ok(id));
            assert_eq!(id.as_bytes().len(), len);
        }
        for text in [
            "",
            "ab",
            &"AB".repeat(20),
            &"zz".repeat(20),
            &"ab".repeat(21),
        ] {
            assert!(ObjectId::parse(text).is_err(), "{text}");
        }
    }
}
