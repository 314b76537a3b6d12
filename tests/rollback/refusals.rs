//! What a rollback does not do, why, and what to do instead. In each case nothing has changed.

use std::fs;

use super::edits;
use super::expect::assert_restored;
use super::photo::Photo;
use super::process;
use super::scene::{Scene, assert_refused};
use super::support::{Output, TestRepo};

/// Runs git, which may stop with a conflict.
fn git(repo: &TestRepo, args: &[&str]) {
    let output = process::git(repo, &repo.root()).args(args).output();
    output.expect("git runs");
}

#[track_caller]
fn says(output: &Output, words: &[&str]) {
    let text = output.stderr.to_lowercase();
    for word in words {
        assert!(text.contains(word), "{word:?} is not said: {output}");
    }
}

#[test]
fn a_target_ahead() {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    for nth in [2, 3] {
        let output = assert_refused(&scene.repo, &["rollback", scene.id(nth), "--yes"]);
        says(&output, &["cannot roll back forward", "undo", "--force"]);
    }
    // Invalid ones are not what a bare number means.
    let output = assert_refused(&scene.repo, &["rollback", "3", "--yes"]);
    assert_ne!(output.code, Some(0));
    let before = scene.now();
    let output = scene
        .repo
        .run(&["rollback", scene.id(3), "--yes", "--force"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_restored(scene.at(3), &before, &scene.now(), &output);
    scene.undo();
    before.assert_same(&scene.now(), "the way back");
}

#[test]
fn a_target_on_another_line() {
    let mut scene = Scene::lived_in();
    scene.roll_back("1");
    scene.repo.write("new.txt", "another way\n");
    scene.take();
    let output = assert_refused(&scene.repo, &["rollback", scene.id(2), "--yes"]);
    says(&output, &["cannot roll back forward"]);
    scene.roll_back(scene.id(4));
}

#[test]
fn a_target_that_is_not_there() {
    let scene = Scene::lived_in();
    for name in ["9", "cp-09", "nothing", "4.4", "latest~9"] {
        let output = assert_refused(&scene.repo, &["rollback", name, "--yes"]);
        assert_eq!(output.code, Some(4), "{output}");
    }
    let empty = TestRepo::with_commit();
    assert_eq!(
        assert_refused(&empty, &["rollback", "1", "--yes"]).code,
        Some(4)
    );
    for command in ["undo", "redo"] {
        assert_refused(&empty, &[command, "--yes"]);
    }
}

#[test]
fn arguments_that_do_not_go_together() {
    let scene = Scene::lived_in();
    let before = scene.now();
    for args in [
        &["rollback"][..],
        &["rollback", "--yes"],
        &["rollback", "1", "--continue"],
        &["rollback", "1", "--abort"],
        &["rollback", "--continue", "--abort"],
        &["rollback", "--continue", "--path", "src"],
        &["rollback", "1", "2", "--yes"],
        &["undo", "1", "--yes"],
    ] {
        let output = scene.repo.run(args);
        assert_eq!(output.code, Some(2), "{args:?}: {output}");
        before.assert_same(&scene.now(), &output);
    }
}

#[test]
fn nothing_to_continue_or_abort() {
    let scene = Scene::lived_in();
    for option in ["--continue", "--abort"] {
        let output = assert_refused(&scene.repo, &["rollback", option]);
        says(&output, &["interrupted"]);
    }
}

#[test]
fn a_record_that_is_corrupt_or_missing() {
    let scene = Scene::lived_in();
    let record = scene
        .repo
        .session_dir()
        .join(format!("{}.json", scene.id(1)));
    let text = fs::read_to_string(&record).unwrap();
    for spoiled in [
        text.replacen("\"one\"", "\"uno\"", 1),
        text[..text.len() / 2].to_owned(),
        String::new(),
    ] {
        fs::write(&record, spoiled).unwrap();
        let output = assert_refused(&scene.repo, &["rollback", scene.id(1), "--yes"]);
        says(&output, &["cp-"]);
        assert_refused(&scene.repo, &["rollback", scene.id(1), "--yes", "--force"]);
    }
    fs::remove_file(&record).unwrap();
    assert_refused(&scene.repo, &["rollback", scene.id(1), "--yes"]);
    let before = scene.now();
    scene.roll_back("2");
    assert_restored(scene.at(2), &before, &scene.now(), "the others work");
}

/// Makes every object a file of its own, and removes one.
fn lose(repo: &TestRepo, name: &str) {
    let id = repo.git(&["rev-parse", name]).trim_end().to_owned();
    let packs = repo.path(".git/objects/pack");
    let aside = repo.home().join("packs");
    fs::rename(&packs, &aside).unwrap();
    fs::create_dir(&packs).unwrap();
    for entry in fs::read_dir(aside).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "pack")
        {
            let mut unpack = process::git(repo, &repo.root());
            unpack.args(["unpack-objects", "-q"]);
            unpack.stdin(fs::File::open(path).unwrap());
            assert!(unpack.status().unwrap().success());
        }
    }
    let (dir, rest) = id.split_at(2);
    fs::remove_file(repo.path(format!(".git/objects/{dir}/{rest}"))).unwrap();
}

