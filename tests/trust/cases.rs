//! One session for each way of being broken: validation finds exactly that, and its remedy puts it right.

use std::fs;

use serde_json::{Value, json};

use crate::damage::{
    forge, ids, kinds, manifest_path, record_path, reference, relist, session, session_id,
};
use crate::support::TestRepo;

/// Breaks a session, and holds what is found, what it exits with, what is marked, and that the remedy works.
fn broken(
    break_it: impl FnOnce(&TestRepo, &[String]),
    found: &[&str],
    marked: usize,
    remedy: &str,
) {
    let repo = session();
    let ids = ids(&repo);
    break_it(&repo, &ids);
    let output = repo.run(&["cp-validate", "--json"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert_eq!(kinds(&output), found, "{output}");
    let answer = output.json();
    assert_eq!(answer["error"]["kind"], "validation-failed");
    assert_eq!(
        answer["data"]["marked"].as_array().unwrap().len(),
        marked,
        "{output}"
    );
    let hints = answer["error"]["hints"].to_string();
    let remedy: Vec<String> = remedy
        .split(' ')
        .map(|word| match word {
            "CP1" => ids[0].clone(),
            "CP2" => ids[1].clone(),
            word => word.to_owned(),
        })
        .collect();
    let command = format!("go-team {}", remedy.join(" "));
    assert!(hints.contains(&command), "{command}: {hints}");
    // Looking again finds the same, and marks nothing twice.
    let again = repo.run(&["cp-validate", "--json"]);
    assert_eq!(kinds(&again), found);
    assert_eq!(again.json()["data"]["marked"], json!([]));
    let yes: &[&str] = if remedy[0] == "cp-delete" {
        &["--yes"]
    } else {
        &[]
    };
    let arguments: Vec<&str> = remedy
        .iter()
        .map(String::as_str)
        .chain(yes.iter().copied())
        .collect();
    repo.ok(&arguments);
    let after = repo.run(&["cp-validate", "--deep", "--json"]);
    assert_eq!(after.code, Some(0), "after {command}: {after}");
    assert_eq!(kinds(&after), [""; 0]);
    // The next checkpoint can be made on top of it.
    repo.ok(&["cp-create", "--step", "4"]);
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0));
}

const ALL: &str = "cp-rebuild --all";

#[test]
fn the_manifest_is_missing() {
    let lose = |repo: &TestRepo, _: &[String]| fs::remove_file(manifest_path(repo)).unwrap();
    broken(lose, &["manifest-missing"], 0, ALL);
}

#[test]
fn the_manifest_is_truncated_empty_or_changed() {
    for keep in [0, 700] {
        let cut = |repo: &TestRepo, _: &[String]| {
            let bytes = fs::read(manifest_path(repo)).unwrap();
            fs::write(manifest_path(repo), &bytes[..keep]).unwrap();
        };
        broken(cut, &["manifest-damaged"], 0, ALL);
    }
    let change = |repo: &TestRepo, _: &[String]| {
        let text = fs::read_to_string(manifest_path(repo)).unwrap();
        fs::write(manifest_path(repo), text.replace("\"seq\":2", "\"seq\":7")).unwrap();
    };
    broken(change, &["manifest-damaged"], 0, ALL);
}

#[test]
fn seqs_are_neither_listed_nor_pruned() {
    let gap = |repo: &TestRepo, _: &[String]| {
        forge(&manifest_path(repo), |manifest| {
            manifest["next_seq"] = 9.into();
        });
    };
    broken(gap, &["seq-gap"], 0, ALL);
}

#[test]
fn a_checkpoint_is_not_listed_any_more() {
    let unlist = |repo: &TestRepo, _: &[String]| {
        forge(&manifest_path(repo), |manifest| {
            manifest["checkpoints"].as_array_mut().unwrap().remove(1);
        });
    };
    broken(unlist, &["seq-gap", "orphan-ref"], 0, ALL);
}

