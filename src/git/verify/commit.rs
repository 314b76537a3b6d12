//! A checkpoint's commit, taken apart: its tree, HEAD's commit, and the sidecar with the record.

use crate::git::backend::Backend;
use crate::git::hash::Kind;
use crate::git::reachable::read;
use crate::git::tree::decode;
use crate::model::finding::Flaw;
use crate::model::object_id::ObjectId;

/// What a commit names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// Its tree.
    pub tree: ObjectId,
    /// Its parents, in order.
    pub parents: Vec<ObjectId>,
}

impl Links {
    /// Reads a commit's header.
    pub(in crate::git) fn parse(bytes: &[u8]) -> Option<Self> {
        let id = |line: &[u8]| ObjectId::parse(std::str::from_utf8(line).ok()?).ok();
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let tree = id(lines.next()?.strip_prefix(b"tree ")?)?;
        let mut parents = Vec::new();
        for line in lines {
            let Some(parent) = line.strip_prefix(b"parent ") else {
                break;
            };
            parents.push(id(parent)?);
        }
        Some(Self { tree, parents })
    }

    /// A checkpoint's parents: HEAD's commit, where there was one, and the sidecar.
    pub(in crate::git) fn head_and_sidecar(&self) -> (Option<ObjectId>, Option<ObjectId>) {
        match self.parents[..] {
            [sidecar] => (None, Some(sidecar)),
            [head, sidecar] => (Some(head), Some(sidecar)),
            _ => (None, None),
        }
    }
}

/// A checkpoint's commit and sidecar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointCommit {
    /// The files.
    pub tree: ObjectId,
    /// HEAD's commit.
    pub head: Option<ObjectId>,
    /// The index as a tree.
    pub staged: Option<ObjectId>,
    /// The bytes of `record.json`.
    pub record: Vec<u8>,
}

impl CheckpointCommit {
    /// Reads them; a record of more than `limit` bytes is refused.
    ///
    /// # Errors
    /// When one of the objects is broken, or the commit is not one that a checkpoint makes.
    pub fn read(backend: &dyn Backend, commit: &ObjectId, limit: usize) -> Result<Self, Flaw> {
        let foreign = || Flaw::Unreadable {
            reason: "it is not the commit of a checkpoint".to_owned(),
        };
        let links = |id: &ObjectId| {
            let bytes = read(backend, id, Kind::Commit)?;
            Links::parse(&bytes).ok_or_else(foreign)
        };
        let top = links(commit)?;
        let (head, sidecar) = top.head_and_sidecar();
        let side = links(&sidecar.ok_or_else(foreign)?)?;
        let bytes = read(backend, &side.tree, Kind::Tree)?;
        let entries = decode(backend.format(), &bytes).map_err(|error| Flaw::unreadable(&error))?;
        let find = |name: &[u8]| {
            let found = entries.iter().find(|entry| entry.name == name);
            found.map(|entry| entry.id)
        };
        let record = find(b"record.json").ok_or_else(foreign)?;
        let length = backend.size(&record).unwrap_or(0);
        if usize::try_from(length).unwrap_or(usize::MAX) > limit {
            return Err(Flaw::Unreadable {
                reason: format!("its record.json is larger than {limit} bytes"),
            });
        }
        Ok(Self {
            tree: top.tree,
            head,
            staged: find(b"staged"),
            record: read(backend, &record, Kind::Blob)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_and_anything_else_is_refused() {
        let id = "1".repeat(40);
        let text = format!("tree {id}\nparent {id}\nparent {id}\nauthor a\n\nparent {id}\n");
        let links = Links::parse(text.as_bytes()).unwrap();
        assert_eq!(links.parents.len(), 2);
        assert_eq!(links.head_and_sidecar().1, Some(links.tree));
        for text in ["", "tree", "tree x\n", &format!("tree {id}\nparent \n")] {
            assert_eq!(Links::parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
