//! The user's commits between two points of their history, in both directions.

use std::collections::{BinaryHeap, HashMap};

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::git::Error;
use crate::git::backend::Backend;
use crate::git::hash::Kind;
use crate::model::object_id::ObjectId;
use crate::model::timestamp;

/// A commit in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// The commit.
    pub id: ObjectId,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it.
    pub author: String,
    /// When it was committed.
    #[serde(with = "timestamp")]
    pub at: DateTime<Utc>,
}

/// The commits between two points.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Between {
    /// Those that only the new point has, newest first.
    pub added: Vec<Commit>,
    /// Those that only the old point has, newest first.
    pub removed: Vec<Commit>,
}

const OLD: u8 = 1;
const NEW: u8 = 2;
const BOTH: u8 = OLD | NEW;

struct Node {
    commit: Commit,
    parents: Vec<ObjectId>,
    seen_from: u8,
    /// When it was found: after its first child.
    order: usize,
}

/// Finds what each of two points has and the other one lacks. Where a shallow clone ends, history ends.
///
/// # Errors
/// When a commit cannot be read.
pub fn between(
    backend: &dyn Backend,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Between, Error> {
    if old == new {
        return Ok(Between::default());
    }
    let mut nodes: HashMap<ObjectId, Node> = HashMap::new();
    let mut queue: BinaryHeap<(DateTime<Utc>, ObjectId)> = BinaryHeap::new();
    let starts = [(old, OLD), (new, NEW)];
    for (id, side) in starts {
        if let Some(id) = id {
            mark(backend, &mut nodes, &mut queue, id, side)?;
        }
    }
    // As long as one side alone knows something that waits, the other may still meet it.
    while queue
        .iter()
        .any(|(_, id)| nodes.get(id).is_some_and(|node| node.seen_from != BOTH))
    {
        let Some((_, id)) = queue.pop() else { break };
        let Some(node) = nodes.get(&id) else { continue };
        let (parents, side) = (node.parents.clone(), node.seen_from);
        for parent in parents {
            mark(backend, &mut nodes, &mut queue, parent, side)?;
        }
    }
    let mut found = Between::default();
    let mut nodes: Vec<Node> = nodes.into_values().collect();
    nodes.sort_unstable_by_key(|node| (std::cmp::Reverse(node.commit.at), node.order));
    for node in nodes {
        match node.seen_from {
            OLD => found.removed.push(node.commit),
            NEW => found.added.push(node.commit),
            _ => {}
        }
    }
    Ok(found)
}

fn mark(
    backend: &dyn Backend,
    nodes: &mut HashMap<ObjectId, Node>,
    queue: &mut BinaryHeap<(DateTime<Utc>, ObjectId)>,
    id: ObjectId,
    side: u8,
) -> Result<(), Error> {
    if !nodes.contains_key(&id) {
        let Some(mut node) = read(backend, id)? else {
            return Ok(());
        };
        node.order = nodes.len();
        nodes.insert(id, node);
    }
    let Some(node) = nodes.get_mut(&id) else {
        return Ok(());
    };
    if node.seen_from | side != node.seen_from {
        node.seen_from |= side;
        queue.push((node.commit.at, id));
    }
    Ok(())
}

fn read(backend: &dyn Backend, id: ObjectId) -> Result<Option<Node>, Error> {
    let object = backend.read(&id)?;
    let Some(object) = object.filter(|object| object.kind == Kind::Commit) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&object.bytes);
    let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut parents = Vec::new();
    let (mut author, mut at) = (String::new(), DateTime::UNIX_EPOCH);
    for line in head.lines() {
        match line.split_once(' ') {
            Some(("parent", parent)) => parents.extend(ObjectId::parse(parent)),
            Some(("author", who)) => {
                let name = who.split(" <").next().unwrap_or_default();
                name.clone_into(&mut author);
            }
            Some(("committer", who)) => {
                let seconds = who.rsplit(' ').nth(1).and_then(|text| text.parse().ok());
                let time = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
                at = time.unwrap_or(DateTime::UNIX_EPOCH);
            }
            _ => {}
        }
    }
    Ok(Some(Node {
        commit: Commit {
            id,
            subject: message.lines().next().unwrap_or_default().to_owned(),
            author,
            at,
        },
        parents,
        seen_from: 0,
        order: 0,
    }))
}
