//! An archive without go-team: gzip, tar and git are enough.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::{export, refs, rich};
use crate::process;
use crate::support::TestRepo;

/// Unpacks an archive with the system's own tar, and gives the directory that it made.
fn unpack(repo: &TestRepo, file: &Path) -> PathBuf {
    let into = repo.home().join("unpacked");
    fs::create_dir(&into).unwrap();
    let mut tar = Command::new("tar");
    tar.current_dir(&into).arg("-xzf").arg(file);
    process::succeed(tar);
    let mut made = fs::read_dir(&into).unwrap();
    let dir = made.next().unwrap().unwrap().path();
    assert!(made.next().is_none(), "one directory");
    dir
}

fn trees(repo: &TestRepo, dir: &Path) -> String {
    let format = "--format=%(refname) %(objectname) %(tree)";
    let mut git = process::git(repo, dir);
    git.args(["for-each-ref", format, "refs/go-team/"]);
    process::succeed(git)
}

fn git(repo: &TestRepo, dir: &Path, args: &[&str]) -> String {
    let mut git = process::git(repo, dir);
    git.args(args);
    process::succeed(git)
}

#[test]
fn clone_fetch_and_mirror_give_every_tree() {
    let repo = rich();
    let dir = unpack(&repo, &export(&repo, &[]));
    let bundle = dir.join("checkpoints.bundle");
    let bundle = bundle.to_str().unwrap();
    let home = repo.home();
    git(&repo, &repo.root(), &["bundle", "verify", "-q", bundle]);
    let expected = trees(&repo, &repo.root());
    assert_eq!(expected.lines().count(), 4);

    git(&repo, &home, &["clone", "-q", "--mirror", bundle, "mirror"]);
    assert_eq!(trees(&repo, &home.join("mirror")), expected);
    git(&repo, &home.join("mirror"), &["fsck", "--strict"]);

    git(&repo, &home, &["init", "-q", "fetched"]);
    let fetched = home.join("fetched");
    git(
        &repo,
        &fetched,
        &["fetch", "-q", bundle, "refs/go-team/*:refs/go-team/*"],
    );
    assert_eq!(trees(&repo, &fetched), expected);
    git(&repo, &fetched, &["fsck", "--strict"]);

    // A plain clone checks the current checkpoint out.
    git(&repo, &home, &["clone", "-q", bundle, "cloned"]);
    let cloned = home.join("cloned");
    assert_eq!(git(&repo, &cloned, &["status", "--porcelain"]), "");
    let current = refs(&repo);
    let current = current.lines().last().unwrap().split(' ').next().unwrap();
    assert_eq!(
        git(&repo, &cloned, &["rev-parse", "HEAD"]).trim_end(),
        current
    );
    assert_eq!(
        fs::read(cloned.join("docs/deep/er/file.md")).unwrap(),
        b"# Deep\n"
    );
    assert_eq!(fs::read(cloned.join("crlf.txt")).unwrap(), b"a\nb\n");
    let raw = git(
        &repo,
        &cloned,
        &["cat-file", "blob", "HEAD^2^{tree}:raw/crlf.txt"],
    );
    assert_eq!(raw, "a\r\nb\r\n");
}

#[test]
fn the_other_members_are_the_files_of_the_session() {
    let repo = rich();
    let dir = unpack(&repo, &export(&repo, &[]));
    let session = repo.session_dir();
    assert_eq!(dir.file_name(), session.file_name());
    let mut names: Vec<String> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let records = names.iter().filter(|name| name.starts_with("cp-")).count();
    assert_eq!((records, names.len()), (5, 10), "{names:?}");
    for name in names.iter().filter(|name| name.starts_with("cp-")) {
        assert_eq!(
            fs::read(dir.join(name)).unwrap(),
            fs::read(session.join(name)).unwrap()
        );
    }
    for name in ["manifest.json", "state.json"] {
        assert_eq!(
            fs::read(dir.join(name)).unwrap(),
            fs::read(session.join(name)).unwrap()
        );
    }
    let history = fs::read_to_string(dir.join("rollback-history.json")).unwrap();
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history["rollback_history"], serde_json::json!([]));
    // The list of contents is what sha256sum says.
    let contents = fs::read_to_string(dir.join("contents.json")).unwrap();
    let contents: serde_json::Value = serde_json::from_str(&contents).unwrap();
    let mut list = String::new();
    for member in contents["members"].as_array().unwrap() {
        let text = |field: &str| member[field].as_str().unwrap();
        list += &format!("{}  {}\n", text("sha256"), text("name"));
    }
    fs::write(dir.join("sums"), list).unwrap();
    let mut sums = Command::new("sha256sum");
    sums.current_dir(&dir)
        .args(["--check", "--quiet", "--strict", "sums"]);
    process::succeed(sums);
}
