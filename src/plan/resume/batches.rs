//! An execution graph of a workflow: the state of each node, and the batches that are left, computed anew.
//!
//! Graphs are written in several ways: a list of nodes, an object of nodes by id, either below `nodes`, and edges apart
//! or as each node's dependencies. All of them are read; what cannot be read as a node is left out.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value};

/// Where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// Its work is done, or not needed.
    Done,
    /// It was being worked on.
    Running,
    /// It failed.
    Failed,
    /// It waits.
    Waiting,
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its name.
    pub id: String,
    /// Its state in the graph's own word; empty when it says none.
    pub status: String,
    /// What that means.
    pub state: NodeState,
    /// The nodes that have to be done before it.
    pub depends_on: Vec<String>,
}

/// A node that no batch can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocked {
    /// The node.
    pub id: String,
    /// What it waits for in vain: failed, unknown, itself blocked, or in a circle with it.
    pub waits_for: Vec<String>,
}

/// What is left of an execution graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Execution {
    /// Every node, in the graph's order.
    pub nodes: Vec<Node>,
    /// What can be run, batch after batch: all that a batch needs is done or in the batches before it. What was running
    /// is run again.
    pub batches: Vec<Vec<String>>,
    /// The nodes that were being worked on.
    pub in_flight: Vec<String>,
    /// The nodes that failed.
    pub failed: Vec<String>,
    /// The nodes that cannot be reached.
    pub blocked: Vec<Blocked>,
}

impl Execution {
    /// Reads a graph and computes what is left of it.
    #[must_use]
    pub fn of(graph: &Value) -> Self {
        let nodes = read(graph);
        let of_state = |state: NodeState| -> Vec<String> {
            let nodes = nodes.iter().filter(|node| node.state == state);
            nodes.map(|node| node.id.clone()).collect()
        };
        let (in_flight, failed) = (of_state(NodeState::Running), of_state(NodeState::Failed));
        let mut open = Open::of(&nodes);
        let mut batches = Vec::new();
        while let Some(batch) = open.next_batch() {
            let names = batch.into_iter().map(|nth| nodes[nth].id.clone());
            batches.push(names.collect());
        }
        let blocked = open.rest().map(|(nth, waits_for)| Blocked {
            id: nodes[nth].id.clone(),
            waits_for: waits_for.into_iter().map(str::to_owned).collect(),
        });
        let blocked = blocked.collect();
        Self {
            nodes,
            batches,
            in_flight,
            failed,
            blocked,
        }
    }

    /// Whether every node is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.nodes.iter().all(|node| node.state == NodeState::Done)
    }
}

/// The nodes that are not done, each with what it still waits for. Every edge is looked at once.
struct Open<'n> {
    nodes: &'n [Node],
    /// What each waits for; none for those that are done, failed, or in a batch.
    waits_for: Vec<Option<BTreeSet<&'n str>>>,
    /// Who waits for each name.
    waiting: HashMap<&'n str, Vec<usize>>,
    ready: Vec<usize>,
}

impl<'n> Open<'n> {
    fn of(nodes: &'n [Node]) -> Self {
        let is_done = |node: &&Node| node.state == NodeState::Done;
        let done: HashSet<&str> = nodes.iter().filter(is_done).map(|node| &*node.id).collect();
        let mut open = Self {
            nodes,
            waits_for: Vec::with_capacity(nodes.len()),
            waiting: HashMap::new(),
            ready: Vec::new(),
        };
        for (nth, node) in nodes.iter().enumerate() {
            if !matches!(node.state, NodeState::Waiting | NodeState::Running) {
                open.waits_for.push(None);
                continue;
            }
            let needed = node.depends_on.iter().map(String::as_str);
            let needed: BTreeSet<&str> = needed.filter(|id| !done.contains(id)).collect();
            for id in &needed {
                open.waiting.entry(id).or_default().push(nth);
            }
            if needed.is_empty() {
                open.ready.push(nth);
            }
            open.waits_for.push(Some(needed));
        }
        open
    }

