//! Everything of the user's at one moment: files to the bit, the index entry for entry, HEAD, refs, and the state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::process;
use super::support::TestRepo;

/// The flags of an index entry that a user sets: assume-unchanged, intent-to-add, skip-worktree.
const USER_FLAGS: u32 = 0x8000 | 0x2000_0000 | 0x4000_0000;

/// A file, a link, a directory, or something else.
#[derive(Clone, PartialEq, Eq)]
pub enum Item {
    File { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
    Dir { mode: u32 },
    Other(&'static str),
}

impl Item {
    pub fn is_dir(&self) -> bool {
        matches!(self, Self::Dir { .. })
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { bytes, mode } => {
                let start = &bytes[..bytes.len().min(40)];
                let start = String::from_utf8_lossy(start);
                write!(f, "file {mode:o} {} bytes {start:?}", bytes.len())
            }
            Self::Link(target) => write!(f, "link to {}", target.display()),
            Self::Dir { mode } => write!(f, "directory {mode:o}"),
            Self::Other(kind) => f.write_str(kind),
        }
    }
}

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Photo {
    /// By path, git's directory apart.
    pub files: BTreeMap<Vec<u8>, Item>,
    /// The paths of `files` that git ignores.
    pub ignored: BTreeSet<Vec<u8>>,
    /// A line for each entry: mode, object, stage, path, flags.
    pub index: Vec<String>,
    /// What HEAD says.
    pub head: String,
    /// Every ref but go-team's own.
    pub refs: BTreeMap<String, String>,
    /// The live state of each session, without what the engine maintains.
    pub states: BTreeMap<String, Value>,
}

impl Photo {
    pub fn of(repo: &TestRepo) -> Self {
        Self::of_dir(repo, &repo.root())
    }

    /// The same of another work tree.
    pub fn of_dir(repo: &TestRepo, dir: &Path) -> Self {
        let mut photo = Self::quick(repo, dir);
        photo.ignored = ignored(repo, dir, &photo.files);
        photo
    }

    /// The same, without asking what is ignored.
    pub fn quick(repo: &TestRepo, dir: &Path) -> Self {
        let git_dir = git_dir(dir);
        let head = fs::read_to_string(git_dir.join("HEAD")).unwrap();
        Self {
            ignored: BTreeSet::new(),
            files: files_below(dir),
            index: index(repo, dir),
            head: head.trim_end().to_owned(),
            refs: refs(repo, dir),
            states: states(&repo.store()),
        }
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        match self.files.get(path.as_bytes())? {
            Item::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// Whether a checkpoint that is made now holds this path.
    pub fn is_captured(&self, path: &[u8]) -> bool {
        self.files.contains_key(path) && !self.ignored.contains(path)
    }

    /// What differs, a line each; nothing when both are the same.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut lines = map_differences("", &self.files, &other.files, |path| {
            String::from_utf8_lossy(path).into_owned()
        });
        if self.index != other.index {
            let only = |these: &[String], those: &[String]| -> Vec<String> {
                let mut only = these.to_vec();
                only.retain(|line| !those.contains(line));
                only
            };
            lines.push(format!(
                "index: {:#?} became {:#?}",
                only(&self.index, &other.index),
                only(&other.index, &self.index)
            ));
        }
        if self.head != other.head {
            lines.push(format!("HEAD: {} became {}", self.head, other.head));
        }
        lines.extend(map_differences("", &self.refs, &other.refs, Clone::clone));
        lines.extend(map_differences(
            "state of ",
            &self.states,
            &other.states,
            Clone::clone,
        ));
        lines
    }

    /// Fails with the differences, if there are any.
    #[track_caller]
    pub fn assert_same(&self, after: &Self, what: impl fmt::Display) {
        let lines = self.differences(after);
        assert!(lines.is_empty(), "{what}:\n{}", lines.join("\n"));
    }
}

fn map_differences<K: Ord, V: PartialEq + fmt::Debug>(
    what: &str,
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
    name: impl Fn(&K) -> String,
) -> Vec<String> {
    let keys: BTreeSet<&K> = before.keys().chain(after.keys()).collect();
    let mut lines = Vec::new();
    for key in keys {
        let (old, new) = (before.get(key), after.get(key));
        if old != new {
            lines.push(format!("{what}{}: {old:?} became {new:?}", name(key)));
        }
    }
    lines
}

