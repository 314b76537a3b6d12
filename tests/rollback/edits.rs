//! What users and agents do to a repository between checkpoints.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use proptest::prelude::*;

use super::process;
use super::support::TestRepo;

const PATHS: [&str; 12] = [
    "a",
    "b",
    "d/a",
    "d/b",
    "d/e/c",
    "f/g/h",
    "x.o",
    "d/x.o",
    "o/a",
    "o/p/b",
    "with space",
    "über/ß",
];
const CONTENTS: [&str; 7] = [
    "one\n",
    "two\n",
    "",
    "crlf\r\n",
    "mix\r\ned\n",
    "no end",
    "\0bin\u{1}",
];
const RULES: [&str; 6] = ["*.o\n", "o/\n", "d/\n", "*\n!a\n", "", "b\n!x.o\n"];
const ATTRIBUTES: [&str; 4] = ["* text=auto\n", "* -text\n", "*.o binary\na eol=crlf\n", ""];
const BRANCHES: [&str; 3] = ["main", "side", "topic/x"];
const MODES: [u32; 5] = [0o644, 0o755, 0o600, 0o640, 0o444];
const FLAGS: [&str; 4] = [
    "--assume-unchanged",
    "--no-assume-unchanged",
    "--skip-worktree",
    "--no-skip-worktree",
];

/// One thing that is done.
#[derive(Debug, Clone)]
pub enum Edit {
    Write(usize, usize),
    Chmod(usize, usize),
    ChmodDir(usize),
    Remove(usize),
    RemoveDir(usize),
    Rename(usize, usize),
    Link(usize, usize),
    EmptyDir(usize),
    Ignore(usize),
    IgnoreIn(usize, usize),
    Attributes(usize),
    Add(usize),
    AddForced(usize),
    AddAll,
    RemoveCached(usize),
    IntentToAdd(usize),
    Flag(usize, usize),
    Conflict(usize),
    Commit,
    Switch(usize),
    NewBranch(usize),
    DeleteBranch(usize),
    Detach,
    BackOne,
    State(usize),
}

pub fn edit() -> impl Strategy<Value = Edit> {
    let path = || 0..PATHS.len();
    let branch = || 0..BRANCHES.len();
    prop_oneof![
        8 => (path(), 0..CONTENTS.len()).prop_map(|(path, content)| Edit::Write(path, content)),
        2 => (path(), 0..MODES.len()).prop_map(|(path, mode)| Edit::Chmod(path, mode)),
        1 => path().prop_map(Edit::ChmodDir),
        2 => path().prop_map(Edit::Remove),
        1 => path().prop_map(Edit::RemoveDir),
        2 => (path(), path()).prop_map(|(from, to)| Edit::Rename(from, to)),
        2 => (path(), path()).prop_map(|(path, target)| Edit::Link(path, target)),
        2 => path().prop_map(Edit::EmptyDir),
        3 => (0..RULES.len()).prop_map(Edit::Ignore),
        1 => (path(), 0..RULES.len()).prop_map(|(path, rule)| Edit::IgnoreIn(path, rule)),
        1 => (0..ATTRIBUTES.len()).prop_map(Edit::Attributes),
        3 => path().prop_map(Edit::Add),
        1 => path().prop_map(Edit::AddForced),
        2 => Just(Edit::AddAll),
        2 => path().prop_map(Edit::RemoveCached),
        1 => path().prop_map(Edit::IntentToAdd),
        2 => (path(), 0..FLAGS.len()).prop_map(|(path, flag)| Edit::Flag(path, flag)),
        1 => path().prop_map(Edit::Conflict),
        3 => Just(Edit::Commit),
        1 => branch().prop_map(Edit::Switch),
        2 => branch().prop_map(Edit::NewBranch),
        1 => branch().prop_map(Edit::DeleteBranch),
        1 => Just(Edit::Detach),
        1 => Just(Edit::BackOne),
        1 => (0..9usize).prop_map(Edit::State),
    ]
}

