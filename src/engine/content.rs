//! Bytes of a repository, which may be anything, in a report.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

/// Bytes as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(Vec<u8>);

impl Content {
    /// Takes the bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Content {
    /// As text where they are text, else in hexadecimal digits; `encoding` says which.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Content", 3)?;
        fields.serialize_field("bytes", &self.0.len())?;
        if let Ok(text) = std::str::from_utf8(&self.0) {
            fields.serialize_field("encoding", "utf-8")?;
            fields.serialize_field("content", text)?;
        } else {
            fields.serialize_field("encoding", "hex")?;
            fields.serialize_field("content", &hex::encode(&self.0))?;
        }
        fields.end()
    }
}
