//! Commit objects, and trees made from lists of paths.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Error;
use super::hash::Kind;
use super::node::Entry;
use super::open::Repo;
use super::pack::PackWriter;
use super::snapshot::Signature;
use super::tree::{self, Mode, TreeEntry};
use crate::model::object_id::ObjectId;

/// The tree of a commit.
///
/// # Errors
/// When the commit cannot be read.
pub fn tree_of(repo: &Repo, commit: &ObjectId) -> Result<ObjectId, Error> {
    let damaged = || Error::Damaged {
        what: format!("commit {commit}"),
    };
    let object = repo
        .backend
        .read(commit)?
        .filter(|object| object.kind == Kind::Commit)
        .ok_or_else(damaged)?;
    let line = object
        .bytes
        .split(|byte| *byte == b'\n')
        .next()
        .and_then(|line| line.strip_prefix(b"tree "));
    let text = line
        .and_then(|line| std::str::from_utf8(line).ok())
        .ok_or_else(damaged)?;
    ObjectId::parse(text).map_err(|_| damaged())
}

/// A commit's bytes.
pub(super) fn encode_commit(
    tree: ObjectId,
    parents: &[ObjectId],
    signature: &Signature,
    at: DateTime<Utc>,
    message: &str,
) -> Vec<u8> {
    use std::fmt::Write as _;
    let mut text = format!("tree {tree}\n");
    for parent in parents {
        writeln!(text, "parent {parent}").expect("writing to a string");
    }
    for role in ["author", "committer"] {
        let Signature { name, email } = signature;
        writeln!(
            text,
            "{role} {name} <{email}> {} +0000",
            at.timestamp().max(0)
        )
        .expect("writing to a string");
    }
    text.push('\n');
    text.push_str(message);
    text.into_bytes()
}

/// Stores a value as readable JSON.
pub(super) fn add_json(pack: &PackWriter, value: &impl Serialize) -> Result<ObjectId, Error> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("plain values with text keys");
    bytes.push(b'\n');
    pack.add(Kind::Blob, &bytes)
}

/// Writes trees for a list of paths.
pub(super) fn write_paths(
    pack: &PackWriter,
    paths: &[(Vec<u8>, Entry)],
) -> Result<ObjectId, Error> {
    let mut files = Vec::new();
    let mut dirs: std::collections::BTreeMap<&[u8], Vec<(Vec<u8>, Entry)>> =
        std::collections::BTreeMap::new();
    for (path, entry) in paths {
        match path.iter().position(|byte| *byte == b'/') {
            Some(slash) => dirs
                .entry(&path[..slash])
                .or_default()
                .push((path[slash + 1..].to_vec(), *entry)),
            None => files.push(TreeEntry {
                mode: entry.mode,
                name: path,
                id: entry.id,
            }),
        }
    }
    for (name, below) in &dirs {
        files.push(TreeEntry {
            mode: Mode::Tree,
            name,
            id: write_paths(pack, below)?,
        });
    }
    pack.add(Kind::Tree, &tree::encode(&mut files))
}
