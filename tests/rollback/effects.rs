//! What a rollback does, and what it says.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::Value;

use super::expect::assert_restored;
use super::photo::Photo;
use super::process;
use super::scene::{Scene, data};
use super::support::{Output, TestRepo};

#[test]
fn files_index_head_and_state_are_those_of_the_checkpoint() {
    for nth in 1..=3 {
        let scene = Scene::lived_in();
        let before = scene.now();
        scene.roll_back(scene.id(nth));
        assert_restored(scene.at(nth), &before, &scene.now(), nth);
    }
}

#[test]
fn the_checkpoint_can_be_named_in_every_way() {
    let names: [(&str, usize); 7] = [
        ("1", 1),
        ("2", 2),
        ("current", 3),
        ("latest", 3),
        ("latest~1", 2),
        ("cp-01", 1),
        ("3.1", 3),
    ];
    for (name, nth) in names {
        let scene = Scene::lived_in();
        let before = scene.now();
        let done = data(&scene.repo.run(&["restore", name, "--yes", "--json"]));
        assert_eq!(done["rollback"]["to_checkpoint"], scene.id(nth), "{name}");
        assert_restored(scene.at(nth), &before, &scene.now(), name);
    }
}

#[test]
fn the_manifest_tells_what_happened() {
    let scene = Scene::lived_in();
    let [one, two, three] = [1, 2, 3].map(|nth| scene.id(nth).to_owned());
    let args = ["rollback", "1", "--yes", "--json", "--reason", "a dead end"];
    let done = data(&scene.repo.run(&args));
    let rollback = &done["rollback"];
    let ledger = scene.ledger();
    let id = rollback["id"].as_str().unwrap();
    assert_eq!(rollback["from_checkpoint"], *three);
    assert_eq!(rollback["from_step"], 3);
    assert_eq!(rollback["to_checkpoint"], *one);
    assert_eq!(rollback["to_step"], 1);
    assert_eq!(rollback["reason"], "a dead end");
    assert_eq!(done["safety_checkpoint"], *ledger.safety().id);
    assert_eq!(ledger.rollbacks, std::slice::from_ref(rollback));
    assert_eq!(ledger.current, Some(one.clone()));
    for left in [&two, &three] {
        let line = ledger.line(left);
        assert!(!line.is_valid);
        assert_eq!(line.invalidated_by.as_deref(), Some(id));
    }
    assert!(ledger.line(&one).is_valid);
    let invalidated: BTreeSet<&str> = strings(&done["invalidated"]).into_iter().collect();
    assert!(invalidated.contains(&*two) && invalidated.contains(&*three));
    assert!(!invalidated.contains(&*one));
    let safety = ledger.safety();
    assert_eq!((safety.parent.as_ref(), safety.step), (Some(&three), 3));
    let shown = scene.repo.ok(&["cp-list"]);
    assert!(shown.stdout.contains("✗ inval"), "{shown}");
    let next = scene.repo.ok(&["cp-create", "--quiet"]).stdout;
    let ledger = scene.ledger();
    assert_eq!(ledger.line(next.trim_end()).parent, Some(one));
    assert_eq!(
        ledger.line(next.trim_end()).step,
        4,
        "no number is used twice"
    );
}

fn strings(value: &Value) -> Vec<&str> {
    let list = value.as_array().unwrap_or_else(|| panic!("{value}"));
    list.iter().map(|item| item.as_str().unwrap()).collect()
}

/// The paths of a list in a plan, which holds paths or objects with a path.
fn paths(value: &Value) -> BTreeSet<String> {
    let list = value.as_array().unwrap_or_else(|| panic!("{value}"));
    let path = |item: &Value| item["path"].as_str().or(item.as_str()).map(str::to_owned);
    list.iter().map(|item| path(item).unwrap()).collect()
}

