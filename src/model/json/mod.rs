//! JSON as go-team reads and hashes it: strict, bounded input, and one canonical spelling.
//!
//! The reader is written out because input may be hostile: size, depth and number of values are bounded before memory
//! is spent, and a key given twice is refused (serde would silently keep one of the two). Numbers keep all their
//! digits; only an exponent is respelt (`1E5` reads as `1e+5`), once, and stays so.

use serde_json::{Map, Value};

mod reader;
mod writer;

use reader::Reader;
pub use writer::canonical;
pub(super) use writer::{readable, write_compact};

/// How much input is looked at before it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The size of the text in bytes.
    pub bytes: usize,
    /// How deeply arrays and objects may nest.
    pub depth: usize,
    /// How many values there may be in all: each takes far more memory than the text it comes from.
    pub values: usize,
}

impl Limits {
    /// Workflow state, outputs, and other input of a user or an orchestrator.
    pub const INPUT: Self = Self {
        bytes: 16 << 20,
        depth: 128,
        values: 1 << 20,
    };
    /// A stored state: input, and what the engine added to it.
    pub const STATE: Self = Self {
        bytes: Self::INPUT.bytes + (8 << 20),
        depth: Self::INPUT.depth + 4,
        values: Self::INPUT.values + (1 << 16),
    };
    /// A record: it holds a state and outputs, each of which may be as large as input can be.
    pub const RECORD: Self = Self {
        bytes: 64 << 20,
        depth: Self::INPUT.depth + 8,
        values: 2 * Self::STATE.values,
    };
    /// A manifest.
    pub const MANIFEST: Self = Self {
        bytes: 256 << 20,
        ..Self::RECORD
    };
}

/// Text that is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// More bytes than the limit.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Nested more deeply than the limit.
    #[error("nested more than {limit} levels deep at line {line} column {column}")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
        /// Where, from 1.
        line: usize,
        /// Where, from 1, in bytes.
        column: usize,
    },
    /// More values than the limit.
    #[error("more than {limit} values")]
    TooMany {
        /// The limit in values.
        limit: usize,
    },
    /// An object names a key twice.
    #[error("duplicate key {key:?} at line {line} column {column}")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Where, from 1.
        line: usize,
        /// Where, from 1, in bytes.
        column: usize,
    },
    /// Not JSON.
    #[error("{reason} at line {line} column {column}")]
    Syntax {
        /// What is wrong there.
        reason: String,
        /// Where, from 1.
        line: usize,
        /// Where, from 1, in bytes.
        column: usize,
    },
}

/// Parses one JSON value within `limits`.
///
/// # Errors
/// When a limit is passed, a key is given twice, or the text is not JSON; the position is in the error.
pub fn parse_limited(bytes: &[u8], limits: Limits) -> Result<Value, JsonError> {
    if bytes.len() > limits.bytes {
        return Err(JsonError::TooLarge {
            limit: limits.bytes,
        });
    }
    Reader::new(bytes, limits).document()
}

/// Parses one JSON object within `limits`.
///
/// # Errors
/// As [`parse_limited`], and when the value is not an object.
pub fn parse_object(bytes: &[u8], limits: Limits) -> Result<Map<String, Value>, JsonError> {
    match parse_limited(bytes, limits)? {
        Value::Object(map) => Ok(map),
        _ => Err(JsonError::Syntax {
            reason: "expected an object".to_owned(),
            line: 1,
            column: 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Value, JsonError> {
        parse_limited(text.as_bytes(), Limits::INPUT)
    }

    #[test]
    fn reads_what_serde_reads() {
        for text in [
            "null",
            " true ",
            "false",
            "0",
            "-0",
            "1.50",
            "123456789012345678901234567890.10",
            "1e5",
            "\"\"",
            r#""a\"\\\u00e9\ud83d\ude00\n""#,
            "[]",
            "[ ]",
            "[1, [2,{}]]",
            "{}",
            "\r\n{\t\"a\" : [ null ] , \"b\":{} }\n",
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_serde_refuses_and_says_where() {
        for text in [
            "",
            " ",
            "nul",
            "tru e",
            "01",
            "1.",
            "-",
            "+1",
            "1e",
            ".5",
            "NaN",
            "'a'",
            "\"",
            "\"a",
            "\"\\",
            "\"\\x\"",
            "\"\n\"",
            "\"\\ud800\"",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,]",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,}",
            "{a:1}",
            "{1:1}",
            "[1}",
            "1 2",
            "nullnull",
            "\u{feff}1",
        ] {
            assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
            assert!(
                matches!(parse(text), Err(JsonError::Syntax { .. })),
                "{text}: {:?}",
                parse(text)
            );
        }
        assert!(parse_limited(b"\"\xff\"", Limits::INPUT).is_err());
        for (text, at) in [
            ("{\n  \"a\": x\n}", (2, 8)),
            ("[1\n\n,\n 01]", (4, 3)),
            ("[1,", (1, 4)),
        ] {
            let Err(JsonError::Syntax { line, column, .. }) = parse(text) else {
                panic!("{text}");
            };
            assert_eq!((line, column), at, "{text}");
        }
    }

    #[test]
    fn refuses_a_key_twice_and_the_key_that_serde_keeps_for_itself() {
        let twice = JsonError::DuplicateKey {
            key: "a".into(),
            line: 2,
            column: 2,
        };
        assert_eq!(parse("{\"a\":1,\n \"\\u0061\":2}"), Err(twice));
        let reserved = r#"{"$serde_json::private::Number":"1"}"#;
        assert!(matches!(
            parse(reserved),
            Err(JsonError::DuplicateKey { .. })
        ));
    }

    #[test]
    fn refuses_early_what_is_too_large_too_deep_or_too_much() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&deep(128)).is_ok());
        let error = parse(&deep(129)).unwrap_err();
        assert_eq!(
            error,
            JsonError::TooDeep {
                limit: 128,
                line: 1,
                column: 129
            }
        );
        assert!(matches!(
            parse(&"{\"a\":".repeat(200_000)),
            Err(JsonError::TooDeep { .. })
        ));
        let many = format!("[0{}]", ",0".repeat(1 << 20));
        assert_eq!(parse(&many), Err(JsonError::TooMany { limit: 1 << 20 }));
        let large = vec![b' '; Limits::INPUT.bytes + 1];
        let error = parse_limited(&large, Limits::INPUT).unwrap_err();
        assert_eq!(error, JsonError::TooLarge { limit: 16 << 20 });
    }

    #[test]
    fn an_object_is_an_object() {
        assert!(parse_object(b"{\"a\":1}", Limits::INPUT).is_ok());
        assert!(parse_object(b"[]", Limits::INPUT).is_err());
    }
}
