//! A session's checkpoints as a tree, laid out in columns.
//!
//! Checkpoints keep their order, one a row. The line that leads to the current checkpoint goes straight on; what a
//! rollback left behind branches off to the right and its column is free again when it ends, so the picture is as wide
//! as branches overlap, however many there are.

use std::collections::HashMap;

use crate::model::{CheckpointId, Entry, Manifest};

/// One row of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What is in each column.
    pub cells: Vec<Cell>,
    /// The place of the row's checkpoint in the list; none for a row that only draws a branch.
    pub entry: Option<usize>,
    /// Of a row that only draws a branch, the place of the checkpoint that it leads to.
    pub branch: Option<usize>,
}

/// What a row shows in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// The row's checkpoint.
    Node,
    /// A line that goes on downwards.
    Line,
    /// A line that goes on downwards and sends a branch to the right.
    Fork,
    /// A branch on its way to the right.
    Across,
    /// A branch on its way to the right over a line that goes on downwards.
    Crossing,
    /// Where a branch turns downwards.
    Turn,
}

/// Lays out some checkpoints of a session, oldest first. A line goes over those that are not listed.
#[must_use]
pub fn rows(manifest: &Manifest, listed: &[&Entry]) -> Vec<Row> {
    let tree = Tree::of(manifest, listed);
    let mut layout = Layout::new(tree.parents.len());
    for node in 0..tree.parents.len() {
        layout.draw(&tree, node);
    }
    layout.rows
}

/// Who was made on top of whom, by place in the list.
struct Tree {
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// The child that goes straight on.
    heirs: Vec<Option<usize>>,
}

impl Tree {
    fn of(manifest: &Manifest, entries: &[&Entry]) -> Self {
        let places: HashMap<&CheckpointId, usize> = entries
            .iter()
            .enumerate()
            .map(|(place, entry)| (&entry.id, place))
            .collect();
        let known: HashMap<&CheckpointId, &Entry> = if entries.len() < manifest.checkpoints().len()
        {
            let all = manifest.checkpoints().iter();
            all.map(|entry| (&entry.id, entry)).collect()
        } else {
            HashMap::new()
        };
        let bridges = manifest.pruned_parents().iter();
        let bridges: HashMap<&CheckpointId, &CheckpointId> =
            bridges.map(|pruned| (&pruned.id, &pruned.parent)).collect();
        // The nearest one below that is listed.
        let nearest = |from: Option<&CheckpointId>, below: u64| {
            let (mut at, mut below) = (from, below);
            loop {
                let id = at?;
                if let Some(place) = places.get(id) {
                    return Some(*place);
                }
                if let Some(entry) = known.get(id) {
                    // A parent is older, so the way down ends.
                    let is_older = entry.seq < below;
                    (at, below) = (entry.parent.as_ref().filter(|_| is_older), entry.seq);
                } else {
                    // What lies below a pruned one is listed.
                    let below_it = bridges.get(id).copied();
                    at = below_it.filter(|id| places.contains_key(id) || known.contains_key(id));
                }
            }
        };
        let parent_of = |(place, entry): (usize, &&Entry)| {
            let parent = nearest(entry.parent.as_ref(), entry.seq);
            parent.filter(|parent| *parent < place)
        };
        let parents: Vec<_> = entries.iter().enumerate().map(parent_of).collect();
        let mut children = vec![Vec::new(); entries.len()];
        for (place, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(place);
            }
        }
        let mut heirs: Vec<_> = children.iter().map(|all| all.last().copied()).collect();
        let current = manifest.current_checkpoint.as_ref();
        let mut at = nearest(current, u64::MAX);
        while let Some(place) = at {
            at = parents[place];
            if let Some(parent) = at {
                heirs[parent] = Some(place);
            }
        }
        Self {
            parents,
            children,
            heirs,
        }
    }
}

struct Layout {
    /// Whether a line goes on in a column.
    columns: Vec<bool>,
    /// The column of each node that has one.
    places: Vec<Option<usize>>,
    rows: Vec<Row>,
}

impl Layout {
    fn new(nodes: usize) -> Self {
        Self {
            columns: Vec::new(),
            places: vec![None; nodes],
            rows: Vec::with_capacity(nodes),
        }
    }

    fn draw(&mut self, tree: &Tree, node: usize) {
        let parent = tree.parents[node];
        let home = parent.and_then(|parent| self.places[parent]);
        let column = match (self.places[node], parent, home) {
            (Some(reserved), _, _) => reserved,
            (None, Some(parent), Some(home)) if tree.heirs[parent] == Some(node) => {
                // The line goes on with this node: whatever else branches off it must do so now.
                for &later in tree.children[parent].iter().filter(|&&child| child > node) {
                    self.places[later] = Some(self.branch(home, later));
                }
                home
            }
            (None, _, Some(home)) => self.branch(home, node),
            (None, _, None) => self.free_column(0),
        };
        self.places[node] = Some(column);
        self.columns[column] = true;
        let mut cells = self.lines();
        cells[column] = Cell::Node;
        self.push(cells, Some(node), None);
        self.columns[column] = !tree.children[node].is_empty();
    }

