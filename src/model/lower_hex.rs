//! Lower-case hexadecimal text, without allocating: a long manifest holds tens of thousands of digests.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The value of each digit; anything else has bits that no value has.
const VALUES: [u8; 256] = {
    let mut values = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Fills `raw` from `text`, which must be exactly twice as long; `None` for anything else, upper case included.
pub(super) fn decode(text: &str, raw: &mut [u8]) -> Option<()> {
    let text = text.as_bytes();
    if text.len() != raw.len() * 2 {
        return None;
    }
    let mut seen = 0;
    for (byte, pair) in raw.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = [pair[0], pair[1]].map(|digit| VALUES[usize::from(digit)]);
        seen |= high | low;
        *byte = high << 4 | low;
    }
    (seen < 16).then_some(())
}

/// Writes `raw` as text into `buffer` and gives the part used.
pub(super) fn encode<'b>(raw: &[u8], buffer: &'b mut [u8; 64]) -> &'b str {
    let used = &mut buffer[..raw.len() * 2];
    hex::encode_to_slice(raw, used).expect("two digits for each byte");
    std::str::from_utf8(used).expect("hexadecimal digits are ASCII")
}