/// Does it. An edit that makes no sense just now does nothing.
pub fn apply(repo: &TestRepo, edit: &Edit) {
    let meta = |path: usize| repo.path(PATHS[path]).symlink_metadata().ok();
    let is_there = |path: usize| meta(path).is_some() && !is_below_a_link(repo, PATHS[path]);
    let is_file = |path: usize| meta(path).is_some_and(|meta| meta.is_file()) && is_there(path);
    match *edit {
        Edit::Write(path, content) => put(repo, PATHS[path], CONTENTS[content]),
        Edit::Chmod(path, mode) if is_file(path) => repo.chmod(PATHS[path], MODES[mode]),
        Edit::ChmodDir(path) => {
            let dir = dir_of(PATHS[path]);
            let is_dir = repo
                .path(dir)
                .symlink_metadata()
                .is_ok_and(|meta| meta.is_dir());
            if !dir.is_empty() && is_dir && !is_below_a_link(repo, dir) {
                repo.chmod(dir, 0o750);
            }
        }
        Edit::Remove(path) if is_there(path) => repo.remove(PATHS[path]),
        Edit::RemoveDir(path) => {
            let dir = dir_of(PATHS[path]);
            if !dir.is_empty() && repo.path(dir).symlink_metadata().is_ok() {
                repo.remove(dir);
            }
        }
        Edit::Rename(from, to) if from != to && is_there(from) => {
            let aside = repo.home().join("aside");
            fs::rename(repo.path(PATHS[from]), &aside).unwrap();
            fs::rename(aside, make_room(repo, PATHS[to])).unwrap();
        }
        Edit::Link(path, target) => {
            let full = make_room(repo, PATHS[path]);
            std::os::unix::fs::symlink(PATHS[target], full).unwrap();
        }
        Edit::EmptyDir(path) => fs::create_dir(make_room(repo, PATHS[path])).unwrap(),
        Edit::Ignore(rule) => put(repo, ".gitignore", RULES[rule]),
        Edit::IgnoreIn(path, rule) => {
            let dir = dir_of(PATHS[path]);
            put(repo, &format!("{dir}/.gitignore"), RULES[rule]);
        }
        Edit::Attributes(rule) => put(repo, ".gitattributes", ATTRIBUTES[rule]),
        Edit::State(value) => _ = repo.ok(&["state", "set", &format!("n={value}")]),
        _ => apply_by_git(repo, edit),
    }
}

/// Edits that git makes. Whether it succeeds is its own affair.
fn apply_by_git(repo: &TestRepo, edit: &Edit) {
    let git = |args: &[&str]| {
        let mut command = process::git(repo, &repo.root());
        // The same commands give the same commits, so that a case that failed can be run again.
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_DATE"), "2025-12-28T20:00:00Z");
        }
        _ = command.args(args).output().unwrap();
    };
    match *edit {
        Edit::Add(path) => git(&["add", "--", PATHS[path]]),
        Edit::AddForced(path) => git(&["add", "-f", "--", PATHS[path]]),
        Edit::AddAll => git(&["add", "-A"]),
        Edit::RemoveCached(path) => git(&["rm", "-q", "--cached", "-r", "-f", "--", PATHS[path]]),
        Edit::IntentToAdd(path) => git(&["add", "-N", "--", PATHS[path]]),
        Edit::Flag(path, flag) => git(&["update-index", FLAGS[flag], PATHS[path]]),
        Edit::Conflict(path) => conflict(repo, PATHS[path]),
        Edit::Commit => git(&["commit", "-q", "--allow-empty", "-m", "work"]),
        Edit::Switch(branch) => git(&["checkout", "-q", BRANCHES[branch]]),
        Edit::NewBranch(branch) => git(&["checkout", "-q", "-b", BRANCHES[branch]]),
        Edit::DeleteBranch(branch) => git(&["branch", "-q", "-D", BRANCHES[branch]]),
        Edit::Detach => git(&["checkout", "-q", "--detach"]),
        Edit::BackOne => git(&["reset", "-q", "--soft", "HEAD~1"]),
        _ => {}
    }
}

/// Puts three stages of a path into the index, as an unfinished merge does.
pub fn conflict(repo: &TestRepo, path: &str) {
    let mut lines = format!("0 {} 0\t{path}\n", "0".repeat(40));
    for (stage, text) in [(1, "base\n"), (2, "ours\n"), (3, "theirs\n")] {
        let mut command = process::git(repo, &repo.root());
        command.args(["hash-object", "-w", "--stdin"]);
        let blob = with_input(command, text);
        lines.push_str(&format!("100644 {} {stage}\t{path}\n", blob.trim_end()));
    }
    let mut command = process::git(repo, &repo.root());
    command.args(["update-index", "--index-info"]);
    with_input(command, &lines);
}

fn with_input(mut command: std::process::Command, input: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// Makes room for a file: whatever is in the way of it and of its directories goes.
fn make_room(repo: &TestRepo, path: &str) -> PathBuf {
    let full = repo.path(path);
    for above in full
        .ancestors()
        .skip(1)
        .take_while(|dir| *dir != repo.root())
    {
        if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            fs::remove_file(above).unwrap();
        }
    }
    if full.symlink_metadata().is_ok() {
        repo.remove(path);
    }
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    full
}

/// Writes a file, in place where there is one.
fn put(repo: &TestRepo, path: &str, content: &str) {
    let path = path.trim_start_matches('/');
    let full = repo.path(path);
    let is_file = full.symlink_metadata().is_ok_and(|meta| meta.is_file());
    if !is_file || is_below_a_link(repo, path) || full.metadata().unwrap().permissions().readonly()
    {
        make_room(repo, path);
    }
    fs::write(full, content).unwrap();
}

fn is_below_a_link(repo: &TestRepo, path: &str) -> bool {
    let full = repo.path(path);
    full.ancestors()
        .skip(1)
        .take_while(|dir| *dir != repo.root())
        .any(|dir| dir.symlink_metadata().is_ok_and(|meta| meta.is_symlink()))
}

fn dir_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}
