//! Renames and copies, found by the rules that git finds them by: equal contents first, then files of the same name,
//! then whatever is similar enough, the most similar first.

mod search;

use std::collections::HashMap;

use super::attributes::Attributes;
use super::similarity::MAX_SCORE;
use super::source::Source;
use super::{Delta, Item};
use crate::git::Error;
use search::Search;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detect {
    /// Renames, as `git diff` does.
    Renames,
    /// Copies of changed files as well, as `git diff -C` does.
    Copies,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It has other content or another mode.
    Modified,
    /// It became something else: a file a link, say.
    TypeChanged,
    /// It was moved here.
    Renamed,
    /// It was copied from another.
    Copied,
}

impl Status {
    /// git's letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Modified => 'M',
            Self::TypeChanged => 'T',
            Self::Renamed => 'R',
            Self::Copied => 'C',
        }
    }
}

/// A path at one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path.
    pub path: Vec<u8>,
    /// What is there.
    pub item: Item,
}

/// What became of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// What happened.
    pub status: Status,
    /// What was.
    pub old: Option<Place>,
    /// What is.
    pub new: Option<Place>,
    /// Of a rename or copy, how similar they are, in percent.
    pub similarity: Option<u32>,
}

impl Pair {
    /// The path it is listed under.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        let place = self.new.as_ref().or(self.old.as_ref());
        place.map_or(&[], |place| &place.path)
    }
}

/// Joins paths that belong together. The order is git's.
///
/// # Errors
/// When a content that must be compared cannot be read.
pub fn pairs(
    deltas: &[Delta],
    detect: Detect,
    source: &Source<'_>,
    attributes: &mut Attributes,
) -> Result<Vec<Pair>, Error> {
    let mut search = Search::new(deltas, detect, source, attributes);
    if !search.sources.is_empty() && !search.targets.is_empty() {
        search.run()?;
    }
    let Search {
        targets,
        mut sources,
        ..
    } = search;
    let found: HashMap<usize, (usize, u32)> = targets
        .iter()
        .filter_map(|target| Some((target.delta, target.found?)))
        .collect();
    let by_delta: HashMap<usize, usize> = sources
        .iter()
        .enumerate()
        .map(|(place, source)| (source.delta, place))
        .collect();
    let mut out = Vec::with_capacity(deltas.len());
    for (nth, delta) in deltas.iter().enumerate() {
        let place = |item: Option<Item>| {
            let path = delta.path.clone();
            item.map(|item| Place { path, item })
        };
        if let Some((from, score)) = found.get(&nth) {
            let source = &mut sources[*from];
            source.uses -= 1;
            let old = &deltas[source.delta];
            let status = if source.uses > 0 {
                Status::Copied
            } else {
                Status::Renamed
            };
            out.push(Pair {
                status,
                old: old.old.map(|item| Place {
                    path: old.path.clone(),
                    item,
                }),
                new: place(delta.new),
                similarity: Some(score * 100 / MAX_SCORE),
            });
            continue;
        }
        let status = match (delta.old, delta.new) {
            (None, _) => Status::Added,
            (Some(_), None) => {
                let moved = by_delta.get(&nth).map(|place| &sources[*place]);
                if moved.is_some_and(|source| source.used) {
                    continue;
                }
                Status::Deleted
            }
            (Some(old), Some(new)) if is_other_type(&old, &new) => Status::TypeChanged,
            _ => Status::Modified,
        };
        out.push(Pair {
            status,
            old: place(delta.old),
            new: place(delta.new),
            similarity: None,
        });
    }
    Ok(out)
}

/// Whether one is a file and the other a link or a submodule.
#[must_use]
pub fn is_other_type(old: &Item, new: &Item) -> bool {
    old.mode != new.mode && !(old.mode.is_regular() && new.mode.is_regular())
}
