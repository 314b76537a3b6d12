//! The known word that is most like one that is not known.

/// Finds the candidate nearest to `word`, unless none is near.
///
/// A key that sits in the wrong section, or in none, counts as near, and so does one that was cut short.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = leaf(word).chars().count() / 3 + 1;
    let measure = |candidate: &'a str| {
        let moved = distance(leaf(word), leaf(candidate)) + 1;
        let cut_short = if word.len() >= 3 && candidate.starts_with(word) {
            limit
        } else {
            usize::MAX
        };
        (
            distance(word, candidate).min(moved).min(cut_short),
            candidate,
        )
    };
    let measured = candidates.into_iter().map(measure);
    let (distance, candidate) = measured.min_by_key(|&(distance, _)| distance)?;
    (distance <= limit).then_some(candidate)
}

/// The last part of a dotted key.
fn leaf(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// How many letters must be added, dropped or changed to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let changed = diagonal + usize::from(letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typos_and_misplaced_keys_but_not_strangers() {
        let keys = [
            "capture.max_file_mb",
            "capture.exclude",
            "retention.max_size_mb",
            "lock.timeout_seconds",
        ];
        assert_eq!(
            nearest("capture.max_file_mbs", keys),
            Some("capture.max_file_mb")
        );
        assert_eq!(nearest("capture.exlude", keys), Some("capture.exclude"));
        assert_eq!(nearest("max_file_mb", keys), Some("capture.max_file_mb"));
        assert_eq!(
            nearest("retention.timeout_seconds", keys),
            Some("lock.timeout_seconds")
        );
        assert_eq!(nearest("capture.colour", keys), None);
        assert_eq!(nearest("", []), None);
    }
}
