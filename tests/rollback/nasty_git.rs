//! Repositories in every state that git knows: exact, or refused.

use std::fs;
use std::path::Path;

use super::edits;
use super::expect::assert_restored;
use super::photo::Photo;
use super::process;
use super::scene::Scene;
use super::support::TestRepo;

#[test]
fn nasty_35_a_branch_without_a_commit() {
    let mut scene = Scene::of(TestRepo::new());
    scene.repo.write("staged.txt", "staged\n");
    scene.repo.git(&["add", "."]);
    scene.repo.write("untracked.txt", "untracked\n");
    scene.take();
    scene.repo.git(&["commit", "-q", "-m", "the first commit"]);
    scene.repo.write("staged.txt", "later\n");
    let before = scene.now();
    assert!(before.refs.contains_key("refs/heads/main"));
    scene.roll_back("1");
    let after = scene.now();
    assert!(!after.refs.contains_key("refs/heads/main"), "unborn again");
    assert_restored(scene.at(1), &before, &after, "unborn");
    scene.undo();
    before.assert_same(&scene.now(), "undone");
    scene.redo();
    after.assert_same(&scene.now(), "redone");
}

#[test]
fn nasty_35_without_a_commit_on_both_sides() {
    let mut scene = Scene::of(TestRepo::new());
    scene.repo.write("a.txt", "one\n");
    scene.take();
    scene.repo.write("a.txt", "two\n");
    scene.repo.git(&["add", "."]);
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "unborn");
    scene.undo();
    before.assert_same(&scene.now(), "undone");
}

#[test]
fn nasty_35_a_detached_head_then_and_now() {
    let mut scene = Scene::lived_in();
    scene.repo.git(&["checkout", "-q", "--detach"]);
    scene.repo.git(&["commit", "-q", "-m", "on no branch"]);
    scene.take();
    scene
        .repo
        .git(&["commit", "-q", "--allow-empty", "-m", "further"]);
    for target in [4, 1] {
        let before = scene.now();
        scene.roll_back(scene.id(target));
        assert_restored(scene.at(target), &before, &scene.now(), target);
    }
    scene.undo();
    scene.undo();
    let before = scene.now();
    scene.repo.git(&["checkout", "-q", "-B", "other"]);
    let on_branch = scene.now();
    scene.roll_back(scene.id(4));
    assert_restored(scene.at(4), &on_branch, &scene.now(), "detached again");
    assert!(scene.now().refs.contains_key("refs/heads/other"));
    scene.undo();
    on_branch.assert_same(&scene.now(), "on the branch");
    assert_eq!(before.files, on_branch.files);
}

#[test]
fn nasty_35_a_conflicted_index_comes_back_stage_for_stage() {
    let mut scene = Scene::new();
    for name in ["file", "gone"] {
        scene.repo.write(name, "base\n");
    }
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "base"]);
    edits::conflict(&scene.repo, "file");
    edits::conflict(&scene.repo, "gone");
    scene.repo.remove("gone");
    scene.repo.write(
        "file",
        "<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\n",
    );
    scene.take();
    scene.repo.write("file", "resolved\n");
    scene.repo.git(&["add", "-A"]);
    scene.repo.git(&["commit", "-q", "-m", "resolved"]);
    scene.repo.git(&["gc", "-q", "--prune=now"]);
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "conflicted");
    assert_eq!(scene.repo.git(&["ls-files", "-u"]).lines().count(), 6);
    scene.undo();
    before.assert_same(&scene.now(), "resolved");
}

