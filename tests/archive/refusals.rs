//! What cannot be exported or imported is said, and never half done.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use crate::place::{
    clone_of, export, import, import_ok, listing, records, rich, untouched, unused,
};
use crate::support::{ReadOnly, TestRepo};

/// A repository with some history, to be cloned without all of it.
fn origin() -> TestRepo {
    let repo = TestRepo::with_commit();
    for nth in 0..4 {
        repo.write("file.txt", format!("{nth}\n"));
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "more"]);
    }
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    repo.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    repo
}

fn clone_with(from: &TestRepo, options: &[&str]) -> TestRepo {
    let clone = TestRepo::without_git();
    let url = format!("file://{}", from.root().display());
    let mut args = vec!["clone", "-q"];
    args.extend(options);
    args.extend([url.as_str(), "."]);
    clone.git(&args);
    clone
}

#[test]
fn history_that_is_elsewhere_is_named() {
    let origin = origin();
    for (options, words, remedy) in [
        (
            &["--depth=1"][..],
            "which is a shallow clone",
            "git fetch --unshallow",
        ),
        (
            &["--filter=blob:none"],
            "which is a partial clone",
            "git fetch --refetch",
        ),
    ] {
        let clone = clone_with(&origin, options);
        clone.write("work.txt", "work\n");
        clone.ok(&["cp-create"]);
        let file = unused(&clone, "export");
        let args = ["cp-export", "-o", file.to_str().unwrap()];
        let refused = clone.run(&args);
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(
            refused.stderr.contains("are not in this repository"),
            "{refused}"
        );
        assert!(refused.stderr.contains(words), "{refused}");
        assert!(refused.stderr.contains(remedy), "{refused}");
        assert!(refused.stderr.contains("cp-export --no-git"), "{refused}");
        assert!(!file.exists());
        assert_eq!(
            fs::read_dir(clone.home()).unwrap().count(),
            0,
            "nothing is left"
        );
        import_ok(&TestRepo::new(), &export(&clone, &["--no-git"]), &[]);
    }
    // The remedy works.
    let clone = clone_with(&origin, &["--depth=1"]);
    clone.write("work.txt", "work\n");
    clone.ok(&["cp-create"]);
    clone.git(&["fetch", "-q", "--unshallow"]);
    import_ok(&TestRepo::new(), &export(&clone, &[]), &[]);
}

#[test]
fn into_shallow_and_partial_clones() {
    let origin = origin();
    origin.write("work.txt", "work\n");
    origin.ok(&["cp-create"]);
    let file = export(&origin, &[]);
    for options in [&["--depth=1"][..], &["--filter=blob:none"]] {
        let clone = clone_with(&origin, options);
        import_ok(&clone, &file, &[]);
        assert_eq!(records(&clone), records(&origin));
        clone.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn a_damaged_session_is_not_exported() {
    let repo = rich();
    let record = repo
        .session_dir()
        .join("cp-02-requirements-20251228-210300.json");
    let was = fs::read_to_string(&record).unwrap();
    for (now, words) in [
        (was.replace("spec agreed", "edited"), "is damaged"),
        (String::new(), "is damaged"),
    ] {
        fs::write(&record, now).unwrap();
        let refused = repo.run(&["cp-export"]);
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains(words), "{refused}");
        assert_eq!(
            fs::read_dir(repo.session_dir().join("exports"))
                .unwrap()
                .count(),
            0
        );
    }
    export(&repo, &["1", "3", "4", "5"]);
    fs::remove_file(&record).unwrap();
    assert_eq!(repo.run(&["cp-export"]).code, Some(1));
    fs::write(&record, was).unwrap();
    export(&repo, &[]);
    let commit = repo.git(&[
        "rev-parse",
        "refs/go-team/auth-system-504f/cp-02-requirements-20251228-210300:docs/spec.md",
    ]);
    repo.git(&["repack", "-adq"]);
    let commit = commit.trim_end();
    let pack = fs::read_dir(repo.path(".git/objects/pack")).unwrap();
    let pack = pack
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "pack");
    let pack = pack.unwrap();
    let away = repo.home().join("away.pack");
    fs::rename(&pack, &away).unwrap();
    fs::remove_file(pack.with_extension("idx")).unwrap();
    crate::forge::git_pipe(&repo, &["unpack-objects", "-q"], &fs::read(&away).unwrap());
    fs::remove_file(repo.path(format!(".git/objects/{}/{}", &commit[..2], &commit[2..]))).unwrap();
    let refused = repo.run(&["cp-export"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(
        refused
            .stderr
            .contains(&format!("the blob {commit} first of all")),
        "{refused}"
    );
    assert!(refused.stderr.contains("git fsck"), "{refused}");
}

#[test]
fn odd_arguments() {
    let repo = rich();
    let other = clone_of(&repo);
    let missing = other.run(&["cp-import", "nowhere.tar.gz"]);
    assert_eq!(missing.code, Some(4), "{missing}");
    let dir = other.run(&["cp-import", "."]);
    assert_eq!(dir.code, Some(2), "{dir}");
    let unknown = repo.run(&["cp-export", "9"]);
    assert_eq!(unknown.code, Some(4), "{unknown}");
    let none = other.run(&["cp-export"]);
    assert_eq!(none.code, Some(4), "{none}");
    let nowhere = repo.run(&["cp-export", "-o", "no/such/dir/x.tar.gz"]);
    assert_eq!(nowhere.code, Some(1), "{nowhere}");
    let json = repo.run(&["cp-export", "-o", "-", "--json"]).json();
    assert_eq!(json["error"]["kind"], "usage");
    let file = export(&repo, &[]);
    let right = repo.run(&["cp-export", "--json"]).json()["data"]["sha256"]
        .as_str()
        .unwrap()
        .to_owned();
    let digest = format!("--sha256={}", "0".repeat(64));
    let wrong = untouched(&other, || import(&other, &file, &[&digest]));
    assert_eq!(wrong.code, Some(3), "{wrong}");
    assert!(wrong.stderr.contains("its SHA-256 is"), "{wrong}");
    assert_eq!(import(&other, &file, &["--sha256=x"]).code, Some(2));
    import_ok(&other, &file, &[&format!("--sha256={right}")]);
}

#[test]
fn stdout_takes_the_same_bytes() {
    let repo = rich();
    let file = export(&repo, &[]);
    let mut command = repo.go_team();
    command.args(["cp-export", "-o", "-"]).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, fs::read(&file).unwrap());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("SHA-256: "), "{told}");
    // A reader that goes away early is no success.
    let mut command = repo.go_team();
    command.args(["cp-export", "-o", "-"]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut told = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{told}");
}

#[test]
fn a_repository_that_may_not_be_written() {
    let repo = rich();
    let file = export(&repo, &[]);
    let before = listing(&repo);
    let Some(locked) = ReadOnly::new(&repo) else {
        return;
    };
    let refused = locked.run(&["cp-export"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    let refused = locked.run(&["cp-import", file.to_str().unwrap(), "--as", "copy"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::set_permissions(
        elsewhere.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o777),
    )
    .unwrap();
    let exported = locked.run(&["cp-export", "-q", "-o", elsewhere.path().to_str().unwrap()]);
    assert_eq!(exported.code, Some(0), "{exported}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    drop(locked);
    assert_eq!(listing(&repo).len(), before.len());
}
