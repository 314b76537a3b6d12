//! Ignore files in all their places, and what becomes of a tree when they change.

use std::fs;

use super::repo::{TestRepo, let_time_pass};

/// A tree with names that the patterns below single out.
fn forest() -> TestRepo {
    let repo = TestRepo::new();
    for dir in [
        "",
        "a/",
        "a/b/",
        "a/b/c/",
        "build/",
        "a/build/",
        "foo/x/bar/",
    ] {
        for name in ["x.log", "keep.log", "y.txt", "build.txt", "!bang", "#hash"] {
            repo.write(format!("{dir}{name}"), format!("{dir}{name}"));
        }
    }
    repo.write("sp ", "trailing space").write("sp", "none");
    repo.write("foo/bar", "file").write("foo2/x/y/bar/z", "z");
    repo
}

/// Sets the root's ignore file and checks before and after further edits.
fn with_patterns(patterns: &str) {
    let repo = forest();
    repo.write(".gitignore", patterns);
    repo.check_thrice();
    repo.write("a/new.log", "n").write("build/new", "n");
    repo.write("a/b/keep.log", "changed");
    repo.check_tree();
    repo.git(["add", "-A"]);
    repo.write(".gitignore", format!("{patterns}\n*.txt\n"));
    repo.check_tree();
    let_time_pass();
    repo.remove(".gitignore");
    repo.check();
}

#[test]
fn negation() {
    with_patterns("*.log\n!keep.log\n");
    with_patterns("a/*\n!a/b\na/b/*\n!a/b/y.txt\n");
    with_patterns("a/\n!a/b/y.txt\n");
    with_patterns("*\n!*/\n!*.txt\n");
}

#[test]
fn double_stars() {
    with_patterns("**/bar\n");
    with_patterns("foo/**\n!foo/bar\n");
    with_patterns("foo/**/bar\na/**/c/\n");
    with_patterns("a**b\n**\n!a\n!a/**\n");
}

#[test]
fn directories_only_and_anchored() {
    with_patterns("build/\n");
    with_patterns("/build/\n");
    with_patterns("/build\n/x.log\n");
    with_patterns("bar/\n");
    with_patterns("a/build\n");
}

#[test]
fn escapes_comments_and_spaces() {
    with_patterns("\\!bang\n\\#hash\n");
    with_patterns("# hash\n#hash\n!bang\n");
    with_patterns("sp\\ \n");
    with_patterns("sp   \n");
    with_patterns("x.log\r\nbuild\r\n");
    with_patterns("\u{feff}x.log\n");
    with_patterns("x.[kl]og\n[!x].log\n[[:alpha:]].txt\n?.log\n");
    with_patterns("\\x.log\n\\*.txt\nbroken[\n[\n");
}

#[test]
fn nested_files() {
    let repo = forest();
    repo.write(".gitignore", "*.log\n")
        .write("a/.gitignore", "!x.log\n/build/\n")
        .write("a/b/.gitignore", "*\n!.gitignore\n");
    repo.check_thrice();
    repo.write("a/b/.gitignore", "c/\n");
    repo.check();
    repo.remove("a/.gitignore");
    repo.check();
    repo.write("a/b/c/.gitignore", "*\n");
    repo.check();
    repo.write("a/b/c/.gitignore", "!*\n");
    repo.check();
    let_time_pass();
    repo.check_thrice();
}

#[test]
fn exclude_and_excludes_file() {
    let repo = forest();
    repo.write(".git/info/exclude", "*.log\n!x.log\n");
    repo.check_thrice();
    fs::write(repo.home().join("ignore"), "x.log\nbuild/\n").unwrap();
    repo.check();
    repo.write(".gitignore", "!/x.log\n!build/\n");
    repo.check();
    repo.remove(".git/info/exclude");
    repo.check_thrice();
    repo.config("core.excludesFile", ".my-ignore");
    repo.write(".my-ignore", "*.txt\n");
    repo.check();
    repo.write(".my-ignore", "*.log\n");
    repo.check();
    repo.config("core.excludesFile", "");
    repo.check();
    repo.config("core.excludesFile", "nowhere");
    repo.check_thrice();
}

