//! JSON as it is written: canonical for checksums, readable for files.

use std::io;

use serde::Serialize;
use serde_json::Value;

/// The canonical text of a value: keys sorted by their bytes, no space, numbers as they were read.
#[must_use]
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(list) => {
            out.push(b'[');
            for (nth, item) in list.iter().enumerate() {
                if nth > 0 {
                    out.push(b',');
                }
                write_canonical(item, out);
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (nth, (key, item)) in pairs.into_iter().enumerate() {
                if nth > 0 {
                    out.push(b',');
                }
                write_compact(key, out);
                out.push(b':');
                write_canonical(item, out);
            }
            out.push(b'}');
        }
        leaf => write_compact(leaf, out),
    }
}

/// Appends the compact JSON of a value whose serialisation cannot fail.
pub(in crate::model) fn write_compact<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("plain values with text keys, into memory");
}

/// Pretty JSON with a newline at the end, for files that people look at.
///
/// Deeply nested values would be mostly indentation; what would grow past [`READABLE_MAX`] is written compactly.
pub(in crate::model) fn readable<T: Serialize>(value: &T) -> Vec<u8> {
    let mut pretty = Bounded(Vec::new());
    let mut out = if serde_json::to_writer_pretty(&mut pretty, value).is_ok() {
        pretty.0
    } else {
        serde_json::to_vec(value).expect("plain values with text keys")
    };
    out.push(b'\n');
    out
}

const READABLE_MAX: usize = 8 << 20;

/// Takes up to [`READABLE_MAX`] bytes.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > READABLE_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json::{Limits, parse_limited};

    #[test]
    fn canonical_text_is_sorted_compact_and_keeps_digits() {
        let text = br#" {"b":[1.50, 12345678901234567890123, 1E5], "a":{"z":null,"\u00e9":"\u001b\/"}, "":true} "#;
        let value = parse_limited(text, Limits::INPUT).unwrap();
        let canonical = String::from_utf8(canonical(&value)).unwrap();
        assert_eq!(
            canonical,
            r#"{"":true,"a":{"z":null,"é":"\u001b/"},"b":[1.50,12345678901234567890123,1e+5]}"#
        );
    }

    #[test]
    fn readable_text_does_not_drown_in_indentation() {
        let deep = format!(
            "{}{}{}",
            "[".repeat(120),
            "0,".repeat(100_000) + "0",
            "]".repeat(120)
        );
        let value = parse_limited(deep.as_bytes(), Limits::INPUT).unwrap();
        let text = readable(&value);
        assert_eq!(text.trim_ascii_end(), deep.as_bytes());
        assert_eq!(
            readable(&serde_json::json!({"a": 1})),
            b"{\n  \"a\": 1\n}\n"
        );
    }
}
