//! JSON as go-team reads and hashes it: strict, bounded input, and one canonical spelling.
//!
//! The reader is written out because input may be hostile: size, depth and number of values are bounded before memory
//! is spent, and a key given twice is refused (serde would silently keep one of the two). Numbers keep all their
//! digits; only an exponent is respelt (`1E5` reads as `1e+5`), once, and stays so.

use std::io;

use serde::Serialize;
use serde_json::{Map, Number, Value};

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

/// Line and column, from 1, of a byte offset.
fn position(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset.min(bytes.len())];
    let start = before
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |at| at + 1);
    let line = 1 + before[..start]
        .split(|&b| b == b'\n')
        .count()
        .saturating_sub(1);
    (line, before.len() - start + 1)
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
    let mut reader = Reader {
        bytes,
        at: 0,
        values: 0,
        limits,
    };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < bytes.len() {
        return Err(reader.syntax("trailing characters"));
    }
    Ok(value)
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

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    values: usize,
    limits: Limits,
}

/// serde's own spelling of a number in a map; as a key of an object it would come back as something else.
const RESERVED_KEY: &str = "$serde_json::private::Number";

impl Reader<'_> {
    fn syntax(&self, reason: &str) -> JsonError {
        let (line, column) = position(self.bytes, self.at);
        JsonError::Syntax {
            reason: reason.to_owned(),
            line,
            column,
        }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// The next byte that is not space, not consumed.
    fn peek(&mut self) -> Result<u8, JsonError> {
        self.space();
        self.bytes
            .get(self.at)
            .copied()
            .ok_or_else(|| self.syntax("unexpected end"))
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.values += 1;
        if self.values > self.limits.values {
            let limit = self.limits.values;
            return Err(JsonError::TooMany { limit });
        }
        match self.peek()? {
            b'{' => self.object(self.deeper(depth)?),
            b'[' => self.array(self.deeper(depth)?),
            b'"' => self.string().map(Value::String),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, JsonError> {
        let limit = self.limits.depth;
        if depth < limit {
            return Ok(depth + 1);
        }
        let (line, column) = position(self.bytes, self.at);
        Err(JsonError::TooDeep {
            limit,
            line,
            column,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut map = Map::new();
        self.at += 1;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(Value::Object(map));
        }
        loop {
            if self.peek()? != b'"' {
                return Err(self.syntax("expected a key"));
            }
            let start = self.at;
            let key = self.string()?;
            if map.contains_key(&key) || key == RESERVED_KEY {
                let (line, column) = position(self.bytes, start);
                return Err(JsonError::DuplicateKey { key, line, column });
            }
            if self.peek()? != b':' {
                return Err(self.syntax("expected `:`"));
            }
            self.at += 1;
            let value = self.value(depth)?;
            map.insert(key, value);
            if self.closes(b'}')? {
                return Ok(Value::Object(map));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut list = Vec::new();
        self.at += 1;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(Value::Array(list));
        }
        loop {
            list.push(self.value(depth)?);
            if self.closes(b']')? {
                return Ok(Value::Array(list));
            }
        }
    }

    /// Consumes the separator after an item: true for the closing mark, false for a comma.
    fn closes(&mut self, mark: u8) -> Result<bool, JsonError> {
        let next = self.peek()?;
        if next != mark && next != b',' {
            let expected = format!("expected `,` or `{}`", char::from(mark));
            return Err(self.syntax(&expected));
        }
        self.at += 1;
        Ok(next == mark)
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => {
                    self.at = self.bytes.len();
                    return Err(self.syntax("unexpected end in a string"));
                }
            }
        }
        self.at = end + 1;
        self.leaf(start)
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        while let Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.leaf::<Number>(start).map(Value::Number)
    }

    /// Has serde read the one token from `start` to here.
    fn leaf<T: serde::de::DeserializeOwned>(&mut self, start: usize) -> Result<T, JsonError> {
        serde_json::from_slice(&self.bytes[start..self.at]).map_err(|error| {
            self.at = start + error.column().saturating_sub(1);
            let text = error.to_string();
            self.syntax(text.split(" at line ").next().unwrap_or_default())
        })
    }

    fn word(&mut self) -> Result<Value, JsonError> {
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
        ];
        for (word, value) in words {
            if self.bytes[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.syntax("expected a value"))
    }
}

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
pub(super) fn write_compact<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("plain values with text keys, into memory");
}

/// Pretty JSON with a newline at the end, for files that people look at.
///
/// Deeply nested values would be mostly indentation; what would grow past [`READABLE_MAX`] is written compactly.
pub(super) fn readable<T: Serialize>(value: &T) -> Vec<u8> {
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
