//! How other tools lost their users' work, each as a case. `peer_…` in other files are the rest of the list.

use super::expect::assert_restored;
use super::scene::Scene;

#[test]
fn peer_untracked_work_is_removed_only_with_a_copy() {
    let mut scene = Scene::new();
    scene.take();
    for nth in 0..20 {
        scene
            .repo
            .write(format!("untracked/{nth}/work.txt"), format!("work {nth}\n"));
    }
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "gone");
    // The copy is a plain commit, which needs no go-team to be read.
    let session = scene.repo.session_dir();
    let session = session.file_name().unwrap().to_str().unwrap();
    let safety = format!("refs/go-team/{session}/{}", scene.ledger().safety().id);
    for nth in 0..20 {
        let held = scene
            .repo
            .git(&["show", &format!("{safety}:untracked/{nth}/work.txt")]);
        assert_eq!(held, format!("work {nth}\n"));
    }
    scene.undo();
    before.assert_same(&scene.now(), "and back");
}

#[test]
fn peer_an_old_gitignore_does_not_expose_what_is_ignored_now() {
    let mut scene = Scene::new();
    scene.repo.write(".gitignore", "*.tmp\n");
    scene.repo.write("work.txt", "one\n");
    scene.take();
    scene.repo.write(".gitignore", "*.tmp\ndata/\n.env\n");
    scene
        .repo
        .write("data/model.bin", "took a week to compute\n");
    scene.repo.write(".env", "SECRET=1\n");
    scene.repo.write("work.txt", "two\n");
    let before = scene.now();
    scene.roll_back("1");
    let now = scene.now();
    assert_restored(scene.at(1), &before, &now, "rolled back");
    assert_eq!(
        now.bytes("data/model.bin"),
        Some(&b"took a week to compute\n"[..])
    );
    assert_eq!(now.bytes(".env"), Some(&b"SECRET=1\n"[..]));
    scene.undo();
    before.assert_same(&scene.now(), "undone");
}

#[test]
fn peer_commits_that_leave_the_branch_are_named_held_and_returned() {
    let mut scene = Scene::new();
    scene.take();
    let mut commits = Vec::new();
    for nth in 0..3 {
        scene.repo.write("file.txt", format!("{nth}\n"));
        scene.repo.git(&["add", "."]);
        scene
            .repo
            .git(&["commit", "-q", "-m", &format!("work {nth}")]);
        commits.push(scene.repo.git(&["rev-parse", "HEAD"]).trim_end().to_owned());
    }
    let before = scene.now();
    let told = scene
        .repo
        .ok(&["rollback", "1", "--dry-run", "--json"])
        .json();
    let leaving = told["data"]["plan"]["commits_leaving"].to_string();
    for commit in &commits {
        assert!(leaving.contains(&commit[..10]), "{commit}: {leaving}");
    }
    let told = scene.repo.ok(&["rollback", "1", "--dry-run"]);
    for nth in 0..3 {
        assert!(told.stdout.contains(&format!("work {nth}")), "{told}");
    }
    scene.roll_back("1");
    for args in [
        &["reflog", "expire", "--expire=now", "--all"][..],
        &["gc", "-q", "--prune=now"],
    ] {
        scene.repo.git(args);
    }
    for commit in &commits {
        scene
            .repo
            .git(&["cat-file", "-e", &format!("{commit}^{{tree}}")]);
    }
    scene.undo();
    before.assert_same(&scene.now(), "returned");
}

#[test]
fn peer_staged_work_survives_rollback_and_undo() {
    let mut scene = Scene::new();
    scene.repo.write("file.txt", "committed\n");
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "base"]);
    scene.repo.write("file.txt", "staged at one\n");
    scene.repo.git(&["add", "."]);
    scene.repo.write("file.txt", "on disk at one\n");
    scene.take();
    scene.repo.write("file.txt", "staged at two\n");
    scene.repo.git(&["add", "."]);
    scene.repo.write("file.txt", "on disk at two\n");
    let staged = || scene.repo.git(&["show", ":file.txt"]);
    let before = scene.now();
    scene.roll_back("1");
    assert_eq!(staged(), "staged at one\n");
    assert_restored(scene.at(1), &before, &scene.now(), "rolled back");
    scene.undo();
    assert_eq!(staged(), "staged at two\n");
    before.assert_same(&scene.now(), "undone");
}

