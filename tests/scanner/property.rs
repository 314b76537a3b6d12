//! Random repositories and random edits, with a checkpoint and a comparison with git after each one.
//!
//! `GO_TEAM_SCAN_CASES=<n>` runs `n` cases of each property instead of a few.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::repo::TestRepo;

/// How many cases of a property are run.
pub fn cases(default: u32) -> u32 {
    std::env::var("GO_TEAM_SCAN_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Whether what takes long is run too.
pub fn is_long_run() -> bool {
    std::env::var_os("GO_TEAM_SCAN_CASES").is_some()
}

/// Lets the tick pass in which files were written.
pub fn settle() {
    super::repo::let_time_pass();
}

const PATHS: [&str; 14] = [
    "a", "b", "d/a", "d/b", "d/e/a", "d/e/b", "f/a", "f/g/a", "x.o", "d/x.o", "o/a", "o/p/b",
    "f/g/h/c", "d/e/x.o",
];
const IGNORES: [&str; 9] = [
    "*.o\n",
    "o/\n",
    "d/\n",
    "*\n!a\n",
    "/a\n",
    "a\n",
    "!*.o\n",
    "e\n!d/e/b\n",
    "",
];
const ATTRIBUTES: [&str; 6] = [
    "* text\n",
    "* text=auto\n",
    "* -text\n",
    "a eol=crlf\n",
    "*.o filter=up\n",
    "b ident\n",
];
const CONTENTS: [&str; 8] = [
    "one\n",
    "two\n",
    "one\r\n",
    "mix\r\ned\n",
    "",
    "$Id: x $\n",
    "two\r\n",
    "six\n",
];

#[derive(Debug, Clone)]
enum Edit {
    Write(usize, usize),
    WriteAfterTick(usize, usize),
    Chmod(usize, u32),
    Remove(usize),
    RemoveDir(usize),
    Rename(usize, usize),
    Link(usize, usize),
    EmptyDir(usize),
    Ignore(usize, usize),
    Attributes(usize, usize),
    RemoveRules(usize),
    Touch(usize),
    SetBack(usize),
    Add(usize),
    AddForced(usize),
    AddAll,
    RemoveCached(usize),
    IntentToAdd(usize),
    Commit,
    Checkout(usize),
    Stash,
    StashPop,
    Reset,
    ResetHard,
    Flag(usize, usize),
    ReadTree,
    Refresh,
    Exclude(usize),
    AutoCrlf(usize),
    Nested(usize),
    Settle,
    Collect,
}

fn edit() -> impl Strategy<Value = Edit> {
    let path = 0..PATHS.len();
    let content = 0..CONTENTS.len();
    prop_oneof![
        6 => (path.clone(), content.clone()).prop_map(|(p, c)| Edit::Write(p, c)),
        3 => (path.clone(), content).prop_map(|(p, c)| Edit::WriteAfterTick(p, c)),
        2 => (path.clone(), prop::sample::select(vec![0o644, 0o755, 0o600, 0o640])).prop_map(|(p, m)| Edit::Chmod(p, m)),
        2 => path.clone().prop_map(Edit::Remove),
        1 => path.clone().prop_map(Edit::RemoveDir),
        2 => (path.clone(), path.clone()).prop_map(|(p, q)| Edit::Rename(p, q)),
        1 => (path.clone(), path.clone()).prop_map(|(p, q)| Edit::Link(p, q)),
        1 => path.clone().prop_map(Edit::EmptyDir),
        3 => (path.clone(), 0..IGNORES.len()).prop_map(|(p, i)| Edit::Ignore(p, i)),
        2 => (path.clone(), 0..ATTRIBUTES.len()).prop_map(|(p, a)| Edit::Attributes(p, a)),
        1 => path.clone().prop_map(Edit::RemoveRules),
        1 => path.clone().prop_map(Edit::Touch),
        1 => path.clone().prop_map(Edit::SetBack),
        2 => path.clone().prop_map(Edit::Add),
        1 => path.clone().prop_map(Edit::AddForced),
        2 => Just(Edit::AddAll),
        2 => path.clone().prop_map(Edit::RemoveCached),
        1 => path.clone().prop_map(Edit::IntentToAdd),
        2 => Just(Edit::Commit),
        1 => (0..3usize).prop_map(Edit::Checkout),
        1 => Just(Edit::Stash),
        1 => Just(Edit::StashPop),
        1 => Just(Edit::Reset),
        1 => Just(Edit::ResetHard),
        2 => (path.clone(), 0..4usize).prop_map(|(p, f)| Edit::Flag(p, f)),
        1 => Just(Edit::ReadTree),
        1 => Just(Edit::Refresh),
        1 => (0..IGNORES.len()).prop_map(Edit::Exclude),
        1 => (0..3usize).prop_map(Edit::AutoCrlf),
        1 => path.prop_map(Edit::Nested),
        3 => Just(Edit::Settle),
        1 => Just(Edit::Collect),
    ]
}

/// Makes room for a file: whatever is in the way of its directories goes.
fn make_room(repo: &TestRepo, path: &str) -> PathBuf {
    let full = repo.path(path);
    let mut above = full.parent().unwrap().to_owned();
    while above != repo.root() {
        if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            fs::remove_file(&above).unwrap();
        }
        above.pop();
    }
    if full.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        fs::remove_dir_all(&full).unwrap();
    } else {
        let _ = fs::remove_file(&full);
    }
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    full
}

