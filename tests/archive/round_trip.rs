//! What goes in comes out: refs, records, trees, and a session that goes on.

use std::fs;

use crate::check;
use crate::place::{clone_of, export, import, import_ok, records, refs, rich, untouched, unused};
use crate::support::TestRepo;

/// Everything there, valid, and equal to what was exported.
fn same_session(from: &TestRepo, to: &TestRepo) {
    assert_eq!(records(to), records(from));
    assert_eq!(refs(to), refs(from));
    let manifest = |repo: &TestRepo| fs::read(repo.session_dir().join("manifest.json")).unwrap();
    assert_eq!(manifest(to), manifest(from));
    let state = |repo: &TestRepo| fs::read(repo.session_dir().join("state.json")).unwrap();
    assert_eq!(state(to), state(from));
    to.git(&["fsck", "--strict", "--no-dangling"]);
    to.git(&["rev-list", "--objects", "--glob=refs/go-team"]);
    check::no_residue(&to.path(".git"));
    let session = to.session_dir();
    let session = session.file_name().unwrap().to_str().unwrap();
    let listed = to.ok(&["cp-list", "--json", "--session", session]).json();
    let checkpoints = listed["data"]["checkpoints"].as_array().unwrap();
    assert_eq!(checkpoints.len(), records(from).len());
    for checkpoint in checkpoints {
        let id = checkpoint["id"].as_str().unwrap();
        assert_eq!(checkpoint["valid"], true, "{checkpoint}");
        let shown = to
            .ok(&["cp-show", id, "--json", "--session", session])
            .json();
        for check in shown["data"]["validation"].as_array().unwrap() {
            assert_ne!(check["result"], "failed", "{id}: {check}");
        }
    }
}

#[test]
fn into_a_clone_and_into_an_empty_repository() {
    let repo = rich();
    let file = export(&repo, &[]);
    for other in [clone_of(&repo), TestRepo::new()] {
        let head = other.git(&["for-each-ref", "refs/heads", "refs/remotes", "refs/tags"]);
        let status = other.git(&["status", "--porcelain", "--branch"]);
        import_ok(&other, &file, &[]);
        same_session(&repo, &other);
        assert_eq!(
            other.git(&["for-each-ref", "refs/heads", "refs/remotes", "refs/tags"]),
            head
        );
        assert_eq!(other.git(&["status", "--porcelain", "--branch"]), status);
        // The commits that rollback needs came along.
        for record in records(&repo).values() {
            let record: serde_json::Value = serde_json::from_slice(record).unwrap();
            if let Some(head) = record["git"]["head"].as_str() {
                other.git(&["rev-list", "--objects", head]);
            }
        }
    }
}

#[test]
fn the_session_goes_on_where_it_came_to() {
    let repo = rich();
    let other = clone_of(&repo);
    let file = export(&repo, &[]);
    import_ok(&other, &file, &[]);
    let session = other.session_of("auth system");
    other.write("more.go", "package more\n");
    other.ok(&[
        "cp-create",
        "--session",
        &session,
        "--step",
        "6",
        "elsewhere",
    ]);
    let listed = other
        .ok(&["cp-list", "--json", "--session", &session])
        .json();
    let last = listed["data"]["checkpoints"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last["seq"], 6);
    // And back again, under another name, with the checkpoint that was made there.
    let back = export(&other, &["--session", &session]);
    import_ok(&repo, &back, &["--as", "went-on"]);
    let listed = repo
        .ok(&["cp-list", "--json", "--session", "went-on"])
        .json();
    assert_eq!(listed["data"]["checkpoints"].as_array().unwrap().len(), 6);
}

