//! Only some paths: those are as they were at the checkpoint, and nothing else is touched.

use super::photo::{Item, Photo};
use super::scene::{Scene, assert_refused, data};

/// Restores paths, and checks that they are the target's, and everything else the same as before.
#[track_caller]
fn restore(scene: &Scene, nth: usize, paths: &[&str]) -> Photo {
    let (before, old) = (scene.now(), scene.ledger());
    let mut args = vec!["rollback", scene.id(nth), "--yes", "--json"];
    args.extend(paths.iter().flat_map(|path| ["--path", path]));
    let output = scene.repo.run(&args);
    data(&output);
    let (now, target) = (scene.now(), scene.at(nth));
    let is_meant = |path: &[u8]| {
        paths.iter().any(|meant| {
            let meant = meant.trim_end_matches('/').as_bytes();
            path == meant || (path.starts_with(meant) && path.get(meant.len()) == Some(&b'/'))
        })
    };
    let all = before
        .files
        .keys()
        .chain(now.files.keys())
        .chain(target.files.keys());
    for path in all {
        let name = String::from_utf8_lossy(path);
        let (was, is) = (before.files.get(path), now.files.get(path));
        if is_meant(path) && target.is_captured(path) {
            assert_eq!(is, target.files.get(path), "{name}: {output}");
        } else if is_meant(path) && !before.ignored.contains(path) {
            assert_eq!(is, None, "{name}: {output}");
        } else if was != is {
            // A directory on the way may be made, or go when it is empty.
            let is_dir = |item: Option<&Item>| item.is_none_or(Item::is_dir);
            assert!(
                is_dir(was) && is_dir(is),
                "{name} was {was:?}, is {is:?}: {output}"
            );
        }
    }
    assert_eq!(before.head, now.head, "{output}");
    assert_eq!(before.refs, now.refs, "{output}");
    assert_eq!(before.states, now.states, "{output}");
    assert_eq!(
        old.validity(),
        scene.ledger().validity(),
        "nothing is left behind"
    );
    let entry = |line: &String| {
        let path = line.split_once('\t').unwrap().1;
        is_meant(path.split(" flags ").next().unwrap().as_bytes())
    };
    let others = |photo: &Photo| -> Vec<String> {
        let mut lines = photo.index.clone();
        lines.retain(|line| !entry(line));
        lines
    };
    assert_eq!(others(&before), others(&now), "the index beside: {output}");
    before
}

#[test]
fn one_file() {
    let scene = Scene::lived_in();
    restore(&scene, 1, &["src/lib.rs"]);
    assert_eq!(scene.now().bytes("src/lib.rs"), Some(&b"on disk\n"[..]));
}

#[test]
fn a_directory_and_a_file_that_is_gone() {
    let scene = Scene::lived_in();
    restore(&scene, 1, &["notes/", "run.sh"]);
    let now = scene.now();
    assert_eq!(
        now.bytes("notes/untracked.txt"),
        Some(&b"untracked at one\n"[..])
    );
    let script = Item::File {
        bytes: b"#!/bin/sh\n".to_vec(),
        mode: 0o755,
    };
    assert_eq!(now.files.get(&b"run.sh"[..]), Some(&script));
}

#[test]
fn a_file_that_was_not_there_goes() {
    let scene = Scene::lived_in();
    restore(&scene, 1, &["src/new.rs"]);
    assert_eq!(scene.now().bytes("src/new.rs"), None);
}

#[test]
fn a_link_that_is_a_directory_now() {
    let scene = Scene::lived_in();
    restore(&scene, 1, &["link"]);
    let link = Item::Link("src/lib.rs".into());
    assert_eq!(scene.now().files.get(&b"link"[..]), Some(&link));
}

#[test]
fn it_can_be_undone_and_redone() {
    let scene = Scene::lived_in();
    let before = restore(&scene, 1, &["src", "fresh"]);
    let after = scene.now();
    scene.undo();
    before.assert_same(&scene.now(), "undone");
    scene.redo();
    after.assert_same(&scene.now(), "redone");
}

#[test]
fn the_current_checkpoint_stays_and_the_next_one_descends_from_it() {
    let mut scene = Scene::lived_in();
    restore(&scene, 1, &["src/lib.rs"]);
    assert_eq!(scene.ledger().current.as_deref(), Some(scene.id(3)));
    let id = scene.take();
    assert_eq!(
        scene.ledger().line(&id).parent.as_deref(),
        Some(scene.id(3))
    );
}

#[test]
fn from_a_directory_below() {
    let scene = Scene::lived_in();
    let output = scene
        .repo
        .run(&["-C", "src", "rollback", "1", "--path", "lib.rs", "--yes"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(scene.now().bytes("src/lib.rs"), Some(&b"on disk\n"[..]));
}

#[test]
fn peer_one_folder_does_not_revert_another() {
    let mut scene = Scene::new();
    for folder in ["left", "right"] {
        scene.repo.write(format!("{folder}/work.txt"), "begun\n");
    }
    scene.take();
    for folder in ["left", "right"] {
        scene.repo.write(format!("{folder}/work.txt"), "done\n");
    }
    restore(&scene, 1, &["left"]);
    let now = scene.now();
    assert_eq!(now.bytes("left/work.txt"), Some(&b"begun\n"[..]));
    assert_eq!(now.bytes("right/work.txt"), Some(&b"done\n"[..]));
}

#[test]
fn a_path_that_is_nowhere_or_outside_is_refused() {
    let scene = Scene::lived_in();
    for path in [
        "nowhere.txt",
        "../outside",
        "/etc/passwd",
        ".git/config",
        ".git",
        "",
    ] {
        let args = ["rollback", "1", "--yes", "--path", path];
        let output = scene.repo.run(&args);
        assert!(
            output.code.is_some_and(|code| code != 0),
            "{path:?}: {output}"
        );
    }
    assert_refused(
        &scene.repo,
        &["rollback", "1", "--yes", "--path", "nowhere.txt"],
    );
}

#[test]
fn a_path_through_a_link_stays_in_the_work_tree() {
    let mut scene = Scene::new();
    scene.repo.write("dir/file.txt", "inside\n");
    scene.take();
    scene.repo.remove("dir");
    let outside = scene.repo.home().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file.txt"), "outside\n").unwrap();
    scene.repo.link(outside.to_str().unwrap(), "dir");
    let before = scene.now();
    let output = scene
        .repo
        .run(&["rollback", "1", "--yes", "--path", "dir/file.txt"]);
    assert_eq!(
        std::fs::read(outside.join("file.txt")).unwrap(),
        b"outside\n",
        "{output}"
    );
    if output.code == Some(0) {
        assert_eq!(
            scene.now().bytes("dir/file.txt"),
            Some(&b"inside\n"[..]),
            "{output}"
        );
    } else {
        before.assert_same(&scene.now(), &output);
    }
}

#[test]
fn a_dry_run_names_those_paths_alone() {
    let scene = Scene::lived_in();
    let before = scene.now();
    let args = [
        "rollback",
        "1",
        "--path",
        "src/lib.rs",
        "--dry-run",
        "--json",
    ];
    let told = data(&scene.repo.run(&args));
    before.assert_same(&scene.now(), "a dry run");
    let text = told["plan"]["write"].to_string();
    assert!(text.contains("src/lib.rs"), "{told}");
    assert!(!told.to_string().contains("untracked.txt"), "{told}");
    assert_eq!(
        told["plan"]["invalidates"].as_array().map(Vec::len),
        Some(0),
        "{told}"
    );
}
