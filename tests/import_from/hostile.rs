//! Files that somebody made to do harm.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::json;

use crate::place::{busy_repo, remarks, sessions, untouched};
use crate::support::TestRepo;

/// A directory of the directory scheme with one checkpoint, and the directory of its files.
fn scheme(repo: &TestRepo) -> (PathBuf, PathBuf) {
    let root = repo.home().join("runs");
    let files = root.join("run/checkpoints/1");
    fs::create_dir_all(&files).unwrap();
    let state = json!({"number": 1, "phase": "x", "timestamp": "2025-01-01T00:00:00Z"});
    fs::write(files.join("state.json"), state.to_string()).unwrap();
    (root, files)
}

#[test]
fn links_are_never_followed() {
    let repo = busy_repo();
    let (root, files) = scheme(&repo);
    let secret = repo.home().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("key"), "secret\n").unwrap();
    symlink(secret.join("key"), files.join("absolute")).unwrap();
    symlink("../../../../secret", files.join("climbing")).unwrap();
    fs::write(files.join("plain"), "plain\n").unwrap();
    symlink("plain", files.join("inside")).unwrap();
    fs::create_dir(files.join("sub")).unwrap();
    symlink("../plain", files.join("sub/up")).unwrap();
    symlink("nowhere", files.join("dangling")).unwrap();
    symlink(&secret, root.join("run/checkpoints/2")).unwrap();
    fs::create_dir(root.join("run/checkpoints/3")).unwrap();
    symlink(
        secret.join("key"),
        root.join("run/checkpoints/3/state.json"),
    )
    .unwrap();
    fs::create_dir(root.join("other")).unwrap();
    symlink(root.join("run/checkpoints"), root.join("other/checkpoints")).unwrap();
    let answer = repo.run(&["import-from", "../home/runs", "--json"]).json();
    assert_snapshot!(remarks(&answer, "broken").join("\n"), @"
    other/checkpoints: is no directory, and links are not followed
    run/checkpoints/2: is no directory with a number for a name
    run/checkpoints/3/state.json: is no regular file, and links are not followed
    ");
    assert_snapshot!(remarks(&answer, "remarks").join("\n"), @"
    run/checkpoints/1/absolute: was left out: is a link that leads out of the copied files, to $TMP/home/secret/key
    run/checkpoints/1/climbing: was left out: is a link that leads out of the copied files, to ../../../../secret
    ");
    let [session] = &sessions(&answer)[..] else {
        panic!("{answer}")
    };
    let tree = repo
        .ok(&["cp-show", "1", "--tree", "--session", session])
        .stdout;
    assert_snapshot!(tree, @"
    120000 7 dangling
    120000 5 inside
    100644 6 plain
    120000 8 sub/up
    ");
    let reference = reference(&repo);
    let archive = repo.git(&["grep", "-I", "--name-only", "-e", "plain", &reference]);
    assert!(archive.contains(":plain"), "{archive}");
    let found = repo.git(&["rev-list", "--objects", "--no-object-names", &reference]);
    for object in found.lines() {
        let kind = repo.git(&["cat-file", "-t", object]);
        if kind == "blob\n" {
            assert_ne!(repo.git(&["cat-file", "blob", object]), "secret\n");
        }
    }
}

#[test]
fn names_are_kept_exactly_and_shown_escaped() {
    let repo = busy_repo();
    let (_, files) = scheme(&repo);
    let state = json!({
        "number": 1, "phase": "\u{1b}[31mred\u{202e}", "timestamp": "2025-01-01T00:00:00Z",
        "description": "<script>\u{7}", "trigger": "\u{1b}]0;owned\u{7}", "status": "$(reboot)",
    });
    fs::write(files.join("state.json"), state.to_string()).unwrap();
    for name in [
        &b"a\x1b[2J"[..],
        b"new\nline",
        b"\xff\xfe",
        b"-rf",
        b".git",
        b".GIT",
        b"git~1",
        b"ok",
    ] {
        fs::write(files.join(std::ffi::OsStr::from_bytes(name)), "x\n").unwrap();
    }
    let dir = repo.home().join("runs/\u{1b}[31mrun");
    fs::rename(repo.home().join("runs/run"), &dir).unwrap();
    let text = repo.run(&["import-from", "../home/runs"]);
    assert_eq!(text.code, Some(0), "{text}");
    let printed = format!("{}{}", text.stdout, text.stderr);
    assert!(
        !printed.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{printed:?}"
    );
    assert_snapshot!(text.stderr, @r#"
    "\033[31mrun"/checkpoints/1/state.json: the trigger "\u001b]0;owned\u0007" is not known, so it is manual
    "\033[31mrun"/checkpoints/1/.GIT: was left out: a name that git refuses
    "\033[31mrun"/checkpoints/1/.git: was left out: a name that git refuses
    "\033[31mrun"/checkpoints/1/git~1: was left out: a name that git refuses
    "#);
    let session = repo.session_of("\u{1b}[31mrun");
    let shown = repo
        .ok(&["cp-show", "1", "--tree", "--session", &session])
        .stdout;
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    let names = repo.git(&["ls-tree", "-r", "--name-only", &reference(&repo)]);
    assert_eq!(
        names,
        "\"-rf\"\n".replace('"', "") + "\"a\\033[2J\"\n\"new\\nline\"\nok\n\"\\377\\376\"\n"
    );
    repo.ok(&["cp-validate", "--deep", "--session", &session]);
}

fn reference(repo: &TestRepo) -> String {
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/go-team"]);
    refs.lines().next().unwrap().to_owned()
}

#[test]
fn what_is_too_much_is_refused_quickly() {
    let repo = busy_repo();
    let (root, files) = scheme(&repo);
    repo.ok(&["config", "set", "--user", "capture.max_file_mb", "1"]);
    fs::File::create(files.join("huge"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let other = |nth: u32| {
        let dir = root.join(format!("run/checkpoints/{nth}"));
        fs::create_dir(&dir).unwrap();
        dir.join("state.json")
    };
    fs::File::create(other(2))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    fs::write(other(3), "[".repeat(200_000)).unwrap();
    fs::write(
        other(4),
        format!("{{\"a\":{}1{}}}", "[".repeat(5000), "]".repeat(5000)),
    )
    .unwrap();
    let fifo = other(5);
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    assert!(
        std::process::Command::new("mkfifo")
            .arg(files.join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let mut deep = files.join("deep");
    for _ in 0..200 {
        deep = deep.join("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("x"), "x\n").unwrap();
    let started = Instant::now();
    let answer = repo.run(&["import-from", "../home/runs", "--json"]).json();
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    assert_snapshot!(remarks(&answer, "broken").join("\n"), @"
    run/checkpoints/2/state.json: is too large: larger than 16777216 bytes
    run/checkpoints/3/state.json: is no JSON that can be used: nested more than 128 levels deep at line 1 column 129
    run/checkpoints/4/state.json: is no JSON that can be used: nested more than 128 levels deep at line 1 column 133
    run/checkpoints/5/state.json: is no regular file, and links are not followed
    ");
    let left_out = remarks(&answer, "remarks")
        .join("\n")
        .replace("/d/d/d/d/d/d/d/d/d/d", "/…");
    assert_snapshot!(left_out.replace("/…/…/…/…/…", "/……"), @"
    run/checkpoints/1/deep/……/……/…/…/d/d/d/d/d/d/d/d: was left out: too deep
    run/checkpoints/1/huge: was left out: larger than capture.max_file_mb
    run/checkpoints/1/pipe: was left out: a named pipe
    ");
    let [session] = &sessions(&answer)[..] else {
        panic!("{answer}")
    };
    repo.ok(&["cp-validate", "--deep", "--session", session]);
}

#[test]
fn numbers_that_clash_are_kept_apart() {
    let repo = busy_repo();
    let (root, _) = scheme(&repo);
    let write = |name: &str, number: u64| {
        let dir = root.join("run/checkpoints").join(name);
        fs::create_dir_all(&dir).unwrap();
        let state = json!({"number": number, "phase": "y", "timestamp": "2025-01-01T00:00:00Z"});
        fs::write(dir.join("state.json"), state.to_string()).unwrap();
        fs::write(dir.join("who"), format!("{name}\n")).unwrap();
    };
    write("01", 1);
    write("001", 1);
    write("2", 1);
    write("99999999999", 5);
    write("99999999999999999999999", 5);
    let answer = repo.run(&["import-from", "../home/runs", "--json"]).json();
    assert_snapshot!(remarks(&answer, "broken").join("\n"), @"
    run/checkpoints/99999999999999999999999: is no directory with a number for a name
    run/checkpoints/99999999999/state.json: 99999999999 is too large a number
    ");
    assert_snapshot!(remarks(&answer, "remarks").join("\n"), @"
    run/checkpoints/01/state.json: the number 1 is there twice
    run/checkpoints/1/state.json: the number 1 is there twice
    run/checkpoints/2/state.json: says that its number is 1, its directory says 2
    ");
    let session = &sessions(&answer)[0];
    assert_eq!(
        repo.ok(&["cp-show", "1.1:who", "--session", session])
            .stdout,
        "001\n"
    );
    assert_eq!(
        repo.ok(&["cp-show", "1.2:who", "--session", session])
            .stdout,
        "01\n"
    );
    assert_eq!(
        repo.ok(&["cp-show", "2:who", "--session", session]).stdout,
        "2\n"
    );
    let zero = repo.home().join("zero/checkpoints");
    fs::create_dir_all(zero.join("0")).unwrap();
    fs::write(zero.join("0/state.json"), r#"{"timestamp": 1735689600}"#).unwrap();
    let answer = repo.ok(&["import-from", "../home/zero", "--json"]).json();
    assert_eq!(
        answer["data"]["sessions"][0]["checkpoints"][0]["id"],
        "cp-01-checkpoint-20250101-000000"
    );
}

#[test]
fn what_may_not_be_read_is_said() {
    let repo = busy_repo();
    let (_, files) = scheme(&repo);
    fs::write(files.join("private"), "x\n").unwrap();
    fs::set_permissions(files.join("private"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::write(files.join("public"), "y\n").unwrap();
    let before = untouched(&repo);
    let Some(answer) =
        crate::support::AsSomebody::run(&repo, &["import-from", "../home/runs", "--json"])
    else {
        return;
    };
    let answer = answer.json();
    assert_snapshot!(remarks(&answer, "remarks").join("\n"), @"run/checkpoints/1/private: was left out: cannot be read: Permission denied (os error 13)");
    assert_eq!(untouched(&repo), before);
    assert_eq!(answer["data"]["sessions"][0]["checkpoints"][0]["files"], 1);
}

#[test]
fn a_place_reached_through_a_link_is_the_users_choice() {
    let repo = busy_repo();
    let (root, _) = scheme(&repo);
    symlink(&root, repo.home().join("link")).unwrap();
    repo.ok(&["import-from", "../home/link"]);
    assert!(Path::new(&root).exists());
}
