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
