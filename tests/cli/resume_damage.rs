//! Corrupt, incomplete and newer sessions: the specific error, and the choices.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::support::TestRepo;

fn current_record(repo: &TestRepo) -> PathBuf {
    repo.session_dir()
        .join("cp-02-requirements-20251228-210300.json")
}

/// Makes the file say that a newer go-team wrote it.
fn age(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("\"version\": 1"), "{text}");
    fs::write(path, text.replacen("\"version\": 1", "\"version\": 9", 1)).unwrap();
}

/// What `--resume` fails with, and the verdict beside it.
fn refusal(repo: &TestRepo) -> (String, String, String) {
    let answer = repo.run(&["resume", "--resume", "--json"]);
    assert_eq!(answer.code, Some(3), "{answer}");
    let json = answer.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    assert_eq!(json["data"]["resumed"], serde_json::Value::Null);
    (
        text(&json["error"]["kind"]),
        text(&json["data"]["verdict"]),
        json["error"]["hints"].to_string(),
    )
}

#[test]
fn what_an_observer_sees() {
    let repo = TestRepo::with_checkpoints();
    fs::write(current_record(&repo), "{").unwrap();
    assert_snapshot!(repo.run(&["resume"]), @r"
    exit: 3
    --- stdout
    =================================================
    RESUME - Session: auth-system-504f
    =================================================
    Topic:       auth system
    Workflow:    go-team
    Status:      active
    Created:     2025-12-28 21:01:00
    Checkpoint:  cp-02-requirements-20251228-210300 (requirements, 2025-12-28 21:03:00)
    Progress:    step 2 of 9, next is step 3 - architecture
    Verdict:     prompt user: look at the difference and decide
                 it cannot be relied on, but can be mended
    Problem:     cp-02-requirements-20251228-210300: the record is damaged: unexpected end at line 1
                 column 2
    Commands:
      go-team cp-validate   go-team resume auth-system-504f --fresh
    --- stderr
    error: session auth-system-504f cannot be taken up as it is: cp-02-requirements-20251228-210300: the record is damaged: unexpected end at line 1 column 2
    hint: go-team cp-rebuild cp-02-requirements-20251228-210300
    hint: go-team rollback cp-01-init-20251228-210200 goes back to the last valid one
    hint: go-team resume auth-system-504f --fresh begins anew; the old session is kept
    ---
    ");
    let viewed = repo.run(&["resume", "--view"]);
    assert_eq!(viewed.code, Some(3), "{viewed}");
}

#[test]
fn each_kind_of_damage_has_its_error_its_verdict_and_its_choices() {
    type Harm = fn(&TestRepo);
    let cases: [(&str, Harm, &str, &str, &str); 8] = [
        (
            "corrupt record",
            |repo| fs::write(current_record(repo), "{").unwrap(),
            "checkpoint-corrupt",
            "prompt_user",
            "cp-rebuild cp-02",
        ),
        (
            "missing record",
            |repo| fs::remove_file(current_record(repo)).unwrap(),
            "checkpoint-incomplete",
            "prompt_user",
            "cp-rebuild cp-02",
        ),
        (
            "missing ref",
            |repo| {
                let session = repo.session_of("auth system");
                repo.git(&[
                    "update-ref",
                    "-d",
                    &format!("refs/go-team/{session}/cp-02-requirements-20251228-210300"),
                ]);
            },
            "checkpoint-incomplete",
            "prompt_user",
            "cp-rebuild cp-02",
        ),
        (
            "newer record",
            |repo| age(&current_record(repo)),
            "newer-version",
            "prompt_user",
            "use the go-team that wrote it",
        ),
        (
            "newer manifest",
            |repo| age(&repo.session_dir().join("manifest.json")),
            "newer-version",
            "prompt_user",
            "use the go-team that wrote it",
        ),
        (
            "damaged manifest",
            |repo| fs::write(repo.session_dir().join("manifest.json"), "").unwrap(),
            "session-damaged",
            "prompt_user",
            "cp-rebuild --all",
        ),
        (
            "missing manifest",
            |repo| fs::remove_file(repo.session_dir().join("manifest.json")).unwrap(),
            "session-damaged",
            "prompt_user",
            "cp-rebuild --all",
        ),
        (
            "damaged state",
            |repo| fs::write(repo.session_dir().join("state.json"), "[").unwrap(),
            "session-damaged",
            "prompt_user",
            "cp-rebuild --all",
        ),
    ];
    for (name, harm, kind, verdict, hint) in cases {
        let repo = TestRepo::with_checkpoints();
        let old = repo.session_of("auth system");
        harm(&repo);
        let files = |repo: &TestRepo| -> Vec<(PathBuf, Vec<u8>)> {
            let dir = repo.store().join("sessions").join(&old);
            let mut all: Vec<_> = fs::read_dir(dir)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file())
                .map(|path| (path.clone(), fs::read(path).unwrap()))
                .collect();
            all.sort();
            all
        };
        let before = files(&repo);
        let (found_kind, found_verdict, hints) = refusal(&repo);
        assert_eq!((&*found_kind, &*found_verdict), (kind, verdict), "{name}");
        assert!(
            hints.contains(hint) && hints.contains("--fresh"),
            "{name}: {hints}"
        );
        assert_eq!(files(&repo), before, "{name}: looking changes nothing");
        if kind == "checkpoint-corrupt" {
            assert!(hints.contains("rollback cp-01"), "{name}: {hints}");
        }
        if kind == "newer-version" {
            let fresh = repo.ok(&["resume", "--fresh", "--json"]).json()["data"].clone();
            assert_eq!(fresh["topic"], "auth system", "{name}");
            assert_eq!(fresh["put_away"]["session_id"], old, "{name}");
            let kept = files(&repo);
            let manifest = |files: &[(PathBuf, Vec<u8>)]| {
                files
                    .iter()
                    .filter(|(path, _)| !path.ends_with("manifest.json"))
                    .count()
            };
            assert_eq!(manifest(&kept), manifest(&before), "{name}");
        } else {
            // The first of the choices mends it.
            repo.ok(&["cp-rebuild", "--all"]);
            repo.ok(&["resume", "--resume"]);
            repo.ok(&["cp-validate", "--deep"]);
        }
    }
}

#[test]
fn a_damaged_session_can_be_left_for_a_new_one_and_mended_later() {
    let repo = TestRepo::with_checkpoints();
    let old = repo.session_of("auth system");
    let manifest = repo.session_dir().join("manifest.json");
    fs::write(&manifest, "").unwrap();
    let fresh = repo.ok(&["resume", "--fresh"]);
    assert!(
        fresh
            .stdout
            .contains("Put away: auth-system-504f (as it is)"),
        "{fresh}"
    );
    assert!(fresh.stdout.contains("Workflow: go-team"), "{fresh}");
    repo.ok(&["cp-create", "--step", "1"]);
    repo.ok(&["cp-rebuild", "--all", "--session", &old]);
    repo.ok(&["resume", &old, "--resume"]);
    repo.ok(&["cp-validate", "--deep"]);
}

#[test]
fn nothing_valid_may_be_left() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "work"]);
    repo.ok(&["cp-create", "--no-git"]);
    let mut files = fs::read_dir(repo.session_dir())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let record = files.find(|path| path.to_str().unwrap().contains("/cp-01"));
    fs::remove_file(record.unwrap()).unwrap();
    let (kind, verdict, hints) = refusal(&repo);
    assert_eq!(
        (&*kind, &*verdict),
        ("checkpoint-incomplete", "start_fresh"),
        "{hints}"
    );
}
