//! What changed between two JSON values: a list of changes by path that, applied to the old value, gives the new one.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// Lists longer than this are compared item by item instead of being aligned.
const MAX_ALIGNED: usize = 1 << 20;

/// A step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Key {
    /// A field of an object.
    Field(String),
    /// A place in a list, from 0: of what was added, its place in the new list; of anything else, in the old one.
    Item(usize),
}

/// The way to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct JsonPath(pub Vec<Key>);

impl fmt::Display for JsonPath {
    /// Dotted, as `go-team state get` takes it; a name that would be misread is in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, key) in self.0.iter().enumerate() {
            if nth > 0 {
                f.write_str(".")?;
            }
            match key {
                Key::Item(place) => write!(f, "{place}")?,
                Key::Field(name) if is_plain(name) => f.write_str(name)?,
                Key::Field(name) => write!(f, "{}", Value::from(name.as_str()))?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['.', '"', ' ', '\\'])
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Where.
    pub path: JsonPath,
    /// What.
    #[serde(flatten)]
    pub kind: ChangeKind,
}

/// What happened to a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added {
        /// The value.
        new: Value,
    },
    /// It is gone.
    Removed {
        /// The value.
        old: Value,
    },
    /// It is another one.
    Changed {
        /// What it was.
        old: Value,
        /// What it is.
        new: Value,
    },
}

/// Compares two objects. Changes are ordered by path.
#[must_use]
pub fn compare(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Change> {
    let mut comparison = Comparison::default();
    comparison.objects(old, new);
    comparison.found
}

/// Compares two values.
#[must_use]
pub fn compare_values(old: &Value, new: &Value) -> Vec<Change> {
    let mut comparison = Comparison::default();
    comparison.values(old, new);
    comparison.found
}

#[derive(Default)]
struct Comparison {
    path: Vec<Key>,
    found: Vec<Change>,
}

impl Comparison {
    fn push(&mut self, kind: ChangeKind) {
        let path = JsonPath(self.path.clone());
        self.found.push(Change { path, kind });
    }

    fn at(&mut self, key: Key, work: impl FnOnce(&mut Self)) {
        self.path.push(key);
        work(self);
        self.path.pop();
    }

    fn values(&mut self, old: &Value, new: &Value) {
        match (old, new) {
            (old, new) if old == new => {}
            (Value::Object(old), Value::Object(new)) => self.objects(old, new),
            (Value::Array(old), Value::Array(new)) => self.lists(old, new),
            (old, new) => {
                let (old, new) = (old.clone(), new.clone());
                self.push(ChangeKind::Changed { old, new });
            }
        }
    }

    fn objects(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let key = Key::Field(name.clone());
            self.at(key, |this| match (old.get(name), new.get(name)) {
                (Some(old), Some(new)) => this.values(old, new),
                (Some(old), None) => this.push(ChangeKind::Removed { old: old.clone() }),
                (None, Some(new)) => this.push(ChangeKind::Added { new: new.clone() }),
                (None, None) => {}
            });
        }
    }

    fn lists(&mut self, old: &[Value], new: &[Value]) {
        let mut gap = (0, 0);
        for (a, b) in aligned(old, new)
            .into_iter()
            .chain([(old.len(), new.len())])
        {
            self.gap(old, new, gap, (a, b));
            gap = (a + 1, b + 1);
        }
    }

    /// What lies between two items that both lists have: pairs of items as far as there are two, then the rest.
    fn gap(&mut self, old: &[Value], new: &[Value], from: (usize, usize), to: (usize, usize)) {
        let both = (to.0 - from.0).min(to.1 - from.1);
        for nth in 0..both {
            let (a, b) = (&old[from.0 + nth], &new[from.1 + nth]);
            self.at(Key::Item(from.0 + nth), |this| this.values(a, b));
        }
        for place in from.0 + both..to.0 {
            let old = old[place].clone();
            self.at(Key::Item(place), |this| {
                this.push(ChangeKind::Removed { old });
            });
        }
        for place in from.1 + both..to.1 {
            let new = new[place].clone();
            self.at(Key::Item(place), |this| {
                this.push(ChangeKind::Added { new });
            });
        }
    }
}

