//! What differs between two trees: paths, then renames and copies, line counts, and the commits in between.

pub mod attributes;
pub mod checkout;
pub mod commits;
pub mod lines;
pub mod measure;
pub mod pathspec;
pub mod rename;
mod similarity;
pub mod source;

use std::cmp::Ordering;

use rayon::prelude::*;

use super::tree::{Mode, TreeEntry, decode, entry_order};
use super::{Error, pool};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// The paths that differ, each list in git's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Only in the new tree.
    pub created: Vec<Vec<u8>>,
    /// In both, with other content or another mode.
    pub modified: Vec<Vec<u8>>,
    /// Only in the old tree.
    pub deleted: Vec<Vec<u8>>,
}

/// What a tree holds for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub mode: Mode,
    /// The object.
    pub id: ObjectId,
}

/// A path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The path.
    pub path: Vec<u8>,
    /// What the old tree holds there.
    pub old: Option<Item>,
    /// What the new tree holds there.
    pub new: Option<Item>,
}

impl Changes {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.modified.is_empty() && self.deleted.is_empty()
    }
}

/// Reads tree objects.
pub type ReadTree<'a> = dyn Fn(&ObjectId) -> Result<Vec<u8>, Error> + Sync + 'a;

/// Who compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The one that asks: for trees that are nearly the same.
    One,
    /// All there are.
    All,
}

/// Compares two trees; none stands for the empty one. Equal subtrees are not read.
///
/// # Errors
/// When a tree cannot be read.
pub fn changes(
    format: ObjectFormat,
    read: &ReadTree<'_>,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Changes, Error> {
    let mut found = Changes::default();
    for delta in deltas(format, read, Threads::One, old, new)? {
        let list = match (delta.old, delta.new) {
            (None, _) => &mut found.created,
            (Some(_), Some(_)) => &mut found.modified,
            (Some(_), None) => &mut found.deleted,
        };
        list.push(delta.path);
    }
    Ok(found)
}

/// Compares two trees; none stands for the empty one. Equal subtrees are not read. Paths are in git's order.
///
/// # Errors
/// When a tree cannot be read.
pub fn deltas(
    format: ObjectFormat,
    read: &ReadTree<'_>,
    threads: Threads,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Vec<Delta>, Error> {
    let comparison = Comparison {
        format,
        read,
        threads,
    };
    match threads {
        Threads::One => comparison.trees(&[], old, new),
        Threads::All => pool::run(|| comparison.trees(&[], old, new)),
    }
}

struct Comparison<'a> {
    format: ObjectFormat,
    read: &'a ReadTree<'a>,
    threads: Threads,
}

/// What two trees have at a name, where they differ.
enum Difference {
    /// A file on one side, or on both.
    File(Delta),
    /// A directory on one side, or on both.
    Directory(Vec<u8>, Option<ObjectId>, Option<ObjectId>),
}

impl Comparison<'_> {
    fn trees(
        &self,
        path: &[u8],
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Vec<Delta>, Error> {
        if old == new {
            return Ok(Vec::new());
        }
        let differences = self.names(path, old, new)?;
        let below = |difference: Difference| match difference {
            Difference::File(delta) => Ok(vec![delta]),
            Difference::Directory(path, old, new) => {
                pool::with_room(&path, || self.trees(&path, old, new))
            }
        };
        let found: Vec<Vec<Delta>> = match self.threads {
            Threads::All if differences.len() > 1 => {
                let all = differences.into_par_iter().map(below);
                all.collect::<Result<_, _>>()?
            }
            _ => {
                let all = differences.into_iter().map(below);
                all.collect::<Result<_, _>>()?
            }
        };
        Ok(found.into_iter().flatten().collect())
    }

    /// The names of two trees side by side.
    fn names(
        &self,
        path: &[u8],
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Vec<Difference>, Error> {
        let bytes = |id: Option<ObjectId>| id.map_or(Ok(Vec::new()), |id| (self.read)(&id));
        let (old, new) = (bytes(old)?, bytes(new)?);
        let (old, new) = (decode(self.format, &old)?, decode(self.format, &new)?);
        let (mut a, mut b) = (old.as_slice(), new.as_slice());
        let mut found = Vec::new();
        loop {
            let key = |entry: &TreeEntry<'_>| entry.mode == Mode::Tree;
            let order = match (a.first(), b.first()) {
                (None, None) => return Ok(found),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(x), Some(y)) => entry_order((x.name, key(x)), (y.name, key(y))),
            };
            let x = a.first().filter(|_| order.is_le());
            let y = b.first().filter(|_| order.is_ge());
            (a, b) = (
                &a[usize::from(x.is_some())..],
                &b[usize::from(y.is_some())..],
            );
            if x.map(|x| (x.mode, x.id)) != y.map(|y| (y.mode, y.id)) {
                found.push(difference(path, x, y));
            }
        }
    }
}

/// What two entries of one name, or one alone, say.
fn difference(path: &[u8], x: Option<&TreeEntry<'_>>, y: Option<&TreeEntry<'_>>) -> Difference {
    let entry = x.or(y).expect("a name that one of the trees has");
    let mut path = path.to_vec();
    super::node::push(&mut path, entry.name);
    if entry.mode == Mode::Tree {
        return Difference::Directory(path, x.map(|x| x.id), y.map(|y| y.id));
    }
    let item = |entry: &TreeEntry<'_>| Item {
        mode: entry.mode,
        id: entry.id,
    };
    Difference::File(Delta {
        path,
        old: x.map(item),
        new: y.map(item),
    })
}
