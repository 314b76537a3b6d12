//! Counting without a patch, where any way to compare the lines comes to the same numbers.
//!
//! git's search for the shortest way from one content to the other takes short cuts: it passes over lines that are
//! repeated often, and gives up on contents that have little in common. Where neither can happen the way it finds is the
//! shortest there is, and how many lines come and go on the shortest way is a property of the contents alone.

use std::collections::HashMap;

use super::LineCounts;

/// More lines than this are left to the full comparison.
const MOST_LINES: usize = 20_000;
/// So many lines may come and go; git takes no short cut before it has looked for 256 in both directions.
const MOST_CHANGES: usize = 200;
/// git passes over a line that is repeated more often than this, however long the content is.
const MOST_TWINS: usize = 1000;

/// Counts, or leaves it to the full comparison.
pub(super) fn count(old: &[u8], new: &[u8]) -> Option<LineCounts> {
    let (old, new) = (split(old), split(new));
    if old.len().max(new.len()) > MOST_LINES {
        return None;
    }
    let numbered = Numbered::of(&old, &new)?;
    let (old, new) = (&numbered.old[..], &numbered.new[..]);
    let changes = shortest(old, new)?;
    // What the new content is longer, so many more lines come than go.
    let removed = (changes + old.len() - new.len()) / 2;
    Some(LineCounts {
        added: (changes - removed) as u64,
        removed: removed as u64,
    })
}

fn split(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The lines between a common beginning and a common end, each as a number that stands for its text.
struct Numbered {
    old: Vec<u32>,
    new: Vec<u32>,
}

impl Numbered {
    /// Numbers them; `None` where git might pass over one because it is repeated often.
    fn of<'c>(old: &[&'c [u8]], new: &[&'c [u8]]) -> Option<Self> {
        let mut numbers: HashMap<&'c [u8], u32> = HashMap::with_capacity(old.len() + new.len());
        // How often each number occurs in the old and in the new content.
        let mut counts: Vec<[usize; 2]> = Vec::with_capacity(old.len() + new.len());
        let mut number = |lines: &[&'c [u8]], side: usize| -> Vec<u32> {
            let numbers = lines.iter().map(|line| {
                let next = u32::try_from(counts.len()).unwrap_or(u32::MAX);
                let number = *numbers.entry(*line).or_insert(next);
                if number == next {
                    counts.push([0, 0]);
                }
                counts[number as usize][side] += 1;
                number
            });
            numbers.collect()
        };
        let (old, new) = (number(old, 0), number(new, 1));
        let (limit_old, limit_new) = (limit(old.len()), limit(new.len()));
        let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let (old, new) = (&old[start..], &new[start..]);
        let ends = old.iter().rev().zip(new.iter().rev());
        let end = ends.take_while(|(a, b)| a == b).count();
        let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
        let few = |lines: &[u32], other: usize, limit: usize| {
            lines
                .iter()
                .all(|number| counts[*number as usize][other] <= limit)
        };
        (few(old, 1, limit_old) && few(new, 0, limit_new)).then(|| Self {
            old: old.to_vec(),
            new: new.to_vec(),
        })
    }
}

/// How often a line of a content of so many lines may occur on the other side and is surely not passed over.
fn limit(lines: usize) -> usize {
    lines.isqrt().min(MOST_TWINS)
}

/// How many lines come and go on the shortest way, unless there are too many.
fn shortest(old: &[u32], new: &[u32]) -> Option<usize> {
    // How far along the old lines one gets on each diagonal (old minus new) with so many changes.
    let mut reach = vec![0_usize; 2 * MOST_CHANGES + 3];
    let middle = MOST_CHANGES + 1;
    for changes in 0..=MOST_CHANGES {
        for step in 0..=changes {
            // The diagonal, moved up so that none is negative.
            let at = middle + 2 * step - changes;
            let mut x = if step == 0 || (step != changes && reach[at - 1] < reach[at + 1]) {
                reach[at + 1]
            } else {
                reach[at - 1] + 1
            };
            let mut y = x + middle - at;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[at] = x;
            if x >= old.len() && y >= new.len() {
                return Some(changes);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::compared;
    use super::*;

    /// Some lines of many or few kinds, and the same with a few lines changed.
    fn pairs() -> impl Strategy<Value = (String, String)> {
        let kinds = prop_oneof![1..4_u32, 1..40_u32, 1..2000_u32];
        let lines = kinds.prop_flat_map(|kinds| prop::collection::vec(0..kinds, 1..160));
        let edits =
            prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, 0..50_u32), 0..25);
        (lines, edits, any::<[bool; 2]>()).prop_map(|(lines, edits, ended)| {
            let mut edited = lines.clone();
            for (place, kind, line) in edits {
                let at = place.index(edited.len() + 1);
                match kind {
                    0 => edited.insert(at, line),
                    1 if at < edited.len() => edited[at] = line,
                    _ if at < edited.len() => drop(edited.remove(at)),
                    _ => {}
                }
            }
            let text = |lines: &[u32], is_ended: bool| {
                let text: Vec<String> = lines.iter().map(|line| format!("line {line}")).collect();
                text.join("\n") + if is_ended { "\n" } else { "" }
            };
            (text(&lines, ended[0]), text(&edited, ended[1]))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn counts_what_the_full_comparison_counts((old, new) in pairs()) {
            if let Some(counts) = count(old.as_bytes(), new.as_bytes()) {
                let full = compared(old.as_bytes(), new.as_bytes()).unwrap();
                prop_assert_eq!(counts, full);
            }
        }
    }

    #[test]
    fn leaves_to_the_full_comparison_what_git_may_cut_short() {
        let many = |range: std::ops::Range<u32>| -> String {
            let lines: Vec<String> = range.map(|line| format!("{line}\n")).collect();
            lines.concat()
        };
        let counts = |old: &str, new: &str| {
            let counts = count(old.as_bytes(), new.as_bytes())?;
            Some((counts.added, counts.removed))
        };
        assert_eq!(counts("a\nb\nc\n", "a\nc\nd\n"), Some((1, 1)));
        assert_eq!(counts("a\n", "a"), Some((1, 1)));
        assert_eq!(counts("a\n", "b\na\n"), Some((1, 0)));
        assert_eq!(counts(&many(0..100), &many(100..200)), Some((100, 100)));
        assert_eq!(counts(&many(0..101), &many(200..300)), None);
        let repeated = "}\n".repeat(50);
        assert_eq!(
            counts(
                &format!("a\n}}\nb\n{repeated}"),
                &format!("c\n}}\nd\n{repeated}")
            ),
            None
        );
    }
}