#[test]
fn a_dry_run_tells_what_would_be_done_and_does_nothing() {
    let scene = Scene::lived_in();
    let (before, old) = (scene.now(), scene.ledger());
    for args in [
        &["rollback", "1", "--dry-run", "--json"][..],
        &["rollback", "1", "--dry-run", "--yes", "--json"],
    ] {
        let told = data(&scene.repo.run(args));
        before.assert_same(&scene.now(), "a dry run");
        assert_eq!(
            scene.ledger().lines,
            old.lines,
            "not even a safety checkpoint"
        );
        let plan = &told["plan"];
        let target = scene.at(1);
        let text = |path: &Vec<u8>| String::from_utf8(path.clone()).unwrap();
        // A file of one side, where the other one has nothing, another file, or a directory.
        let differing = |these: &Photo, those: &Photo| -> BTreeSet<String> {
            let is_file = |photo: &Photo, path: &Vec<u8>| {
                photo.is_captured(path) && !photo.files[path].is_dir()
            };
            let files = these.files.keys().filter(|path| is_file(these, path));
            let differing = files.filter(|path| these.files.get(*path) != those.files.get(*path));
            differing.map(text).collect()
        };
        let written = differing(target, &before);
        assert_eq!(paths(&plan["write"]), written);
        let deleted = &differing(&before, target) - &written;
        assert_eq!(paths(&plan["delete"]), deleted);
        assert_eq!(strings(&plan["make_directories"]), ["empty"]);
        assert!(strings(&plan["remove_directories"]).contains(&"fresh"));
        assert_eq!(
            plan["commits_leaving"].as_array().unwrap().len(),
            2,
            "{plan}"
        );
        let head = |photo: &Photo| photo.refs["refs/heads/main"].clone();
        for (side, photo) in [("from", &before), ("to", target)] {
            assert_eq!(plan["head"][side]["branch"], "refs/heads/main");
            assert_eq!(plan["head"][side]["commit"], head(photo));
        }
        assert_eq!(plan["commits_leaving_total"], 2);
        let invalid: BTreeSet<String> = paths_or_ids(&plan["invalidates"]);
        assert!(invalid.contains(scene.id(2)) && invalid.contains(scene.id(3)));
        assert!(plan["bytes_needed"].as_u64().unwrap() > 0, "{plan}");
    }
    for command in ["undo", "redo"] {
        scene.roll_back("1");
        if command == "redo" {
            scene.undo();
        }
        let (before, old) = (scene.now(), scene.ledger());
        data(&scene.repo.run(&[command, "--dry-run", "--json"]));
        before.assert_same(&scene.now(), command);
        assert_eq!(scene.ledger().lines, old.lines);
    }
}

fn paths_or_ids(value: &Value) -> BTreeSet<String> {
    let list = value.as_array().unwrap_or_else(|| panic!("{value}"));
    let id = |item: &Value| item["id"].as_str().or(item.as_str()).map(str::to_owned);
    list.iter().map(|item| id(item).unwrap()).collect()
}

#[test]
fn a_person_is_told_what_was_done_and_what_comes_next() {
    let scene = Scene::lived_in();
    let done: Output = scene.repo.ok(&["rollback", "1", "--yes"]);
    for told in [scene.id(1), "go-team undo", &scene.ledger().safety().id] {
        assert!(done.stdout.contains(told), "{told}: {done}");
    }
    assert!(done.stdout.contains("invalid"), "{done}");
    let quiet = Scene::lived_in();
    let done = quiet.repo.ok(&["rollback", "1", "--yes", "--quiet"]);
    assert!(done.stdout.lines().count() <= 1, "{done}");
}

#[test]
fn files_that_are_the_same_are_not_written() {
    let scene = Scene::lived_in();
    let facts = |path: &str| {
        let meta = scene.repo.path(path).symlink_metadata().unwrap();
        (meta.ino(), meta.mtime(), meta.mtime_nsec())
    };
    let old = facts("README.md");
    scene.roll_back("1");
    assert_eq!(facts("README.md"), old);
}