/// Every path below a directory but git's own, by its bytes; links are not followed.
pub fn files_below(root: &Path) -> BTreeMap<Vec<u8>, Item> {
    let mut items = BTreeMap::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.parent() == Some(root) && path.ends_with(".git") {
                continue;
            }
            let item = item(&path);
            if item.is_dir() {
                dirs.push(path.clone());
            }
            let key = path.strip_prefix(root).unwrap();
            items.insert(key.as_os_str().as_bytes().to_vec(), item);
        }
    }
    items
}

fn item(path: &Path) -> Item {
    let metadata = path.symlink_metadata().unwrap();
    let kind = metadata.file_type();
    let mode = metadata.permissions().mode() & 0o7777;
    if kind.is_symlink() {
        Item::Link(fs::read_link(path).unwrap())
    } else if kind.is_dir() {
        Item::Dir { mode }
    } else if kind.is_file() {
        let bytes = fs::read(path).unwrap();
        Item::File { bytes, mode }
    } else if kind.is_fifo() {
        Item::Other("fifo")
    } else {
        Item::Other("socket or device")
    }
}

/// The paths that git ignores: files that are not tracked, and directories.
fn ignored(repo: &TestRepo, dir: &Path, files: &BTreeMap<Vec<u8>, Item>) -> BTreeSet<Vec<u8>> {
    let mut ignored = BTreeSet::new();
    for (is_dir, option) in [(false, "-z"), (true, "--no-index")] {
        let asked: Vec<u8> = files
            .iter()
            .filter(|(_, item)| item.is_dir() == is_dir)
            .flat_map(|(path, _)| path.iter().copied().chain([0]))
            .collect();
        if asked.is_empty() {
            continue;
        }
        let mut command = process::git(repo, dir);
        command.args(["check-ignore", "-z", "--stdin", option]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(&asked));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        let paths = output.stdout.split(|byte| *byte == 0);
        ignored.extend(paths.filter(|path| !path.is_empty()).map(<[u8]>::to_vec));
    }
    // A directory is captured with what is captured in it, whatever the rules say of the directory.
    let captured = files
        .iter()
        .filter(|(path, item)| !item.is_dir() && !ignored.contains(*path));
    let above: Vec<Vec<u8>> = captured.flat_map(|(path, _)| parents(path)).collect();
    for path in above {
        ignored.remove(&path);
    }
    ignored
}

/// The directories that a path is in, the nearest first.
pub fn parents(path: &[u8]) -> Vec<Vec<u8>> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut found: Vec<Vec<u8>> = ends.map(|(end, _)| path[..end].to_vec()).collect();
    found.reverse();
    found
}

/// The index, without what changes by itself: times, inodes, sizes.
fn index(repo: &TestRepo, dir: &Path) -> Vec<String> {
    let mut command = process::git(repo, dir);
    command.env("GIT_OPTIONAL_LOCKS", "0");
    command.args(["ls-files", "--stage", "--debug"]);
    let mut entries: Vec<String> = Vec::new();
    for line in process::succeed(command).lines() {
        if !line.starts_with("  ") {
            entries.push(line.to_owned());
        } else if let Some((_, flags)) = line.split_once("flags: ") {
            let flags = u32::from_str_radix(flags, 16).unwrap() & USER_FLAGS;
            let entry = entries.last_mut().unwrap();
            let _ = write!(entry, " flags {flags:x}");
        }
    }
    entries
}

fn refs(repo: &TestRepo, dir: &Path) -> BTreeMap<String, String> {
    let mut command = process::git(repo, dir);
    command.args(["for-each-ref", "--format=%(refname) %(objectname)"]);
    let listed = process::succeed(command);
    let pairs = listed.lines().map(|line| line.split_once(' ').unwrap());
    pairs
        .filter(|(name, _)| !name.starts_with("refs/go-team/"))
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect()
}

/// The live state of every session.
fn states(store: &Path) -> BTreeMap<String, Value> {
    let Ok(sessions) = fs::read_dir(store.join("sessions")) else {
        return BTreeMap::new();
    };
    let sessions = sessions.map(|entry| entry.unwrap().path());
    sessions
        .filter_map(|dir| {
            let text = fs::read(dir.join("state.json")).ok()?;
            let mut state: Value = serde_json::from_slice(&text).unwrap();
            state.as_object_mut().unwrap().remove("checkpoint");
            Some((dir.file_name()?.to_str()?.to_owned(), state))
        })
        .collect()
}

/// The git directory of a work tree, a linked one too.
pub fn git_dir(dir: &Path) -> PathBuf {
    let dot_git = dir.join(".git");
    if dot_git.is_dir() {
        return dot_git;
    }
    let text = fs::read_to_string(dot_git).unwrap();
    dir.join(text.strip_prefix("gitdir: ").unwrap().trim_end())
}
