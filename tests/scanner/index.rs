//! The index in all its forms: flags, intent-to-add, split, versions 2 to 4.

use super::repo::{TestRepo, let_time_pass};

fn tracked() -> TestRepo {
    let repo = TestRepo::new();
    for name in ["a", "b", "c", "d/e", "d/f/g", "d/f/h"] {
        repo.write(name, name);
    }
    repo.commit_all();
    repo
}

#[test]
fn assume_unchanged() {
    let repo = tracked();
    repo.git([
        "update-index",
        "--assume-unchanged",
        "a",
        "b",
        "d/e",
        "d/f/g",
    ]);
    repo.check_thrice();
    repo.write("a", "modified").remove("b").write("d/e", "x");
    repo.chmod("d/f/g", 0o755);
    repo.check_thrice();
    repo.write("a", "modified again");
    repo.check();
    repo.remove("d");
    repo.check();
    repo.git(["update-index", "--no-assume-unchanged", "a", "b"]);
    repo.check();
}

#[test]
fn assume_unchanged_and_something_else_in_its_place() {
    let repo = tracked();
    repo.git([
        "update-index",
        "--assume-unchanged",
        "a",
        "b",
        "c",
        "d/e",
        "d/f/g",
    ]);
    repo.check();
    repo.remove("a").write("a/in/it", "x");
    repo.check_thrice();
    repo.remove("b").link("c", "b");
    repo.remove("d").link("c", "d");
    repo.check_thrice();
    repo.remove("c");
    std::fs::create_dir(repo.path("c")).unwrap();
    repo.check();
    repo.remove("a/in");
    repo.check_thrice();
    repo.remove("d").write("d", "a file");
    repo.check_thrice();
    repo.write("c/now", "something");
    repo.check();
}

#[test]
fn skip_worktree_by_hand() {
    let repo = tracked();
    repo.git(["update-index", "--skip-worktree", "a", "b", "d/e", "d/f/g"]);
    repo.check_thrice();
    repo.write("a", "modified").remove("b").remove("d/f");
    repo.check_thrice();
    repo.remove("d").write("d", "file");
    repo.check();
    repo.git(["update-index", "--no-skip-worktree", "a"]);
    repo.check();
    repo.git(["update-index", "--assume-unchanged", "--skip-worktree", "a"]);
    repo.check();
}

#[test]
fn intent_to_add() {
    let repo = tracked();
    repo.write("new", "n")
        .write("dir/new", "n")
        .write("exe", "x");
    repo.chmod("exe", 0o755);
    repo.git(["add", "-N", "new", "dir/new", "exe"]);
    repo.check_thrice();
    repo.write("new", "changed").remove("dir/new");
    repo.check();
    repo.config("core.fileMode", "false");
    repo.chmod("exe", 0o644);
    repo.check_thrice();
    repo.write(".gitignore", "new\n");
    repo.check();
    repo.git(["add", "new"]);
    repo.check();
    repo.write("empty", "");
    repo.git(["add", "-N", "empty"]);
    repo.check_thrice();
}

#[test]
fn staged_and_changed_again() {
    let repo = tracked();
    repo.write("a", "staged").write("n", "new");
    repo.git(["add", "-A"]);
    repo.write("a", "changed").remove("n");
    repo.check_thrice();
    repo.git(["rm", "-q", "--cached", "b", "d/f/g"]);
    repo.check();
    repo.git(["reset", "-q"]);
    repo.check();
    repo.git(["stash", "-q"]);
    repo.check();
    repo.git(["stash", "pop", "-q"]);
    repo.check();
    repo.git(["checkout", "-q", "--", "."]);
    repo.check_thrice();
}

#[test]
fn versions() {
    for version in ["2", "3", "4"] {
        let repo = tracked();
        repo.git(["update-index", "--index-version", version]);
        repo.check_thrice();
        repo.write("new", "n").write("a", "changed");
        repo.git(["add", "-N", "new"]);
        repo.check_thrice();
        repo.git(["add", "a"]);
        repo.check();
    }
}

#[test]
fn split() {
    let repo = tracked();
    repo.git(["update-index", "--split-index"]);
    repo.check_thrice();
    repo.write("a", "changed").write("new", "n").remove("b");
    repo.git(["add", "a", "new"]);
    repo.git(["rm", "-q", "--cached", "d/f/g"]);
    repo.check_thrice();
    repo.git(["commit", "-qm", "x"]);
    repo.check();
    repo.git(["update-index", "--no-split-index"]);
    repo.check_thrice();
}

#[test]
fn extensions() {
    let repo = tracked();
    repo.git(["update-index", "--untracked-cache"]);
    repo.git(["status"]);
    repo.config("index.threads", "2");
    repo.config("feature.manyFiles", "true");
    repo.git(["update-index", "--force-write-index"]);
    repo.check_thrice();
    repo.config("index.skipHash", "true");
    repo.write("a", "changed");
    repo.git(["add", "a"]);
    repo.check_thrice();
    repo.write("a", "again");
    repo.check();
}

#[test]
fn an_index_that_comes_and_goes() {
    let repo = tracked();
    repo.check();
    repo.remove(".git/index");
    repo.check_thrice();
    repo.git(["reset", "-q"]);
    repo.check();
    repo.git(["read-tree", "--empty"]);
    repo.check_thrice();
    repo.git(["read-tree", "HEAD"]);
    repo.check_thrice();
}

#[test]
fn file_modes_that_do_not_count() {
    let repo = tracked();
    repo.chmod("a", 0o755);
    repo.git(["add", "a"]);
    repo.config("core.fileMode", "false");
    repo.chmod("a", 0o644).chmod("b", 0o755).write("new", "n");
    repo.chmod("new", 0o755);
    repo.check_thrice();
    repo.git(["update-index", "--chmod=-x", "a"]);
    repo.check();
    repo.config("core.fileMode", "true");
    repo.check_thrice();
}

#[test]
fn links_that_are_files() {
    let repo = tracked();
    repo.link("a", "link").link("gone", "dangling");
    repo.git(["add", "-A"]);
    repo.config("core.symlinks", "false");
    repo.remove("link").write("link", "a");
    repo.check_thrice();
    repo.write("link", "b");
    repo.remove("dangling").write("dangling", "two\r\n");
    repo.write(".gitattributes", "* text\n");
    repo.check_tree();
    repo.check_tree();
    repo.link("b", "real");
    repo.check_tree();
    repo.config("core.symlinks", "true");
    repo.check_thrice();
}

#[test]
fn a_file_truncated_in_the_tick_it_was_added() {
    for _ in 0..15 {
        let repo = TestRepo::new();
        repo.write("a", "abc").write("b", "abc");
        repo.git(["add", "a", "b"]);
        repo.write("a", "").write("b", "xyz");
        // git now knows that the entries' times prove nothing, and says so with a size of 0.
        repo.write("c", "c");
        repo.git(["add", "c"]);
        repo.check();
        let_time_pass();
        repo.check();
    }
}

#[test]
fn a_smudged_entry_and_an_empty_file() {
    let repo = TestRepo::new();
    repo.write("a", "abc");
    let time = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    let date = |repo: &TestRepo| {
        let file = std::fs::File::options().write(true).open(repo.path("a"));
        file.unwrap().set_modified(time).unwrap();
    };
    date(&repo);
    repo.git(["add", "a"]);
    repo.write("a", "");
    date(&repo);
    repo.write("c", "c");
    repo.git(["add", "c"]);
    repo.check_thrice();
}
