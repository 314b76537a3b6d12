//! SHA-256 digests: checksums of records and manifests, and the writer that computes one on the way.

use std::fmt;
use std::io;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::lower_hex;

/// A SHA-256 digest, printed as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256Digest([u8; 32]);

/// Text that is no SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 digest: {0:?}")]
pub struct DigestError(String);

impl Sha256Digest {
    /// The digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Parses 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// For any other text, upper-case digits included.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let mut raw = [0; 32];
        lower_hex::decode(text, &mut raw)
            .map(|()| Self(raw))
            .ok_or_else(|| DigestError(text.chars().take(80).collect()))
    }

    /// The raw bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(lower_hex::encode(&self.0, &mut [0; 64]))
    }
}

impl fmt::Debug for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256Digest({self})")
    }
}

impl Serialize for Sha256Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(lower_hex::encode(&self.0, &mut [0; 64]))
    }
}

impl<'de> Deserialize<'de> for Sha256Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Sha256Digest;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("64 lower-case hexadecimal digits")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Sha256Digest::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Computes the digest of everything that is written to it.
#[derive(Debug, Clone, Default)]
pub struct DigestWriter(Sha256);

impl DigestWriter {
    /// A writer that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `bytes`; writing to a hash cannot fail.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of what was written.
    #[must_use]
    pub fn finish(self) -> Sha256Digest {
        Sha256Digest(self.0.finalize().into())
    }
}

impl io::Write for DigestWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn prints_and_parses_lower_case_only() {
        let digest = Sha256Digest::of(b"");
        assert_eq!(digest.to_string(), EMPTY);
        assert_eq!(Sha256Digest::parse(EMPTY), Ok(digest));
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(json, format!("\"{EMPTY}\""));
        assert_eq!(serde_json::from_str::<Sha256Digest>(&json).unwrap(), digest);
        for text in [
            "",
            &EMPTY[1..],
            &EMPTY.to_uppercase(),
            &EMPTY.replace('e', "g"),
            &format!("{EMPTY}0"),
        ] {
            assert!(Sha256Digest::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_writer_sees_what_the_whole_would_give() {
        let mut writer = DigestWriter::new();
        for part in [&b"check"[..], b"", b"point"] {
            writer.write_all(part).unwrap();
        }
        assert_eq!(writer.finish(), Sha256Digest::of(b"checkpoint"));
    }
}