#[test]
fn nasty_35_flags_of_the_index_come_back() {
    let mut scene = Scene::new();
    for name in ["assumed", "skipped", "absent", "plain"] {
        scene.repo.write(name, "committed\n");
    }
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "flags"]);
    scene
        .repo
        .git(&["update-index", "--assume-unchanged", "assumed"]);
    scene
        .repo
        .git(&["update-index", "--skip-worktree", "skipped", "absent"]);
    scene.repo.write("assumed", "changed behind git's back\n");
    scene.repo.write("skipped", "and here\n");
    scene.repo.remove("absent");
    scene.repo.write("intended", "to be added\n");
    scene.repo.git(&["add", "-N", "intended"]);
    scene.take();
    scene
        .repo
        .git(&["update-index", "--no-assume-unchanged", "assumed"]);
    scene
        .repo
        .git(&["update-index", "--no-skip-worktree", "skipped", "absent"]);
    scene
        .repo
        .git(&["update-index", "--skip-worktree", "plain"]);
    scene.repo.git(&["add", "-A"]);
    scene.repo.git(&["commit", "-q", "-m", "all of it"]);
    scene.repo.write("plain", "behind git's back as well\n");
    let before = scene.now();
    scene.roll_back("1");
    let after = scene.now();
    assert_restored(scene.at(1), &before, &after, "flags");
    let flagged = |photo: &Photo| {
        photo
            .index
            .iter()
            .filter(|line| !line.ends_with("flags 0"))
            .count()
    };
    assert_eq!(flagged(&after), 4);
    scene.undo();
    before.assert_same(&scene.now(), "undone");
}

#[test]
fn nasty_35_stash_tags_and_other_branches_are_not_touched() {
    let mut scene = Scene::new();
    scene.repo.write("file", "one\n");
    scene.take();
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "two"]);
    scene.repo.git(&["tag", "-a", "-m", "a tag", "v1"]);
    scene.repo.git(&["branch", "other"]);
    scene
        .repo
        .git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    scene.repo.write("file", "to be stashed\n");
    scene.repo.git(&["stash", "-q"]);
    let before = scene.now();
    let stash = scene.repo.git(&["stash", "list"]);
    let config = fs::read(scene.repo.path(".git/config")).unwrap();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "refs");
    assert_eq!(scene.repo.git(&["stash", "list"]), stash);
    assert_eq!(fs::read(scene.repo.path(".git/config")).unwrap(), config);
}

#[test]
fn packed_refs_and_collected_garbage_are_no_obstacle() {
    let scene = Scene::lived_in();
    let before = scene.now();
    scene.repo.git(&["pack-refs", "--all"]);
    scene.repo.git(&["gc", "-q", "--prune=now"]);
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "packed");
    for args in [
        &["reflog", "expire", "--expire=now", "--all"][..],
        &["gc", "-q", "--prune=now"],
        &["pack-refs", "--all"],
    ] {
        scene.repo.git(args);
    }
    scene.undo();
    before.assert_same(&scene.now(), "undone after garbage was collected");
    scene.repo.git(&["fsck", "--strict"]);
}

#[test]
fn an_index_of_every_version() {
    for version in ["2", "3", "4"] {
        let scene = Scene::lived_in();
        scene
            .repo
            .git(&["update-index", "--index-version", version]);
        let before = scene.now();
        scene.roll_back("1");
        assert_restored(scene.at(1), &before, &scene.now(), version);
        scene.undo();
        before.assert_same(&scene.now(), version);
    }
}

#[test]
fn an_index_that_is_not_there() {
    let mut scene = Scene::of(TestRepo::new());
    scene.repo.write("file", "untracked\n");
    assert!(!scene.repo.path(".git/index").exists());
    scene.take();
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "first"]);
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "no index");
    scene.undo();
    before.assert_same(&scene.now(), "undone");
}

/// Runs go-team in a work tree, which must go well.
fn ok_in(repo: &TestRepo, dir: &Path, args: &[&str]) {
    let mut command = repo.go_team();
    command.current_dir(dir).args(args);
    process::succeed(command);
}

