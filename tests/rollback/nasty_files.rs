//! Files of every kind, ignored or not, in the way or not.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::expect::{assert_restored, displaced};
use super::photo::Item;
use super::scene::{Scene, assert_refusal};
use super::support::TestRepo;

/// Takes a checkpoint, changes everything, rolls back, undoes, redoes; all of it exact.
fn there_and_back(mut scene: Scene, change: impl FnOnce(&TestRepo)) -> Scene {
    scene.take();
    change(&scene.repo);
    let before = scene.now();
    assert!(!scene.at(1).differences(&before).is_empty());
    scene.roll_back("1");
    let after = scene.now();
    assert_restored(scene.at(1), &before, &after, "rolled back");
    scene.undo();
    before.assert_same(&scene.now(), "undone");
    scene.redo();
    after.assert_same(&scene.now(), "redone");
    scene
}

#[test]
fn nasty_39_line_endings_are_kept_byte_for_byte() {
    for setting in [None, Some("true"), Some("input")] {
        let scene = Scene::new();
        let repo = &scene.repo;
        if let Some(value) = setting {
            repo.git(&["config", "core.autocrlf", value]);
        }
        repo.write(
            ".gitattributes",
            "auto/* text=auto\ncrlf/* text eol=crlf\nlf/* text eol=lf\nbin/* -text\n",
        );
        for dir in ["auto", "crlf", "lf", "bin", "none"] {
            repo.write(format!("{dir}/unix"), "a\nb\n");
            repo.write(format!("{dir}/dos"), "a\r\nb\r\n");
            repo.write(format!("{dir}/mixed"), "a\r\nb\nc\r");
        }
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "endings"]);
        for dir in ["auto", "crlf", "lf", "bin", "none"] {
            repo.write(format!("{dir}/mixed"), "changed\nb\r\nc\n");
            repo.write(format!("{dir}/untracked"), "x\r\ny\n");
        }
        there_and_back(scene, |repo| {
            for dir in ["auto", "crlf", "lf", "bin", "none"] {
                repo.write(format!("{dir}/unix"), "a\r\nb\r\n");
                repo.write(format!("{dir}/dos"), "a\nb\n");
                repo.write(format!("{dir}/mixed"), "\r\n\n\r");
                repo.remove(&format!("{dir}/untracked"));
            }
            repo.write(".gitattributes", "* text=auto\n");
            repo.git(&["commit", "-q", "-a", "-m", "others"]);
        });
    }
}

#[test]
fn nasty_39_names_of_every_kind() {
    let scene = Scene::new();
    let names: Vec<Vec<u8>> = vec![
        b"caf\xe9".to_vec(),
        b"\xff\xfe/\x01\x02".to_vec(),
        b"new\nline".to_vec(),
        b"tab\tand \"quotes\"".to_vec(),
        b" leading and trailing ".to_vec(),
        b"-rf".to_vec(),
        b":(glob)*".to_vec(),
        vec![b'n'; 255],
        [vec![b'd'; 200], vec![b'e'; 200], vec![b'f'; 200]].join(&b'/'),
        "\u{202e}rtl".as_bytes().to_vec(),
        b"case".to_vec(),
        b"CASE".to_vec(),
    ];
    for name in &names {
        scene.repo.write(OsStr::from_bytes(name), name);
    }
    scene.repo.git(&["add", "."]);
    there_and_back(scene, |repo| {
        for (nth, name) in names.iter().enumerate() {
            match nth % 3 {
                0 => repo.write(OsStr::from_bytes(name), "changed"),
                1 => fs::remove_file(repo.path(OsStr::from_bytes(name))).unwrap(),
                _ => {}
            }
        }
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "names"]);
    });
}

