//! One object as a change of another: the copies and insertions that packs store in place of similar content.

/// Bytes that must agree before a copy is thought of.
const BLOCK: usize = 16;
/// The longest copy that one instruction holds without its third size byte, which old readers do not know.
const MAX_COPY: usize = 0xffff;
/// The longest insertion that one instruction holds.
const MAX_INSERT: usize = 0x7f;

/// A base whose blocks can be looked up.
pub(super) struct Base {
    bytes: Vec<u8>,
    /// Where a block begins, plus one, by the upper bits of its hash; 0 where there is none.
    table: Vec<u32>,
    shift: u32,
}

impl Base {
    pub fn new(bytes: Vec<u8>) -> Self {
        let blocks = bytes.len() / BLOCK;
        let bits = (blocks * 2).next_power_of_two().max(16).ilog2();
        let shift = u64::BITS - bits;
        let mut table = vec![0; 1 << bits];
        // From the end, so that of equal blocks the first one stays.
        for at in (0..blocks).rev().map(|block| block * BLOCK) {
            let slot = slot(&bytes[at..], shift);
            table[slot] = u32::try_from(at + 1).unwrap_or(0);
        }
        Self {
            bytes,
            table,
            shift,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The delta that makes `target`; none when it would be longer than `limit`.
    pub fn delta(&self, target: &[u8], limit: usize) -> Option<Vec<u8>> {
        let mut delta = Vec::with_capacity(limit.min(256));
        push_size(&mut delta, self.bytes.len());
        push_size(&mut delta, target.len());
        // What lies before `done` is in the delta; what lies between `done` and `at` has not been found in the base.
        let (mut done, mut at) = (0, 0);
        while at + BLOCK <= target.len() {
            let Some((from, start, length)) = self.longest(target, done, at) else {
                at += 1;
                if delta.len() + at - done > limit {
                    return None;
                }
                continue;
            };
            push_insert(&mut delta, &target[done..start]);
            push_copy(&mut delta, from, length);
            done = start + length;
            at = done;
            if delta.len() > limit {
                return None;
            }
        }
        push_insert(&mut delta, &target[done..]);
        (delta.len() <= limit).then_some(delta)
    }

    /// The bytes around `at` that the base has too: where there, where here, how many. None before `done` are taken.
    fn longest(&self, target: &[u8], done: usize, at: usize) -> Option<(usize, usize, usize)> {
        let from = self.table[slot(&target[at..], self.shift)] as usize;
        let from = from.checked_sub(1)?;
        if self.bytes[from..from + BLOCK] != target[at..at + BLOCK] {
            return None;
        }
        let equal = |(a, b): &(&u8, &u8)| a == b;
        let before = self.bytes[..from]
            .iter()
            .rev()
            .zip(target[done..at].iter().rev())
            .take_while(equal)
            .count();
        let after = self.bytes[from..]
            .iter()
            .zip(&target[at..])
            .take_while(equal)
            .count();
        Some((from - before, at - before, before + after))
    }
}

fn slot(block: &[u8], shift: u32) -> usize {
    let half = |at: usize| {
        let bytes = block[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes)
    };
    let mixed =
        (half(0).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ half(8)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    usize::try_from(mixed >> shift).expect("a table fits in memory")
}

/// Seven bits a byte, the lowest first.
fn push_size(delta: &mut Vec<u8>, mut size: usize) {
    while size > 0x7f {
        delta.push(low_bits(size) | 0x80);
        size >>= 7;
    }
    delta.push(low_bits(size));
}

/// The lowest seven bits.
fn low_bits(number: usize) -> u8 {
    u8::try_from(number & 0x7f).expect("seven bits fit in a byte")
}

fn push_insert(delta: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.chunks(MAX_INSERT) {
        delta.push(low_bits(chunk.len()));
        delta.extend_from_slice(chunk);
    }
}

/// Offset and size, of which only the bytes that are not zero are stored.
fn push_copy(delta: &mut Vec<u8>, mut from: usize, mut length: usize) {
    while length > 0 {
        let part = length.min(MAX_COPY);
        let head = delta.len();
        delta.push(0x80);
        let bytes = from.to_le_bytes()[..4]
            .iter()
            .chain(&part.to_le_bytes()[..2])
            .copied()
            .collect::<Vec<u8>>();
        for (bit, byte) in bytes.into_iter().enumerate().filter(|(_, byte)| *byte != 0) {
            delta[head] |= 1 << bit;
            delta.push(byte);
        }
        from += part;
        length -= part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader of packs makes of a delta.
    fn apply(base: &[u8], delta: &[u8]) -> Vec<u8> {
        let mut rest = delta.iter().copied();
        let mut size = || {
            let (mut value, mut shift) = (0, 0);
            loop {
                let byte = rest.next().unwrap();
                value |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    return value;
                }
            }
        };
        assert_eq!(size(), base.len());
        let length = size();
        let mut made = Vec::new();
        while let Some(head) = rest.next() {
            if head & 0x80 == 0 {
                assert_ne!(head, 0);
                made.extend(rest.by_ref().take(usize::from(head)));
                continue;
            }
            let mut part = |bits: std::ops::Range<u32>| {
                bits.clone().fold(0, |value, bit| {
                    let byte = if head & (1 << bit) == 0 {
                        0
                    } else {
                        rest.next().unwrap()
                    };
                    value | usize::from(byte) << (8 * (bit - bits.start))
                })
            };
            let from = part(0..4);
            let size = part(4..7);
            made.extend_from_slice(&base[from..from + size]);
        }
        assert_eq!(made.len(), length);
        made
    }

    #[test]
    fn a_small_change_makes_a_small_delta() {
        let base: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut target = base.clone();
        target.splice(5000..5003, *b"something else");
        let delta = Base::new(base.clone()).delta(&target, 4000).unwrap();
        assert!(delta.len() < 120, "{}", delta.len());
        assert_eq!(apply(&base, &delta), target);
    }

    #[test]
    fn what_is_not_alike_makes_none() {
        let base = Base::new(b"a text of some length, and then some more".to_vec());
        assert_eq!(base.delta(&[7; 1000], 500), None);
        assert_eq!(base.bytes().len(), 41);
    }

    proptest::proptest! {
        #[test]
        fn a_delta_gives_the_target_back(
            base in proptest::collection::vec(0_u8..3, 0..600),
            cut in 0_usize..600,
            middle in proptest::collection::vec(0_u8..3, 0..200),
            keep in 0_usize..600,
        ) {
            let mut target = base[..cut.min(base.len())].to_vec();
            target.extend_from_slice(&middle);
            target.extend_from_slice(&base[keep.min(base.len())..]);
            let delta = Base::new(base.clone()).delta(&target, 10_000).unwrap();
            proptest::prop_assert_eq!(apply(&base, &delta), target);
        }
    }
}
