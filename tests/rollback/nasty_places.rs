//! Places that are hostile, closed or full, and others who are at work there.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::expect::assert_restored;
use super::forge;
use super::scene::{Scene, assert_refusal, assert_refused};
use super::support::{AsSomebody, TestRepo};

#[test]
fn nasty_10_an_unwritable_directory() {
    let mut scene = Scene::new();
    scene.repo.write("open/file.txt", "one\n");
    scene.repo.write("closed/file.txt", "one\n");
    scene.repo.write("closed/gone.txt", "one\n");
    scene.take();
    scene.repo.write("open/file.txt", "two\n");
    scene.repo.write("closed/file.txt", "two\n");
    scene.repo.remove("closed/gone.txt");
    scene.repo.chmod("closed", 0o555);
    let before = scene.now();
    let Some(output) = AsSomebody::run(&scene.repo, &["rollback", "1", "--yes"]) else {
        eprintln!("skipped: nobody here whom permissions bind");
        return;
    };
    let now = scene.now();
    if output.code == Some(0) {
        // Its owner may open it, and it is shut again.
        assert_restored(scene.at(1), &before, &now, &output);
    } else {
        assert!(output.stderr.contains("closed"), "{output}");
        let is_refused = before.differences(&now).is_empty();
        let text = output.stderr.to_lowercase();
        let is_told =
            text.contains("incomplete") || text.contains("interrupted") || text.contains("--abort");
        assert!(is_refused || is_told, "{output}");
    }
    // Whatever came of it can be taken back, once the directory is open.
    scene.repo.chmod("closed", 0o755);
    let command: &[&str] = if output.code == Some(0) {
        &["undo", "--yes"]
    } else {
        &["cp-create"]
    };
    let next = AsSomebody::run(&scene.repo, command).unwrap();
    assert_eq!(next.code, Some(0), "{next}");
    let text = |path: &str| scene.now().bytes(path).map(<[u8]>::to_vec);
    let contents = [
        text("open/file.txt"),
        text("closed/file.txt"),
        text("closed/gone.txt"),
    ];
    let two = [Some(b"two\n".to_vec()), Some(b"two\n".to_vec()), None];
    let one = [(); 3].map(|()| Some(b"one\n".to_vec()));
    assert!(
        contents == two || (output.code != Some(0) && contents == one),
        "{contents:?}"
    );
}

#[test]
fn nasty_17_a_file_that_changes_during_the_snapshot_is_never_torn() {
    let mut scene = Scene::new();
    scene.repo.write("busy.bin", "at one\n");
    scene.repo.write("work.txt", "one\n");
    scene.take();
    let versions = [vec![b'a'; 1 << 20], vec![b'b'; 1 << 20]];
    scene.repo.write("busy.bin", &versions[0]);
    scene.repo.write("work.txt", "two\n");
    let (path, aside) = (scene.repo.path("busy.bin"), scene.repo.home().join("aside"));
    let is_over = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        let (is_over, versions) = (&is_over, &versions);
        scope.spawn(move || {
            for version in versions.iter().cycle() {
                fs::write(&aside, version).unwrap();
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                fs::rename(&aside, &path).unwrap();
            }
        });
        let output = scene.repo.run(&["rollback", "1", "--yes"]);
        is_over.store(true, Ordering::Relaxed);
        output
    });
    let ledger = scene.ledger();
    if output.code != Some(0) {
        assert_refusal(&output);
        assert!(
            output.stderr.contains("busy.bin") || output.stderr.contains("changed"),
            "{output}"
        );
        let now = fs::read(scene.repo.path("busy.bin")).unwrap();
        assert!(versions.contains(&now), "touched: {} bytes", now.len());
        // Either nothing was done, or all but this file, which can be undone.
        if output.stderr.contains("is done, but busy.bin") {
            assert_eq!(fs::read(scene.repo.path("work.txt")).unwrap(), b"one\n");
            scene.undo();
        }
        let work = fs::read(scene.repo.path("work.txt")).unwrap();
        assert_eq!(work, b"two\n", "{output}");
        return;
    }
    let session = scene.repo.session_dir();
    let session = session.file_name().unwrap().to_str().unwrap();
    let safety = format!("refs/go-team/{session}/{}", ledger.safety().id);
    let listed = scene.repo.git(&["ls-tree", "--name-only", &safety]);
    if listed.lines().any(|name| name == "busy.bin") {
        let held = scene.repo.git(&["show", &format!("{safety}:busy.bin")]);
        let held = held.into_bytes();
        assert!(versions.contains(&held), "torn: {} bytes", held.len());
    } else {
        let said = output.stderr.lines();
        let mut said = said.filter(|line| line.contains("busy.bin"));
        assert!(said.any(|line| line.contains("left alone")), "{output}");
        let now = fs::read(scene.repo.path("busy.bin")).unwrap();
        assert!(versions.contains(&now), "touched: {} bytes", now.len());
    }
    scene.undo();
    assert_eq!(fs::read(scene.repo.path("work.txt")).unwrap(), b"two\n");
}