#[test]
fn nasty_39_modes_links_and_empty_directories() {
    let scene = Scene::new();
    let repo = &scene.repo;
    for mode in [
        0o400, 0o444, 0o600, 0o640, 0o644, 0o664, 0o700, 0o750, 0o755, 0o775,
    ] {
        let name = format!("mode-{mode:o}");
        repo.write(&name, "text\n");
        repo.chmod(&name, mode);
    }
    for (target, name) in [
        ("mode-644", "to-a-file"),
        ("deep", "to-a-directory"),
        ("nowhere/at/all", "dangling"),
        ("circle", "circle"),
        ("/etc/hostname", "absolute"),
        ("../../home", "outside"),
    ] {
        repo.link(target, name);
    }
    for dir in ["deep/er/empty", "private", "shared"] {
        fs::create_dir_all(repo.path(dir)).unwrap();
    }
    repo.chmod("private", 0o700);
    repo.chmod("shared", 0o775);
    repo.write("held/file", "");
    repo.chmod("held", 0o750);
    repo.git(&["add", "mode-755", "to-a-file"]);
    there_and_back(scene, |repo| {
        for mode in [
            0o400, 0o444, 0o600, 0o640, 0o644, 0o664, 0o700, 0o750, 0o755, 0o775,
        ] {
            repo.chmod(&format!("mode-{mode:o}"), 0o666 ^ (mode & 0o111));
        }
        for name in ["dangling", "absolute", "private", "deep"] {
            repo.remove(name);
        }
        repo.remove("circle");
        repo.link("other", "circle");
        repo.chmod("held", 0o755);
        repo.chmod("shared", 0o755);
        fs::create_dir_all(repo.path("new/empty/dirs")).unwrap();
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "modes"]);
    });
}

#[test]
fn nasty_39_files_directories_and_links_change_places() {
    let kinds: [fn(&TestRepo, &str); 4] = [
        |repo, name| repo.write(name, format!("{name} is a file\n")),
        |repo, name| repo.write(format!("{name}/in/a/directory"), "of files\n"),
        |repo, name| repo.link("elsewhere", name),
        |repo, name| fs::create_dir_all(repo.path(name).join("empty")).unwrap(),
    ];
    for is_staged in [false, true] {
        let scene = Scene::new();
        for (first, make) in kinds.iter().enumerate() {
            for second in 0..kinds.len() {
                make(&scene.repo, &format!("x-{first}-{second}"));
            }
        }
        if is_staged {
            scene.repo.git(&["add", "-A"]);
        }
        there_and_back(scene, |repo| {
            for first in 0..kinds.len() {
                for (second, make) in kinds.iter().enumerate() {
                    let name = format!("x-{first}-{second}");
                    repo.remove(&name);
                    make(repo, &name);
                }
            }
            if is_staged {
                repo.git(&["add", "-A"]);
                repo.git(&["commit", "-q", "-m", "swapped"]);
            }
        });
    }
}

#[test]
fn nasty_39_large_and_empty_files() {
    let scene = Scene::new();
    let large: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    scene.repo.write("large.bin", &large);
    scene.repo.write("empty", "");
    let scene = there_and_back(scene, |repo| {
        repo.write("large.bin", "small");
        repo.write("empty", "full");
    });
    assert_eq!(scene.now().bytes("large.bin"), Some(&*large));
}

