//! Rebuilding: twice is as good as once, what is damaged is kept, what is lost is said.

use std::fs;

use crate::damage::{ids, manifest_path, record_path, session, session_id};
use crate::support::TestRepo;

#[test]
fn a_lost_manifest_comes_back_as_it_was_but_for_what_nothing_tells() {
    let repo = session();
    let whole = fs::read_to_string(manifest_path(&repo)).unwrap();
    fs::remove_file(manifest_path(&repo)).unwrap();
    let answer = repo.ok(&["cp-rebuild", "--all"]);
    insta::assert_snapshot!(answer, @r#"
    exit: 0
    --- stdout
    ✓ Manifest rebuilt from 3 checkpoints
    Not recovered:
      nothing tells the session's status; it is "active" now
    Commands:
      go-team cp-validate   go-team cp-list
    --- stderr
    ---
    "#);
    let again = fs::read_to_string(manifest_path(&repo)).unwrap();
    // When the session began is told by its first checkpoint.
    let lines = |text: &str| {
        let lines = text
            .lines()
            .filter(|line| !line.contains("created_at") && !line.contains("\"checksum\": "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&again), lines(&whole));
    let idle = repo.ok(&["cp-rebuild", "--all"]);
    assert!(
        idle.stdout
            .starts_with("✓ Nothing is damaged; nothing was changed\n"),
        "{idle}"
    );
    assert_eq!(fs::read_to_string(manifest_path(&repo)).unwrap(), again);
}

#[test]
fn a_damaged_manifest_is_kept_and_gives_what_can_be_read_of_it() {
    let repo = session();
    let whole = fs::read_to_string(manifest_path(&repo)).unwrap();
    let damaged = whole.replacen("\"phase\":\"requirements\"", "\"phase\":\"requirement", 1);
    assert_ne!(damaged, whole);
    fs::write(manifest_path(&repo), &damaged).unwrap();
    let answer = repo.ok(&["cp-rebuild", "--all", "--json"]).json();
    assert_eq!(answer["data"]["manifest_rebuilt"], true);
    let losses = answer["data"]["losses"].to_string();
    assert!(
        losses.contains("\"kind\":\"unproven\"") && losses.contains("the topic"),
        "{losses}"
    );
    assert_eq!(fs::read_to_string(manifest_path(&repo)).unwrap(), whole);
    let kept = repo.session_dir().join("damaged/manifest.json.1");
    assert_eq!(fs::read_to_string(kept).unwrap(), damaged);
}

#[test]
fn a_session_whose_files_are_all_gone_comes_back_from_its_refs() {
    let repo = session();
    let (session, ids) = (session_id(&repo), ids(&repo));
    let records: Vec<Vec<u8>> = ids
        .iter()
        .map(|id| fs::read(record_path(&repo, id)).unwrap())
        .collect();
    fs::remove_dir_all(repo.session_dir()).unwrap();
    let doctor = repo.ok(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains(&format!("cp-rebuild --all --session {session}")),
        "{doctor}"
    );
    repo.ok(&["cp-rebuild", "--all"]);
    for (id, record) in ids.iter().zip(records) {
        assert_eq!(fs::read(record_path(&repo, id)).unwrap(), record);
    }
    assert_eq!(repo.run(&["cp-validate", "--deep"]).code, Some(0));
    assert_eq!(repo.ok(&["state", "get", "topic"]).stdout, "auth system\n");
    repo.ok(&["cp-create", "--step", "4"]);
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0));
}

