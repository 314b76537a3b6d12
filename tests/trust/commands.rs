//! cp-validate, cp-delete and doctor as their users meet them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::damage::{ids, kinds, manifest_path, record_path, reference, session};
use crate::support::{ReadOnly, TestRepo};

#[test]
fn what_an_observer_sees() {
    let repo = session();
    insta::assert_snapshot!(repo.run(&["cp-validate", "--deep"]), @r"
    exit: 0
    --- stdout
    =================================================
    VALIDATION - Session: auth-system-504f
    =================================================
    ┌───┬────────────────────────────────────┬──────┬──────┬───────┬─────┬───────┬─────────┐
    │ # │ Checkpoint                         │ File │ Hash │ Chain │ Git │ State │ Overall │
    ├───┼────────────────────────────────────┼──────┼──────┼───────┼─────┼───────┼─────────┤
    │ 1 │ cp-01-init-20251228-210200         │ ✓    │ ✓    │ ✓     │ ✓   │ ✓     │ ✓       │
    │ 2 │ cp-02-requirements-20251228-210300 │ ✓    │ ✓    │ ✓     │ ✓   │ ✓     │ ✓       │
    │ 3 │ cp-03-architecture-20251228-210400 │ ✓    │ ✓    │ ✓     │ ✓   │ ✓     │ ✓ curr  │
    └───┴────────────────────────────────────┴──────┴──────┴───────┴─────┴───────┴─────────┘
    ✓ 3 checkpoints valid (26 objects, every object read)
    --- stderr
    ---
    ");
    fs::remove_file(record_path(&repo, &ids(&repo)[2])).unwrap();
    insta::assert_snapshot!(repo.run(&["cp-validate"]), @r"
    exit: 3
    --- stdout
    =================================================
    VALIDATION - Session: auth-system-504f
    =================================================
    ┌───┬────────────────────────────────────┬──────┬──────┬───────┬─────┬───────┬─────────┐
    │ # │ Checkpoint                         │ File │ Hash │ Chain │ Git │ State │ Overall │
    ├───┼────────────────────────────────────┼──────┼──────┼───────┼─────┼───────┼─────────┤
    │ 1 │ cp-01-init-20251228-210200         │ ✓    │ ✓    │ ✓     │ ✓   │ ✓     │ ✓       │
    │ 2 │ cp-02-requirements-20251228-210300 │ ✓    │ ✓    │ ✓     │ ✓   │ ✓     │ ✓       │
    │ 3 │ cp-03-architecture-20251228-210400 │ ✗    │ –    │ –     │ ✓   │ –     │ ✗ curr  │
    └───┴────────────────────────────────────┴──────┴──────┴───────┴─────┴───────┴─────────┘
    ✗ 1 of 3 checkpoints not valid
    Found:
      cp-03-architecture-20251228-210400: there is no record
    1 marked as corrupt
    Last valid checkpoint: cp-02-requirements-20251228-210300 (2)
    Recovery:
      go-team cp-rebuild cp-03-architecture-20251228-210400
      go-team rollback cp-02-requirements-20251228-210300 goes back to the last valid one
    --- stderr
    ---
    ");
    let listed = repo.ok(&["cp-list"]);
    assert!(listed.stdout.contains("✗ corr"), "{listed}");
}

#[test]
fn a_read_only_repository_is_validated_and_marking_is_said_to_be_impossible() {
    let repo = session();
    let ids = ids(&repo);
    fs::write(record_path(&repo, &ids[1]), "{}").unwrap();
    let before = fs::read(manifest_path(&repo)).unwrap();
    let Some(read_only) = ReadOnly::new(&repo) else {
        return;
    };
    let found = read_only.run(&["cp-validate", "--deep", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["record-damaged".to_owned()])
    );
    let reason = found.json()["data"]["not_marked"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(reason.contains("Permission denied"), "{reason}");
    let text = read_only.run(&["cp-validate"]);
    assert!(
        text.stderr.contains("what is corrupt could not be marked"),
        "{text}"
    );
    let doctor = read_only.run(&["doctor"]);
    assert_eq!(doctor.code, Some(3), "{doctor}");
    assert!(doctor.stdout.contains("cannot be written"), "{doctor}");
    drop(read_only);
    assert_eq!(fs::read(manifest_path(&repo)).unwrap(), before);
}

#[test]
fn deleting_says_what_it_will_do_and_does_that() {
    let repo = session();
    let ids = ids(&repo);
    insta::assert_snapshot!(repo.run(&["cp-delete", "1", "requirements", "--dry-run"]), @r"
    exit: 0
    --- stdout
    Would delete cp-01-init-20251228-210200 (1, init)
    Would delete cp-02-requirements-20251228-210300 (2, requirements)
      1 checkpoint would be left
    Commands:
      go-team cp-list   go-team cp-validate
    --- stderr
    ---
    ");
    let asked = repo.run(&["cp-delete", "1"]);
    assert_eq!(asked.code, Some(5), "{asked}");
    assert!(asked.stderr.contains("--yes"), "{asked}");
    let refused = repo.run(&["cp-delete", "1", "3", "--yes"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains(
            "cp-03-architecture-20251228-210400 cannot be deleted: it is the current checkpoint"
        ),
        "{refused}"
    );
    assert_eq!(self::ids(&repo), ids);
    repo.ok(&["cp-delete", "1", "2", "1", "--yes"]);
    assert_eq!(self::ids(&repo), ids[2..]);
    for id in &ids[..2] {
        assert!(!record_path(&repo, id).exists());
        let refs = repo.git(&["for-each-ref", "refs/go-team/"]);
        assert!(!refs.contains(id), "{refs}");
    }
    assert_eq!(repo.run(&["cp-delete", "1", "--yes"]).code, Some(4));
    assert_eq!(
        repo.ok(&["state", "get", "checkpoint.checkpoint_count"])
            .stdout,
        "1\n"
    );
    repo.git(&["gc", "--prune=now", "-q"]);
    repo.ok(&["cp-create", "--step", "1"]);
    // Its ordinal is not given twice.
    assert_eq!(
        repo.ok(&["cp-show", "1", "--json"]).json()["data"]["ordinal"],
        2
    );
    assert_eq!(
        kinds(&repo.ok(&["cp-validate", "--deep", "--json"])),
        [""; 0]
    );
}

#[test]
fn what_undo_needs_cannot_be_deleted() {
    let repo = session();
    let ids = ids(&repo);
    crate::damage::forge(&manifest_path(&repo), |manifest| {
        manifest["rollback_history"] = serde_json::json!([{
            "from_checkpoint": ids[1], "from_step": 2, "id": "rb-20251228-211000", "reason": "",
            "safety_checkpoint": ids[1], "timestamp": "2025-12-28T21:10:00.000Z",
            "to_checkpoint": ids[0], "to_step": 1}]);
    });
    for id in &ids[..2] {
        let refused = repo.run(&["cp-delete", id, "--yes"]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("undo needs it"), "{refused}");
    }
}

#[test]
fn a_delete_that_was_cut_short_is_finished_by_the_next_command() {
    let repo = session();
    let ids = ids(&repo);
    let (record, reference) = (record_path(&repo, &ids[0]), reference(&repo, &ids[0]));
    let (kept, commit) = (
        fs::read(&record).unwrap(),
        repo.git(&["rev-parse", &reference]),
    );
    repo.ok(&["cp-delete", "1", "--yes"]);
    // As it is when the process is killed right after the manifest was written.
    fs::write(&record, kept).unwrap();
    repo.git(&["update-ref", &reference, commit.trim()]);
    let journal = serde_json::json!({"version": 1, "op": "delete", "session": crate::damage::session_id(&repo),
        "checkpoints": [ids[0]], "started_at": "2025-12-28T21:00:00.000Z"});
    fs::write(repo.session_dir().join("journal.json"), journal.to_string()).unwrap();
    assert_eq!(
        kinds(&repo.run(&["cp-validate", "--json"])),
        ["interrupted"]
    );
    let next = repo.ok(&["cp-create", "--step", "4"]);
    assert!(
        next.stderr.contains("an earlier cp-delete was interrupted"),
        "{next}"
    );
    assert!(!record.exists());
    assert_eq!(
        kinds(&repo.ok(&["cp-validate", "--deep", "--json"])),
        [""; 0]
    );
}

#[test]
fn the_doctor_says_what_to_do() {
    let repo = session();
    let sound = repo.ok(&["doctor"]);
    assert!(sound.stdout.ends_with("Safe to use\n"), "{sound}");
    fs::write(repo.path(".git/index.lock"), "").unwrap();
    fs::write(repo.store().join(".tmp-1-2"), "").unwrap();
    fs::set_permissions(repo.store(), fs::Permissions::from_mode(0o755)).unwrap();
    repo.write("go-team.toml", "[durability]\nsync = false\n");
    let found = repo.ok(&["doctor"]);
    for text in [
        "git's lock $TMP/work/.git/index.lock is there",
        "if no git command is running: rm $TMP/work/.git/index.lock",
        "1 temporary files were left",
        "can be read by others",
        "chmod go= $TMP/work/.git/go-team",
        "durability.sync = false from $TMP/work/go-team.toml:2",
        "a power cut may take checkpoints",
        "Safe to use; 3 to see to",
    ] {
        assert!(found.stdout.contains(text), "{text}: {found}");
    }
    fs::write(manifest_path(&repo), "").unwrap();
    let bad = repo.run(&["doctor", "--json"]);
    assert_eq!(bad.code, Some(3));
    assert!(
        bad.json()["error"]["hints"]
            .to_string()
            .contains("go-team cp-rebuild --all --session"),
        "{bad}"
    );
    let refused = TestRepo::without_git().run(&["doctor"]);
    assert_eq!(refused.code, Some(7));
}