#[test]
fn tracked_and_staged_though_ignored() {
    let repo = forest();
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "c"]);
    repo.write(".gitignore", "*.log\nbuild/\na/\n");
    repo.check_thrice();
    repo.write("a/b/x.log", "changed").write("a/b/new", "new");
    repo.write("build/y.txt", "changed").remove("a/y.txt");
    repo.check();
    repo.git(["rm", "-q", "--cached", "-r", "build", "a/b/c"]);
    repo.check();
    repo.git(["rm", "-q", "--cached", "y.txt"]);
    repo.check();
    repo.git(["add", "-f", "build/build.txt"]);
    repo.check_thrice();
    repo.git(["rm", "-q", "--cached", "-r", "a"]);
    repo.check();
    repo.git(["reset", "-q", "--hard"]);
    repo.check();
}

#[test]
fn tracked_deep_in_an_ignored_directory() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "out/\n")
        .write("out/deep/er/kept", "1")
        .write("out/deep/not", "n")
        .write("out/not", "n");
    repo.git(["add", "-f", ".gitignore", "out/deep/er/kept"]);
    repo.check_thrice();
    repo.write("out/deep/er/kept", "2")
        .write("out/deep/er/new", "n");
    repo.check();
    repo.remove("out/deep/er/kept");
    repo.check();
    repo.git(["rm", "-q", "--cached", "out/deep/er/kept"]);
    repo.check();
    repo.write(".gitignore", "");
    repo.check_thrice();
}

#[test]
fn the_ignore_file_ignores_itself() {
    let repo = forest();
    repo.write("a/.gitignore", ".gitignore\n*.log\n");
    repo.check_thrice();
    repo.write("a/.gitignore", ".gitignore\n*.txt\n");
    repo.check();
    repo.remove("a/.gitignore");
    repo.check();
}

#[test]
fn an_ignore_file_that_is_no_file() {
    let repo = forest();
    fs::write(repo.beside("patterns"), "*.log\n").unwrap();
    repo.link("../patterns", ".gitignore");
    repo.check_thrice();
    repo.link("../y.txt", "a/.gitignore");
    repo.check();
    repo.remove(".gitignore");
    fs::create_dir(repo.path(".gitignore")).unwrap();
    repo.check_thrice();
    repo.write(".gitignore/x.log", "in a directory of that name");
    repo.check();
    repo.remove(".gitignore").write(".gitignore", "*.log\n");
    repo.check();
}

#[test]
fn a_changed_ignore_file_of_the_same_size_and_tick() {
    let repo = TestRepo::new();
    repo.write("x", "1").write("y", "2").write("sub/x", "1");
    for nth in 0..30 {
        repo.write("sub/.gitignore", if nth % 2 == 0 { "x\n" } else { "y\n" });
        repo.write(".gitignore", if nth % 2 == 0 { "y\n" } else { "x\n" });
        let expected = nth % 2 == 0;
        let report = super::repo::checkpoint(&repo.workspace());
        let tree = report.record.git.tree.unwrap().to_string();
        let names = repo.git(["ls-tree", "-r", "--name-only", &tree]);
        let has = |name: &str| names.lines().any(|line| line == name);
        assert_eq!(has("x"), expected, "round {nth}: {names}");
        assert_eq!(has("y"), !expected, "round {nth}: {names}");
    }
    repo.check();
}

#[test]
fn case_of_patterns() {
    let repo = forest();
    repo.write(".gitignore", "X.LOG\nBUILD/\n/A/B/y.*\n");
    repo.check_thrice();
    repo.config("core.ignoreCase", "true");
    repo.check_thrice();
    repo.config("core.ignoreCase", "false");
    repo.check();
}

#[test]
fn a_deleted_tracked_ignore_file_does_not_count() {
    let repo = forest();
    repo.write("a/.gitignore", "*.log\n").commit_all();
    repo.remove("a/.gitignore");
    repo.check_thrice();
    repo.git(["update-index", "--skip-worktree", "a/.gitignore"]);
    repo.check();
    repo.git(["update-index", "--no-skip-worktree", "a/.gitignore"]);
    repo.check();
    repo.git(["checkout", "-q", "a/.gitignore"]);
    repo.check();
}
