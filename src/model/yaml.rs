//! YAML as JSON values: strict and bounded, for files of other programs.
//!
//! The parser hands on one event after the other, and the values are built here, so that size, depth and number of values
//! are bounded before memory is spent. What an alias stands for counts each time, so a few lines cannot become gigabytes.
//! Plain words are read by the core schema of YAML 1.2: `yes` and `2025-12-28` are texts.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Number, Value};

use super::json::{JsonError, Limits};

/// Parses one YAML document within `limits`.
///
/// # Errors
/// When a limit is passed, a key is given twice or is no plain value, or the text is not one YAML document.
pub fn parse_limited(bytes: &[u8], limits: Limits) -> Result<Value, JsonError> {
    if bytes.len() > limits.bytes {
        let limit = limits.bytes;
        return Err(JsonError::TooLarge { limit });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        JsonError::Syntax {
            reason: "not UTF-8".to_owned(),
            line: before.matches('\n').count() + 1,
            column: 1,
        }
    })?;
    let mut builder = Builder {
        limits,
        open: Vec::new(),
        anchors: HashMap::new(),
        result: None,
        values: 0,
        copied: 0,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| syntax(error.info(), error.marker()))?;
        builder.take(event, span)?;
    }
    Ok(builder.result.unwrap_or(Value::Null))
}

fn syntax(reason: &str, at: &Marker) -> JsonError {
    JsonError::Syntax {
        reason: reason.to_owned(),
        line: at.line(),
        column: at.col() + 1,
    }
}

/// A list or mapping that has not ended.
struct Open {
    anchor: usize,
    /// How many values there were before it.
    before: usize,
    kind: Container,
}

enum Container {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Mapping(Map<String, Value>, Option<String>),
}

/// What an alias may stand for.
struct Anchored {
    value: Value,
    /// How many values it is made of.
    values: usize,
    /// About how many bytes it takes.
    bytes: usize,
}

struct Builder {
    limits: Limits,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    result: Option<Value>,
    values: usize,
    copied: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), JsonError> {
        let at = span.start;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if self.awaits_key() {
                    return self.key(&text, &at);
                }
                let value = scalar(&text, style, tag.as_deref());
                self.count(1)?;
                self.put(value, anchor, 1);
                Ok(())
            }
            Event::Alias(anchor) => {
                if self.awaits_key() {
                    return Err(syntax("an alias as a key", &at));
                }
                let Some(found) = self.anchors.get(&anchor) else {
                    return Err(syntax("an alias of what has not ended", &at));
                };
                let (value, values) = (found.value.clone(), found.values);
                self.copied += found.bytes;
                if self.copied > self.limits.bytes {
                    let limit = self.limits.bytes;
                    return Err(JsonError::TooLarge { limit });
                }
                self.count(values)?;
                // It may stand deep within another value, and what it stands for may be deep.
                if self.open.len() + depth(&value, self.limits.depth) > self.limits.depth {
                    return Err(self.too_deep(&at));
                }
                self.put(value, 0, values);
                Ok(())
            }
            Event::SequenceStart(anchor, _) => self.begin(Container::List(Vec::new()), anchor, &at),
            Event::MappingStart(anchor, _) => {
                self.begin(Container::Mapping(Map::new(), None), anchor, &at)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop().expect("the parser ends only what began");
                let values = self.values - open.before;
                let value = match open.kind {
                    Container::List(list) => Value::Array(list),
                    Container::Mapping(map, _) => Value::Object(map),
                };
                self.put(value, open.anchor, values);
                Ok(())
            }
            Event::DocumentStart(_) if self.result.is_some() => {
                Err(syntax("more than one document", &at))
            }
            _ => Ok(()),
        }
    }

    fn awaits_key(&self) -> bool {
        matches!(
            self.open.last().map(|open| &open.kind),
            Some(Container::Mapping(_, None))
        )
    }

    fn key(&mut self, text: &str, at: &Marker) -> Result<(), JsonError> {
        let Some(Container::Mapping(map, key)) = self.open.last_mut().map(|open| &mut open.kind)
        else {
            return Ok(());
        };
        if map.contains_key(text) {
            return Err(JsonError::DuplicateKey {
                key: text.chars().take(80).collect(),
                line: at.line(),
                column: at.col() + 1,
            });
        }
        *key = Some(text.to_owned());
        Ok(())
    }

    fn begin(&mut self, kind: Container, anchor: usize, at: &Marker) -> Result<(), JsonError> {
        if self.awaits_key() {
            return Err(syntax("a key that is a list or a mapping", at));
        }
        if self.open.len() >= self.limits.depth {
            return Err(self.too_deep(at));
        }
        let before = self.values;
        self.count(1)?;
        self.open.push(Open {
            anchor,
            before,
            kind,
        });
        Ok(())
    }

    fn count(&mut self, values: usize) -> Result<(), JsonError> {
        self.values = self.values.saturating_add(values);
        if self.values > self.limits.values {
            let limit = self.limits.values;
            return Err(JsonError::TooMany { limit });
        }
        Ok(())
    }

    fn too_deep(&self, at: &Marker) -> JsonError {
        JsonError::TooDeep {
            limit: self.limits.depth,
            line: at.line(),
            column: at.col() + 1,
        }
    }

    fn put(&mut self, value: Value, anchor: usize, values: usize) {
        if anchor > 0 {
            self.anchors.insert(
                anchor,
                Anchored {
                    bytes: size(&value),
                    value: value.clone(),
                    values,
                },
            );
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.result = Some(value),
            Some(Container::List(list)) => list.push(value),
            Some(Container::Mapping(map, key)) => {
                let key = key.take().expect("a value follows its key");
                map.insert(key, value);
            }
        }
    }
}