#[test]
fn a_damaged_record_is_kept_once_however_often_it_is_rebuilt() {
    let repo = session();
    let ids = ids(&repo);
    let path = record_path(&repo, &ids[1]);
    let whole = fs::read(&path).unwrap();
    for _ in 0..2 {
        fs::write(&path, "not a record").unwrap();
        let answer = repo.ok(&["cp-rebuild", "2"]);
        assert!(
            answer.stdout.contains("proven by the record after it"),
            "{answer}"
        );
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    assert_eq!(
        fs::read_dir(repo.session_dir().join("damaged"))
            .unwrap()
            .count(),
        1
    );
    fs::write(record_path(&repo, &ids[2]), "").unwrap();
    let newest = repo.ok(&["cp-rebuild", &ids[2]]);
    assert!(newest.stdout.contains("proven by the manifest"), "{newest}");
}

#[test]
fn what_is_gone_from_refs_and_records_is_said() {
    let repo = session();
    let ids = ids(&repo);
    let reference = crate::damage::reference(&repo, &ids[1]);
    repo.git(&["update-ref", "-d", &reference]);
    fs::remove_file(record_path(&repo, &ids[1])).unwrap();
    fs::remove_file(manifest_path(&repo)).unwrap();
    let answer = repo.ok(&["cp-rebuild", "--all"]);
    assert!(
        answer
            .stdout
            .contains("of the checkpoint with seq 2 nothing is left; it counts as pruned"),
        "{answer}"
    );
    assert_eq!(repo.run(&["cp-validate", "--deep"]).code, Some(0));
}

#[test]
fn a_pruned_session_is_rebuilt_with_its_pruned_ranges() {
    let repo = session();
    let first = ids(&repo).remove(0);
    repo.ok(&["cp-delete", &first, "--yes"]);
    let whole = fs::read_to_string(manifest_path(&repo)).unwrap();
    fs::write(
        manifest_path(&repo),
        whole.replacen("auth system", "auth System", 1),
    )
    .unwrap();
    let answer = repo.ok(&["cp-rebuild", "--all"]);
    assert!(!answer.stdout.contains("nothing is left"), "{answer}");
    let again = fs::read_to_string(manifest_path(&repo)).unwrap();
    assert!(again.contains("\"pruned\": [\n"), "{again}");
    assert_eq!(repo.run(&["cp-validate", "--deep"]).code, Some(0));
}

#[test]
fn errors_about_damaged_files_name_the_command() {
    let repo = session();
    fs::write(manifest_path(&repo), "").unwrap();
    for command in ["cp-list", "cp-create", "status"] {
        let failed = repo.run(&[command]);
        assert!(
            failed.stderr.contains("go-team cp-rebuild --all"),
            "{failed}"
        );
    }
    // One checkpoint cannot be named without a list of them.
    let failed = repo.run(&["cp-rebuild", "2"]);
    assert!(
        failed.stderr.contains("go-team cp-rebuild --all"),
        "{failed}"
    );
}

#[test]
fn there_must_be_something_to_rebuild() {
    let repo = TestRepo::with_commit();
    assert_eq!(repo.run(&["cp-rebuild", "--all"]).code, Some(4));
    assert_eq!(repo.run(&["cp-rebuild"]).code, Some(2));
    assert_eq!(repo.run(&["cp-rebuild", "2", "--all"]).code, Some(2));
}

#[test]
fn rollbacks_undos_and_what_they_left_behind_come_back() {
    let repo = TestRepo::with_commit();
    let ok = |args: &[&str]| repo.ok(args);
    for nth in 1..=4 {
        repo.write(format!("file-{nth}"), "x\n");
        ok(&["cp-create"]);
    }
    ok(&["rollback", "2", "--yes"]);
    repo.write("other-way", "y\n");
    ok(&["cp-create"]);
    ok(&["rollback", "1", "--yes"]);
    ok(&["undo", "--yes"]);
    ok(&["rollback", "2", "--yes", "--path", "file-2"]);
    let file = repo.session_dir().join("manifest.json");
    let read =
        || -> serde_json::Value { serde_json::from_slice(&fs::read(&file).unwrap()).unwrap() };
    let before = read();
    fs::remove_file(&file).unwrap();
    ok(&["cp-rebuild", "--all"]);
    let after = read();
    for field in [
        "checkpoints",
        "rollback_history",
        "current_checkpoint",
        "next_seq",
    ] {
        assert_eq!(after[field], before[field], "{field}");
    }
    ok(&["cp-validate", "--deep"]);
    // What was rebuilt can be gone on with.
    ok(&["undo", "--yes"]);
    ok(&["redo", "--yes"]);
}