#[test]
fn git_need_not_read_the_files_again() {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    let diff = |refresh: bool| {
        let copy = scene.repo.path(".git/index-copy");
        fs::copy(scene.repo.path(".git/index"), &copy).unwrap();
        let run = |args: &[&str]| {
            let mut command = process::git(&scene.repo, &scene.repo.root());
            command.env("GIT_INDEX_FILE", &copy).args(args);
            command.output().unwrap()
        };
        if refresh {
            run(&["update-index", "-q", "--refresh"]);
        }
        let listed = run(&["diff-files", "--name-only"]).stdout;
        fs::remove_file(copy).unwrap();
        String::from_utf8(listed).unwrap()
    };
    assert_eq!(diff(false), diff(true));
    assert_eq!(diff(true), "src/lib.rs\n");
}

#[test]
fn the_reflog_tells_of_it() {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    for name in ["HEAD", "main"] {
        let said = scene.repo.git(&["reflog", "-1", "--format=%gs", name]);
        assert!(
            said.contains("go-team") || said.contains("rollback"),
            "{said}"
        );
    }
    let before = scene.repo.git(&["rev-parse", "main@{1}"]);
    assert_eq!(
        before,
        scene
            .repo
            .git(&["rev-parse", &format!("{}^1", safety_ref(&scene))])
    );
}

fn safety_ref(scene: &Scene) -> String {
    let session = scene.repo.session_dir();
    let session = session.file_name().unwrap().to_str().unwrap();
    format!("refs/go-team/{session}/{}", scene.ledger().safety().id)
}

#[test]
fn no_hook_and_no_program_of_the_configuration_runs() {
    let scene = Scene::lived_in();
    let repo = &scene.repo;
    let canary = repo.home().join("canary");
    let script = format!("#!/bin/sh\n: > '{}'\nexit 1\n", canary.display());
    let trap = repo.home().join("trap.sh");
    let hooks = [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-commit",
        "post-rewrite",
        "fsmonitor-watchman",
    ];
    let dir = repo.path(".git/hooks");
    fs::create_dir_all(&dir).unwrap();
    for path in hooks.map(|name| dir.join(name)).iter().chain([&trap]) {
        fs::write(path, &script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let trap = trap.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "diff.external",
    ] {
        repo.git(&["config", key, trap]);
    }
    let alias = format!("!{trap}");
    for key in ["alias.reset", "alias.checkout", "alias.read-tree"] {
        repo.git(&["config", key, &alias]);
    }
    let _ = fs::remove_file(&canary);
    let run = |args: &[&str]| {
        let output = repo.run(args);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(!canary.exists(), "something ran: {output}");
    };
    run(&["rollback", "1", "--yes"]);
    run(&["undo", "--yes"]);
    run(&["redo", "--yes"]);
}

#[test]
fn the_current_checkpoint_is_a_fine_target() {
    let scene = Scene::lived_in();
    let before = scene.now();
    let done = scene.roll_back("current");
    assert_restored(scene.at(3), &before, &scene.now(), "current");
    let invalid = strings(&done["invalidated"]);
    assert!(!invalid.contains(&scene.id(3)), "{done}");
    // And once more, with nothing to do.
    let before = scene.now();
    scene.roll_back("current");
    before.assert_same(&scene.now(), "nothing was to do");
}

#[test]
fn the_workflow_goes_on_from_the_step() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["cp-create", "--step", "3", "architecture"]);
    repo.ok(&["rollback", "requirements", "--yes"]);
    let status = repo.ok(&["status", "--json"]).json();
    assert_eq!(
        status["data"]["session"]["next_step"]["step"], 3,
        "{status}"
    );
    assert_eq!(repo.run(&["cp-create", "--step", "3"]).code, Some(0));
    let listed = repo.ok(&["cp-list", "--json"]).json();
    let newest = listed["data"]["checkpoints"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    // What can be typed: the newest valid one of a step needs no more than the step's number.
    assert_eq!(newest["number"], "3", "{newest}");
}