#[test]
fn nasty_39_filters_give_the_same_bytes() {
    let scene = Scene::new();
    let repo = &scene.repo;
    repo.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    repo.git(&["config", "filter.up.smudge", "tr A-Z a-z"]);
    repo.write(".gitattributes", "*.up filter=up\n*.id ident\n");
    repo.write("same.up", "lower\n");
    repo.write("mixed.up", "Mixed Case\n");
    repo.write("x.id", "$Id$\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "filters"]);
    there_and_back(scene, |repo| {
        repo.write("same.up", "other\n");
        repo.write("mixed.up", "OTHER\n");
        repo.write("x.id", "$Id: else $\n");
        repo.git(&["commit", "-q", "-a", "-m", "filtered"]);
    });
}

#[test]
fn nasty_40_ignored_files_stay() {
    let scene = Scene::new();
    scene.repo.write(".gitignore", "*.log\n/target/\n");
    scene.repo.write("a.log", "at one\n");
    scene.repo.write("target/out", "at one\n");
    let scene = there_and_back(scene, |repo| {
        repo.write("a.log", "later\n");
        repo.write("b.log", "new\n");
        repo.write("target/out", "later\n");
        repo.write("target/new/out", "new\n");
        repo.write("src/work.txt", "work\n");
        repo.write("src/work.log", "beside work\n");
    });
    let now = scene.now();
    for (path, text) in [
        ("a.log", "later\n"),
        ("b.log", "new\n"),
        ("target/out", "later\n"),
        ("target/new/out", "new\n"),
        ("src/work.log", "beside work\n"),
    ] {
        assert_eq!(now.bytes(path), Some(text.as_bytes()), "{path}");
    }
    assert_eq!(now.bytes("src/work.txt"), None);
}

#[test]
fn nasty_40_a_file_that_is_ignored_now_but_was_captured() {
    let mut scene = Scene::new();
    scene.repo.write("data/big.bin", "captured\n");
    scene.take();
    scene.repo.write(".gitignore", "data/\n");
    scene.repo.write("data/big.bin", "ignored work\n");
    scene.repo.write("data/more.bin", "ignored work too\n");
    let before = scene.now();
    assert!(!displaced(scene.at(1), &before).is_empty());
    let output = scene.repo.run(&["rollback", "1", "--yes"]);
    let after = scene.now();
    assert_eq!(
        after.bytes("data/more.bin"),
        Some(&b"ignored work too\n"[..]),
        "{output}"
    );
    if output.code != Some(0) {
        assert_refusal(&output);
        before.assert_same(&after, &output);
        return;
    }
    assert_restored(scene.at(1), &before, &after, &output);
    scene.undo();
    let now = scene.now();
    assert_eq!(now.bytes("data/big.bin"), Some(&b"ignored work\n"[..]));
    before.assert_same(&now, "undone");
}

#[test]
fn nasty_40_a_file_that_was_ignored_and_is_captured_now() {
    let mut scene = Scene::new();
    scene.repo.write(".gitignore", "data/\n");
    scene.repo.write("data/big.bin", "ignored\n");
    scene.take();
    scene.repo.write(".gitignore", "");
    scene.repo.write("data/big.bin", "work\n");
    let before = scene.now();
    scene.roll_back("1");
    let after = scene.now();
    assert_restored(scene.at(1), &before, &after, "rolled back");
    scene.undo();
    before.assert_same(&scene.now(), "nothing is lost");
}

#[test]
fn nasty_40_an_ignored_file_in_the_way_of_a_directory() {
    let mut scene = Scene::new();
    scene.repo.write("place/file.txt", "captured\n");
    scene.take();
    scene.repo.remove("place");
    scene.repo.write(".gitignore", "/place\n");
    scene.repo.write("place", "ignored, and the only copy\n");
    let before = scene.now();
    let output = scene.repo.run(&["rollback", "1", "--yes"]);
    if output.code == Some(0) {
        assert_restored(scene.at(1), &before, &scene.now(), &output);
        scene.undo();
    } else {
        assert_refusal(&output);
    }
    before.assert_same(&scene.now(), &output);
}

#[test]
fn nasty_40_a_directory_with_ignored_files_in_the_way_of_a_file() {
    let mut scene = Scene::new();
    scene.repo.write("place", "captured\n");
    scene.take();
    scene.repo.remove("place");
    scene.repo.write(".gitignore", "*.log\n");
    scene.repo.write("place/work.txt", "work\n");
    scene
        .repo
        .write("place/only.log", "ignored, and the only copy\n");
    let before = scene.now();
    let output = scene.repo.run(&["rollback", "1", "--yes"]);
    if output.code == Some(0) {
        assert_restored(scene.at(1), &before, &scene.now(), &output);
        scene.undo();
    } else {
        assert_refusal(&output);
    }
    before.assert_same(&scene.now(), &output);
}

#[test]
fn an_open_file_and_a_running_program_are_replaced() {
    let mut scene = Scene::new();
    let sleep = "/bin/sleep";
    fs::copy(sleep, scene.repo.path("program")).unwrap();
    scene.repo.write("notes.txt", "one\n");
    scene.take();
    let repo = &scene.repo;
    // The same program under the same name, a byte longer: it runs, and is another file.
    let mut program = fs::read(sleep).unwrap();
    program.push(0);
    fs::write(repo.path("program"), &program).unwrap();
    repo.write("notes.txt", "two\n");
    let mut running = Command::new(repo.path("program"))
        .arg("60")
        .spawn()
        .unwrap();
    let mut open = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(repo.path("notes.txt"))
        .unwrap();
    scene.roll_back("1");
    assert_eq!(
        fs::read(scene.repo.path("program")).unwrap(),
        fs::read(sleep).unwrap()
    );
    assert_eq!(scene.now().bytes("notes.txt"), Some(&b"one\n"[..]));
    // Who had them open goes on with what was there.
    assert!(running.try_wait().unwrap().is_none());
    let mut text = String::new();
    std::io::Read::read_to_string(&mut open, &mut text).unwrap();
    assert_eq!(text, "two\n");
    std::io::Write::write_all(&mut open, b"late\n").unwrap();
    assert_eq!(scene.now().bytes("notes.txt"), Some(&b"one\n"[..]));
    scene.undo();
    assert_eq!(fs::read(scene.repo.path("program")).unwrap(), program);
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn nasty_41_what_cannot_be_captured_is_left_alone() {
    let mut scene = Scene::new();
    scene.repo.write(
        "go-team.toml",
        "[capture]\nmax_file_mb = 1\nexclude = [\"scratch/\"]\n",
    );
    scene.repo.write("big.bin", vec![1; 2 << 20]);
    scene.repo.write("scratch/notes.txt", "at one\n");
    let fifo = |path: &str| {
        let made = Command::new("mkfifo").arg(scene.repo.path(path)).status();
        assert!(made.unwrap().success());
    };
    fifo("pipe");
    let _socket = UnixListener::bind(scene.repo.path("socket")).unwrap();
    scene.repo.write("work.txt", "one\n");
    fs::create_dir(scene.repo.path("new")).unwrap();
    fifo("new/pipe");
    scene.take();
    let repo = &scene.repo;
    repo.write("big.bin", vec![2; 3 << 20]);
    repo.write("late.bin", vec![3; 2 << 20]);
    repo.write("scratch/notes.txt", "later\n");
    repo.write("scratch/more.txt", "later\n");
    repo.write("work.txt", "two\n");
    repo.write("dir/work.txt", "two\n");
    let made = Command::new("mkfifo").arg(repo.path("dir/pipe")).status();
    assert!(made.unwrap().success());
    let before = scene.now();
    let output = scene.repo.ok(&["rollback", "1", "--yes"]);
    let now = scene.now();
    let unchanged = [
        "big.bin",
        "late.bin",
        "scratch/notes.txt",
        "scratch/more.txt",
    ];
    let special = ["pipe", "socket", "new/pipe", "dir/pipe"];
    for path in unchanged.iter().chain(&special) {
        let key = path.as_bytes();
        assert_eq!(now.files.get(key), before.files.get(key), "{path}");
    }
    assert_eq!(now.files.get(&b"dir/pipe"[..]), Some(&Item::Other("fifo")));
    assert_eq!(now.bytes("work.txt"), Some(&b"one\n"[..]));
    assert_eq!(now.bytes("dir/work.txt"), None);
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(
        said.contains("late.bin") || said.contains("skip"),
        "{output}"
    );
    scene.undo();
    before.assert_same(&scene.now(), "undone");
}
