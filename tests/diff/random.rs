//! Random trees and random edits of them, the same for the same seed.

use std::collections::BTreeMap;

/// A generator of numbers that needs no state but one.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides.max(1)
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.roll(one_in) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())].clone()
    }
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    File(Vec<u8>),
    Executable(Vec<u8>),
    Link(Vec<u8>),
    Submodule(u8),
}

pub type Tree = BTreeMap<Vec<u8>, Thing>;

const NAMES: [&[u8]; 14] = [
    b"main.go",
    b"lib.rs",
    b"a",
    b"a b",
    b"tab\there",
    b"quote\"d",
    b"back\\slash",
    "na\u{ef}ve.md".as_bytes(),
    b"\xff\xfe",
    b"new\nline",
    b"-dash",
    b"x.bin",
    b"z.txt",
    b"\x1b[31m",
];
const DIRS: [&[u8]; 6] = [b"", b"", b"src/", b"src/deep/", b"docs dir/", b"\xc3\xa9/"];

fn line(dice: &mut Dice) -> Vec<u8> {
    let indent = "    ".repeat(dice.roll(4));
    let number = dice.roll(12);
    let text = match dice.roll(10) {
        0 => String::new(),
        1 => "}".to_owned(),
        2 => format!("func step{number}() {{"),
        3 => format!("{indent}if x == {number} {{"),
        4 => format!("{indent}}}"),
        5 => format!(
            "{}{number} and some more words that are very long   \u{e9}",
            "wide ".repeat(16)
        ),
        6 => format!("_private {number}   "),
        _ => format!("{indent}x += {number}"),
    };
    let end = if dice.chance(40) { "\r\n" } else { "\n" };
    format!("{text}{end}").into_bytes()
}

fn content(dice: &mut Dice) -> Vec<u8> {
    if dice.chance(12) {
        return Vec::new();
    }
    let most = dice.pick(&[1, 3, 10, 60, 400]);
    let lines = dice.roll(most) + 1;
    let mut bytes: Vec<u8> = (0..lines).flat_map(|_| line(dice)).collect();
    if dice.chance(6) {
        bytes.pop();
    }
    if dice.chance(12) {
        let at = dice.roll(bytes.len());
        bytes.insert(at, 0);
    }
    bytes
}

/// Changes some lines: replaced, removed, added, moved.
fn edited(dice: &mut Dice, bytes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for _ in 0..=dice.roll(4) {
        let at = dice.roll(lines.len() + 1);
        match dice.roll(5) {
            0 if at < lines.len() => {
                let end = (at + 1 + dice.roll(5)).min(lines.len());
                lines.drain(at..end);
            }
            1 => {
                for _ in 0..=dice.roll(5) {
                    let new = line(dice);
                    lines.insert(at, new);
                }
            }
            2 if at < lines.len() => {
                let moved = lines.remove(at);
                let to = dice.roll(lines.len() + 1);
                lines.insert(to, moved);
            }
            3 if at < lines.len() => {
                let end = (at + 1 + dice.roll(8)).min(lines.len());
                let copy = lines[at..end].to_vec();
                let to = dice.roll(lines.len() + 1);
                lines.splice(to..to, copy);
            }
            _ if at < lines.len() => lines[at] = line(dice),
            _ => lines.push(line(dice)),
        }
    }
    let mut bytes = lines.concat();
    if dice.chance(8) && bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    bytes
}

fn thing(dice: &mut Dice) -> Thing {
    match dice.roll(14) {
        0 => Thing::Executable(content(dice)),
        1 => Thing::Link(dice.pick(&[&b"target"[..], b"../x", b"no where"]).to_vec()),
        2 => Thing::Submodule(u8::try_from(dice.roll(3)).unwrap() + 1),
        _ => Thing::File(content(dice)),
    }
}

fn path(dice: &mut Dice) -> Vec<u8> {
    let (dir, name) = (dice.pick(&DIRS), dice.pick(&NAMES));
    let mut path = [dir, name].concat();
    if dice.chance(2) {
        path.extend(format!("{}", dice.roll(6)).bytes());
    }
    path
}

/// Puts a thing at a path unless the path leads through a file, or is a directory.
fn put(tree: &mut Tree, path: Vec<u8>, thing: Thing) {
    let blocked = tree.keys().any(|other| {
        let (short, long) = if other.len() < path.len() {
            (other, &path)
        } else {
            (&path, other)
        };
        long.starts_with(short) && long.get(short.len()) == Some(&b'/')
    });
    if !blocked {
        tree.insert(path, thing);
    }
}

/// A tree, and another one that came of it.
pub fn trees(dice: &mut Dice) -> (Tree, Tree) {
    let mut old = Tree::new();
    for _ in 0..dice.roll(30) {
        let (path, thing) = (path(dice), thing(dice));
        put(&mut old, path, thing);
    }
    let mut new = old.clone();
    for _ in 0..dice.roll(20) {
        let known: Vec<Vec<u8>> = new.keys().cloned().collect();
        if known.is_empty() || dice.chance(5) {
            let (path, thing) = (path(dice), thing(dice));
            put(&mut new, path, thing);
            continue;
        }
        let from = dice.pick(&known);
        let there = new[&from].clone();
        match dice.roll(6) {
            0 => {
                new.remove(&from);
            }
            1 | 2 => {
                let is_copy = dice.chance(3);
                let to = path(dice);
                let thing = if dice.chance(2) {
                    change(dice, &there)
                } else {
                    there
                };
                if !is_copy {
                    new.remove(&from);
                }
                put(&mut new, to, thing);
            }
            3 => {
                let other = thing(dice);
                new.insert(from, other);
            }
            _ => {
                let changed = change(dice, &there);
                new.insert(from, changed);
            }
        }
    }
    (old, new)
}

fn change(dice: &mut Dice, there: &Thing) -> Thing {
    match there {
        Thing::File(bytes) if dice.chance(6) => Thing::Executable(bytes.clone()),
        Thing::File(bytes) => Thing::File(edited(dice, bytes)),
        Thing::Executable(bytes) if dice.chance(3) => Thing::File(edited(dice, bytes)),
        Thing::Executable(bytes) => Thing::Executable(edited(dice, bytes)),
        Thing::Link(target) => Thing::Link([target, &b"x"[..]].concat()),
        Thing::Submodule(commit) => Thing::Submodule(commit % 3 + 1),
    }
}
