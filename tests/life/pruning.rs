//! `cp-prune`, the limits, and what pruning leaves.

use std::fs;

use insta::assert_snapshot;

use crate::support::TestRepo;

/// Bytes that nothing makes smaller.
fn noise(seed: u32, length: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_769) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 11).to_le_bytes()[0]
    };
    (0..length).map(step).collect()
}

/// A session with one checkpoint by hand and some that are routine, none of them pruned.
fn session(routine: u32) -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write(
        "go-team.toml",
        "[retention]\nenabled = false\nkeep_auto = 2\n",
    );
    repo.ok(&["start", "many"]);
    repo.ok(&["cp-create", "-q", "first"]);
    for nth in 0..routine {
        repo.write("file", noise(nth + 7, 3000));
        repo.ok(&["cp-create", "-q", "--trigger", "auto"]);
    }
    repo
}

fn numbers(repo: &TestRepo) -> Vec<String> {
    let list = repo.ok(&["cp-list", "--json"]).json();
    let list = list["data"]["checkpoints"].as_array().unwrap().clone();
    let numbers = list
        .iter()
        .map(|one| one["number"].as_str().unwrap().to_owned());
    numbers.collect()
}

#[test]
fn the_plan_says_why_and_the_prune_does_what_the_plan_says() {
    let repo = session(4);
    assert_snapshot!(repo.run(&["cp-prune", "--dry-run", "-v"]), @r"
    exit: 0
    --- stdout
    Would prune cp-02-checkpoint-20251228-210300 (2, checkpoint)
      only the last 2 auto are kept
    Would prune cp-03-checkpoint-20251228-210400 (3, checkpoint)
      only the last 2 auto are kept
    Would keep cp-01-first-20251228-210200 (1, first)
      every manual checkpoint is kept
    Would keep cp-04-checkpoint-20251228-210500 (4, checkpoint)
      number 2 of the last 2 auto
    Would keep cp-05-checkpoint-20251228-210600 (5, checkpoint)
      it is the current checkpoint; it is the newest valid checkpoint; number 1 of the last 2 auto
    3 checkpoints would be left
    Commands:
      go-team cp-list   go-team cp-prune --dry-run -v
    --- stderr
    ---
    ");
    let planned = repo.ok(&["cp-prune", "--dry-run", "--json"]).json();
    assert_snapshot!(repo.run(&["cp-prune"]), @r"
    exit: 5
    --- stdout
    --- stderr
    error: cp-prune has to be confirmed, and there is nobody to ask
    hint: go-team cp-prune --yes says it beforehand
    hint: --dry-run shows what would be removed
    ---
    ");
    let done = repo.ok(&["cp-prune", "--yes", "--json"]).json();
    assert_eq!(done["data"]["pruned"], planned["data"]["pruned"]);
    assert_eq!(done["data"]["kept"], planned["data"]["kept"]);
    assert_eq!(numbers(&repo), ["1", "4", "5"]);
    repo.ok(&["cp-validate", "--deep"]);
    assert_snapshot!(repo.run(&["cp-prune"]), @r"
    exit: 0
    --- stdout
    Nothing to prune: the retention policy keeps every checkpoint.
    3 checkpoints are left
    Commands:
      go-team cp-list   go-team cp-prune --dry-run -v
    --- stderr
    ---
    ");
}

#[test]
fn the_way_back_leads_across_what_was_pruned() {
    let repo = session(6);
    repo.ok(&["cp-prune", "--yes"]);
    assert_eq!(numbers(&repo), ["1", "6", "7"]);
    let status = repo.ok(&["status"]).stdout;
    assert!(
        status.contains("to 3 checkpoints, from 7 back to 1"),
        "{status}"
    );
    repo.ok(&["rollback", "6", "--yes"]);
    let first = repo.ok(&["cp-show", "1", "--json"]).json();
    assert_eq!(first["data"]["valid"], true, "it is still on the line");
    repo.ok(&["rollback", "1", "--yes"]);
    assert!(!repo.path("file").exists());
    repo.ok(&["undo", "--yes"]);
    repo.ok(&["undo", "--yes"]);
    let list = repo.ok(&["cp-list", "--valid", "--json"]).json();
    let valid = list["data"]["checkpoints"].as_array().unwrap().len();
    assert!(valid >= 3, "{list}");
    assert_eq!(fs::read(repo.path("file")).unwrap(), noise(12, 3000));
    // What lies below is not lost with the manifest's checksum either.
    let manifest = repo.session_dir().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("pruned_parents"));
    fs::write(
        &manifest,
        text.replacen("\"topic\": \"many\"", "\"topic\": \"few\"", 1),
    )
    .unwrap();
    repo.ok(&["cp-rebuild", "--all"]);
    repo.ok(&["rollback", "1", "--yes"]);
}

#[test]
fn what_undo_would_bring_back_stays() {
    let repo = session(5);
    repo.ok(&["rollback", "1", "--yes"]);
    let plan = repo.ok(&["cp-prune", "--dry-run", "-v"]).stdout;
    assert!(plan.contains("undo would make it valid again"), "{plan}");
    assert!(plan.contains("Nothing to prune"), "{plan}");
    repo.ok(&["undo", "--yes"]);
    repo.ok(&["cp-prune", "--yes"]);
    let left = numbers(&repo);
    assert!(
        left.contains(&"1".to_owned()) && !left.contains(&"2".to_owned()),
        "{left:?}"
    );
    repo.ok(&["cp-validate", "--deep"]);
}

#[test]
fn age_and_number_are_limits_whatever_the_kind() {
    let repo = session(0);
    for _ in 0..4 {
        repo.ok(&["cp-create", "-q"]);
    }
    let limit = [("GO_TEAM_RETENTION_MAX_CHECKPOINTS", "2")];
    let plan = repo
        .run_env(&limit, &["cp-prune", "--dry-run", "--json"])
        .json();
    assert_eq!(plan["data"]["pruned"].as_array().unwrap().len(), 3);
    let reason = plan["data"]["pruned"][0]["reasons"][0].as_str().unwrap();
    assert!(reason.contains("more than 2 checkpoints"), "{reason}");
    let old = [
        ("GO_TEAM_RETENTION_MAX_AGE_DAYS", "3"),
        ("GO_TEAM_TEST_NOW", "2026-01-10T00:00:00Z"),
    ];
    let report = repo.run_env(&old, &["cp-prune", "--yes"]);
    assert!(
        report.stdout.contains("it is older than 3 days"),
        "{}",
        report.stdout
    );
    assert_eq!(numbers(&repo), ["5"]);
    repo.ok(&["cp-validate"]);
}

#[test]
fn sizes_are_those_of_objects_that_only_checkpoints_hold() {
    let repo = TestRepo::with_commit();
    // The user's own: however large, it does not count.
    repo.write("committed.bin", noise(1, 3 << 20));
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "large"]);
    repo.ok(&["start", "sizes"]);
    // One file that every checkpoint has, and one that each has another of.
    repo.write("shared.bin", noise(2, 1 << 20));
    for nth in 0..5 {
        repo.write("own.bin", noise(nth + 10, 1 << 20));
        repo.ok(&["cp-create", "-q"]);
    }
    let limit = [("GO_TEAM_RETENTION_MAX_SIZE_MB", "4")];
    let plan = repo
        .run_env(&limit, &["cp-prune", "--dry-run", "--json"])
        .json();
    let before = plan["data"]["size"]["before"].as_u64().unwrap();
    assert!((6 << 20..(6 << 20) + 200_000).contains(&before), "{before}");
    let after = plan["data"]["size"]["after"].as_u64().unwrap();
    assert!(after <= 4 << 20, "{after}");
    let pruned = plan["data"]["pruned"].as_array().unwrap();
    assert_eq!(pruned.len(), 3, "the shared file is freed by none of them");
    assert!(
        pruned[0]["reasons"][0]
            .as_str()
            .unwrap()
            .contains("4194304 bytes")
    );
    let size_of = |nth: usize| pruned[nth]["bytes"].as_u64().unwrap();
    assert!((0..3).all(|nth| (1 << 20..(1 << 20) + 50_000).contains(&size_of(nth))));

    // The user commits one of them: now it is the user's.
    let made = repo.ok(&["cp-show", "3", "--json"]).json();
    let commit = made["data"]["commit_hash"].as_str().unwrap().to_owned();
    repo.git(&["restore", "--source", &commit, "--", "own.bin"]);
    repo.git(&["add", "own.bin", "shared.bin"]);
    repo.git(&["commit", "-q", "-m", "mine"]);
    let plan = repo
        .run_env(&limit, &["cp-prune", "--dry-run", "--json"])
        .json();
    let before = plan["data"]["size"]["before"].as_u64().unwrap();
    assert!((4 << 20..(4 << 20) + 200_000).contains(&before), "{before}");

    // After a checkpoint the limit holds by itself, and what went leaves the disk.
    let made = repo.run_env(&limit, &["cp-create", "--json"]).json();
    assert!(
        !made["data"]["pruned"].as_array().unwrap().is_empty(),
        "{made}"
    );
    let plan = repo
        .run_env(&limit, &["cp-prune", "--dry-run", "--json"])
        .json();
    assert!(
        plan["data"]["pruned"].as_array().unwrap().is_empty(),
        "{plan}"
    );
    assert!(plan["data"]["size"]["after"].as_u64().unwrap() <= 4 << 20);
    repo.ok(&["cp-validate", "--deep"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    let objects = repo.git(&["count-objects", "-v"]);
    let pack = objects
        .lines()
        .find_map(|line| line.strip_prefix("size-pack: "));
    let kib: u64 = pack.unwrap().parse().unwrap();
    assert!(kib < (3 + 2 + 4) * 1024 + 200, "{objects}");
    repo.ok(&["cp-validate", "--deep"]);
}

#[test]
fn pruned_objects_leave_the_disk_with_gits_own_gc() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[retention]\nkeep_auto = 1\n");
    repo.ok(&["start", "gone"]);
    let mut commits = Vec::new();
    // Enough for packs to be merged on the way.
    for nth in 0..20 {
        repo.write("file", noise(nth + 1, 20_000));
        let made = repo
            .ok(&["cp-create", "--trigger", "auto", "--json"])
            .json();
        commits.push(made["data"]["commit_hash"].as_str().unwrap().to_owned());
    }
    repo.git(&["gc", "-q", "--prune=now"]);
    let listed = repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
    let (last, gone) = commits.split_last().unwrap();
    assert!(listed.contains(last.as_str()));
    assert!(gone.iter().all(|commit| !listed.contains(commit.as_str())));
    let objects = repo.git(&["count-objects", "-v"]);
    let pack = objects
        .lines()
        .find_map(|line| line.strip_prefix("size-pack: "));
    assert!(pack.unwrap().parse::<u64>().unwrap() < 60, "{objects}");
    assert!(objects.contains("count: 0\n"), "{objects}");
    repo.write("file", noise(3, 20_000));
    repo.ok(&["cp-create", "-q"]);
    repo.ok(&["cp-validate", "--deep"]);
}
