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

use super::Error;
use super::tree::{Mode, TreeEntry, decode, entry_order};
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
pub type ReadTree<'a> = dyn Fn(&ObjectId) -> Result<Vec<u8>, Error> + 'a;

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
    for delta in deltas(format, read, old, new)? {
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
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Vec<Delta>, Error> {
    let mut found = Vec::new();
    Comparison {
        format,
        read,
        found: &mut found,
        path: Vec::new(),
    }
    .trees(old, new)?;
    Ok(found)
}

struct Comparison<'a> {
    format: ObjectFormat,
    read: &'a ReadTree<'a>,
    found: &'a mut Vec<Delta>,
    path: Vec<u8>,
}

impl Comparison<'_> {
    fn trees(&mut self, old: Option<ObjectId>, new: Option<ObjectId>) -> Result<(), Error> {
        if old == new {
            return Ok(());
        }
        let bytes = |id: Option<ObjectId>| id.map_or(Ok(Vec::new()), |id| (self.read)(&id));
        let (old, new) = (bytes(old)?, bytes(new)?);
        let (old, new) = (decode(self.format, &old)?, decode(self.format, &new)?);
        let (mut a, mut b) = (old.as_slice(), new.as_slice());
        loop {
            let key = |entry: &TreeEntry<'_>| entry.mode == Mode::Tree;
            let order = match (a.first(), b.first()) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(x), Some(y)) => entry_order((x.name, key(x)), (y.name, key(y))),
            };
            if order.is_le() && order.is_ge() {
                let (x, y) = (a[0], b[0]);
                if x.mode == Mode::Tree {
                    self.below(x.name, |this| this.trees(Some(x.id), Some(y.id)))?;
                } else if (x.mode, x.id) != (y.mode, y.id) {
                    self.below(x.name, |this| {
                        this.push(Some(x), Some(y));
                        Ok(())
                    })?;
                }
                (a, b) = (&a[1..], &b[1..]);
            } else if order.is_lt() {
                self.one_sided(a[0], Side::Old)?;
                a = &a[1..];
            } else {
                self.one_sided(b[0], Side::New)?;
                b = &b[1..];
            }
        }
    }

    fn one_sided(&mut self, entry: TreeEntry<'_>, side: Side) -> Result<(), Error> {
        self.below(entry.name, |this| match (entry.mode, side) {
            (Mode::Tree, Side::Old) => this.trees(Some(entry.id), None),
            (Mode::Tree, Side::New) => this.trees(None, Some(entry.id)),
            (_, Side::Old) => {
                this.push(Some(entry), None);
                Ok(())
            }
            (_, Side::New) => {
                this.push(None, Some(entry));
                Ok(())
            }
        })
    }

    fn push(&mut self, old: Option<TreeEntry<'_>>, new: Option<TreeEntry<'_>>) {
        let item = |entry: TreeEntry<'_>| Item {
            mode: entry.mode,
            id: entry.id,
        };
        self.found.push(Delta {
            path: self.path.clone(),
            old: old.map(item),
            new: new.map(item),
        });
    }

    fn below(
        &mut self,
        name: &[u8],
        work: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let length = super::node::push(&mut self.path, name);
        let result = work(self);
        self.path.truncate(length);
        result
    }
}

#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
}
