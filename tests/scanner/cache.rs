//! The stat cache: whatever becomes of it, the tree is right and every object is there.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::repo::{TestRepo, checkpoint, let_time_pass};

fn filled() -> TestRepo {
    let repo = TestRepo::new();
    for nth in 0..30 {
        repo.write(
            format!("d{}/e{}/f{nth}", nth % 3, nth % 5),
            format!("{nth}"),
        );
    }
    repo.write(".gitignore", "*.o\n")
        .write(".gitattributes", "*.txt text\n");
    repo.write("x.txt", "a\r\nb\n").commit_all();
    repo.write("untracked/u", "u").write("d0/e0/f0", "changed");
    let_time_pass();
    repo.check();
    repo
}

/// Everything that a ref reaches is there, and well formed.
fn assert_complete(repo: &TestRepo, dir: &Path) {
    repo.git_in(dir, ["fsck", "--strict", "--no-dangling"]);
    repo.git_in(dir, ["rev-list", "--objects", "--all"]);
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(status.unwrap().success());
}

#[test]
fn truncated_and_flipped() {
    let repo = filled();
    let cache = fs::read(repo.cache()).unwrap();
    for cut in [0, 1, 7, 100, cache.len() / 2, cache.len() - 1] {
        fs::write(repo.cache(), &cache[..cut]).unwrap();
        repo.check();
    }
    for at in (0..cache.len()).step_by(cache.len() / 12) {
        let mut flipped = cache.clone();
        flipped[at] ^= 0x10;
        fs::write(repo.cache(), &flipped).unwrap();
        repo.write("d1/e1/f1", format!("{at}"));
        repo.check();
    }
    fs::remove_file(repo.cache()).unwrap();
    fs::create_dir(repo.cache()).unwrap();
    let report = checkpoint(&repo.workspace());
    assert_eq!(report.record.git.tree, Some(repo.git_tree()));
    assert!(
        !report.warnings.is_empty(),
        "it is said that the cache could not be written"
    );
    fs::remove_dir(repo.cache()).unwrap();
    repo.check();
    assert_complete(&repo, &repo.root());
}

#[test]
fn of_another_repository() {
    let (repo, other) = (filled(), filled());
    other.write("d2/e2/f2", "only there").write("more", "m");
    other.check();
    let_time_pass();
    other.check();
    fs::copy(other.cache(), repo.cache()).unwrap();
    repo.check();
    assert_complete(&repo, &repo.root());
    // With a ref of the same name and target the objects are still the other repository's alone.
    fs::copy(other.cache(), repo.cache()).unwrap();
    let reference = other.git([
        "for-each-ref",
        "--sort=-creatordate",
        "--format=%(refname)",
        "refs/go-team",
    ]);
    for name in reference.lines() {
        repo.git(["update-ref", name, "HEAD"]);
    }
    repo.check();
}

#[test]
fn of_the_original_of_a_copy() {
    let repo = filled();
    let moved = repo.beside("copy");
    copy(&repo.root(), &moved);
    fs::write(moved.join("d1/e1/f1"), "X").unwrap();
    repo.check_tree_in(&moved);
    repo.check_tree_in(&moved);
    assert_complete(&repo, &moved);
    repo.check();
    // Moved, the cache still fits.
    let again = repo.beside("again");
    fs::rename(&moved, &again).unwrap();
    fs::write(again.join("d1/e1/f1"), "Y").unwrap();
    repo.check_tree_in(&again);
    assert_complete(&repo, &again);
}

#[test]
fn an_old_one_put_back() {
    let repo = filled();
    let old = fs::read(repo.cache()).unwrap();
    repo.write("d1/e1/f1", "2")
        .write("new/er", "n")
        .remove("d2");
    repo.write("x.txt", "c\r\n").write(".gitignore", "u\n");
    repo.check();
    repo.commit_all();
    repo.check();
    fs::write(repo.cache(), &old).unwrap();
    repo.check();
    assert_complete(&repo, &repo.root());
    fs::write(repo.cache(), &old).unwrap();
    repo.git(["reset", "-q", "--hard", "HEAD~"]);
    repo.check();
    assert_complete(&repo, &repo.root());
}

#[test]
fn whose_ref_is_gone() {
    for edit in [false, true] {
        let repo = filled();
        repo.write("staged", "s");
        repo.git(["add", "staged"]);
        repo.write("staged", "changed").write("raw.txt", "a\r\nb\n");
        repo.check();
        let_time_pass();
        repo.check();
        let refs = repo.git(["for-each-ref", "--format=%(refname)", "refs/go-team"]);
        for name in refs.lines() {
            repo.git(["update-ref", "-d", name]);
        }
        repo.git(["reflog", "expire", "--expire=now", "--all"]);
        repo.git(["gc", "-q", "--prune=now"]);
        if edit {
            repo.write("d0/e0/f15", "changed");
        }
        repo.check();
        assert_complete(&repo, &repo.root());
    }
}

#[test]
fn garbage_collected_in_between() {
    let repo = filled();
    for nth in 0..4 {
        repo.write("d0/e0/f0", format!("{nth}"))
            .write(format!("n{nth}"), "n");
        if nth % 2 == 0 {
            repo.git(["add", "-A"]);
        }
        repo.check();
        repo.git(["reset", "-q"]);
        repo.git(["gc", "-q", "--prune=now"]);
        repo.check();
    }
    assert_complete(&repo, &repo.root());
}

#[test]
fn the_index_does_not_hold_what_it_no_longer_names() {
    let repo = filled();
    repo.write("late", "staged, then dropped");
    repo.git(["add", "late"]);
    repo.check();
    repo.git(["rm", "-q", "--cached", "late"]);
    repo.check();
    repo.git(["gc", "-q", "--prune=now"]);
    repo.check_thrice();
    assert_complete(&repo, &repo.root());
}

#[test]
fn an_index_whose_objects_are_missing() {
    let repo = TestRepo::new();
    repo.write("a", "a").write("b", "b");
    repo.git(["add", "-A"]);
    let_time_pass();
    let id = repo.git(["rev-parse", ":a"]);
    repo.remove(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let report = checkpoint(&repo.workspace());
    let tree = report.record.git.tree.unwrap().to_string();
    assert_eq!(repo.git(["show", &format!("{tree}:a")]), "a");
    assert_complete(&repo, &repo.root());
}

#[test]
fn several_at_once() {
    let repo = filled();
    let expected = repo.git_tree();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let report = checkpoint(&repo.workspace());
                    assert_eq!(report.record.git.tree, Some(expected));
                }
            });
        }
    });
    repo.check();
    assert_complete(&repo, &repo.root());
}
