//! Whether a commit is the checkpoint that a record tells of.

use crate::git::Error;
use crate::git::backend::Object;
use crate::git::hash::Kind;
use crate::git::tree::{self, Mode};
use crate::model::object_id::{ObjectFormat, ObjectId};
use crate::model::record::Record;

use super::objects::{self, CommitLinks};

/// What was found where a checkpoint should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inspection {
    /// The checkpoint.
    Sound(Box<Inspected>),
    /// An object is not there.
    Missing,
    /// Something else.
    Wrong(&'static str),
}

/// The parts of a checkpoint commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// The commit.
    pub(super) commit: Vec<u8>,
    /// The sidecar commit's id and bytes.
    pub(super) sidecar: (ObjectId, Vec<u8>),
    /// The sidecar's tree.
    pub(super) sidecar_tree: (ObjectId, Vec<u8>),
}

/// Compares a checkpoint commit with its record: tree, parents, staged tree, and the record in its sidecar.
///
/// # Errors
/// What `read` fails with.
pub fn inspect<E: From<Error>>(
    format: ObjectFormat,
    record: &Record,
    read: &dyn Fn(&ObjectId) -> Result<Option<Object>, E>,
) -> Result<Inspection, E> {
    use Inspection::{Missing, Wrong};
    let Some(id) = record.git.commit_hash else {
        return Ok(Wrong("the record names no commit"));
    };
    let Some(commit) = read_commit(format, &id, read)? else {
        return Ok(Missing);
    };
    let Some((commit, links)) = commit else {
        return Ok(Wrong("it is no commit"));
    };
    let Some((sidecar, head)) = links.parents.split_last() else {
        return Ok(Wrong("the commit has no sidecar"));
    };
    if Some(links.tree) != record.git.tree || !head.iter().eq(record.git.head.iter()) {
        return Ok(Wrong(
            "the commit has another tree or parent than the record says",
        ));
    }
    let Some(side) = read_commit(format, sidecar, read)? else {
        return Ok(Missing);
    };
    let Some((side, side_links)) = side else {
        return Ok(Wrong("the sidecar is no commit"));
    };
    let Some(tree) = read(&side_links.tree)? else {
        return Ok(Missing);
    };
    let entries = tree::decode(format, &tree.bytes).unwrap_or_default();
    let entry = |name: &[u8], mode: Mode| {
        let mut entries = entries.iter();
        entries.find(|entry| entry.name == name && entry.mode == mode)
    };
    let (Some(told), Some(staged)) = (
        entry(b"record.json", Mode::File),
        entry(b"staged", Mode::Tree),
    ) else {
        return Ok(Wrong("the sidecar is not complete"));
    };
    if Some(staged.id) != record.git.index_tree {
        return Ok(Wrong("the sidecar has another index than the record says"));
    }
    let Some(told) = read(&told.id)? else {
        return Ok(Missing);
    };
    let told = Record::from_sidecar(&told.bytes, id);
    if told.is_ok_and(|told| told.checksum() == record.checksum()) {
        Ok(Inspection::Sound(Box::new(Inspected {
            commit,
            sidecar: (*sidecar, side),
            sidecar_tree: (side_links.tree, tree.bytes),
        })))
    } else {
        Ok(Wrong("the sidecar tells of another record"))
    }
}

type Commit = Option<(Vec<u8>, CommitLinks)>;

/// Reads a commit: `None` when it is not there, `Some(None)` when it is something else.
fn read_commit<E: From<Error>>(
    format: ObjectFormat,
    id: &ObjectId,
    read: &dyn Fn(&ObjectId) -> Result<Option<Object>, E>,
) -> Result<Option<Commit>, E> {
    let Some(object) = read(id)? else {
        return Ok(None);
    };
    let links = Some(&object).filter(|object| object.kind == Kind::Commit);
    let links = links.and_then(|object| objects::links(format, &object.bytes));
    Ok(Some(links.map(|links| (object.bytes, links))))
}