/// The longest row of items that both lists have, as pairs of places.
fn aligned(old: &[Value], new: &[Value]) -> Vec<(usize, usize)> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (a, b) = (
        &old_rest[..old_rest.len() - end],
        &new_rest[..new_rest.len() - end],
    );
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|nth| (nth, nth)).collect();
    if a.len().saturating_mul(b.len()) <= MAX_ALIGNED {
        // How long a common row the rests have, for each pair of places.
        let width = b.len() + 1;
        let mut longest = vec![0_u32; (a.len() + 1) * width];
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                longest[i * width + j] = if a[i] == b[j] {
                    longest[(i + 1) * width + j + 1] + 1
                } else {
                    longest[(i + 1) * width + j].max(longest[i * width + j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                pairs.push((start + i, start + j));
                (i, j) = (i + 1, j + 1);
            } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    pairs.extend((0..end).map(|nth| (old.len() - end + nth, new.len() - end + nth)));
    pairs
}

/// A change that does not fit the value it is applied to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no place {path} to change")]
pub struct Misfit {
    /// Where.
    pub path: String,
}

/// Applies changes to the value that they were made from.
///
/// # Errors
/// When a path leads nowhere.
pub fn apply(old: &Value, changes: &[Change]) -> Result<Value, Misfit> {
    let steps: Vec<(&[Key], &Change)> = changes
        .iter()
        .map(|change| (change.path.0.as_slice(), change))
        .collect();
    apply_below(old, &steps)
}

fn apply_below(old: &Value, changes: &[(&[Key], &Change)]) -> Result<Value, Misfit> {
    let misfit = |change: &Change| Misfit {
        path: change.path.to_string(),
    };
    if let [([], change)] = changes {
        return match &change.kind {
            ChangeKind::Added { new } | ChangeKind::Changed { new, .. } => Ok(new.clone()),
            ChangeKind::Removed { .. } => Err(misfit(change)),
        };
    }
    let Some((_, first)) = changes.first() else {
        return Ok(old.clone());
    };
    match old {
        Value::Object(map) => {
            let mut map = map.clone();
            for (name, below) in grouped(changes) {
                let Key::Field(name) = name else {
                    return Err(misfit(first));
                };
                match below.as_slice() {
                    [([], change)] if matches!(change.kind, ChangeKind::Removed { .. }) => {
                        map.remove(name);
                    }
                    below => {
                        let value = map.get(name).cloned().unwrap_or_default();
                        map.insert(name.clone(), apply_below(&value, below)?);
                    }
                }
            }
            Ok(Value::Object(map))
        }
        Value::Array(list) => {
            let mut items: Vec<Option<Value>> = list.iter().cloned().map(Some).collect();
            let (mut added, mut others) = (Vec::new(), Vec::new());
            for (path, change) in changes {
                match (path, &change.kind) {
                    ([Key::Item(place)], ChangeKind::Added { new }) => added.push((*place, new)),
                    _ => others.push((*path, *change)),
                }
            }
            for (key, below) in grouped(&others) {
                let place = match key {
                    Key::Item(place) if *place < items.len() => *place,
                    _ => return Err(misfit(first)),
                };
                items[place] = match (below.as_slice(), items[place].take()) {
                    ([([], change)], _) if matches!(change.kind, ChangeKind::Removed { .. }) => {
                        None
                    }
                    (below, Some(value)) => Some(apply_below(&value, below)?),
                    (_, None) => return Err(misfit(first)),
                };
            }
            let mut items: Vec<Value> = items.into_iter().flatten().collect();
            added.sort_by_key(|(place, _)| *place);
            for (place, new) in added {
                if place > items.len() {
                    return Err(misfit(first));
                }
                items.insert(place, new.clone());
            }
            Ok(Value::Array(items))
        }
        _ => Err(misfit(first)),
    }
}

type Group<'c> = (&'c Key, Vec<(&'c [Key], &'c Change)>);

/// Changes by the first step of their way.
fn grouped<'c>(changes: &[(&'c [Key], &'c Change)]) -> Vec<Group<'c>> {
    let mut groups: Vec<Group<'c>> = Vec::new();
    for (path, change) in changes {
        let Some((key, rest)) = path.split_first() else {
            continue;
        };
        match groups.last_mut() {
            Some((last, below)) if *last == key => below.push((rest, change)),
            _ => groups.push((key, vec![(rest, change)])),
        }
    }
    groups
}

#[cfg(test)]
mod tests;
