//! Linked work trees, detached and unborn heads, shallow clones, separate git directories.

use std::fs;

use super::repo::{TestRepo, let_time_pass};

#[test]
fn linked() {
    let repo = TestRepo::new();
    repo.write("a", "a")
        .write(".gitignore", "*.o\n")
        .commit_all();
    let other = repo.beside("other");
    let other_path = other.display().to_string();
    repo.git(["worktree", "add", "-q", &other_path]);
    repo.check_thrice();
    fs::write(other.join("b"), "b").unwrap();
    fs::write(other.join("c.o"), "o").unwrap();
    repo.write(".git/info/exclude", "*.x\n");
    fs::write(other.join("c.x"), "x").unwrap();
    repo.check_tree_in(&other);
    repo.check_tree_in(&other);
    repo.git_in(&other, ["add", "b"]);
    fs::write(other.join("a"), "changed").unwrap();
    repo.check_tree_in(&other);
    repo.check();
    repo.write("only-here", "x");
    repo.check();
    let_time_pass();
    repo.check_tree_in(&other);
    repo.git_in(&other, ["sparse-checkout", "set", "--no-cone", "/a"]);
    repo.check_tree_in(&other);
    repo.check();
}

#[test]
fn a_linked_work_tree_inside_the_main_one() {
    let repo = TestRepo::new();
    repo.write("a", "a").commit_all();
    repo.git(["worktree", "add", "-q", "inside"]);
    repo.check_thrice();
    repo.write("inside/a", "changed");
    repo.check_tree_in(&repo.path("inside"));
    repo.check();
}

#[test]
fn detached_and_unborn() {
    let repo = TestRepo::new();
    repo.write("a", "a").commit_all();
    repo.git(["checkout", "-q", "--detach"]);
    repo.write("b", "b");
    repo.check_thrice();
    repo.git(["checkout", "-q", "--orphan", "fresh"]);
    repo.check_thrice();
    repo.git(["rm", "-q", "--cached", "a"]);
    repo.check();
}

#[test]
fn shallow() {
    let repo = TestRepo::new();
    for nth in 0..3 {
        repo.write("a", format!("{nth}")).commit_all();
    }
    let clone = repo.beside("clone");
    let url = format!("file://{}", repo.root().display());
    repo.git([
        "clone",
        "-q",
        "--depth",
        "1",
        &url,
        &clone.display().to_string(),
    ]);
    repo.shield(&clone);
    repo.check_tree_in(&clone);
    fs::write(clone.join("b"), "b").unwrap();
    repo.check_tree_in(&clone);
    repo.git_in(&clone, ["fsck", "--strict"]);
}

#[test]
fn switching_branches() {
    let repo = TestRepo::new();
    for nth in 0..20 {
        repo.write(format!("d{}/f{nth}", nth % 4), format!("{nth}"));
    }
    repo.commit_all();
    repo.git(["checkout", "-q", "-b", "side"]);
    repo.remove("d1")
        .write("d2/f2", "side")
        .write("d5/new", "n")
        .commit_all();
    for branch in ["main", "side", "main", "side"] {
        repo.git(["checkout", "-q", branch]);
        repo.check();
    }
    repo.git(["merge", "-q", "main"]);
    repo.check_thrice();
}

#[test]
fn a_git_directory_elsewhere() {
    let repo = TestRepo::new();
    repo.write("a", "a").commit_all();
    fs::rename(repo.path(".git"), repo.beside("gitdir")).unwrap();
    repo.write(".git", "gitdir: ../gitdir\n").write("b", "b");
    repo.check_tree();
    repo.write("a", "changed");
    repo.check_tree();
}