#[test]
fn the_same_contents_give_the_same_bytes_here_and_there() {
    let repo = rich();
    let file = export(&repo, &[]);
    let again = export(&repo, &[]);
    assert_eq!(fs::read(&file).unwrap(), fs::read(again).unwrap());
    repo.git(&["gc", "-q", "--prune=now"]);
    let packed = export(&repo, &[]);
    assert_eq!(fs::read(&file).unwrap(), fs::read(packed).unwrap());
    let other = clone_of(&repo);
    import_ok(&other, &file, &[]);
    let session = other.session_of("auth system");
    let there = export(&other, &["--session", &session]);
    assert_eq!(fs::read(&file).unwrap(), fs::read(there).unwrap());
}

#[test]
fn some_checkpoints_alone_stay_checkable() {
    let repo = rich();
    let file = export(&repo, &["2", "5"]);
    let other = clone_of(&repo);
    let report = import_ok(&other, &file, &["--json"]).json();
    assert_eq!(report["data"]["checkpoints"].as_array().unwrap().len(), 2);
    let session = check::complete_one(&other, &other.root());
    let seqs: Vec<u64> = session.records.iter().map(|record| record.seq).collect();
    assert_eq!(seqs, [2, 5]);
    assert_eq!(session.manifest.next_seq(), 6);
    let pruned = session.manifest.pruned();
    let pruned: Vec<_> = pruned
        .iter()
        .map(|range| (range.from_seq, range.to_seq))
        .collect();
    assert_eq!(pruned, [(1, 1), (3, 4)]);
    // The exported session itself is as it was.
    assert_eq!(records(&repo).len(), 5);
    let one = export(&repo, &["1"]);
    let third = TestRepo::new();
    import_ok(&third, &one, &[]);
    let session = check::complete_one(&third, &third.root());
    assert_eq!(session.manifest.current_checkpoint, None);
    assert_eq!(session.manifest.ordinal_for(1), 2);
}

#[test]
fn a_branch_without_a_commit_and_a_session_without_files() {
    let repo = TestRepo::new();
    repo.write("file", "work\n");
    repo.ok(&["cp-create", "unborn"]);
    let other = TestRepo::new();
    import_ok(&other, &export(&repo, &[]), &[]);
    check::complete_one(&other, &other.root());
    let repo = TestRepo::new();
    repo.ok(&["start", "talk"]);
    let nothing = export(&repo, &[]);
    import_ok(&TestRepo::new(), &nothing, &[]);
    repo.ok(&["cp-create", "--no-git", "state alone"]);
    let other = TestRepo::new();
    let imported = import_ok(&other, &export(&repo, &[]), &["--json"]).json();
    assert_eq!(imported["data"]["git_missing"].as_array().unwrap().len(), 0);
    assert_eq!(records(&other), records(&repo));
}

#[test]
fn without_git_data_the_commits_are_marked_as_missing() {
    let repo = rich();
    let file = export(&repo, &["--no-git"]);
    let other = TestRepo::new();
    let imported = import_ok(&other, &file, &[]);
    assert!(
        imported
            .stderr
            .contains("warning: git data is missing for 4 checkpoints"),
        "{imported}"
    );
    assert_eq!(records(&other), records(&repo));
    assert_eq!(refs(&other), "");
    let session = other.session_of("auth system");
    let listed = other
        .ok(&["cp-list", "--json", "--session", &session])
        .json();
    for checkpoint in listed["data"]["checkpoints"].as_array().unwrap() {
        let has_files = !checkpoint["commit_hash"].is_null();
        assert_eq!(checkpoint["valid"], !has_files, "{checkpoint}");
        assert_eq!(
            !checkpoint["corrupted_at"].is_null(),
            has_files,
            "{checkpoint}"
        );
    }
    // Where the refs were fetched before, nothing is missing.
    let third = TestRepo::new();
    let from = repo.root();
    third.git(&[
        "fetch",
        "-q",
        from.to_str().unwrap(),
        "refs/go-team/*:refs/go-team/*",
    ]);
    let imported = import_ok(&third, &file, &["--json"]).json();
    assert_eq!(imported["data"]["refs_kept"], 4);
    assert_eq!(imported["data"]["git_missing"].as_array().unwrap().len(), 0);
    assert_eq!(refs(&third), refs(&repo));
    // Where only objects are there, refs are made; where some are gone, nothing is pretended.
    let fourth = TestRepo::new();
    fourth.git(&[
        "fetch",
        "-q",
        from.to_str().unwrap(),
        "refs/go-team/*:refs/kept/*",
    ]);
    let imported = import_ok(&fourth, &file, &["--json"]).json();
    assert_eq!(imported["data"]["refs_created"], 4);
    assert_eq!(refs(&fourth), refs(&repo));
}