#[test]
fn an_old_manifest_was_put_back() {
    let repo = session();
    let old = fs::read(manifest_path(&repo)).unwrap();
    repo.ok(&["cp-create", "--step", "4", "--no-git"]);
    repo.ok(&["cp-create", "--step", "5"]);
    let whole = fs::read(manifest_path(&repo)).unwrap();
    fs::write(manifest_path(&repo), old).unwrap();
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(found.code, Some(3));
    assert_eq!(
        kinds(&found),
        ["latest-elsewhere", "orphan-ref", "orphan-record"]
    );
    repo.ok(&["cp-rebuild", "--all"]);
    assert_eq!(repo.run(&["cp-validate", "--deep"]).code, Some(0));
    let rebuilt: Value = serde_json::from_slice(&fs::read(manifest_path(&repo)).unwrap()).unwrap();
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    assert_eq!(rebuilt["checkpoints"], whole["checkpoints"]);
}

#[test]
fn the_current_checkpoint_is_not_listed() {
    let lose = |repo: &TestRepo, _: &[String]| {
        forge(&manifest_path(repo), |manifest| {
            manifest["current_checkpoint"] = "cp-09-nowhere-20251228-210000".into();
        });
    };
    broken(lose, &["current-unlisted"], 0, ALL);
}

#[test]
fn what_was_pruned_does_not_fit() {
    let forge_range = |repo: &TestRepo, ids: &[String]| {
        repo.ok(&["cp-delete", &ids[0], "--yes"]);
        forge(&manifest_path(repo), |manifest| {
            manifest["pruned"][0]["last_checksum"] = "0".repeat(64).into();
        });
    };
    broken(forge_range, &["pruned-range"], 0, ALL);
}

#[test]
fn an_operation_was_interrupted() {
    let interrupt = |repo: &TestRepo, _: &[String]| {
        let journal = json!({"version": 1, "op": "create", "session": session_id(repo),
            "checkpoint": "cp-09-x-20251228-210000", "started_at": "2025-12-28T21:00:00.000Z"});
        fs::write(repo.session_dir().join("journal.json"), journal.to_string()).unwrap();
    };
    broken(interrupt, &["interrupted"], 0, ALL);
}

#[test]
fn the_journal_of_a_rollback_is_damaged() {
    for text in [
        "{\"version\": 1",
        "",
        "{\"version\": 1, \"op\": \"create\"}",
    ] {
        let damage = |repo: &TestRepo, _: &[String]| {
            fs::write(repo.session_dir().join("rollback.json"), text).unwrap();
        };
        broken(damage, &["journal-damaged"], 0, ALL);
    }
}

#[test]
fn the_journal_is_damaged() {
    let damage = |repo: &TestRepo, _: &[String]| {
        fs::write(repo.session_dir().join("journal.json"), "{\"version\": 1").unwrap();
    };
    broken(damage, &["journal-damaged"], 0, ALL);
}

#[test]
fn the_live_state_is_damaged_or_gone() {
    let damage = |repo: &TestRepo, _: &[String]| {
        fs::write(repo.session_dir().join("state.json"), "{\"phase\":").unwrap();
    };
    broken(damage, &["live-state-damaged"], 0, ALL);
    let lose = |repo: &TestRepo, _: &[String]| {
        fs::remove_file(repo.session_dir().join("state.json")).unwrap();
    };
    broken(lose, &["live-state-damaged"], 0, ALL);
}

#[test]
fn a_record_is_missing_or_damaged() {
    let lose =
        |repo: &TestRepo, ids: &[String]| fs::remove_file(record_path(repo, &ids[1])).unwrap();
    broken(lose, &["record-missing"], 1, "cp-rebuild CP2");
    let damage = |repo: &TestRepo, ids: &[String]| {
        let path = record_path(repo, &ids[1]);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("spec agreed", "spec Agreed")).unwrap();
    };
    broken(damage, &["record-damaged"], 1, "cp-rebuild CP2");
    let swap = |repo: &TestRepo, ids: &[String]| {
        fs::copy(record_path(repo, &ids[0]), record_path(repo, &ids[1])).unwrap();
    };
    broken(swap, &["record-damaged"], 1, "cp-rebuild CP2");
    let deepen = |repo: &TestRepo, ids: &[String]| {
        fs::write(record_path(repo, &ids[1]), "[".repeat(200_000)).unwrap();
    };
    broken(deepen, &["record-damaged"], 1, "cp-rebuild CP2");
}