#[test]
fn peer_files_made_after_a_clean_checkpoint_do_not_survive_it() {
    let mut scene = Scene::new();
    assert_eq!(scene.repo.git(&["status", "--porcelain"]), "");
    scene.take();
    scene.repo.write("agent/made.txt", "made\n");
    scene.repo.write("README.md", "changed\n");
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "clean");
    assert_eq!(scene.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn peer_ignored_dependencies_made_in_mid_session_stay() {
    let mut scene = Scene::new();
    scene.repo.write(".gitignore", "node_modules/\n");
    scene.take();
    for nth in 0..10 {
        scene
            .repo
            .write(format!("node_modules/p{nth}/index.js"), "module\n");
    }
    scene.repo.write("index.js", "work\n");
    let before = scene.now();
    scene.roll_back("1");
    let now = scene.now();
    assert_restored(scene.at(1), &before, &now, "rolled back");
    let kept = now
        .files
        .keys()
        .filter(|path| path.starts_with(b"node_modules/p"));
    assert_eq!(kept.count(), 20);
}

#[test]
fn peer_what_a_shell_did_is_undone_and_what_it_deleted_is_back() {
    let mut scene = Scene::new();
    scene.repo.write("src/a.txt", "a\n");
    scene.repo.write("src/b.txt", "b\n");
    scene.repo.write("untracked.txt", "untracked\n");
    scene.repo.git(&["add", "src"]);
    scene.take();
    let script =
        "rm -r src untracked.txt; mkdir -p src/c; echo x > src/c/d; mv README.md READ; : > empty";
    let done = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(scene.repo.root())
        .status();
    assert!(done.unwrap().success());
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "rolled back");
}

#[test]
fn peer_a_rollback_that_says_success_has_restored_everything() {
    let scene = Scene::lived_in();
    let before = scene.now();
    let done = scene.roll_back("1");
    let now = scene.now();
    assert_restored(scene.at(1), &before, &now, &done);
    // A checkpoint made now is the same as the target, object for object.
    let made = scene.repo.ok(&["cp-create", "--json"]).json();
    let target = scene.repo.ok(&["cp-show", scene.id(1), "--json"]).json();
    for field in ["tree", "index_tree", "branch", "head"] {
        let (made, target) = (
            &made["data"]["record"]["git"],
            &target["data"]["record"]["git"],
        );
        assert_eq!(made[field], target[field], "{field}");
    }
}

#[test]
fn peer_a_repository_without_an_identity_can_be_rolled_back() {
    let scene = Scene::lived_in();
    let before = scene.now();
    let run = |args: &[&str]| {
        let output = scene.repo.run_env(&[("EMAIL", ""), ("LOGNAME", "")], args);
        assert_eq!(output.code, Some(0), "{output}");
    };
    scene.repo.git(&["config", "user.useConfigOnly", "true"]);
    run(&["rollback", "1", "--yes"]);
    assert_restored(scene.at(1), &before, &scene.now(), "rolled back");
    run(&["undo", "--yes"]);
    before.assert_same(&scene.now(), "undone");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn peer_a_safety_checkpoint_that_cannot_be_made_stops_everything() {
    use super::sweep::trace;
    use super::tracer::Verdict;
    use nix::errno::Errno;

    let scene = Scene::lived_in();
    let (before, old) = (scene.now(), scene.ledger());
    let traced = trace(&scene.repo, &["rollback", "1", "--yes"], |point| {
        let is_object = point.path.starts_with(scene.repo.path(".git/objects"));
        if is_object && point.call == "open" {
            Verdict::Fail(Errno::EIO)
        } else {
            Verdict::Go
        }
    });
    assert!(traced.code.is_some_and(|code| code != 0), "{traced:#?}");
    before.assert_same(&scene.now(), &traced.stderr);
    assert_eq!(scene.ledger().validity(), old.validity());
}