/// Rolls back to a forged checkpoint: refused, and nothing has changed.
#[track_caller]
fn assert_hostile(repo: &TestRepo, id: &str) {
    repo.write("work.txt", "work after it\n");
    let before = super::photo::Photo::of(repo);
    let config = fs::read(repo.path(".git/config")).unwrap();
    let hooks = fs::read_dir(repo.path(".git/hooks")).map_or(0, Iterator::count);
    for args in [
        &["rollback", id, "--yes"][..],
        &["rollback", id, "--yes", "--force"],
        &[
            "rollback", id, "--yes", "--path", "work.txt", "--path", "evil",
        ],
    ] {
        let output = repo.run(args);
        assert_refusal(&output);
        before.assert_same(&super::photo::Photo::of(repo), &output);
        assert_eq!(
            fs::read(repo.path(".git/config")).unwrap(),
            config,
            "{output}"
        );
        assert_eq!(
            fs::read_dir(repo.path(".git/hooks")).map_or(0, Iterator::count),
            hooks
        );
        assert!(!repo.home().join("evil").exists(), "{output}");
        assert!(!repo.root().with_file_name("evil").exists(), "{output}");
    }
    repo.ok(&["cp-create"]);
}

#[test]
fn a_forged_checkpoint_that_is_harmless_is_accepted() {
    let repo = Scene::new().repo;
    let evil = forge::blob(&repo, b"harmless\n");
    let id = forge::checkpoint(&repo, |work, _| {
        work.push(("100644", b"harmless.txt".to_vec(), evil));
    });
    repo.ok(&["rollback", &id, "--yes"]);
    assert_eq!(fs::read(repo.path("harmless.txt")).unwrap(), b"harmless\n");
}

#[test]
fn nasty_31_a_tree_that_holds_variants_of_git() {
    let names: [&[u8]; 10] = [
        b".git",
        b".GIT",
        b".Git",
        b"git~1",
        b".git ",
        b".git.",
        b".git\xe2\x80\x8c",
        b"..",
        b".",
        b"a/b",
    ];
    for name in names {
        let repo = Scene::new().repo;
        let evil = forge::blob(&repo, b"[core]\n\thooksPath = /tmp\n");
        let inner = forge::tree(&repo, vec![("100644", b"config".to_vec(), evil.clone())]);
        let id = forge::checkpoint(&repo, |work, _| {
            work.push(("40000", name.to_vec(), inner));
        });
        assert_hostile(&repo, &id);
        // The same further down, as a file.
        let repo = Scene::new().repo;
        let evil = forge::blob(&repo, b"gitdir: /tmp\n");
        let inner = forge::tree(&repo, vec![("100644", name.to_vec(), evil)]);
        let id = forge::checkpoint(&repo, |work, _| {
            work.push(("40000", b"sub".to_vec(), inner));
        });
        assert_hostile(&repo, &id);
    }
}

#[test]
fn nasty_31_a_sidecar_that_leads_out_of_the_work_tree() {
    let spoils: [(&str, &str); 6] = [
        (
            "\"empty_directories\":[]",
            "\"empty_directories\":[\"../evil\"]",
        ),
        (
            "\"empty_directories\":[]",
            "\"empty_directories\":[\".git/hooks/evil\"]",
        ),
        (
            "\"empty_directories\":[]",
            "\"empty_directories\":[\"/tmp/../evil\"]",
        ),
        (
            "\"empty_directories\":[]",
            "\"empty_directories\":[\".GIT/evil\"]",
        ),
        ("\"absent\":[]", "\"absent\":[\"../evil\"]"),
        ("\"absent\":[]", "\"absent\":[\".git/config\"]"),
    ];
    for (old, new) in spoils {
        let repo = Scene::new().repo;
        let id = forge::checkpoint(&repo, |_, beside| {
            let extras = beside
                .iter_mut()
                .find(|(_, name, _)| name == b"extras.json")
                .unwrap();
            let text = repo.git(&["cat-file", "blob", &extras.2]);
            let text: String = text.split_whitespace().collect();
            assert!(text.contains(old), "{text}");
            extras.2 = forge::blob(&repo, text.replace(old, new).as_bytes());
        });
        assert_hostile(&repo, &id);
    }
}

