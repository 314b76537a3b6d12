//! A checkpoint under another session's name: new commits around the same trees.
//!
//! The sidecar holds the record, and the record names its session, so the sidecar and the checkpoint commit are made
//! anew; files, index and history are shared with the old ones.

use super::inspect::Inspected;
use crate::git::Error;
use crate::git::hash::Kind;
use crate::git::pack::PackWriter;
use crate::git::tree::{self, Mode, TreeEntry};
use crate::model::SessionId;
use crate::model::object_id::ObjectId;

/// Adds a checkpoint like `old` to a pack, with another record in its sidecar and another session in its message.
///
/// # Errors
/// When the pack cannot be written.
pub fn rename(
    pack: &PackWriter,
    old: &Inspected,
    record_json: &[u8],
    from: &SessionId,
    to: &SessionId,
) -> Result<ObjectId, Error> {
    let record = pack.add(Kind::Blob, record_json)?;
    let mut entries = tree::decode(pack.format(), &old.sidecar_tree.1)?;
    for entry in &mut entries {
        if entry.name == b"record.json" {
            *entry = TreeEntry {
                mode: Mode::File,
                id: record,
                ..*entry
            };
        }
    }
    let sidecar_tree = pack.add(Kind::Tree, &tree::encode(&mut entries))?;
    let line = |word: &str, id: &ObjectId| format!("{word} {id}\n").into_bytes();
    let sidecar = replace_first(
        &old.sidecar.1,
        &line("tree", &old.sidecar_tree.0),
        &line("tree", &sidecar_tree),
    );
    let sidecar = pack.add(Kind::Commit, &sidecar)?;
    let commit = replace_first(
        &old.commit,
        &line("parent", &old.sidecar.0),
        &line("parent", &sidecar),
    );
    let trailer = |session: &SessionId| format!("\nSession: {session}\n").into_bytes();
    // Trailers come last, and a description may look like one.
    let commit = replace_last(&commit, &trailer(from), &trailer(to));
    pack.add(Kind::Commit, &commit)
}

/// The bytes with the first occurrence of `from` as `to`; as they are when there is none.
fn replace_first(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|part| part == from);
    replace_at(bytes, at, from.len(), to)
}

/// The same for the last occurrence.
fn replace_last(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).rposition(|part| part == from);
    replace_at(bytes, at, from.len(), to)
}

fn replace_at(bytes: &[u8], at: Option<usize>, length: usize, to: &[u8]) -> Vec<u8> {
    match at {
        Some(at) => [&bytes[..at], to, &bytes[at + length..]].concat(),
        None => bytes.to_vec(),
    }
}
