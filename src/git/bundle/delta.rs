//! Applying a delta: copies from a base, and new bytes, within the sizes that it claims.

use super::BundleError;

/// The largest object that is stored as a delta; git and libgit2 store larger ones whole.
pub(super) const MAX_DELTA_OBJECT: u64 = 512 << 20;

const DAMAGED: BundleError = BundleError::Pack("a delta is damaged");

/// The size of the base and of the result, and what follows them.
fn sizes(delta: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (base, rest) = size(delta)?;
    let (result, rest) = size(rest)?;
    Some((base, result, rest))
}

fn size(mut bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut size = 0;
    for shift in (0..63).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        size |= u64::from(first & 0x7f) << shift;
        bytes = rest;
        if first & 0x80 == 0 {
            return Some((size, bytes));
        }
    }
    None
}

/// What a delta makes of a base.
pub(in crate::git) fn apply(base: &[u8], delta: &[u8]) -> Result<Vec<u8>, BundleError> {
    let (base_size, result_size, mut rest) = sizes(delta).ok_or(DAMAGED)?;
    if base_size != base.len() as u64 {
        return Err(BundleError::Pack("a delta is for another base"));
    }
    if result_size > MAX_DELTA_OBJECT {
        return Err(BundleError::TooLarge {
            size: result_size,
            limit: MAX_DELTA_OBJECT,
        });
    }
    let wanted = usize::try_from(result_size).map_err(|_| DAMAGED)?;
    // Grown as it is filled: a claim alone costs nothing.
    let mut result = Vec::new();
    while let Some((&op, after)) = rest.split_first() {
        rest = after;
        let part = if op & 0x80 != 0 {
            let mut number = |bits: u8, count: u32| {
                let mut value = 0_usize;
                for nth in 0..count {
                    if bits >> nth & 1 != 0 {
                        let (first, after) = rest.split_first()?;
                        value |= usize::from(*first) << (8 * nth);
                        rest = after;
                    }
                }
                Some(value)
            };
            let offset = number(op & 0x0f, 4).ok_or(DAMAGED)?;
            let length = number(op >> 4 & 0x07, 3).ok_or(DAMAGED)?;
            let length = if length == 0 { 0x1_0000 } else { length };
            base.get(offset..offset + length).ok_or(DAMAGED)?
        } else {
            let length = usize::from(op);
            if length == 0 || rest.len() < length {
                return Err(DAMAGED);
            }
            let (part, after) = rest.split_at(length);
            rest = after;
            part
        };
        if result.len() + part.len() > wanted {
            return Err(DAMAGED);
        }
        result.extend_from_slice(part);
    }
    if result.len() == wanted {
        Ok(result)
    } else {
        Err(DAMAGED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn copies_and_inserts() {
        let base = b"hello, world";
        let delta = [12, 9, 0x90, 5, 4, b' ', b'y', b'o', b'u'];
        assert_eq!(apply(base, &delta).unwrap(), b"hello you");
        let mut moved = vec![12, 5];
        moved.extend([0x91, 7, 5]);
        assert_eq!(apply(base, &moved).unwrap(), b"world");
        for cut in 0..delta.len() {
            assert!(apply(base, &delta[..cut]).is_err());
        }
        assert!(apply(b"short", &delta).is_err());
        assert!(apply(base, &[12, 5, 0x91, 8, 5]).is_err());
        assert!(apply(base, &[12, 5, 0]).is_err());
        let claim = [12, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert!(matches!(
            apply(base, &claim),
            Err(BundleError::TooLarge { .. })
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_delta_or_refused(base: Vec<u8>, mut delta: Vec<u8>) {
            if let Some(first) = delta.first_mut() {
                *first = u8::try_from(base.len() % 128).unwrap();
            }
            let _ = apply(&base, &delta);
        }
    }
}
