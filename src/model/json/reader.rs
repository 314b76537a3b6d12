//! The strict reader. serde reads strings and numbers, one token at a time; what surrounds them is read here.

use serde_json::{Map, Number, Value};

use super::{JsonError, Limits};

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

/// Reads one document.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    values: usize,
    limits: Limits,
}

/// serde's own spelling of a number in a map; as a key of an object it would come back as something else.
const RESERVED_KEY: &str = "$serde_json::private::Number";

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: Limits) -> Self {
        Self {
            bytes,
            at: 0,
            values: 0,
            limits,
        }
    }

    pub(super) fn document(mut self) -> Result<Value, JsonError> {
        let value = self.value(0)?;
        self.space();
        if self.at < self.bytes.len() {
            return Err(self.syntax("trailing characters"));
        }
        Ok(value)
    }

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
