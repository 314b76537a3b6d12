//! Nothing that git does to clean up takes a checkpoint away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::check;
use super::process;
use super::support::TestRepo;

/// Checkpoints that differ in files, staging and branch; some objects are held by them alone.
fn history() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write(".gitignore", "*.log\n");
    for nth in 1..=10 {
        repo.write("file.txt", format!("{nth}\n"));
        repo.write(format!("dir/{nth}.txt"), format!("only in {nth}\n"));
        if nth % 2 == 0 {
            repo.write("staged.txt", format!("staged {nth}\n"));
            repo.git(&["add", "staged.txt"]);
            repo.write("staged.txt", format!("unstaged {nth}\n"));
        }
        if nth % 3 == 0 {
            repo.git(&["commit", "-q", "-a", "-m", "to be forgotten"]);
        }
        repo.ok(&["cp-create", "work"]);
        if nth % 3 == 0 {
            repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }
    }
    repo
}

#[test]
fn checkpoints_outlive_everything_that_cleans_up() {
    let repo = history();
    repo.write("ignored.log", "");
    for args in [
        &["reset", "-q", "--hard"][..],
        &["clean", "-q", "-fdx"],
        &["reflog", "expire", "--expire=now", "--all"],
        &["gc", "-q", "--prune=now", "--aggressive"],
        &["prune", "--expire=now"],
        &["pack-refs", "--all"],
        &["repack", "-q", "-a", "-d"],
    ] {
        repo.git(args);
        let session = check::complete_one(&repo, &repo.root());
        assert_eq!(session.records.len(), 10);
    }
    let session = check::complete_one(&repo, &repo.root());
    check::shown_as_valid(&repo, &session);
    repo.ok(&["cp-create", "and on it goes"]);
    let session = check::complete_one(&repo, &repo.root());
    assert_eq!(session.records.len(), 11);
    for record in &session.records[..10] {
        let file = format!("{}:file.txt", record.git.commit_hash.unwrap());
        let content = check::git(&repo, &repo.root(), &["show", &file]);
        assert_eq!(content, format!("{}\n", record.seq));
    }
}

/// Lets git collect garbage again and again while `work` runs.
fn beside_gc(repo: &TestRepo, work: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    let collect = || {
        let mut command = process::git(repo, &repo.root());
        command.args(["-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now"]);
        command
    };
    let mut commands = vec![collect()];
    let mut command = process::git(repo, &repo.root());
    command.args(["pack-refs", "--all", "--prune"]);
    commands.push(command);
    thread::scope(|scope| {
        let is_over = &is_over;
        let collector = scope.spawn(move || {
            let mut rounds = 0;
            while !is_over.load(Ordering::Relaxed) {
                for command in &mut commands {
                    let output = command.output().unwrap();
                    assert!(output.status.success(), "{}", process::text(&output));
                }
                rounds += 1;
            }
            rounds
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        assert!(collector.join().unwrap() > 0);
        done.unwrap();
    });
}

#[test]
fn checkpoints_are_made_while_garbage_is_collected() {
    let repo = TestRepo::with_commit();
    beside_gc(&repo, || {
        for nth in 0..30 {
            repo.write("file.txt", format!("{nth}\n"));
            repo.write(format!("dir/{nth}.txt"), format!("{nth}\n"));
            let made = repo.ok(&["cp-create", "--json"]).json();
            assert_eq!(made["data"]["warnings"], serde_json::json!([]));
        }
    });
    let session = check::complete_one(&repo, &repo.root());
    assert_eq!(session.records.len(), 30);
    check::shown_as_valid(&repo, &session);
    check::no_residue(&repo.path(".git"));
}

#[test]
fn checkpoints_are_removed_while_garbage_is_collected() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[retention]\nkeep_auto = 3\n");
    beside_gc(&repo, || {
        for nth in 0..20 {
            repo.write("file.txt", format!("{nth}\n"));
            repo.ok(&["cp-create", "--trigger", "auto"]);
        }
    });
    // What could not be removed beside git is removed by the next command.
    repo.ok(&["cp-create", "--trigger", "auto"]);
    let session = check::complete_one(&repo, &repo.root());
    assert_eq!(session.records.len(), 3);
    assert_eq!(session.manifest.next_seq(), 22);
    check::no_residue(&repo.path(".git"));
}

/// A power cut may keep the new manifest and lose the names of the ref and of the record, which were to reach the disk
/// together with it.
#[test]
fn what_a_power_cut_took_beside_the_manifest_is_put_back() {
    let whole = TestRepo::with_checkpoints();
    let newest = whole.ok(&["cp-list", "--json"]).json()["data"]["current_checkpoint"].clone();
    let newest = newest.as_str().unwrap();
    let session = whole.session_dir();
    let session = session.file_name().unwrap().to_str().unwrap();
    let journal = format!(
        "{{\"version\":1,\"op\":\"create\",\"session\":\"{session}\",\"checkpoint\":\"{newest}\",\
         \"started_at\":\"2025-12-28T21:00:00.000Z\"}}"
    );
    for (takes_ref, takes_record) in [(true, false), (false, true), (true, true)] {
        let repo = whole.copy();
        repo.write(
            format!(".git/go-team/sessions/{session}/journal.json"),
            &journal,
        );
        let record = repo.session_dir().join(format!("{newest}.json"));
        let before = std::fs::read(&record).unwrap();
        if takes_ref {
            let place = format!(".git/refs/go-team/{session}/{newest}");
            std::fs::remove_file(repo.path(place)).unwrap();
        }
        if takes_record {
            std::fs::remove_file(&record).unwrap();
        }
        repo.ok(&["cp-create", "after the cut"]);
        assert_eq!(std::fs::read(&record).unwrap(), before);
        assert_eq!(check::complete_one(&repo, &repo.root()).records.len(), 3);
        repo.ok(&["cp-validate", "--deep"]);
    }
}
