//! A checkpoint can be made wherever git works, without any set-up.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::check::{self, Session};
use super::support::{Output, TestRepo};

/// Makes a checkpoint from `dir`, which must go well, and checks all of the repository.
fn make(repo: &TestRepo, dir: &Path, prepare: impl FnOnce(&mut Command)) -> Session {
    let made: Output = repo.run_with(
        &["cp-create", "a checkpoint"],
        |command| {
            command.current_dir(dir);
            prepare(command);
        },
        "",
    );
    assert_eq!(made.code, Some(0), "{made}");
    assert!(
        made.stdout
            .starts_with("✓ Checkpoint created: cp-01-a-checkpoint-")
    );
    check::complete_one(repo, dir)
}

fn files(repo: &TestRepo, session: &Session) -> String {
    let commit = session.records[0].git.commit_hash.unwrap().to_string();
    repo.git(&["ls-tree", "-r", "--name-only", &commit])
}

#[test]
fn an_empty_repository() {
    let repo = TestRepo::new();
    let session = make(&repo, &repo.root(), |_| ());
    assert_eq!(session.records[0].git.head, None);
    assert_eq!(session.records[0].git.branch.as_deref(), Some("main"));
    assert_eq!(files(&repo, &session), "");
}

#[test]
fn a_detached_head() {
    let repo = TestRepo::with_commit();
    repo.git(&["checkout", "-q", "--detach"]);
    let session = make(&repo, &repo.root(), |_| ());
    assert_eq!(session.records[0].git.branch, None);
    assert!(session.records[0].git.head.is_some());
}

#[test]
fn a_linked_work_tree() {
    let repo = TestRepo::with_commit();
    let linked = repo.home().join("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    fs::write(linked.join("new.txt"), "new\n").unwrap();
    let session = make(&repo, &linked, |_| ());
    assert_eq!(session.records[0].git.branch.as_deref(), Some("topic"));
    assert_eq!(files(&repo, &session), "README.md\nnew.txt\n");
}

#[test]
fn a_subdirectory() {
    let repo = TestRepo::with_commit();
    repo.write("a/b/file.txt", "deep\n");
    let session = make(&repo, &repo.path("a/b"), |_| ());
    assert_eq!(files(&repo, &session), "README.md\na/b/file.txt\n");
}

#[test]
fn a_user_without_an_identity_or_a_home() {
    for home in [Some("/nonexistent"), Some(""), None] {
        let repo = TestRepo::with_commit();
        make(&repo, &repo.root(), |command| {
            match home {
                Some(home) => command.env("HOME", home),
                None => command.env_remove("HOME"),
            };
        });
    }
}

#[test]
fn a_path_with_spaces_and_letters_of_many_languages() {
    let repo = TestRepo::without_git();
    let dir = repo.path("mit Leerzeichen/Übung – 日本語 'quoted' \"twice\"");
    fs::create_dir_all(&dir).unwrap();
    check::git(&repo, &dir, &["init", "-q", "-b", "main"]);
    fs::write(dir.join("Ärger mit\nZeilen.txt"), "content\n").unwrap();
    let session = make(&repo, &dir, |_| ());
    assert_eq!(session.records[0].files.totals.created, 1);
}

#[test]
fn an_index_that_is_locked() {
    let repo = TestRepo::with_commit();
    fs::write(repo.path(".git/index.lock"), b"").unwrap();
    make(&repo, &repo.root(), |_| ());
    assert!(repo.path(".git/index.lock").exists());
}

#[test]
fn an_index_that_cannot_be_written() {
    let repo = TestRepo::with_commit();
    let index = repo.path(".git/index");
    fs::set_permissions(&index, Permissions::from_mode(0o444)).unwrap();
    make(&repo, &repo.root(), |_| ());
    assert_eq!(
        fs::metadata(&index).unwrap().permissions().mode() & 0o777,
        0o444
    );
}

#[test]
fn a_merge_with_conflicts() {
    let repo = TestRepo::with_commit();
    repo.git(&["checkout", "-q", "-b", "theirs"]);
    repo.write("README.md", "theirs\n");
    repo.git(&["commit", "-q", "-a", "-m", "theirs"]);
    repo.git(&["checkout", "-q", "main"]);
    repo.write("README.md", "ours\n");
    repo.git(&["commit", "-q", "-a", "-m", "ours"]);
    let mut merge = super::process::git(&repo, &repo.root());
    let merged = merge.args(["merge", "-q", "theirs"]).output().unwrap();
    assert!(!merged.status.success(), "there is a conflict");
    let stages = repo.git(&["ls-files", "--unmerged"]);
    let session = make(&repo, &repo.root(), |_| ());
    assert_eq!(repo.git(&["ls-files", "--unmerged"]), stages);
    let commit = session.records[0].git.commit_hash.unwrap();
    let index = repo.git(&["show", &format!("{commit}^2:index.json")]);
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    assert_eq!(index["conflicts"].as_array().unwrap().len(), 3);
    let file = repo.git(&["show", &format!("{commit}:README.md")]);
    assert!(file.contains("<<<<<<<") && file.contains(">>>>>>>"));
}

#[test]
fn files_of_its_own_kept_elsewhere() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[storage]\npath = \"../elsewhere\"\n");
    let elsewhere = repo.root().parent().unwrap().join("elsewhere");
    for number in ["1", "2"] {
        repo.ok(&["cp-create", "work"]);
        repo.ok(&["cp-show", number]);
    }
    let sessions = check::complete_in(&repo, &repo.root(), &elsewhere);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].records.len(), 2);
    assert!(!repo.store().join("sessions").exists());
    check::no_residue(&repo.path(".git"));
}

#[test]
fn files_of_its_own_kept_in_the_work_tree_are_not_the_users() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[storage]\npath = \".checkpoints\"\n");
    let first = repo.ok(&["cp-create", "--json"]).json();
    repo.write("file.txt", "new\n");
    let second = repo.ok(&["cp-create", "--json"]).json();
    assert_eq!(
        first["data"]["record"]["files"]["created"],
        serde_json::json!(["go-team.toml"])
    );
    assert_eq!(
        second["data"]["record"]["files"]["created"],
        serde_json::json!(["file.txt"])
    );
    check::complete_in(&repo, &repo.root(), &repo.path(".checkpoints"));
}
