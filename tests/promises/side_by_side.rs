//! Many processes at once: everybody succeeds, and nothing is lost.

use std::path::Path;
use std::process::Command;
use std::thread;

use super::check;
use super::process;
use super::support::TestRepo;

/// Runs each list of commands one after another, the lists side by side; all must go well.
fn side_by_side(lists: Vec<Vec<Command>>) {
    thread::scope(|scope| {
        for list in lists {
            scope.spawn(move || {
                for command in list {
                    process::succeed(command);
                }
            });
        }
    });
}

fn checkpoints(repo: &TestRepo, dir: &Path, count: usize, worker: usize) -> Vec<Command> {
    let command = |nth| {
        let mut command = process::go_team(repo, dir);
        command.args(["cp-create", &format!("worker {worker} made {nth}")]);
        command
    };
    (0..count).map(command).collect()
}

fn seqs(session: &check::Session) -> Vec<u64> {
    session.records.iter().map(|record| record.seq).collect()
}

#[test]
fn eight_processes_make_twenty_checkpoints_each() {
    let repo = TestRepo::with_commit();
    // Nobody has begun the session: the first one to come does.
    let workers = 0..8;
    side_by_side(
        workers
            .map(|worker| checkpoints(&repo, &repo.root(), 20, worker))
            .collect(),
    );
    let session = check::complete_one(&repo, &repo.root());
    assert_eq!(seqs(&session), (1..=160).collect::<Vec<u64>>());
    let mut said: Vec<&str> = session
        .records
        .iter()
        .map(|record| record.description.as_str())
        .collect();
    said.sort_unstable();
    said.dedup();
    assert_eq!(said.len(), 160, "each one is there once");
    check::no_residue(&repo.path(".git"));
}

#[test]
fn two_work_trees_with_a_session_each() {
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
    let mut lists = Vec::new();
    for (dir, topic) in [
        (repo.root(), "in the main one"),
        (linked.clone(), "in the linked one"),
    ] {
        let mut start = process::go_team(&repo, &dir);
        start.args(["start", topic]);
        process::succeed(start);
        lists.extend((0..4).map(|worker| checkpoints(&repo, &dir, 5, worker)));
    }
    side_by_side(lists);
    let sessions = check::complete(&repo, &repo.root());
    assert_eq!(sessions.len(), 2);
    for session in &sessions {
        assert_eq!(seqs(session), (1..=20).collect::<Vec<u64>>());
        let branch = match session.manifest.topic.as_str() {
            "in the main one" => "main",
            _ => "topic",
        };
        for record in &session.records {
            assert_eq!(record.git.branch.as_deref(), Some(branch));
        }
    }
    check::no_residue(&repo.path(".git"));
}

#[test]
fn commits_and_checkpoints_do_not_disturb_each_other() {
    let repo = TestRepo::with_commit();
    let root = repo.root();
    let mut commits = Vec::new();
    for nth in 0..25 {
        // The user's own work: a file changes, is added and committed.
        let mut change = process::git(&repo, &root);
        let alias = format!("alias.change=!echo {nth} > file.txt");
        change.args(["-c", &alias, "change"]);
        let mut add = process::git(&repo, &root);
        add.args(["add", "-A"]);
        let mut commit = process::git(&repo, &root);
        commit.args(["commit", "-q", "-m", "work"]);
        commits.extend([change, add, commit]);
    }
    side_by_side(vec![commits, checkpoints(&repo, &root, 25, 0)]);
    let session = check::complete_one(&repo, &root);
    assert_eq!(session.records.len(), 25);
    assert_eq!(repo.git(&["rev-list", "--count", "main"]), "26\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    check::no_residue(&repo.path(".git"));
}