    /// What can run now; it counts as done from here on.
    fn next_batch(&mut self) -> Option<Vec<usize>> {
        let batch = std::mem::take(&mut self.ready);
        for nth in &batch {
            self.waits_for[*nth] = None;
            let id = self.nodes[*nth].id.as_str();
            for follower in self.waiting.remove(id).unwrap_or_default() {
                if let Some(needed) = &mut self.waits_for[follower] {
                    needed.remove(id);
                    if needed.is_empty() {
                        self.ready.push(follower);
                    }
                }
            }
        }
        self.ready.sort_unstable();
        (!batch.is_empty()).then_some(batch)
    }

    /// What never became ready.
    fn rest(self) -> impl Iterator<Item = (usize, BTreeSet<&'n str>)> {
        let all = self.waits_for.into_iter().enumerate();
        all.filter_map(|(nth, needed)| Some((nth, needed?)))
    }
}

/// The nodes, each once, with what they depend on.
fn read(graph: &Value) -> Vec<Node> {
    let inner = graph.get("nodes").unwrap_or(graph);
    let mut nodes: Vec<Node> = match inner {
        Value::Array(list) => list.iter().filter_map(|value| node(None, value)).collect(),
        Value::Object(map) => {
            let named = map.iter().filter(|(name, _)| *name != "edges");
            named
                .filter_map(|(name, value)| node(Some(name), value))
                .collect()
        }
        _ => Vec::new(),
    };
    let mut known = HashSet::new();
    nodes.retain(|node| known.insert(node.id.clone()));
    let mut needed: HashMap<String, BTreeSet<String>> = HashMap::new();
    for (from, to) in graph.get("edges").map(edges).unwrap_or_default() {
        needed.entry(to).or_default().insert(from);
    }
    for node in &mut nodes {
        let mut all = needed.remove(&node.id).unwrap_or_default();
        all.extend(std::mem::take(&mut node.depends_on));
        node.depends_on = all.into_iter().collect();
    }
    nodes
}

fn node(name: Option<&str>, value: &Value) -> Option<Node> {
    let map = match value {
        Value::Object(map) => map,
        // A node that is nothing but its name, or by its name nothing but its state.
        Value::String(_) | Value::Null => &Map::new(),
        _ => return None,
    };
    let text = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| map.get(*name));
        values.find_map(name_of)
    };
    let id = text(&["id", "name", "task"])
        .or_else(|| name.map(str::to_owned))
        .or_else(|| name_of(value))?;
    let status = match (name, value) {
        (Some(_), Value::String(status)) => status.clone(),
        _ => text(&["status", "state"]).unwrap_or_default(),
    };
    let depends_on = ["depends_on", "dependencies", "deps", "needs"];
    let depends_on = depends_on
        .iter()
        .find_map(|name| map.get(*name)?.as_array());
    let depends_on: BTreeSet<String> = depends_on
        .into_iter()
        .flatten()
        .filter_map(name_of)
        .collect();
    Some(Node {
        state: state_of(&status),
        id,
        status,
        depends_on: depends_on.into_iter().collect(),
    })
}

/// A name as text or number.
fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn edges(value: &Value) -> Vec<(String, String)> {
    let pair = |edge: &Value| match edge {
        Value::Array(ends) => match ends.as_slice() {
            [from, to] => Some((name_of(from)?, name_of(to)?)),
            _ => None,
        },
        edge => {
            let end = |names: [&str; 2]| {
                let mut values = names.iter().filter_map(|name| edge.get(*name));
                values.find_map(name_of)
            };
            Some((end(["from", "source"])?, end(["to", "target"])?))
        }
    };
    let list = value.as_array();
    list.into_iter().flatten().filter_map(pair).collect()
}

