//! The text before the pack: which refs the bundle has.

use std::io::BufRead;

use super::BundleError;
use crate::model::object_id::{ObjectFormat, ObjectId};

/// The name under which a clone finds what to check out.
pub const HEAD: &str = "HEAD";

const SIGNATURE: &[u8] = b"# v2 git bundle\n";
/// The longest line: an id, and a ref of two ids.
const LINE: u64 = 512;

/// A ref and what it points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleRef {
    /// The full name.
    pub name: String,
    /// The commit.
    pub commit: ObjectId,
}

/// The header's bytes.
pub(super) fn encode(refs: &[BundleRef]) -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    for BundleRef { name, commit } in refs {
        out.extend_from_slice(format!("{commit} {name}\n").as_bytes());
    }
    out.push(b'\n');
    out
}

/// Reads a header of at most `most` refs; says how long it is.
pub(super) fn decode(
    input: &mut impl BufRead,
    format: ObjectFormat,
    most: usize,
) -> Result<(Vec<BundleRef>, u64), BundleError> {
    let mut length = 0;
    let mut line = Vec::new();
    let mut next = |input: &mut dyn BufRead, line: &mut Vec<u8>| -> Result<(), BundleError> {
        line.clear();
        let read = std::io::Read::take(&mut *input, LINE).read_until(b'\n', line);
        read.map_err(super::scan::reading)?;
        length += line.len() as u64;
        match line.last() {
            Some(b'\n') => Ok(()),
            _ if (line.len() as u64) < LINE => Err(BundleError::Truncated),
            _ => Err(BundleError::Header("a line is too long")),
        }
    };
    next(input, &mut line)?;
    if line != SIGNATURE {
        return Err(BundleError::Header("it is no bundle of version 2"));
    }
    let mut refs = Vec::new();
    loop {
        next(input, &mut line)?;
        let text = std::str::from_utf8(&line[..line.len() - 1]);
        let text = text.map_err(|_| BundleError::Header("a line is no text"))?;
        if text.is_empty() {
            return Ok((refs, length));
        }
        if text.starts_with('-') {
            return Err(BundleError::Prerequisites);
        }
        let pair = text.split_once(' ');
        let pair = pair.and_then(|(id, name)| Some((ObjectId::parse(id).ok()?, name)));
        let Some((commit, name)) = pair.filter(|(id, _)| id.as_bytes().len() == format.len())
        else {
            return Err(BundleError::Header("a line is not an id and a ref"));
        };
        if refs.len() == most {
            return Err(BundleError::Header("it has too many refs"));
        }
        refs.push(BundleRef {
            name: name.to_owned(),
            commit,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_refuses() {
        let refs = [HEAD, "refs/go-team/s/cp-01"].map(|name| BundleRef {
            name: name.to_owned(),
            commit: ObjectId::from_bytes(&[7; 20]).unwrap(),
        });
        let bytes = encode(&refs);
        let read = |bytes: &[u8], most| decode(&mut &bytes[..], ObjectFormat::Sha1, most);
        assert_eq!(
            read(&bytes, 2).unwrap(),
            (refs.to_vec(), bytes.len() as u64)
        );
        assert!(matches!(read(&bytes, 1), Err(BundleError::Header(_))));
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], 2).is_err(), "{cut}");
        }
        let text = String::from_utf8(bytes).unwrap();
        let changed = |from: &str, to: &str| read(text.replacen(from, to, 1).as_bytes(), 2);
        assert!(matches!(
            changed("0707", "-0707"),
            Err(BundleError::Prerequisites)
        ));
        for (from, to) in [
            ("v2", "v3"),
            ("0707", "07"),
            (" HEAD", "HEAD"),
            ("07", "0G"),
        ] {
            assert!(matches!(changed(from, to), Err(BundleError::Header(_))));
        }
        let long = format!("# v2 git bundle\n{}", "0".repeat(10_000));
        assert!(matches!(
            read(long.as_bytes(), 2),
            Err(BundleError::Header(_))
        ));
    }
}
