//! How much of one content is in another, measured as git measures it: what git calls a rename depends on it.
//!
//! A content is cut into pieces that end with a line or after 64 bytes. Each piece counts with its length under a small
//! hash; what both contents have under the same hash is taken to be the same.

/// git's hashes are below this prime.
const BASE: u32 = 107_927;
/// The longest piece.
const LONGEST: u32 = 64;
/// The score of equal contents.
pub(in crate::git::diff) const MAX_SCORE: u32 = 60_000;
/// From this score on git calls it a rename.
pub(in crate::git::diff) const DEFAULT_SCORE: u32 = 30_000;
/// The score that a file must have to be taken for the only one of the same name.
pub(in crate::git::diff) const NAMESAKE_SCORE: u32 =
    DEFAULT_SCORE + (MAX_SCORE - DEFAULT_SCORE) / 2;

/// The pieces of a content: bytes by hash, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git::diff) struct Pieces {
    counts: Vec<(u32, u64)>,
    size: u64,
}

impl Pieces {
    /// Cuts a content; in text, a carriage return before a line feed does not count.
    pub fn of(content: &[u8], is_text: bool) -> Self {
        let mut cut = Vec::with_capacity(content.len() / 32 + 1);
        let (mut high, mut low, mut length) = (0_u32, 0_u32, 0_u32);
        let mut rest = content.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            if is_text && byte == b'\r' && rest.peek() == Some(&b'\n') {
                continue;
            }
            let before = high;
            high = (high << 7) ^ (low >> 25);
            low = (low << 7) ^ (before >> 25);
            high = high.wrapping_add(u32::from(byte));
            length += 1;
            if length == LONGEST || byte == b'\n' {
                cut.push((hash(high, low), u64::from(length)));
                (high, low, length) = (0, 0, 0);
            }
        }
        if length > 0 {
            cut.push((hash(high, low), u64::from(length)));
        }
        cut.sort_unstable_by_key(|(hash, _)| *hash);
        cut.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self {
            counts: cut,
            size: content.len() as u64,
        }
    }

    /// How many bytes of this content are in the other one.
    fn copied(&self, other: &Self) -> u64 {
        let (mut a, mut b) = (self.counts.as_slice(), other.counts.as_slice());
        let mut copied = 0;
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            match x.0.cmp(&y.0) {
                std::cmp::Ordering::Less => a = &a[1..],
                std::cmp::Ordering::Greater => b = &b[1..],
                std::cmp::Ordering::Equal => {
                    copied += x.1.min(y.1);
                    (a, b) = (&a[1..], &b[1..]);
                }
            }
        }
        copied
    }

    /// The score of two contents.
    pub fn score(&self, other: &Self) -> u32 {
        let larger = self.size.max(other.size);
        if larger == 0 || other.size == 0 {
            return 0;
        }
        let score = self.copied(other) * u64::from(MAX_SCORE) / larger;
        u32::try_from(score).unwrap_or(MAX_SCORE)
    }
}

fn hash(high: u32, low: u32) -> u32 {
    high.wrapping_add(low.wrapping_mul(0x61)) % BASE
}

/// Whether two contents of these sizes can reach a score at all.
pub(in crate::git::diff) fn can_reach(score: u32, a: u64, b: u64) -> bool {
    let (larger, difference) = (u128::from(a.max(b)), u128::from(a.abs_diff(b)));
    larger * u128::from(MAX_SCORE - score) >= difference * u128::from(MAX_SCORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_contents_have_the_highest_score() {
        let text = "one\ntwo\r\nthree".repeat(50);
        let pieces = Pieces::of(text.as_bytes(), true);
        assert!(pieces.score(&pieces) > MAX_SCORE * 9 / 10);
        let unix = text.replace('\r', "");
        let same = Pieces::of(unix.as_bytes(), true);
        assert_eq!(pieces.counts, same.counts);
        assert_ne!(
            pieces.counts,
            Pieces::of(text.as_bytes(), false).counts,
            "binary content counts every byte"
        );
        assert_eq!(Pieces::of(b"", true).score(&pieces), 0);
        assert_eq!(pieces.score(&Pieces::of(b"", true)), 0);
    }

    #[test]
    fn sizes_that_differ_too_much_are_not_looked_at() {
        assert!(can_reach(DEFAULT_SCORE, 100, 50));
        assert!(!can_reach(DEFAULT_SCORE, 100, 49));
        assert!(can_reach(NAMESAKE_SCORE, 100, 75));
        assert!(!can_reach(NAMESAKE_SCORE, 74, 100));
        assert!(!can_reach(DEFAULT_SCORE, 0, 1));
    }
}