/// What the word for a node's state means; a word that nobody knows means that it waits.
fn state_of(status: &str) -> NodeState {
    let word = status.to_lowercase().replace(['-', ' '], "_");
    match word.as_str() {
        "done" | "complete" | "completed" | "success" | "succeeded" | "finished" | "passed"
        | "merged" | "skipped" | "cancelled" | "canceled" => NodeState::Done,
        "running" | "in_progress" | "active" | "started" | "working" | "implementing"
        | "assigned" => NodeState::Running,
        "failed" | "failure" | "error" | "errored" | "rejected" | "aborted" => NodeState::Failed,
        _ => NodeState::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_way_to_write_a_graph_gives_the_same_batches() {
        let by_list = json!([
            {"id": "a", "status": "completed"},
            {"id": "b", "status": "running", "depends_on": ["a"]},
            {"id": "c", "depends_on": ["a"]},
            {"id": "d", "status": "pending", "depends_on": ["b", "c"]},
        ]);
        let by_name = json!({
            "a": "done",
            "b": {"state": "In-Progress", "deps": ["a"]},
            "c": {"dependencies": ["a"]},
            "d": {"needs": ["b", "c"]},
        });
        let by_edges = json!({
            "nodes": [{"id": "a", "status": "done"}, {"id": "b", "status": "active"}, "c", "d"],
            "edges": [["a", "b"], {"from": "a", "to": "c"}, {"source": "b", "target": "d"}, ["c", "d"], ["b", "d"]],
        });
        let within = json!({"nodes": by_name.clone()});
        for graph in [&by_list, &by_name, &by_edges, &within] {
            let left = Execution::of(graph);
            assert_eq!(left.batches, [vec!["b", "c"], vec!["d"]], "{graph}");
            assert_eq!(left.in_flight, ["b"], "{graph}");
            assert_eq!((left.failed.len(), left.blocked.len()), (0, 0), "{graph}");
            assert!(!left.is_done());
        }
    }

    #[test]
    fn what_failed_is_unknown_or_circular_blocks_what_needs_it() {
        let graph = json!([
            {"id": 1, "status": "failed"},
            {"id": 2, "depends_on": [1]},
            {"id": 3, "depends_on": [2]},
            {"id": 4, "depends_on": ["nobody"]},
            {"id": 5, "depends_on": [6]},
            {"id": 6, "depends_on": [5]},
            {"id": 7, "depends_on": [7]},
            {"id": 8},
            {"id": 8, "depends_on": [1]},
        ]);
        let left = Execution::of(&graph);
        assert_eq!(left.batches, [["8"]]);
        assert_eq!(left.failed, ["1"]);
        let blocked: Vec<String> = left
            .blocked
            .iter()
            .map(|node| format!("{} for {}", node.id, node.waits_for.join(" ")))
            .collect();
        assert_eq!(
            blocked,
            [
                "2 for 1",
                "3 for 2",
                "4 for nobody",
                "5 for 6",
                "6 for 5",
                "7 for 7"
            ]
        );
    }

    #[test]
    fn a_long_chain_takes_no_longer_than_reading_it() {
        let chain: Vec<Value> = (1..100_000)
            .map(|nth| json!({"id": nth, "depends_on": [nth - 1]}))
            .chain([json!({"id": 0})])
            .collect();
        let left = Execution::of(&Value::Array(chain));
        assert_eq!((left.batches.len(), left.blocked.len()), (100_000, 0));
        assert_eq!(left.batches[99_999], ["99999"]);
    }

    #[test]
    fn what_is_no_graph_has_no_nodes() {
        for graph in [
            json!(null),
            json!(3),
            json!("x"),
            json!([[1], 2.5, true, {}]),
            json!({"nodes": 1}),
        ] {
            let left = Execution::of(&graph);
            assert_eq!(left.batches, [[""; 0]; 0], "{graph}");
        }
        assert!(Execution::of(&json!([{"id": "a", "status": "skipped"}])).is_done());
    }
}