    /// Draws a branch from a column to a free one on its right.
    fn branch(&mut self, from: usize, node: usize) -> usize {
        let to = self.free_column(from + 1);
        let mut cells = self.lines();
        cells[from] = Cell::Fork;
        for cell in &mut cells[from + 1..to] {
            *cell = match cell {
                Cell::Line => Cell::Crossing,
                _ => Cell::Across,
            };
        }
        cells[to] = Cell::Turn;
        self.columns[to] = true;
        self.push(cells, None, Some(node));
        to
    }

    fn free_column(&mut self, from: usize) -> usize {
        let free = (from..self.columns.len()).find(|&column| !self.columns[column]);
        free.unwrap_or_else(|| {
            self.columns.push(false);
            self.columns.len() - 1
        })
    }

    fn lines(&self) -> Vec<Cell> {
        let line = |&goes_on: &bool| if goes_on { Cell::Line } else { Cell::Empty };
        self.columns.iter().map(line).collect()
    }

    fn push(&mut self, mut cells: Vec<Cell>, entry: Option<usize>, branch: Option<usize>) {
        while cells.last() == Some(&Cell::Empty) {
            cells.pop();
        }
        self.rows.push(Row {
            cells,
            entry,
            branch,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Trigger;
    use crate::model::sample;

    /// A session of checkpoints 1, 2, 3…, each made on top of the one given for it.
    fn draw(parents: &[usize], current: usize) -> String {
        let mut manifest = sample::manifest();
        for (step, parent) in (1..).zip(parents) {
            let below = parent.checked_sub(1);
            manifest.current_checkpoint =
                below.map(|place| manifest.checkpoints()[place].id.clone());
            sample::append(&mut manifest, step, "s", Trigger::Manual);
        }
        let current = current.checked_sub(1);
        manifest.current_checkpoint = current.map(|place| manifest.checkpoints()[place].id.clone());
        let letter = |cell: &Cell| match cell {
            Cell::Empty => ' ',
            Cell::Node => 'o',
            Cell::Line => '|',
            Cell::Fork => '+',
            Cell::Across => '-',
            Cell::Crossing => '#',
            Cell::Turn => '.',
        };
        let line = |row: &Row| {
            let cells: String = row.cells.iter().map(letter).collect();
            match row.entry {
                Some(place) => format!("{cells} {}\n", place + 1),
                None => format!("{cells}\n"),
            }
        };
        let all: Vec<&Entry> = manifest.checkpoints().iter().collect();
        rows(&manifest, &all).iter().map(line).collect()
    }

    #[test]
    fn lines_go_over_what_is_not_listed() {
        let mut manifest = sample::manifest();
        for step in 1..=4 {
            sample::append(&mut manifest, step, "s", Trigger::Manual);
        }
        let third = manifest.checkpoints()[1].id.clone();
        manifest.current_checkpoint = Some(third);
        sample::append(&mut manifest, 5, "s", Trigger::Manual);
        let listed: Vec<&Entry> = manifest
            .checkpoints()
            .iter()
            .filter(|entry| entry.step != 2 && entry.step != 3)
            .collect();
        let rows = rows(&manifest, &listed);
        let places: Vec<_> = rows.iter().map(|row| (row.entry, row.branch)).collect();
        assert_eq!(
            places,
            [
                (Some(0), None),
                (None, Some(1)),
                (Some(1), None),
                (Some(2), None)
            ]
        );
    }

    #[test]
    fn one_line_of_work_is_one_line() {
        assert_eq!(draw(&[0, 1, 2], 3), "o 1\no 2\no 3\n");
        assert_eq!(draw(&[], 0), "");
    }

    #[test]
    fn what_a_rollback_left_branches_off_and_ends() {
        assert_eq!(draw(&[0, 1, 2, 3, 2], 5), "o 1\no 2\n+.\n|o 3\n|o 4\no 5\n");
        assert_eq!(draw(&[0, 1, 1, 1], 4), "o 1\n+.\n|o 2\n+.\n|o 3\no 4\n");
    }

    #[test]
    fn the_current_line_is_straight_even_if_others_are_newer() {
        assert_eq!(draw(&[0, 1, 2, 1], 3), "o 1\n+.\no| 2\no| 3\n o 4\n");
    }

    #[test]
    fn branches_of_branches_cross_the_lines_between() {
        assert_eq!(
            draw(&[0, 1, 2, 2, 1, 1], 6),
            "o 1\n+.\n|o 2\n|+.\n||o 3\n|o 4\n+.\n|o 5\no 6\n"
        );
        assert_eq!(draw(&[0, 1, 1, 2], 3), "o 1\n+.\n|o 2\no| 3\n o 4\n");
        assert_eq!(
            draw(&[0, 1, 1, 1, 2], 4),
            "o 1\n+.\n|o 2\n+#.\n||o 3\no| 4\n o 5\n"
        );
    }

    #[test]
    fn many_rollbacks_to_one_place_stay_narrow() {
        let mut parents = vec![0];
        parents.extend([1; 2000]);
        let widest = draw(&parents, 2001)
            .lines()
            .map(|line| line.split(' ').next().unwrap_or("").len())
            .max();
        assert_eq!(widest, Some(2));
    }

    #[test]
    fn without_a_parent_in_the_list_it_is_a_root() {
        assert_eq!(draw(&[0, 0, 1, 2], 4), "o 1\n|o 2\no| 3\n o 4\n");
    }
}
