//! Trees read by path, each object once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::git::Error;
use crate::git::diff::ReadTree;
use crate::git::node::{Entry, push};
use crate::git::tree::{Mode, TreeEntry, decode, entry_order};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// A reader of trees that remembers.
pub(super) struct Trees<'a> {
    format: ObjectFormat,
    read: &'a ReadTree<'a>,
    known: RefCell<HashMap<ObjectId, Rc<Vec<u8>>>>,
}

/// Called for a path with what two trees have there.
type Visit<'v> = dyn FnMut(&[u8], Option<Entry>, Option<Entry>) + 'v;

impl<'a> Trees<'a> {
    pub fn new(format: ObjectFormat, read: &'a ReadTree<'a>) -> Self {
        Self {
            format,
            read,
            known: RefCell::default(),
        }
    }

    fn bytes(&self, id: ObjectId) -> Result<Rc<Vec<u8>>, Error> {
        if let Some(bytes) = self.known.borrow().get(&id) {
            return Ok(bytes.clone());
        }
        let bytes = Rc::new((self.read)(&id)?);
        self.known.borrow_mut().insert(id, bytes.clone());
        Ok(bytes)
    }

    /// What a tree has at a path.
    pub fn find(&self, tree: ObjectId, path: &[u8]) -> Result<Option<Entry>, Error> {
        let mut at = tree;
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let bytes = self.bytes(at)?;
            let entries = decode(self.format, &bytes)?;
            let Some(entry) = entries.iter().find(|entry| entry.name == part) else {
                return Ok(None);
            };
            if parts.peek().is_none() {
                let (mode, id) = (entry.mode, entry.id);
                return Ok(Some(Entry { mode, id }));
            }
            if entry.mode != Mode::Tree {
                return Ok(None);
            }
            at = entry.id;
        }
        Ok(None)
    }

    /// Calls `visit` for every path that is no directory.
    pub fn each(
        &self,
        tree: ObjectId,
        path: &mut Vec<u8>,
        visit: &mut dyn FnMut(&[u8], Entry),
        enter: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        let bytes = self.bytes(tree)?;
        for TreeEntry { mode, name, id } in decode(self.format, &bytes)? {
            let length = push(path, name);
            if mode == Mode::Tree {
                enter(path);
                self.each(id, path, visit, enter)?;
            } else {
                visit(path, Entry { mode, id });
            }
            path.truncate(length);
        }
        Ok(())
    }

    /// Calls `visit` for every path at which two trees differ. Equal subtrees are not read.
    pub fn differ(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        path: &mut Vec<u8>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        if old == new {
            return Ok(());
        }
        let bytes = |id: Option<ObjectId>| match id {
            Some(id) => self.bytes(id),
            None => Ok(Rc::default()),
        };
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
            let x = (order.is_le()).then(|| a[0]);
            let y = (order.is_ge()).then(|| b[0]);
            let name = x.or(y).expect("one of them is there").name;
            let length = push(path, name);
            let subtree =
                |entry: Option<TreeEntry<'_>>| entry.filter(|e| e.mode == Mode::Tree).map(|e| e.id);
            if subtree(x).is_some() || subtree(y).is_some() {
                self.differ(subtree(x), subtree(y), path, visit)?;
            } else {
                let plain = |entry: Option<TreeEntry<'_>>| {
                    entry.map(|TreeEntry { mode, id, .. }| Entry { mode, id })
                };
                if plain(x) != plain(y) {
                    visit(path, plain(x), plain(y));
                }
            }
            path.truncate(length);
            a = &a[usize::from(x.is_some())..];
            b = &b[usize::from(y.is_some())..];
        }
    }
}
