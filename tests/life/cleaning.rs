//! `cleanup`, as a user sees it.

use std::fs;

use insta::assert_snapshot;

use crate::support::TestRepo;

const LATER: &str = "2026-01-10T12:00:00Z";

/// One session of each kind, made on the 28th of December.
fn sessions() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["complete"]);
    for (topic, end) in [("second", "fail"), ("third", "abandon")] {
        repo.ok(&["start", topic]);
        repo.ok(&["cp-create", "-q"]);
        repo.ok(&[end]);
    }
    repo.ok(&["start", "fourth"]);
    repo.ok(&["cp-create", "-q"]);
    repo
}

fn at(repo: &TestRepo, now: &str, args: &[&str]) -> crate::support::Output {
    repo.run_env(&[("GO_TEAM_TEST_NOW", now)], args)
}

#[test]
fn each_kind_goes_when_its_time_is_over() {
    let repo = sessions();
    assert_snapshot!(at(&repo, "2026-01-01T12:00:00Z", &["cleanup"]), @r"
    exit: 0
    --- stdout
    Nothing to remove.
    4 sessions are left
    Commands:
      go-team sessions
    --- stderr
    ---
    ");
    assert_snapshot!(at(&repo, LATER, &["cleanup", "--dry-run", "-v"]), @r"
    exit: 0
    --- stdout
    Would remove auth-system-504f (auth system, 2 checkpoints)
      completed sessions are kept for 7 days; it has not changed for 12 days
    Kept fourth-8871 (fourth, 1 checkpoint)
      it is active
    Kept second-e827 (second, 1 checkpoint)
      failed sessions are kept for 30 days; it has not changed for 12 days
    Kept third-1528 (third, 1 checkpoint)
      abandoned sessions are kept for 30 days; it has not changed for 12 days
    3 sessions would be left
    Commands:
      go-team sessions
    --- stderr
    ---
    ");
    assert_snapshot!(at(&repo, LATER, &["cleanup"]), @r"
    exit: 5
    --- stdout
    --- stderr
    error: cleanup has to be confirmed, and there is nobody to ask
    hint: go-team cleanup --yes says it beforehand
    hint: --dry-run shows what would be removed
    ---
    ");
    assert!(repo.store().join("sessions/auth-system-504f").exists());
    assert_snapshot!(at(&repo, LATER, &["cleanup", "--yes"]), @r"
    exit: 0
    --- stdout
    ✓ Removed auth-system-504f (auth system, 2 checkpoints)
      completed sessions are kept for 7 days; it has not changed for 12 days
    3 sessions are left
    Commands:
      go-team sessions
    --- stderr
    ---
    ");
    assert!(!repo.store().join("sessions/auth-system-504f").exists());
    let report = at(
        &repo,
        "2026-03-01T12:00:00Z",
        &["cleanup", "--yes", "--json"],
    )
    .json();
    let removed = report["data"]["removed"].as_array().unwrap();
    assert_eq!(removed.len(), 2);
    assert_eq!(removed[0]["gone"]["refs"], 1);
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/go-team/"]);
    assert_eq!(refs.lines().count(), 1, "{refs}");
    let again = at(
        &repo,
        "2026-03-01T12:00:00Z",
        &["cleanup", "--yes", "--json"],
    )
    .json();
    assert!(again["data"]["removed"].as_array().unwrap().is_empty());
    assert!(repo.run(&["cp-validate", "--deep"]).code == Some(0));
}

#[test]
fn a_damaged_session_and_one_with_a_rollback_under_way_stay() {
    let repo = sessions();
    let completed = repo.store().join("sessions/auth-system-504f");
    fs::write(completed.join("rollback.json"), "{").unwrap();
    let third = repo.session_of("third");
    fs::write(
        repo.store()
            .join("sessions")
            .join(&third)
            .join("manifest.json"),
        "{",
    )
    .unwrap();
    let report = repo.run(&["cleanup", "--older-than", "0", "--yes"]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert!(
        report.stdout.contains("a rollback in it is under way"),
        "{}",
        report.stdout
    );
    assert!(
        report.stderr.contains("cannot be read, and stays"),
        "{}",
        report.stderr
    );
    assert!(completed.exists());
    assert!(repo.store().join("sessions").join(third).exists());
    assert!(
        fs::read_dir(repo.store().join("failed"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn what_was_removed_leaves_the_disk_and_work_goes_on() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "large"]);
    // Nothing of it can be guessed or compressed.
    let noise: Vec<u8> = (0..2_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
        .collect();
    repo.write("noise.bin", &noise);
    let made = repo.ok(&["cp-create", "--json"]).json();
    let commit = made["data"]["commit_hash"].as_str().unwrap().to_owned();
    fs::remove_file(repo.path("noise.bin")).unwrap();
    repo.ok(&["complete"]);
    repo.ok(&["cleanup", "--older-than", "0", "--yes"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    let objects = repo.git(&["count-objects", "-v"]);
    let size = objects
        .lines()
        .find_map(|line| line.strip_prefix("size-pack: "));
    assert!(size.unwrap().parse::<u64>().unwrap() < 100, "{objects}");
    let listed = repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
    assert!(!listed.contains(&commit));
    // The scanner has seen files whose objects are gone.
    repo.write("noise.bin", &noise);
    repo.ok(&["cp-create", "-q"]);
    repo.ok(&["cp-validate", "--deep"]);
    repo.git(&["fsck", "--strict"]);
}
