//! Submodules and other repositories inside the work tree: recorded as git does, left alone, said.

use std::fs;

use go_team::git::skip::SkipReason;

use super::repo::{TestRepo, checkpoint, let_time_pass};

/// A repository beside the tested one.
fn library(repo: &TestRepo) -> String {
    let dir = repo.beside("library");
    fs::create_dir(&dir).unwrap();
    repo.git_in(&dir, ["init", "-q", "-b", "main"]);
    fs::write(dir.join("lib"), "1").unwrap();
    repo.git_in(&dir, ["add", "-A"]);
    repo.git_in(&dir, ["commit", "-qm", "1"]);
    dir.display().to_string()
}

fn nested(repo: &TestRepo, path: &str, commits: usize) {
    fs::create_dir_all(repo.path(path)).unwrap();
    repo.git_in(&repo.path(path), ["init", "-q", "-b", "main"]);
    repo.write(format!("{path}/file"), "f");
    for _ in 0..commits {
        repo.git_in(&repo.path(path), ["add", "-A"]);
        repo.git_in(
            &repo.path(path),
            ["commit", "-q", "--allow-empty", "-m", "x"],
        );
    }
}

#[test]
fn submodules() {
    let repo = TestRepo::new();
    let library = library(&repo);
    repo.write("a", "a");
    repo.git(["submodule", "--quiet", "add", &library, "sub"]);
    repo.git(["submodule", "--quiet", "add", &library, "deep/sub"]);
    repo.commit_all();
    let report = repo.check_thrice();
    assert_eq!(report.nested.len(), 2);
    // Dirty content is the submodule's own affair.
    repo.write("sub/lib", "dirty").write("sub/untracked", "u");
    repo.check_thrice();
    // Moved.
    repo.git_in(&repo.path("sub"), ["commit", "-qam", "2"]);
    repo.check();
    repo.git(["add", "sub"]);
    repo.check_thrice();
    repo.git(["commit", "-qm", "x"]);
    let_time_pass();
    repo.check();
    repo.git_in(&repo.path("sub"), ["checkout", "-q", "HEAD~"]);
    repo.check();
    // Uninitialised.
    repo.git(["submodule", "--quiet", "deinit", "-f", "sub"]);
    repo.check_thrice();
    repo.write("sub/stray", "s");
    repo.check_tree();
    // Removed.
    repo.remove("sub");
    repo.check_thrice();
    repo.remove("deep");
    repo.check();
    repo.write("sub", "a file in its place");
    repo.check_thrice();
    repo.remove("sub").link("a", "sub");
    repo.check();
    repo.remove("sub")
        .write("sub/x", "a directory in its place");
    repo.check_tree();
    repo.git(["rm", "-q", "--cached", "sub"]);
    repo.check();
    repo.check_thrice();
}

#[test]
fn flags_of_submodules() {
    let repo = TestRepo::new();
    let library = library(&repo);
    repo.git(["submodule", "--quiet", "add", &library, "sub"]);
    repo.git(["submodule", "--quiet", "add", &library, "other"]);
    repo.commit_all();
    repo.git(["update-index", "--assume-unchanged", "sub"]);
    repo.git(["update-index", "--skip-worktree", "other"]);
    for dir in ["sub", "other"] {
        repo.git_in(
            &repo.path(dir),
            ["commit", "-q", "--allow-empty", "-m", "2"],
        );
    }
    repo.check_tree();
    repo.check_tree();
    repo.remove("sub").remove("other");
    repo.check_thrice();
}

#[test]
fn nested_repositories() {
    let repo = TestRepo::new();
    repo.write("a", "a");
    nested(&repo, "n", 1);
    nested(&repo, "d/n", 1);
    let report = repo.check_thrice();
    assert_eq!(report.nested.len(), 2);
    nested(&repo, "n", 1);
    repo.check();
    repo.git_in(&repo.path("d/n"), ["checkout", "-q", "--detach"]);
    repo.check();
    repo.git_in(&repo.path("d/n"), ["pack-refs", "--all"]);
    repo.check();
    repo.git(["add", "n"]);
    repo.check_thrice();
    repo.remove("n/.git");
    repo.check_tree();
    repo.git(["rm", "-q", "-f", "--cached", "n"]);
    repo.check();
    repo.remove("d/n/.git");
    repo.check_thrice();
    nested(&repo, "d/n", 1);
    repo.check();
    repo.remove("d/n");
    repo.check();
}

#[test]
fn an_ignored_nested_repository_is_not_said() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "n/\nm\n");
    nested(&repo, "n", 1);
    nested(&repo, "m", 0);
    let report = repo.check_thrice();
    assert!(report.nested.is_empty() && report.skipped.is_empty());
}

#[test]
fn without_a_commit() {
    let repo = TestRepo::new();
    repo.write("a", "a").write("d/x", "x");
    nested(&repo, "n", 0);
    nested(&repo, "d/n", 0);
    for _ in 0..3 {
        let report = checkpoint(&repo.workspace());
        let said: Vec<_> = report
            .skipped
            .iter()
            .map(|s| (&*s.path, s.reason))
            .collect();
        let reason = SkipReason::NestedWithoutCommit;
        assert_eq!(said, [("n", reason), ("d/n", reason)]);
        let tree = report.record.git.tree.unwrap().to_string();
        assert_eq!(repo.git(["ls-tree", "-r", "--name-only", &tree]), "a\nd/x");
    }
    nested(&repo, "n", 1);
    nested(&repo, "d/n", 1);
    repo.check_thrice();
}

#[test]
fn in_the_place_of_a_tracked_file_or_directory() {
    let repo = TestRepo::new();
    repo.write("f", "f")
        .write("d/x", "x")
        .write("d/e/y", "y")
        .commit_all();
    repo.check();
    repo.remove("f").remove("d");
    nested(&repo, "f", 1);
    repo.check_thrice();
    // With tracked files below, git sees a directory.
    nested(&repo, "d", 1);
    repo.check_thrice();
    repo.write("d/x", "x").write("d/e/y", "y");
    repo.check_tree();
    repo.git(["rm", "-q", "--cached", "d/x"]);
    repo.check_tree();
    repo.git(["rm", "-q", "--cached", "d/e/y"]);
    repo.check_tree();
    repo.git(["reset", "-q"]);
    repo.check_tree();
    repo.git(["rm", "-qr", "--cached", "d"]);
    repo.check_thrice();
}

#[test]
fn a_git_that_is_no_repository() {
    let repo = TestRepo::new();
    repo.write("d/x", "x");
    fs::create_dir(repo.path("d/.git")).unwrap();
    repo.write("e/.git", "not a link").write("e/x", "x");
    repo.write("g/.git", "gitdir: nowhere\n").write("g/x", "x");
    repo.write("h/.git/HEAD", "ref: refs/heads/main\n")
        .write("h/x", "x");
    repo.check_tree();
    let_time_pass();
    repo.check_tree();
    // It becomes one without a change of its directory.
    repo.git_in(&repo.path("d"), ["init", "-q", "-b", "main"]);
    repo.git_in(
        &repo.path("d"),
        ["commit", "-q", "--allow-empty", "-m", "x"],
    );
    repo.check_tree();
    repo.check_tree();
    // A linked work tree and a bare repository.
    repo.git(["commit", "-q", "--allow-empty", "-m", "x"]);
    repo.git(["worktree", "add", "-q", "linked"]);
    repo.git(["init", "-q", "--bare", "bare.git"]);
    repo.check_tree();
    repo.check_tree();
}