#[test]
fn nasty_36_linked_work_trees_have_their_own_rollbacks() {
    let repo = TestRepo::with_commit();
    let linked = repo.home().join("linked");
    let name = linked.to_str().unwrap();
    repo.git(&["worktree", "add", "-q", "-b", "topic", name]);
    let dirs = [repo.root(), linked.clone()];
    let mut first = Vec::new();
    for (dir, topic) in dirs.iter().zip(["in the main one", "in the linked one"]) {
        ok_in(&repo, dir, &["start", topic]);
        fs::write(dir.join("file.txt"), format!("{topic}: one\n")).unwrap();
        first.push(Photo::of_dir(&repo, dir));
        ok_in(&repo, dir, &["cp-create"]);
        fs::write(dir.join("file.txt"), format!("{topic}: two\n")).unwrap();
        let mut commit = process::git(&repo, dir);
        commit.args(["-c", "alias.all=!git add -A && git commit -q -m two", "all"]);
        process::succeed(commit);
    }
    for (nth, dir) in dirs.iter().enumerate() {
        let other = &dirs[1 - nth];
        let (before, there) = (Photo::of_dir(&repo, dir), Photo::of_dir(&repo, other));
        ok_in(&repo, dir, &["rollback", "1", "--yes"]);
        let after = Photo::of_dir(&repo, dir);
        let now = Photo::of_dir(&repo, other);
        assert_eq!(
            (&there.files, &there.index, &there.head),
            (&now.files, &now.index, &now.head)
        );
        assert_eq!(after.files, first[nth].files);
        assert_eq!(after.index, first[nth].index);
        assert_eq!(after.head, first[nth].head);
        ok_in(&repo, dir, &["undo", "--yes"]);
        before.assert_same(&Photo::of_dir(&repo, dir), "undone");
        there.assert_same(&Photo::of_dir(&repo, other), "the other one");
    }
}

#[test]
fn peer_an_undo_in_one_session_does_not_revert_another() {
    let repo = TestRepo::with_commit();
    let linked = repo.home().join("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    for (dir, topic) in [(&repo.root(), "left"), (&linked, "right")] {
        ok_in(&repo, dir, &["start", topic]);
        fs::write(dir.join("work.txt"), "begun\n").unwrap();
        ok_in(&repo, dir, &["cp-create"]);
        fs::write(dir.join("work.txt"), format!("done by {topic}\n")).unwrap();
    }
    ok_in(&repo, &repo.root(), &["rollback", "1", "--yes"]);
    // There is nothing to undo in the other one.
    let mut command = repo.go_team();
    command.current_dir(&linked).args(["undo", "--yes"]);
    assert!(!command.output().unwrap().status.success());
    assert_eq!(
        fs::read(linked.join("work.txt")).unwrap(),
        b"done by right\n"
    );
    assert_eq!(fs::read(repo.path("work.txt")).unwrap(), b"begun\n");
    ok_in(&repo, &repo.root(), &["undo", "--yes"]);
    assert_eq!(fs::read(repo.path("work.txt")).unwrap(), b"done by left\n");
}

#[test]
fn a_nested_repository_is_left_alone() {
    let mut scene = Scene::new();
    scene.repo.write("outer.txt", "one\n");
    scene.take();
    let nested = scene.repo.path("nested");
    fs::create_dir(&nested).unwrap();
    let git = |args: &[&str]| {
        let mut command = process::git(&scene.repo, &nested);
        command.args(args);
        process::succeed(command);
    };
    git(&["init", "-q", "-b", "main"]);
    fs::write(nested.join("inner.txt"), "the only copy\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "inner"]);
    fs::write(nested.join("inner.txt"), "and changed\n").unwrap();
    scene.repo.write("outer.txt", "two\n");
    let output = scene.repo.ok(&["rollback", "1", "--yes"]);
    assert_eq!(
        fs::read(nested.join("inner.txt")).unwrap(),
        b"and changed\n",
        "{output}"
    );
    git(&["fsck"]);
    assert_eq!(scene.now().bytes("outer.txt"), Some(&b"one\n"[..]));
}