/// Overwrites in place where there is a file, so that inode and size stay.
fn put(repo: &TestRepo, path: &str, content: &str) {
    let full = repo.path(path);
    if !full.symlink_metadata().is_ok_and(|meta| meta.is_file()) || is_below_a_link(repo, path) {
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

fn control(path: &str, name: &str) -> String {
    match dir_of(path) {
        "" => name.to_owned(),
        dir => format!("{dir}/{name}"),
    }
}

fn apply(repo: &TestRepo, edit: &Edit) {
    let is_file = |path: &str| {
        repo.path(path)
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_file())
    };
    match *edit {
        Edit::Write(path, content) => put(repo, PATHS[path], CONTENTS[content]),
        Edit::WriteAfterTick(path, content) => {
            settle();
            put(repo, PATHS[path], CONTENTS[content]);
        }
        Edit::Chmod(path, mode) if is_file(PATHS[path]) => _ = repo.chmod(PATHS[path], mode),
        Edit::Remove(path) if repo.path(PATHS[path]).symlink_metadata().is_ok() => {
            repo.remove(PATHS[path]);
        }
        Edit::RemoveDir(path) => {
            let dir = dir_of(PATHS[path]);
            if !dir.is_empty() && repo.path(dir).symlink_metadata().is_ok() {
                repo.remove(dir);
            }
        }
        Edit::Rename(from, to)
            if from != to && repo.path(PATHS[from]).symlink_metadata().is_ok() =>
        {
            let aside = repo.beside("aside");
            fs::rename(repo.path(PATHS[from]), &aside).unwrap();
            let to = make_room(repo, PATHS[to]);
            fs::rename(aside, to).unwrap();
        }
        Edit::Link(path, target) => {
            let full = make_room(repo, PATHS[path]);
            std::os::unix::fs::symlink(PATHS[target], full).unwrap();
        }
        Edit::EmptyDir(path) => {
            let full = make_room(repo, PATHS[path]);
            fs::create_dir(full).unwrap();
        }
        Edit::Ignore(path, rules) => put(repo, &control(PATHS[path], ".gitignore"), IGNORES[rules]),
        Edit::Attributes(path, rules) => {
            put(
                repo,
                &control(PATHS[path], ".gitattributes"),
                ATTRIBUTES[rules],
            );
        }
        Edit::RemoveRules(path) => {
            for name in [".gitignore", ".gitattributes"] {
                let _ = fs::remove_file(repo.path(control(PATHS[path], name)));
            }
        }
        Edit::Touch(path) if is_file(PATHS[path]) => {
            let file = fs::File::options()
                .write(true)
                .open(repo.path(PATHS[path]))
                .unwrap();
            file.set_modified(std::time::SystemTime::now()).unwrap();
        }
        Edit::SetBack(path) if is_file(PATHS[path]) => {
            let file = fs::File::options()
                .write(true)
                .open(repo.path(PATHS[path]))
                .unwrap();
            file.set_modified(
                std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000),
            )
            .unwrap();
        }
        _ => apply_by_git(repo, edit),
    }
}