#[test]
fn peer_a_checkpoint_whose_objects_are_missing_is_never_replaced_by_another_one() {
    for lost in [
        ":notes/untracked.txt",
        ":notes",
        "^{tree}",
        "",
        "^2",
        "^2:extras.json",
    ] {
        let scene = Scene::lived_in();
        let session = scene.repo.session_dir();
        let session = session.file_name().unwrap().to_str().unwrap();
        let name = format!("refs/go-team/{session}/{}{lost}", scene.id(1));
        lose(&scene.repo, &name);
        let (before, old) = (scene.now_without_refs(), scene.ledger());
        let output = scene.repo.run(&["rollback", "1", "--yes"]);
        assert!(
            output.code.is_some_and(|code| code != 0),
            "{lost}: {output}"
        );
        assert!(output.stderr.contains("\nhint: "), "{lost}: {output}");
        assert_eq!(before, scene.now_without_refs(), "{lost}: {output}");
        assert_eq!(
            old.validity(),
            scene.ledger().validity(),
            "{lost}: {output}"
        );
        assert_eq!(old.current, scene.ledger().current, "{lost}: {output}");
    }
}

#[test]
fn a_merge_in_progress() {
    let scene = diverged();
    git(&scene.repo, &["merge", "side"]);
    assert!(scene.repo.path(".git/MERGE_HEAD").exists());
    assert_in_the_way(&scene, "merge", "MERGE_HEAD");
}

#[test]
fn a_rebase_in_progress() {
    for option in ["--merge", "--apply"] {
        let scene = diverged();
        git(&scene.repo, &["rebase", option, "side"]);
        let dir = if option == "--merge" {
            "rebase-merge"
        } else {
            "rebase-apply"
        };
        assert!(scene.repo.path(".git").join(dir).exists(), "{option}");
        assert_in_the_way(&scene, "rebase", dir);
    }
}

#[test]
fn a_cherry_pick_or_a_revert_in_progress() {
    let scene = diverged();
    git(&scene.repo, &["cherry-pick", "side"]);
    assert!(scene.repo.path(".git/CHERRY_PICK_HEAD").exists());
    assert_in_the_way(&scene, "cherry-pick", "CHERRY_PICK_HEAD");
    let scene = diverged();
    scene
        .repo
        .git(&["commit", "-q", "--allow-empty", "-m", "later"]);
    scene.repo.write("file", "changed again\n");
    scene.repo.git(&["commit", "-q", "-a", "-m", "again"]);
    git(&scene.repo, &["revert", "--no-edit", "HEAD~2"]);
    assert!(scene.repo.path(".git/REVERT_HEAD").exists());
    assert_in_the_way(&scene, "revert", "REVERT_HEAD");
}

#[test]
fn a_bisect_in_progress() {
    let scene = diverged();
    scene.repo.git(&["bisect", "start", "HEAD", "HEAD~1"]);
    assert_in_the_way(&scene, "bisect", "BISECT_LOG");
}

/// Two branches that do not merge, with a checkpoint of each side's beginning.
fn diverged() -> Scene {
    let mut scene = Scene::new();
    scene.repo.write("file", "base\n");
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "base"]);
    scene.take();
    scene.repo.git(&["checkout", "-q", "-b", "side"]);
    scene.repo.write("file", "side\n");
    scene.repo.git(&["commit", "-q", "-a", "-m", "side"]);
    scene.repo.git(&["checkout", "-q", "main"]);
    scene.repo.write("file", "main\n");
    scene.repo.git(&["commit", "-q", "-a", "-m", "main"]);
    scene.take();
    scene
}

