//! Repositories, files, settings and other processes that stand in the way.

use std::fs::{self, File};

use insta::assert_snapshot;

use crate::support::{self, TestRepo};

#[test]
fn repositories_that_are_refused() {
    let nowhere = TestRepo::without_git();
    assert_snapshot!(nowhere.run(&["cp-create"]), @r"
    exit: 7
    --- stdout
    --- stderr
    error: there is no git repository at $TMP/work or above
    hint: git init makes one here; -C DIR names another directory
    ---
    ");
    assert_snapshot!(nowhere.run(&["cp-create", "--json"]).pretty(), @r#"
    {
      "command": "cp-create",
      "error": {
        "hints": [
          "git init makes one here; -C DIR names another directory"
        ],
        "kind": "not-a-repository",
        "message": "there is no git repository at $TMP/work or above"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
    assert_snapshot!(TestRepo::init(&["init", "-q", "--bare"]).run(&["status"]), @r"
    exit: 7
    --- stdout
    --- stderr
    error: $TMP/work/ is a bare repository: it has no work tree
    hint: run go-team in a work tree of it: git worktree add ../work
    ---
    ");
    let sha256 = TestRepo::init(&["init", "-q", "--object-format=sha256"]);
    assert_snapshot!(sha256.run(&["status"]), @r"
    exit: 7
    --- stdout
    --- stderr
    error: the repository names its objects by sha256, which is not supported yet
    hint: git init --object-format=sha1 makes a repository that is
    ---
    ");
    let reftable = TestRepo::init(&["init", "-q", "--ref-format=reftable"]);
    assert_snapshot!(reftable.run(&["status"]), @r"
    exit: 7
    --- stdout
    --- stderr
    error: the repository stores its refs as reftable, which is not supported yet
    hint: git refs migrate --ref-format=files changes it
    ---
    ");
}

#[test]
fn the_home_directory_is_refused_without_force() {
    let repo = TestRepo::with_commit();
    let home = repo.root();
    let home = [("HOME", home.to_str().unwrap())];
    assert_snapshot!(repo.run_env(&home, &["cp-create"]), @r"
    exit: 7
    --- stdout
    --- stderr
    error: the work tree is $TMP/work/, which holds far more than a project
    hint: if that is what you want, say so with --force
    ---
    ");
    assert_eq!(repo.run_env(&home, &["cp-create", "--force"]).code, Some(0));
}

#[test]
fn a_repository_of_somebody_else_is_refused() {
    let repo = TestRepo::with_commit();
    for path in [repo.root(), repo.path(".git")] {
        if std::os::unix::fs::chown(path, Some(54321), None).is_err() {
            return; // only root can give a directory away
        }
    }
    assert_snapshot!(repo.run(&["status"]), @r"
    exit: 7
    --- stdout
    --- stderr
    error: $TMP/work/.git/ is owned by another user
    hint: if you trust it: git config --global --add safe.directory $TMP/work
    ---
    ");
}

#[test]
fn a_directory_that_is_not_there() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["-C", "nowhere", "status"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: there is no directory nowhere
    hint: -C takes a directory that exists, relative to where you are
    ---
    ");
    fs::create_dir(repo.path("sub")).unwrap();
    assert_eq!(repo.run(&["-C", "sub", "status"]).code, Some(0));
}

#[test]
fn another_command_is_at_work() {
    let repo = TestRepo::with_checkpoints();
    let lock = repo.store().join("lock");
    fs::write(
        &lock,
        "{\"pid\":4711,\"command\":\"cp-create\",\"started_at\":\"2025-12-28T21:00:00.000Z\"}\n",
    )
    .unwrap();
    let file = File::options().write(true).open(&lock).unwrap();
    file.lock().unwrap();
    let at_once = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", "0")];
    assert_snapshot!(repo.run_env(&at_once, &["cp-create"]), @r"
    exit: 6
    --- stdout
    --- stderr
    error: another go-team command is at work: $TMP/work/.git/go-team/lock is held by process 4711 (cp-create) since 2025-12-28T21:00:00.000Z; waited 0.0 s
    hint: try again when it has finished, or wait longer: GO_TEAM_LOCK_TIMEOUT_SECONDS=120 go-team …
    ---
    ");
    assert_snapshot!(repo.run_env(&at_once, &["state", "set", "a=1", "--json"]).pretty(), @r#"
    {
      "command": "state set",
      "error": {
        "hints": [
          "try again when it has finished, or wait longer: GO_TEAM_LOCK_TIMEOUT_SECONDS=120 go-team …"
        ],
        "kind": "locked",
        "message": "another go-team command is at work: $TMP/work/.git/go-team/lock is held by process 4711 (cp-create) since 2025-12-28T21:00:00.000Z; waited 0.0 s"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
    assert_eq!(repo.run_env(&at_once, &["start", "x"]).code, Some(6));
    for args in [
        &["cp-list"][..],
        &["cp-show", "1"],
        &["status"],
        &["state", "show"],
        &["sessions"],
    ] {
        assert_eq!(repo.run_env(&at_once, args).code, Some(0), "{args:?}");
    }
}

#[test]
fn files_that_are_damaged_or_newer() {
    let repo = TestRepo::with_checkpoints();
    let manifest = repo.session_dir().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    assert_snapshot!(repo.run(&["cp-list"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/.git/go-team/sessions/auth-system-504f/manifest.json is damaged: EOF while parsing a value at line 12 column 244
    hint: the checkpoints are not in it: go-team cp-rebuild --all makes it anew from their refs
    hint: git for-each-ref refs/go-team/auth-system-504f/ lists them
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--json"]).pretty(), @r#"
    {
      "command": "cp-create",
      "error": {
        "hints": [
          "the checkpoints are not in it: go-team cp-rebuild --all makes it anew from their refs",
          "git for-each-ref refs/go-team/auth-system-504f/ lists them"
        ],
        "kind": "manifest-damaged",
        "message": "$TMP/work/.git/go-team/sessions/auth-system-504f/manifest.json is damaged: EOF while parsing a value at line 12 column 244"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
    fs::write(&manifest, text.replacen("auth system", "auth sistem", 1)).unwrap();
    assert_eq!(repo.run(&["cp-list"]).code, Some(1));
    fs::remove_file(&manifest).unwrap();
    assert_snapshot!(repo.run(&["cp-list"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/.git/go-team/sessions/auth-system-504f/manifest.json does not exist
    hint: the checkpoints are not in it: go-team cp-rebuild --all makes it anew from their refs
    hint: git for-each-ref refs/go-team/auth-system-504f/ lists them
    ---
    ");
    let newer = text.replacen("\"version\": 1", "\"version\": 2", 1);
    assert_ne!(newer, text);
    fs::write(&manifest, &newer).unwrap();
    assert_snapshot!(repo.run(&["cp-list"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/.git/go-team/sessions/auth-system-504f/manifest.json has format version 2, which is not known
    hint: it was left untouched; a newer go-team wrote it, so use that one
    ---
    ");
    assert_eq!(fs::read_to_string(&manifest).unwrap(), newer);
    fs::write(&manifest, &text).unwrap();
    fs::write(repo.session_dir().join("state.json"), "no").unwrap();
    assert_snapshot!(repo.run(&["state", "show"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/.git/go-team/sessions/auth-system-504f/state.json is damaged: expected a value at line 1 column 1
    hint: go-team cp-rebuild --all takes it from the current checkpoint; the damaged file is kept
    hint: go-team cp-show current --json has the state of the last checkpoint
    ---
    ");
}

#[test]
fn settings_that_are_wrong() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[capture]\nmax_file_mbs = 5\n");
    assert_snapshot!(repo.run(&["status"]), @r#"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/go-team.toml:2: unknown key "capture.max_file_mbs", the nearest is "capture.max_file_mb"
    hint: did you mean capture.max_file_mb?
    ---
    "#);
    repo.write("go-team.toml", "[capture]\nmax_file_mb = \"many\"\n");
    assert_snapshot!(repo.run(&["status"]), @r#"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/go-team.toml:2: capture.max_file_mb takes a whole number of at least 1, not "many"
    hint: settings come from GO_TEAM_* variables, go-team.toml, and your own config.toml
    ---
    "#);
    repo.write("go-team.toml", "[capture\n");
    assert_snapshot!(repo.run(&["status"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/go-team.toml:1: unclosed table, expected `]`
    hint: settings come from GO_TEAM_* variables, go-team.toml, and your own config.toml
    ---
    ");
    repo.write("go-team.toml", "");
    assert_snapshot!(repo.run_env(&[("GO_TEAM_LOCK_TIMEOUT", "5")], &["status"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: unknown variable GO_TEAM_LOCK_TIMEOUT, the nearest is GO_TEAM_LOCK_TIMEOUT_SECONDS
    hint: did you mean GO_TEAM_LOCK_TIMEOUT_SECONDS?
    ---
    ");
    assert_snapshot!(repo.run_env(&[("GO_TEAM_TEST_NOW", "noon")], &["status"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: GO_TEAM_TEST_NOW: "noon" is not a time: premature end of input
    ---
    "#);
}

#[test]
fn a_full_stdout_is_a_failure_and_a_closed_one_is_not() {
    let repo = TestRepo::with_checkpoints();
    let mut command = repo.go_team();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.arg("cp-list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"error: cannot write the answer to stdout: No space left on device (os error 28)");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = repo
        .go_team()
        .arg("cp-list")
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn each_work_tree_has_its_own_session() {
    let repo = TestRepo::with_checkpoints();
    repo.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    assert_snapshot!(repo.run(&["-C", "../linked", "cp-list"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: this work tree has no session yet
    hint: go-team start TOPIC
    hint: go-team cp-create begins one by itself
    ---
    ");
    let made = repo.ok(&["-C", "../linked", "cp-create"]);
    assert!(made.stderr.starts_with("Started session side-"), "{made}");
    let session = repo.session_of("auth system");
    let args = ["-C", "../linked", "cp-create", "--session", &session];
    assert_snapshot!(repo.run(&args), @r"
    exit: 1
    --- stdout
    --- stderr
    error: session auth-system-504f belongs to another work tree
    hint: run the command in that work tree (git worktree list), or go-team start TOPIC in this one
    ---
    ");
    let listed = repo.ok(&[
        "-C",
        "../linked",
        "cp-list",
        "--session",
        &session,
        "--json",
    ]);
    assert_eq!(listed.json()["data"]["checkpoint_count"], 2);
}

#[test]
fn a_read_only_repository_can_be_read() {
    let repo = TestRepo::with_checkpoints();
    let Some(locked) = support::ReadOnly::new(&repo) else {
        return; // nobody to be who may not write
    };
    for args in [
        &["cp-list", "-v"][..],
        &["cp-list", "--graph"],
        &["cp-show", "2"],
        &["sessions"],
        &["session-info"],
        &["state", "show"],
        &["state", "get", "topic"],
        &["status"],
    ] {
        let output = locked.run(args);
        assert_eq!(output.code, Some(0), "{args:?}: {output}");
    }
    let status = locked.run(&["status"]);
    assert!(
        status
            .stdout
            .contains("Files:       nothing changed since\n"),
        "{status}"
    );
    assert_eq!(status.stderr, "", "{status}");
    assert_snapshot!(locked.run(&["cp-create"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: cannot open $TMP/work/.git/go-team/lock: Permission denied (os error 13)
    hint: commands that only read still work: go-team cp-list, go-team cp-show N
    ---
    ");
    assert_snapshot!(locked.run(&["state", "set", "a=1"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: cannot open $TMP/work/.git/go-team/lock: Permission denied (os error 13)
    hint: commands that only read still work: go-team cp-list, go-team cp-show N
    ---
    ");
    assert_eq!(locked.run(&["start", "x"]).code, Some(1));
}