/// Edits that git makes. Whether it succeeds is its own affair.
fn apply_by_git(repo: &TestRepo, edit: &Edit) {
    let git = |args: &[&str]| _ = repo.try_git(args);
    match *edit {
        Edit::Add(path) => git(&["add", "--", PATHS[path]]),
        Edit::AddForced(path) => git(&["add", "-f", "--", PATHS[path]]),
        Edit::AddAll => git(&["add", "-A"]),
        Edit::RemoveCached(path) => git(&["rm", "-q", "--cached", "-r", "-f", "--", PATHS[path]]),
        Edit::IntentToAdd(path) => git(&["add", "-N", "--", PATHS[path]]),
        Edit::Commit => git(&["commit", "-q", "-m", "c"]),
        Edit::Checkout(branch) => {
            let name = ["main", "side", "third"][branch];
            git(&["branch", name]);
            git(&["checkout", "-q", name]);
        }
        Edit::Stash => git(&["stash", "-q"]),
        Edit::StashPop => git(&["stash", "pop", "-q"]),
        Edit::Reset => git(&["reset", "-q"]),
        Edit::ResetHard => git(&["reset", "-q", "--hard"]),
        Edit::Flag(path, flag) => {
            let flags = [
                "--assume-unchanged",
                "--no-assume-unchanged",
                "--skip-worktree",
                "--no-skip-worktree",
            ];
            git(&["update-index", flags[flag], PATHS[path]]);
        }
        Edit::ReadTree => git(&["read-tree", "HEAD"]),
        Edit::Refresh => git(&["update-index", "-q", "--refresh"]),
        Edit::Exclude(rules) => _ = repo.write(".git/info/exclude", IGNORES[rules]),
        Edit::AutoCrlf(value) => {
            repo.config("core.autocrlf", ["false", "true", "input"][value]);
        }
        Edit::Nested(path) => {
            let full = make_room(repo, PATHS[path]);
            fs::create_dir(&full).unwrap();
            repo.git_in(&full, ["init", "-q", "-b", "main"]);
            repo.git_in(&full, ["commit", "-q", "--allow-empty", "-m", "x"]);
        }
        Edit::Settle => settle(),
        Edit::Collect => git(&["gc", "-q", "--prune=now"]),
        _ => {}
    }
}

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: cases(12),
        failure_persistence: None,
        max_shrink_iters: 300,
        ..ProptestConfig::default()
    }
}

fn new_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.config("filter.up.clean", "tr a-z A-Z")
        .config("filter.up.smudge", "tr A-Z a-z");
    repo
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn every_edit_is_seen(edits in prop::collection::vec(edit(), 1..18)) {
        let repo = new_repo();
        for edit in &edits {
            apply(&repo, edit);
            repo.check_against_git();
        }
        repo.git(["fsck", "--strict"]);
    }

    #[test]
    fn edits_between_checkpoints_are_seen(
        rounds in prop::collection::vec(prop::collection::vec(edit(), 1..9), 1..5),
    ) {
        let repo = new_repo();
        for edits in &rounds {
            for edit in edits {
                apply(&repo, edit);
            }
            repo.check_against_git();
        }
    }
}
