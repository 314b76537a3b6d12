//! Lower-case hexadecimal text, without allocating: a long manifest holds tens of thousands of digests.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Fills `raw` from `text`, which must be exactly twice as long; `None` for anything else, upper case included.
pub(super) fn decode(text: &str, raw: &mut [u8]) -> Option<()> {
    let text = text.as_bytes();
    if text.len() != raw.len() * 2 {
        return None;
    }
    for (byte, pair) in raw.iter_mut().zip(text.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(())
}

/// Writes `raw` as text into `buffer` and gives the part used.
pub(super) fn encode<'b>(raw: &[u8], buffer: &'b mut [u8; 64]) -> &'b str {
    for (pair, byte) in buffer.chunks_exact_mut(2).zip(raw) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    std::str::from_utf8(&buffer[..raw.len() * 2]).expect("hexadecimal digits are ASCII")
}