/// How deep a value is; nobody asks beyond `limit`, which bounds what is ever built.
fn depth(value: &Value, limit: usize) -> usize {
    if limit == 0 {
        return 1;
    }
    match value {
        Value::Array(list) => {
            1 + list
                .iter()
                .map(|one| depth(one, limit - 1))
                .max()
                .unwrap_or(0)
        }
        Value::Object(map) => {
            1 + map
                .values()
                .map(|one| depth(one, limit - 1))
                .max()
                .unwrap_or(0)
        }
        _ => 0,
    }
}

/// About how many bytes a value takes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 8,
        Value::Array(list) => 8 + list.iter().map(size).sum::<usize>(),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| key.len() + size(value));
            8 + fields.sum::<usize>()
        }
        _ => 8,
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text => number(text).map_or_else(|| Value::from(text), Value::Number),
    }
}

/// A number of the core schema; what JSON cannot say (`.inf`) stays text.
fn number(text: &str) -> Option<Number> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_number = digits.chars().all(|c| c.is_digit(radix));
            let number = u64::from_str_radix(digits, radix).ok();
            return number.filter(|_| is_number).map(Number::from);
        }
    }
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (if text.starts_with('-') { "-" } else { "" }, rest),
        None => ("", text),
    };
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = digits.trim_start_matches('0');
        let digits = if digits.is_empty() { "0" } else { digits };
        return format!("{sign}{digits}").parse().ok();
    }
    let is_float = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let number: f64 = text.parse().ok().filter(|_| is_float)?;
    Number::from_f64(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fmt::Write as _;

    fn read(text: &str) -> Result<Value, JsonError> {
        parse_limited(text.as_bytes(), Limits::INPUT)
    }

    #[test]
    fn reads_what_checkpoints_are_written_in() {
        let text = "# a remark\nid: CP-1\ncount: 007\nratio: 0.5\nwhen: 2025-12-28T21:00:00Z\nno: no\nnone: ~\n\
            flag: true\nquoted: '5'\ntagged: !!str 5\ntext: |\n  a\n  b\nfolded: >-\n  c\n  d\nlist:\n- 1\n- {a: [x, y]}\nempty: {}\n";
        assert_eq!(
            read(text).unwrap(),
            json!({
                "id": "CP-1", "count": 7, "ratio": 0.5, "when": "2025-12-28T21:00:00Z", "no": "no", "none": null,
                "flag": true, "quoted": "5", "tagged": "5", "text": "a\nb\n", "folded": "c d",
                "list": [1, {"a": ["x", "y"]}], "empty": {}
            })
        );
        assert_eq!(read("").unwrap(), Value::Null);
        let numbers =
            read("[-12, +3, 0x1F, 0o17, .5, 1., .inf, 12345678901234567890123, 1.2.3, e5, 1-2]")
                .unwrap();
        assert_eq!(
            serde_json::to_string(&numbers).unwrap(),
            r#"[-12,3,31,15,0.5,1.0,".inf",12345678901234567890123,"1.2.3","e5","1-2"]"#
        );
    }

    #[test]
    fn an_alias_stands_for_a_value_and_counts_as_such() {
        assert_eq!(
            read("a: &x {k: [1, 2]}\nb: *x\n").unwrap(),
            json!({"a": {"k": [1, 2]}, "b": {"k": [1, 2]}})
        );
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for nth in 1..12 {
            let aliases = vec![format!("*a{}", nth - 1); 10].join(", ");
            let _ = writeln!(bomb, "a{nth}: &a{nth} [{aliases}]");
        }
        assert!(matches!(read(&bomb), Err(JsonError::TooMany { .. })));
        let long = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(1 << 16),
            "*a, ".repeat(1000)
        );
        assert!(matches!(read(&long), Err(JsonError::TooLarge { .. })));
        assert!(read("a: *nobody\n").is_err());
        assert!(read("a: &a [*a]\n").is_err());
    }

    #[test]
    fn depth_size_and_number_are_bounded() {
        let deep = "[".repeat(200_000);
        assert!(read(&deep).is_err());
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert!(matches!(read(&deep), Err(JsonError::TooDeep { .. })));
        let mut nested = "a0: &a0 [x]\n".to_owned();
        for nth in 1..200 {
            let _ = writeln!(nested, "a{nth}: &a{nth} [*a{}]", nth - 1);
        }
        assert!(matches!(read(&nested), Err(JsonError::TooDeep { .. })));
        let huge = vec![b'a'; Limits::INPUT.bytes + 1];
        assert!(matches!(
            parse_limited(&huge, Limits::INPUT),
            Err(JsonError::TooLarge { .. })
        ));
        let many = "- 1\n".repeat((1 << 20) + 1);
        assert!(matches!(read(&many), Err(JsonError::TooMany { .. })));
    }

    #[test]
    fn what_is_not_one_document_of_plain_keys_is_refused() {
        for text in [
            "a: 1\na: 2\n",
            "? [a]\n: 1\n",
            "a: [1\n",
            "--- a\n--- b\n",
            "a: b: c\n",
            "\"\\q\"\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(parse_limited(b"a: \xff", Limits::INPUT).is_err());
    }
}