#[test]
fn a_record_was_edited_and_sealed_again() {
    let edit = |repo: &TestRepo, ids: &[String]| {
        forge(&record_path(repo, &ids[1]), |record| {
            record["description"] = "better".into();
        });
    };
    broken(edit, &["record-replaced"], 1, "cp-rebuild CP2");
}

#[test]
fn a_record_and_the_manifest_were_edited_and_sealed_again() {
    let edit = |repo: &TestRepo, ids: &[String]| {
        forge(&record_path(repo, &ids[1]), |record| {
            record["description"] = "better".into();
        });
        relist(repo, &ids[1]);
    };
    broken(edit, &["record-edited", "chain-broken"], 1, ALL);
}

#[test]
fn a_line_of_the_manifest_was_edited() {
    let edit = |repo: &TestRepo, _: &[String]| {
        forge(&manifest_path(repo), |manifest| {
            manifest["checkpoints"][1]["name"] = "other".into();
        });
    };
    broken(edit, &["entry-differs"], 1, ALL);
}

#[test]
fn a_forged_record_without_a_commit_breaks_the_chain() {
    let repo = TestRepo::with_commit();
    for step in ["1", "2", "3"] {
        repo.ok(&["cp-create", "--no-git", "--step", step]);
    }
    let ids = ids(&repo);
    assert_eq!(kinds(&repo.ok(&["cp-validate", "--json"])), [""; 0]);
    forge(&record_path(&repo, &ids[0]), |record| {
        record["description"] = "forged".into();
    });
    relist_without_commit(&repo, &ids[0]);
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["chain-broken".to_owned()])
    );
    assert_eq!(
        found.json()["data"]["findings"][0]["checkpoint"],
        ids[0].as_str()
    );
    // Nothing holds a copy of what it was: only letting go of it is left.
    let answer = repo.run(&["cp-rebuild", &ids[0]]);
    assert_eq!(answer.code, Some(3), "{answer}");
    repo.ok(&["cp-delete", &ids[0], "--yes"]);
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0));
}

fn relist_without_commit(repo: &TestRepo, id: &str) {
    let record: Value = serde_json::from_slice(&fs::read(record_path(repo, id)).unwrap()).unwrap();
    forge(&manifest_path(repo), |manifest| {
        let entries = manifest["checkpoints"].as_array_mut().unwrap();
        let entry = entries.iter_mut().find(|entry| entry["id"] == id).unwrap();
        entry["checksum"] = record["checksum"].clone();
    });
}

#[test]
fn a_record_without_a_commit_cannot_be_rebuilt() {
    let repo = session();
    repo.ok(&["cp-create", "--no-git", "--step", "4", "--name", "thought"]);
    repo.ok(&["cp-create", "--step", "5"]);
    let ids = ids(&repo);
    fs::remove_file(record_path(&repo, &ids[3])).unwrap();
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(kinds(&found), ["record-missing"]);
    let hints = found.json()["error"]["hints"].to_string();
    assert!(
        hints.contains(&format!("go-team cp-delete {}", ids[3])),
        "{hints}"
    );
    let failed = repo.run(&["cp-rebuild", &ids[3], "--json"]);
    assert_eq!(failed.code, Some(1));
    assert_eq!(failed.json()["error"]["kind"], "cannot-rebuild");
    repo.ok(&["cp-delete", &ids[3], "--yes"]);
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0));
}