#[test]
fn what_retention_pruned_stays_pruned() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[retention]\nkeep_auto = 2\n");
    for nth in 0..5 {
        repo.write("file", format!("{nth}\n"));
        repo.ok(&["cp-create", "--trigger", "auto"]);
    }
    let file = export(&repo, &[]);
    for more in [&[][..], &["--as", "other-name"]] {
        let other = TestRepo::new();
        import_ok(&other, &file, more);
        let session = check::complete_one(&other, &other.root());
        assert_eq!(session.records.len(), 2);
        assert_eq!(session.manifest.next_seq(), 6);
        assert_eq!(session.manifest.pruned().len(), 1);
        assert_eq!(session.manifest.next_number(), 6);
    }
}

#[test]
fn a_dry_run_says_the_same_and_does_nothing() {
    let repo = rich();
    let file = export(&repo, &[]);
    let other = clone_of(&repo);
    let told = untouched(&other, || {
        import_ok(&other, &file, &["--dry-run", "--json"])
    })
    .json();
    let done = import_ok(&other, &file, &["--json"]).json();
    let mut told = told["data"].clone();
    assert_eq!(told["dry_run"], true);
    told["dry_run"] = false.into();
    assert_eq!(told, done["data"]);
    let again = untouched(&other, || import(&other, &file, &["--dry-run"]));
    assert_eq!(again.code, Some(1), "{again}");
}

#[test]
fn linked_work_trees_and_moved_storage() {
    let repo = rich();
    let file = export(&repo, &[]);
    let other = clone_of(&repo);
    other.git(&["worktree", "add", "-q", "../linked"]);
    let storage = other.home().join("elsewhere");
    let run = other.run_env(
        &[("GO_TEAM_STORAGE_PATH", storage.to_str().unwrap())],
        &["-C", "../linked", "cp-import", file.to_str().unwrap()],
    );
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(refs(&other), refs(&repo));
    check::no_residue(&other.path(".git"));
    let sessions = fs::read_dir(storage.join("sessions")).unwrap();
    assert_eq!(sessions.count(), 1);
}

#[test]
fn an_export_overwrites_nothing_and_names_itself() {
    let repo = rich();
    let first = repo.ok(&["cp-export", "-q"]).stdout;
    assert!(
        first.ends_with("exports/checkpoint-export-20251228-210700.tar.gz\n"),
        "{first}"
    );
    let now = [("GO_TEAM_TEST_NOW", "2025-12-28T21:07:00Z")];
    let second = repo.run_env(&now, &["cp-export", "-q"]).stdout;
    assert!(
        second.ends_with("exports/checkpoint-export-20251228-210700-2.tar.gz\n"),
        "{second}"
    );
    let into = repo.home();
    let third = repo
        .ok(&["cp-export", "-q", "-o", into.to_str().unwrap()])
        .stdout;
    assert!(third.contains("/home/checkpoint-export-"), "{third}");
    let taken = unused(&repo, "mine");
    fs::write(&taken, "mine").unwrap();
    let refused = repo.run(&["cp-export", "-o", taken.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("exists already"), "{refused}");
    assert_eq!(fs::read(&taken).unwrap(), b"mine");
    let names = fs::read_dir(repo.session_dir().join("exports")).unwrap();
    assert_eq!(names.count(), 2);
}