#[test]
fn nasty_31_raw_bytes_that_lead_into_git() {
    let repo = Scene::new().repo;
    let evil = forge::blob(&repo, b"[core]\n\thooksPath = /tmp\n");
    let inner = forge::tree(&repo, vec![("100644", b"config".to_vec(), evil)]);
    let raw = forge::tree(&repo, vec![("40000", b".git".to_vec(), inner)]);
    let id = forge::checkpoint(&repo, |_, beside| {
        beside.retain(|(_, name, _)| name != b"raw");
        beside.push(("40000", b"raw".to_vec(), raw));
    });
    assert_hostile(&repo, &id);
}

#[test]
fn nasty_31_a_link_and_a_directory_of_one_name() {
    let repo = Scene::new().repo;
    let target = forge::blob(&repo, repo.home().to_str().unwrap().as_bytes());
    let evil = forge::blob(&repo, b"evil\n");
    let inner = forge::tree(&repo, vec![("100644", b"evil".to_vec(), evil)]);
    let id = forge::checkpoint(&repo, |work, _| {
        work.push(("120000", b"twice".to_vec(), target));
        work.push(("40000", b"twice".to_vec(), inner));
    });
    assert_hostile(&repo, &id);
}

fn outside(repo: &TestRepo) -> std::path::PathBuf {
    let outside = repo.home().join("outside");
    fs::create_dir_all(outside.join("sub")).unwrap();
    for name in ["file.txt", "sub/file.txt", "only-outside.txt"] {
        fs::write(outside.join(name), "outside\n").unwrap();
    }
    outside
}

fn assert_outside_untouched(outside: &Path) {
    let files = super::photo::files_below(outside);
    let names: Vec<_> = files
        .keys()
        .map(|name| String::from_utf8_lossy(name))
        .collect();
    assert_eq!(
        names,
        ["file.txt", "only-outside.txt", "sub", "sub/file.txt"]
    );
    for name in ["file.txt", "sub/file.txt", "only-outside.txt"] {
        assert_eq!(fs::read(outside.join(name)).unwrap(), b"outside\n");
    }
}

#[test]
fn nasty_32_a_tracked_directory_replaced_by_a_link_out_of_the_tree() {
    let mut scene = Scene::new();
    for name in ["dir/file.txt", "dir/sub/file.txt", "dir/gone.txt"] {
        scene.repo.write(name, "inside\n");
    }
    scene.repo.git(&["add", "."]);
    scene.repo.git(&["commit", "-q", "-m", "inside"]);
    scene.take();
    let outside = outside(&scene.repo);
    scene.repo.remove("dir");
    scene.repo.link(outside.to_str().unwrap(), "dir");
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "a directory again");
    assert_outside_untouched(&outside);
    scene.undo();
    before.assert_same(&scene.now(), "a link again");
    assert_outside_untouched(&outside);
    scene.redo();
    assert_outside_untouched(&outside);
}

#[test]
fn nasty_32_a_link_out_of_the_tree_that_became_a_directory() {
    let mut scene = Scene::new();
    let outside = outside(&scene.repo);
    scene.repo.link(outside.to_str().unwrap(), "dir");
    scene.take();
    scene.repo.remove("dir");
    scene.repo.write("dir/file.txt", "inside\n");
    scene.repo.write("dir/sub/file.txt", "inside\n");
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "a link again");
    assert_outside_untouched(&outside);
    scene.undo();
    before.assert_same(&scene.now(), "a directory again");
    assert_outside_untouched(&outside);
}

#[test]
fn nasty_32_a_deeper_directory_replaced_by_a_link() {
    let mut scene = Scene::new();
    scene.repo.write("a/b/sub/file.txt", "inside\n");
    scene.repo.write("a/b/only-inside.txt", "inside\n");
    scene.take();
    let outside = outside(&scene.repo);
    scene.repo.remove("a/b");
    scene.repo.link(outside.to_str().unwrap(), "a/b");
    scene.repo.write("a/new.txt", "new\n");
    let before = scene.now();
    scene.roll_back("1");
    assert_restored(scene.at(1), &before, &scene.now(), "a directory again");
    assert_outside_untouched(&outside);
}

#[test]
fn a_session_of_another_work_tree_is_refused() {
    let repo = Scene::lived_in().repo;
    let linked = repo.home().join("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "--detach",
        linked.to_str().unwrap(),
    ]);
    let session = repo.session_dir();
    let session = session.file_name().unwrap().to_str().unwrap();
    let mut command = repo.go_team();
    command.current_dir(&linked);
    command.args(["--session", session, "rollback", "1", "--yes"]);
    let before = super::photo::Photo::of_dir(&repo, &linked);
    let output = command.output().unwrap();
    assert!(!output.status.success());
    before.assert_same(&super::photo::Photo::of_dir(&repo, &linked), "refused");
    assert_refused(
        &repo,
        &["--session", "nothing-1234", "rollback", "1", "--yes"],
    );
}
