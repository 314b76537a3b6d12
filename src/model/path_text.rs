//! Paths of a repository as JSON text, whatever their bytes.
//!
//! A path that is UTF-8 and holds no control character, `"` or `\` stands for itself. Any other is written as git
//! writes it: in double quotes, with `\t`, `\n`, `\"`, `\\` and the like, and bytes that are not UTF-8 as three octal
//! digits. Both directions are exact, so nothing is lost and no two paths share a text.

/// Text that quotes no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a quoted path: {0:?}")]
pub struct UnquoteError(String);

const ESCAPES: [(u8, u8); 9] = [
    (b'\x07', b'a'),
    (b'\x08', b'b'),
    (b'\t', b't'),
    (b'\n', b'n'),
    (b'\x0b', b'v'),
    (b'\x0c', b'f'),
    (b'\r', b'r'),
    (b'"', b'"'),
    (b'\\', b'\\'),
];

fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != 0x7f && byte != b'"' && byte != b'\\'
}

/// The text of a path.
#[must_use]
pub fn quote_path(path: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(path)
        && path.iter().copied().all(is_plain)
    {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for chunk in path.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match u8::try_from(letter) {
                Ok(byte) if byte.is_ascii() && !is_plain(byte) => escape(byte, &mut out),
                _ => out.push(letter),
            }
        }
        chunk
            .invalid()
            .iter()
            .for_each(|&byte| escape(byte, &mut out));
    }
    out.push('"');
    out
}

fn escape(byte: u8, out: &mut String) {
    out.push('\\');
    match ESCAPES.iter().find(|(raw, _)| *raw == byte) {
        Some((_, letter)) => out.push(char::from(*letter)),
        None => {
            for shift in [6, 3, 0] {
                out.push(char::from(b'0' + (byte >> shift & 7)));
            }
        }
    }
}

/// The path that a text stands for.
///
/// # Errors
/// When the text begins with `"` but is no complete quotation, or escapes anything in a way that
/// [`quote_path`] does not know.
pub fn unquote_path(text: &str) -> Result<Vec<u8>, UnquoteError> {
    if !text.starts_with('"') {
        return Ok(text.as_bytes().to_vec());
    }
    unquote(text.as_bytes()).ok_or_else(|| UnquoteError(text.chars().take(80).collect()))
}

fn unquote(text: &[u8]) -> Option<Vec<u8>> {
    let mut inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut path = Vec::with_capacity(inner.len());
    while let Some((&byte, rest)) = inner.split_first() {
        if byte != b'\\' {
            if !is_plain(byte) {
                return None;
            }
            path.push(byte);
            inner = rest;
            continue;
        }
        let (&letter, after) = rest.split_first()?;
        if let Some((raw, _)) = ESCAPES.iter().find(|(_, known)| *known == letter) {
            path.push(*raw);
            inner = after;
        } else {
            let (digits, after) = rest.split_first_chunk::<3>()?;
            if digits[0] > b'3' || !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
                return None;
            }
            path.push(
                digits
                    .iter()
                    .fold(0, |sum, digit| sum << 3 | (digit - b'0')),
            );
            inner = after;
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_only_when_needed() {
        let cases: [(&[u8], &str); 8] = [
            (b"docs/spec.md", "docs/spec.md"),
            ("naïve \u{202e}.md".as_bytes(), "naïve \u{202e}.md"),
            (b"a\nb", r#""a\nb""#),
            (b"\"q\"", r#""\"q\"""#),
            (b"back\\slash", r#""back\\slash""#),
            (b"caf\xe9", r#""caf\351""#),
            ("ü\u{1b}[31m".as_bytes(), r#""ü\033[31m""#),
            (b"\x7f", r#""\177""#),
        ];
        for (path, text) in cases {
            assert_eq!(quote_path(path), text);
            assert_eq!(unquote_path(text).unwrap(), path);
        }
    }

    #[test]
    fn refuses_what_it_would_not_write() {
        for text in [
            "\"",
            "\"a",
            "\"a\"b\"",
            r#""\""#,
            r#""\x""#,
            r#""\12""#,
            r#""\400""#,
            r#""\18""#,
            "\"\n\"",
        ] {
            assert!(unquote_path(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trips(path: Vec<u8>) {
            prop_assert_eq!(unquote_path(&quote_path(&path)).unwrap(), path);
        }
    }
}