/// Rollback, undo and the like refuse, and what git has under way is left alone.
fn assert_in_the_way(scene: &Scene, what: &str, trace: &str) {
    for args in [
        &["rollback", "1", "--yes"][..],
        &["rollback", "1", "--yes", "--dry-run"],
    ] {
        let before = scene.now();
        let output = scene.repo.run(args);
        assert!(output.code.is_some_and(|code| code != 0), "{output}");
        says(&output, &[what, "\nhint: "]);
        before.assert_same(&scene.now(), &output);
        assert!(scene.repo.path(".git").join(trace).exists(), "{output}");
    }
    // Checkpoints are still made.
    scene.repo.ok(&["cp-create"]);
}

#[test]
fn nasty_15_index_lock_is_kept() {
    let scene = Scene::lived_in();
    let lock = scene.repo.path(".git/index.lock");
    fs::write(&lock, "somebody's").unwrap();
    let output = assert_refused(&scene.repo, &["rollback", "1", "--yes"]);
    says(&output, &["index.lock"]);
    assert_eq!(fs::read(&lock).unwrap(), b"somebody's");
    scene.repo.ok(&["cp-create"]);
    assert_eq!(fs::read(&lock).unwrap(), b"somebody's");
    fs::remove_file(&lock).unwrap();
    scene.roll_back("1");
    fs::write(&lock, "").unwrap();
    assert_refused(&scene.repo, &["undo", "--yes"]);
    assert!(lock.exists());
}

#[test]
fn the_branch_is_checked_out_in_another_work_tree() {
    let mut scene = Scene::new();
    scene.repo.write("file", "one\n");
    scene.take();
    scene.repo.git(&["checkout", "-q", "-b", "other"]);
    let linked = scene.repo.home().join("linked");
    scene
        .repo
        .git(&["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    let there = Photo::of_dir(&scene.repo, &linked);
    let output = assert_refused(&scene.repo, &["rollback", "1", "--yes"]);
    says(&output, &["main", "work tree"]);
    there.assert_same(&Photo::of_dir(&scene.repo, &linked), &output);
}

#[test]
fn another_command_is_at_work() {
    let scene = Scene::lived_in();
    let lock = fs::File::options()
        .write(true)
        .open(scene.repo.store().join("lock"))
        .unwrap();
    lock.lock().unwrap();
    let before = scene.now();
    let at_once = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", "0")];
    let output = scene.repo.run_env(&at_once, &["rollback", "1", "--yes"]);
    assert_eq!(output.code, Some(6), "{output}");
    before.assert_same(&scene.now(), &output);
}

#[test]
fn a_checkpoint_without_files_leaves_the_files_alone() {
    let mut scene = Scene::lived_in();
    let id = scene.take_with(&["--no-git"]);
    scene.repo.write("src/lib.rs", "later\n");
    let before = scene.now();
    let output = scene.repo.run(&["rollback", &id, "--yes"]);
    let now = scene.now();
    assert_eq!(before.files, now.files, "{output}");
    assert_eq!(before.index, now.index, "{output}");
    assert_eq!(before.refs, now.refs, "{output}");
}

#[test]
fn a_conflicted_index_alone_is_no_refusal() {
    let scene = Scene::lived_in();
    edits::conflict(&scene.repo, "src/lib.rs");
    let before = scene.now();
    scene.roll_back("1");
    scene.undo();
    before.assert_same(&scene.now(), "the conflict is back");
}

impl Scene {
    /// Files, index and HEAD, where git cannot list its refs because some of them are broken.
    fn now_without_refs(&self) -> impl PartialEq + std::fmt::Debug {
        let root = self.repo.root();
        let index = self.repo.git(&["ls-files", "--stage", "-v"]);
        let head = fs::read_to_string(root.join(".git/HEAD")).unwrap();
        let main = fs::read_to_string(root.join(".git/refs/heads/main")).unwrap();
        (super::photo::files_below(&root), index, head, main)
    }
}
