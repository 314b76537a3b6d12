//! The paths that a checkpoint changed: few enough to read, with the totals.

use serde::{Deserialize, Serialize};

use super::path_text::quote_path;

/// The paths that changed since the parent, as [`quote_path`] writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// New paths.
    pub created: Vec<String>,
    /// Paths with other content or another mode.
    pub modified: Vec<String>,
    /// Paths that are gone.
    pub deleted: Vec<String>,
    /// How many there are of each, listed or not.
    pub totals: FileTotals,
    /// Whether the lists are shorter than the totals.
    pub truncated: bool,
}

/// How many paths were created, modified and deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileTotals {
    /// New paths.
    pub created: u64,
    /// Changed paths.
    pub modified: u64,
    /// Removed paths.
    pub deleted: u64,
}

impl Files {
    /// The most paths that a record lists, over all three kinds.
    pub const MAX_LISTED: usize = 1000;

    /// Lists the three kinds, each in its given order; when there are too many, none crowds out another.
    #[must_use]
    pub fn new<P: AsRef<[u8]>>(created: &[P], modified: &[P], deleted: &[P]) -> Self {
        let kinds = [created, modified, deleted];
        let mut shares = [0; 3];
        let mut left = Self::MAX_LISTED;
        let mut order = [0, 1, 2];
        order.sort_by_key(|&kind| kinds[kind].len());
        for (nth, kind) in order.into_iter().enumerate() {
            shares[kind] = kinds[kind].len().min(left / (3 - nth));
            left -= shares[kind];
        }
        let [created, modified, deleted] = [0, 1, 2].map(|kind| {
            let listed = kinds[kind][..shares[kind]].iter();
            listed
                .map(|path| quote_path(path.as_ref()))
                .collect::<Vec<_>>()
        });
        let total = |kind: usize| kinds[kind].len() as u64;
        Self {
            created,
            modified,
            deleted,
            totals: FileTotals {
                created: total(0),
                modified: total(1),
                deleted: total(2),
            },
            truncated: kinds.iter().map(|kind| kind.len()).ne(shares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(count: usize) -> Vec<String> {
        (0..count).map(|nth| format!("{nth:05}")).collect()
    }

    fn listed(files: &Files) -> [usize; 3] {
        [
            files.created.len(),
            files.modified.len(),
            files.deleted.len(),
        ]
    }

    #[test]
    fn lists_all_when_they_fit() {
        let files = Files::new(&paths(998), &paths(0), &paths(2));
        assert_eq!(listed(&files), [998, 0, 2]);
        assert!(!files.truncated);
        let none: [&str; 0] = [];
        assert_eq!(Files::new(&none, &none, &none), Files::default());
    }

    #[test]
    fn no_kind_crowds_out_another() {
        let files = Files::new(&paths(100_000), &paths(5), &paths(2000));
        assert_eq!(listed(&files), [498, 5, 497]);
        assert!(files.truncated);
        assert_eq!(
            files.totals,
            FileTotals {
                created: 100_000,
                modified: 5,
                deleted: 2000
            }
        );
        assert_eq!(files.created[497], "00497");
        assert_eq!(
            listed(&Files::new(&paths(1001), &paths(0), &paths(0))),
            [1000, 0, 0]
        );
        assert!(Files::new(&paths(334), &paths(334), &paths(334)).truncated);
    }

    #[test]
    fn hostile_paths_are_quoted() {
        let none: [&[u8]; 0] = [];
        assert_eq!(
            Files::new(&[&b"\xff"[..]], &none, &none).created,
            ["\"\\377\""]
        );
    }
}
