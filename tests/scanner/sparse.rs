//! Sparse checkouts: the tree is the index's outside of them, and what lies there all the same is kept aside.

use super::repo::{TestRepo, checkpoint};

fn wide() -> TestRepo {
    let repo = TestRepo::new();
    for dir in ["", "in/", "in/deep/", "out/", "out/deep/", "also/"] {
        repo.write(format!("{dir}a"), dir)
            .write(format!("{dir}b.txt"), dir);
    }
    repo.commit_all();
    repo
}

fn go_on(repo: &TestRepo) {
    repo.check_thrice();
    repo.write("in/a", "changed")
        .write("in/new", "n")
        .write("new", "n");
    repo.remove("in/b.txt");
    repo.check();
    // Present though outside: git takes neither the change nor the new file.
    repo.write("out/a", "present and changed")
        .write("out/new", "untracked outside");
    repo.write("out/deep/er/new", "untracked outside");
    repo.check_thrice();
    repo.write("out/a", "changed again");
    repo.check();
    repo.git(["add", "--sparse", "out/a"]);
    repo.check_thrice();
    repo.remove("out");
    repo.check_thrice();
    repo.write("out", "a file in the place of the directory");
    repo.check_tree();
    repo.check_tree();
    repo.remove("out");
    repo.git(["sparse-checkout", "disable"]);
    repo.check_thrice();
}

#[test]
fn cone() {
    let repo = wide();
    repo.git(["sparse-checkout", "set", "--cone", "in"]);
    go_on(&repo);
}

#[test]
fn cone_with_a_parent() {
    let repo = wide();
    repo.git(["sparse-checkout", "set", "--cone", "in/deep", "also"]);
    repo.check_thrice();
    repo.write("in/a", "changed")
        .write("in/deep/new", "n")
        .write("in/other/x", "outside");
    repo.check_thrice();
}

#[test]
fn patterns() {
    let repo = wide();
    repo.git([
        "sparse-checkout",
        "set",
        "--no-cone",
        "/*",
        "!/out/",
        "!*.txt",
        "/in/b.txt",
    ]);
    go_on(&repo);
}

#[test]
fn sparse_index() {
    let repo = wide();
    repo.git(["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    assert!(repo.git(["ls-files", "--sparse"]).contains("out/"));
    go_on(&repo);
}

#[test]
fn sparse_index_again_and_again() {
    let repo = wide();
    repo.git(["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    repo.check_thrice();
    super::repo::let_time_pass();
    repo.check();
    repo.write("out/deep/a", "it came back");
    repo.check();
    repo.check();
    repo.write("out/deep/a", "and changed");
    repo.check();
    repo.remove("out");
    repo.check();
    repo.git(["sparse-checkout", "reapply"]);
    repo.check_thrice();
    repo.git(["sparse-checkout", "add", "out"]);
    repo.check_thrice();
}

#[test]
fn what_lies_outside_is_in_the_checkpoint() {
    let repo = wide();
    repo.git(["sparse-checkout", "set", "--cone", "in"]);
    repo.write("out/a", "present").write("out/new", "new");
    let report = checkpoint(&repo.workspace());
    let commit = report.record.git.commit_hash.unwrap().to_string();
    for (path, content) in [("out/a", "present"), ("out/new", "new")] {
        assert_eq!(
            repo.git(["show", &format!("{commit}^2:raw/{path}")]),
            content
        );
    }
}

#[test]
fn flags_by_hand_in_a_sparse_checkout() {
    let repo = wide();
    repo.git(["sparse-checkout", "set", "--cone", "in"]);
    repo.git(["update-index", "--skip-worktree", "in/a", "in/b.txt"]);
    repo.write("in/a", "changed").remove("in/b.txt");
    repo.check_thrice();
    // Deleted outside without the flag: git leaves it alone.
    repo.git(["update-index", "--no-skip-worktree", "out/a", "out/deep/a"]);
    repo.check_thrice();
}

#[test]
fn files_that_are_expected_outside() {
    let repo = wide();
    repo.git(["sparse-checkout", "set", "--cone", "in"]);
    repo.git(["update-index", "--skip-worktree", "in/a", "in/b.txt"]);
    repo.write("in/a", "changed").remove("in/b.txt");
    repo.write("out/a", "present and changed")
        .write("out/new", "untracked");
    for expected in ["false", "true", "false", "true"] {
        repo.config("sparse.expectFilesOutsideOfPatterns", expected);
        let report = repo.check();
        repo.check_thrice();
        let tree = report.record.git.tree.unwrap().to_string();
        let kept = if expected == "true" { "in/" } else { "changed" };
        assert_eq!(repo.git(["show", &format!("{tree}:in/a")]), kept);
    }
    repo.write("in/a", "changed again")
        .write("in/b.txt", "back");
    repo.check_thrice();
    repo.git(["sparse-checkout", "reapply"]);
    repo.check_thrice();
}

#[test]
fn expected_files_and_a_sparse_index() {
    let repo = wide();
    repo.config("sparse.expectFilesOutsideOfPatterns", "true");
    repo.git(["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    go_on(&repo);
}

#[test]
fn repositories_inside_and_outside() {
    let repo = wide();
    for path in ["in/sub", "out/sub"] {
        let dir = repo.path(path);
        std::fs::create_dir_all(&dir).unwrap();
        repo.git_in(&dir, ["init", "-q", "-b", "main"]);
        repo.git_in(&dir, ["commit", "-q", "--allow-empty", "-m", "one"]);
    }
    repo.commit_all();
    repo.git(["sparse-checkout", "set", "--cone", "in"]);
    for path in ["in/sub", "out/sub"] {
        repo.git_in(
            &repo.path(path),
            ["commit", "-q", "--allow-empty", "-m", "two"],
        );
    }
    repo.check_tree();
    repo.git(["update-index", "--skip-worktree", "in/sub"]);
    for expected in ["false", "true"] {
        repo.config("sparse.expectFilesOutsideOfPatterns", expected);
        repo.check_tree();
        repo.check_tree();
    }
}

#[test]
fn ignore_and_attribute_files_outside() {
    let repo = wide();
    repo.write("out/.gitignore", "*.o\n")
        .write("out/.gitattributes", "* text\n");
    repo.write("in/.gitattributes", "* text=auto\n")
        .commit_all();
    repo.git(["sparse-checkout", "set", "--cone", "in"]);
    repo.write("out/x.o", "ignored")
        .write("out/a", "x\r\n")
        .write("in/n", "x\r\n");
    repo.check_thrice();
}
