//! Repositories by name.

use std::fs;

use super::repo::{TestRepo, checkpoint};

#[test]
fn plain_files() {
    let repo = TestRepo::new();
    repo.write("a.txt", "a")
        .write("dir/b.txt", "b")
        .write("dir/deep/c", "c")
        .commit_all();
    repo.check_thrice();
    repo.write("a.txt", "changed")
        .write("new", "n")
        .remove("dir/b.txt");
    repo.check();
    repo.git(["add", "a.txt"]);
    repo.write("a.txt", "changed again");
    repo.check_thrice();
}

#[test]
fn unborn_and_empty() {
    let repo = TestRepo::new();
    repo.check_thrice();
    repo.write("x", "x");
    repo.check_thrice();
    repo.git(["add", "x"]);
    repo.check_thrice();
}

#[test]
fn a_changed_file_is_read_once_and_then_remembered() {
    let repo = TestRepo::new();
    repo.write("a", "1").write("b", "1").commit_all();
    std::thread::sleep(std::time::Duration::from_millis(30));
    repo.check();
    let tree = fs::read(repo.path(".git/index")).unwrap();
    checkpoint(&repo.workspace());
    assert_eq!(
        fs::read(repo.path(".git/index")).unwrap(),
        tree,
        "the index is untouched"
    );
}

/// Few files are looked at by one thread, until there are many, many at one place, or they lie deep.
#[test]
fn what_was_small_becomes_deep_wide_and_large() {
    let repo = TestRepo::new();
    repo.write("a", "a").write("d/b", "b").commit_all();
    repo.check_thrice();
    let deep = "d/".repeat(600);
    repo.write(format!("{deep}file"), "deep").check();
    for nth in 0..150 {
        repo.write(format!("wide/{nth}/file"), format!("{nth}"));
    }
    repo.check();
    for nth in 0..1500 {
        repo.write(format!("many/{}/{nth}", nth % 3), format!("{nth}"));
    }
    repo.check();
    repo.commit_all();
    repo.write(format!("{deep}file"), "changed");
    repo.write("many/1/1000", "changed").remove("wide/7/file");
    repo.check_thrice();
    fs::remove_dir_all(repo.path("many")).unwrap();
    repo.check();
}
