//! `working-tree-encoding`: content that git stores as UTF-8. Unicode's own forms are read here by git's rules for
//! their byte order marks; other encodings are gitoxide's.

/// How a file is encoded on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unicode {
    /// Two bytes a unit.
    Utf16(Order),
    /// Four bytes a unit.
    Utf32(Order),
    /// One byte a character.
    Latin1,
}

/// Where the order of bytes is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// From a mark that must be there.
    Marked,
    /// From a mark, or little endian without one.
    MarkedOrLittle,
    /// From the name; there must be no mark.
    Little,
    /// From the name; there must be no mark.
    Big,
}

impl Unicode {
    /// The encoding of that name, if it is one of these.
    pub fn named(name: &[u8]) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        if matches!(
            &*name,
            b"iso-8859-1" | b"iso8859-1" | b"iso_8859-1" | b"latin1" | b"l1"
        ) {
            return Some(Self::Latin1);
        }
        let name = name
            .strip_prefix(b"utf")
            .map(|rest| rest.strip_prefix(b"-").unwrap_or(rest));
        match name {
            Some(b"16") => Some(Self::Utf16(Order::Marked)),
            Some(b"16le-bom") => Some(Self::Utf16(Order::MarkedOrLittle)),
            Some(b"16le") => Some(Self::Utf16(Order::Little)),
            Some(b"16be") => Some(Self::Utf16(Order::Big)),
            Some(b"32") => Some(Self::Utf32(Order::Marked)),
            Some(b"32le") => Some(Self::Utf32(Order::Little)),
            Some(b"32be") => Some(Self::Utf32(Order::Big)),
            _ => None,
        }
    }

    /// The content as UTF-8; none when git would refuse it.
    pub fn decode(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Utf16(order) => {
                let (big, rest) = split_mark(order, bytes, &[0xff, 0xfe], &[0xfe, 0xff])?;
                let (pairs, odd) = rest.as_chunks::<2>();
                let units = pairs.iter().map(|pair| {
                    if big {
                        u16::from_be_bytes(*pair)
                    } else {
                        u16::from_le_bytes(*pair)
                    }
                });
                let text: Result<String, _> = char::decode_utf16(units).collect();
                text.ok().filter(|_| odd.is_empty()).map(String::into_bytes)
            }
            Self::Utf32(order) => {
                let (big, rest) =
                    split_mark(order, bytes, &[0xff, 0xfe, 0, 0], &[0, 0, 0xfe, 0xff])?;
                let (fours, odd) = rest.as_chunks::<4>();
                let units = fours.iter().map(|four| {
                    if big {
                        u32::from_be_bytes(*four)
                    } else {
                        u32::from_le_bytes(*four)
                    }
                });
                let text: Option<String> = units.map(char::from_u32).collect();
                text.filter(|_| odd.is_empty()).map(String::into_bytes)
            }
            Self::Latin1 => Some(
                bytes
                    .iter()
                    .map(|byte| char::from(*byte))
                    .collect::<String>()
                    .into_bytes(),
            ),
        }
    }
}

/// Whether the bytes are big endian, and the bytes without their mark.
fn split_mark<'b>(
    order: Order,
    bytes: &'b [u8],
    little: &[u8],
    big: &[u8],
) -> Option<(bool, &'b [u8])> {
    let is_little = bytes.strip_prefix(little);
    let is_big = bytes.strip_prefix(big);
    let marked = is_little
        .map(|rest| (false, rest))
        .or(is_big.map(|rest| (true, rest)));
    match order {
        Order::Marked => marked,
        Order::MarkedOrLittle => Some(marked.unwrap_or((false, bytes))),
        // The name says the order; git refuses a mark beside it.
        Order::Little => marked.is_none().then_some((false, bytes)),
        Order::Big => marked.is_none().then_some((true, bytes)),
    }
}