#[test]
fn a_ref_is_missing_elsewhere_or_unreadable() {
    let lose = |repo: &TestRepo, ids: &[String]| {
        repo.git(&["update-ref", "-d", &reference(repo, &ids[1])]);
    };
    broken(lose, &["ref-missing"], 1, "cp-rebuild CP2");
    let turn = |repo: &TestRepo, ids: &[String]| {
        repo.git(&["update-ref", &reference(repo, &ids[1]), "HEAD"]);
    };
    broken(turn, &["ref-elsewhere"], 1, "cp-rebuild CP2");
    let damage = |repo: &TestRepo, ids: &[String]| {
        fs::write(
            repo.path(".git").join(reference(repo, &ids[1])),
            "gibberish\n",
        )
        .unwrap();
    };
    broken(damage, &["ref-unreadable"], 1, "cp-rebuild CP2");
    let packed = |repo: &TestRepo, ids: &[String]| {
        repo.git(&["pack-refs", "--all"]);
        repo.git(&["update-ref", "-d", &reference(repo, &ids[0])]);
    };
    broken(packed, &["ref-missing"], 1, "cp-rebuild CP1");
}

#[test]
fn a_checkpoint_is_marked_and_whole_again() {
    let mark = |repo: &TestRepo, ids: &[String]| {
        let path = record_path(repo, &ids[1]);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, "{}").unwrap();
        assert_eq!(repo.run(&["cp-validate"]).code, Some(3));
        fs::write(&path, whole).unwrap();
    };
    broken(mark, &["marked-corrupt"], 0, "cp-rebuild CP2");
}

#[test]
fn a_foreign_ref_lies_among_the_checkpoints() {
    let repo = session();
    let ids = ids(&repo);
    let foreign = reference(&repo, "cp-09-x-20251228-210000");
    repo.git(&["update-ref", &foreign, &reference(&repo, &ids[0])]);
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["foreign-ref".to_owned()])
    );
    let remedy = format!("git update-ref -d {foreign}");
    assert!(
        found.json()["error"]["hints"].to_string().contains(&remedy),
        "{found}"
    );
    repo.git(&["update-ref", "-d", &foreign]);
    assert_eq!(kinds(&repo.ok(&["cp-validate", "--json"])), [""; 0]);
}

#[test]
fn leftovers_are_said_and_cost_nothing() {
    let repo = session();
    fs::write(repo.session_dir().join("notes\u{1b}.txt"), "x").unwrap();
    fs::write(
        repo.session_dir().join("cp-09-x-20251228-210000.json"),
        "{}",
    )
    .unwrap();
    fs::remove_file(repo.session_dir().join("latest")).unwrap();
    let found = repo.ok(&["cp-validate", "--json"]);
    assert_eq!(
        kinds(&found),
        ["latest-elsewhere", "stray-file", "stray-file"]
    );
    let text = repo.ok(&["cp-validate"]);
    assert!(
        !text.stdout.contains('\u{1b}') && text.stdout.contains("notes"),
        "{text}"
    );
    fs::remove_file(repo.session_dir().join("notes\u{1b}.txt")).unwrap();
    fs::remove_file(repo.session_dir().join("cp-09-x-20251228-210000.json")).unwrap();
    repo.ok(&["cp-rebuild", "--all"]);
    assert_eq!(kinds(&repo.ok(&["cp-validate", "--json"])), [""; 0]);
}

#[test]
fn what_a_newer_version_wrote_is_left_untouched() {
    let repo = session();
    let ids = ids(&repo);
    for (path, kind) in [
        (record_path(&repo, &ids[1]), "record-newer"),
        (manifest_path(&repo), "manifest-newer"),
    ] {
        let whole = fs::read_to_string(&path).unwrap();
        let newer = whole.replace("\"version\": 1", "\"version\": 2");
        fs::write(&path, &newer).unwrap();
        let found = repo.run(&["cp-validate", "--json"]);
        assert_eq!(
            (found.code, kinds(&found)),
            (Some(3), vec![kind.to_owned()])
        );
        assert_eq!(found.json()["data"]["marked"], json!([]));
        let refused = repo.run(&["cp-rebuild", "--all", "--json"]);
        assert_eq!(
            refused.json()["error"]["kind"],
            "newer-version",
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0));
}
