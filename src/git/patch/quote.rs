//! Names in patches, quoted as git quotes them by default: all but printable ASCII as three octal digits.

/// The letters of bytes that have one.
const LETTERS: [(u8, u8); 9] = [
    (0x07, b'a'),
    (0x08, b'b'),
    (b'\t', b't'),
    (b'\n', b'n'),
    (0x0b, b'v'),
    (0x0c, b'f'),
    (b'\r', b'r'),
    (b'"', b'"'),
    (b'\\', b'\\'),
];

/// A name, in quotes if it needs them.
#[must_use]
pub fn quoted(name: &[u8]) -> Vec<u8> {
    quoted_with(b"", name)
}

/// A name after a prefix that needs no quotes, together in quotes if the name needs them.
#[must_use]
pub fn quoted_with(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| (b' '..0x7f).contains(byte) && !b"\"\\".contains(byte);
    if name.iter().all(is_plain) {
        return [prefix, name].concat();
    }
    let mut out = vec![b'"'];
    out.extend_from_slice(prefix);
    for byte in name {
        if is_plain(byte) {
            out.push(*byte);
            continue;
        }
        out.push(b'\\');
        match LETTERS.iter().find(|(raw, _)| raw == byte) {
            Some((_, letter)) => out.push(*letter),
            None => out.extend([6, 3, 0].map(|shift| b'0' + (byte >> shift & 7))),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_plain_ascii_is_quoted() {
        for (name, shown) in [
            (&b"plain name"[..], "a/plain name"),
            (b"tab\there", "\"a/tab\\there\""),
            ("na\u{ef}ve".as_bytes(), "\"a/na\\303\\257ve\""),
            (b"\x1b\"\\\x7f\xff", "\"a/\\033\\\"\\\\\\177\\377\""),
        ] {
            assert_eq!(String::from_utf8(quoted_with(b"a/", name)).unwrap(), shown);
        }
        assert_eq!(quoted(b"x"), b"x");
    }
}
