//! Several processes that use the stat cache at once: each checkpoint holds what git would record, whatever becomes of
//! the cache meanwhile.

use std::collections::HashSet;
use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use go_team::model::ObjectId;

use super::property::cases;
use super::repo::TestRepo;

fn filled() -> TestRepo {
    let repo = TestRepo::new();
    for nth in 0..60 {
        repo.write(format!("d{}/e{}/f{nth}", nth % 4, nth % 7), "0");
    }
    repo.write(".gitattributes", "*.txt text\n")
        .write("x.txt", "a\r\n");
    repo.commit_all();
    repo
}

fn spawn(repo: &TestRepo, dir: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_go-team"))
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", repo.home())
        .env("GO_TEAM_DURABILITY_SYNC", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn succeed(child: Child) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The checkpoints that came since the last call, with their trees.
fn new_trees(repo: &TestRepo, seen: &mut HashSet<String>) -> Vec<ObjectId> {
    let format = "--format=%(refname) %(tree)";
    let lines = repo.git(["for-each-ref", format, "refs/go-team"]);
    let new = lines.lines().filter(|line| seen.insert((*line).to_owned()));
    let tree = |line: &str| ObjectId::parse(line.rsplit(' ').next().unwrap()).unwrap();
    new.map(tree).collect()
}

/// Changes some files in place, so that nothing but their content and times differ.
fn change(dir: &Path, round: u32) {
    for nth in (0..60).filter(|nth| (nth + round).is_multiple_of(3)) {
        let path = dir.join(format!("d{}/e{}/f{nth}", nth % 4, nth % 7));
        fs::write(path, format!("{}", round % 10)).unwrap();
    }
    let _ = fs::remove_file(dir.join(format!("new{}", round.wrapping_sub(1))));
    fs::write(dir.join(format!("new{round}")), "n").unwrap();
}

#[test]
fn two_that_create_and_one_that_looks() {
    let repo = filled();
    let mut seen = HashSet::new();
    for round in 0..cases(8) {
        change(&repo.root(), round);
        let expected = repo.git_tree();
        let children = [&["cp-create"][..], &["status"], &["cp-create"]];
        let children = children.map(|args| spawn(&repo, &repo.root(), args));
        children.into_iter().for_each(succeed);
        assert_eq!(new_trees(&repo, &mut seen), [expected; 2], "round {round}");
    }
    repo.check();
    repo.git(["fsck", "--strict"]);
}

#[test]
fn two_work_trees_with_one_store() {
    let repo = filled();
    let linked = repo.beside("linked");
    let path = linked.to_str().unwrap();
    repo.git(["worktree", "add", "-q", "-b", "side", path]);
    let mut seen = HashSet::new();
    for round in 0..cases(6) {
        change(&repo.root(), round);
        change(&linked, round + 5);
        let mut expected = [repo.git_tree(), repo.git_tree_in(&linked)];
        let dirs = [repo.root(), linked.clone()];
        let children = dirs.map(|dir| spawn(&repo, &dir, &["cp-create"]));
        children.into_iter().for_each(succeed);
        let mut trees = new_trees(&repo, &mut seen);
        trees.sort_unstable();
        expected.sort_unstable();
        assert_eq!(trees, expected, "round {round}");
    }
    repo.check();
    repo.check_tree_in(&linked);
    repo.git(["fsck", "--strict"]);
}

/// Damages the cache in one way or another.
fn damage(cache: &Path, old: &[u8], nth: u64) {
    let open = || fs::File::options().write(true).open(cache);
    match nth % 5 {
        0 => _ = open().map(|file| file.set_len(nth * 37 % 900)),
        1 | 2 => {
            // A byte in its middle, in place.
            if let Ok(mut file) = open() {
                let length = file.metadata().map_or(1, |meta| meta.len().max(1));
                let _ = file.seek(SeekFrom::Start(nth * 7919 % length));
                let _ = file.write_all(&[u8::try_from(nth % 251).unwrap()]);
            }
        }
        3 => {
            let aside = cache.with_file_name("aside");
            let _ = fs::write(&aside, old);
            let _ = fs::rename(aside, cache);
        }
        _ => _ = fs::remove_file(cache),
    }
}

#[test]
fn a_cache_that_is_damaged_while_it_is_used() {
    let repo = filled();
    succeed(spawn(&repo, &repo.root(), &["cp-create"]));
    let old = fs::read(repo.cache()).unwrap();
    let mut seen = HashSet::new();
    new_trees(&repo, &mut seen);
    for round in 0..cases(8) {
        change(&repo.root(), round);
        let expected = repo.git_tree();
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut nth = u64::from(round) * 101;
                while !over.load(Ordering::Relaxed) {
                    damage(&repo.cache(), &old, nth);
                    nth += 1;
                    thread::sleep(std::time::Duration::from_micros(300));
                }
            });
            let children = [(); 2].map(|()| spawn(&repo, &repo.root(), &["cp-create"]));
            let ended = children.map(|child| child.wait_with_output().unwrap());
            over.store(true, Ordering::Relaxed);
            for output in ended {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{said}");
            }
        });
        assert_eq!(new_trees(&repo, &mut seen), [expected; 2], "round {round}");
    }
    repo.check();
    repo.git(["fsck", "--strict"]);
}

#[test]
fn files_that_change_all_the_time() {
    let repo = filled();
    for round in 0..cases(4) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut nth = round * 1000;
                while !over.load(Ordering::Relaxed) {
                    change(&repo.root(), nth);
                    nth += 1;
                }
            });
            let children = [(); 2].map(|()| spawn(&repo, &repo.root(), &["cp-create"]));
            let ended = children.map(|child| child.wait_with_output().unwrap());
            over.store(true, Ordering::Relaxed);
            for output in ended {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{said}");
            }
        });
        // What the last of them remembered does not hide what was changed since.
        repo.check();
    }
}
