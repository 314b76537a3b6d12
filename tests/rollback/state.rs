//! The workflow's state and outputs go back with the files.

use std::fs;

use serde_json::{Value, json};

use super::scene::Scene;
use super::support::TestRepo;

fn state(repo: &TestRepo) -> Value {
    repo.ok(&["state", "show", "--json"]).json()["data"]["state"].clone()
}

#[test]
fn the_state_is_that_of_the_checkpoint_with_the_rollback_told() {
    let scene = Scene::lived_in();
    let at_the_end = state(&scene.repo);
    scene
        .repo
        .ok(&["rollback", "1", "--yes", "--reason", "a dead end"]);
    let now = state(&scene.repo);
    assert_eq!((&now["phase"], &now["n"]), (&json!("one"), &json!(1)));
    let account = &now["checkpoint"];
    assert_eq!(account["current_checkpoint"], scene.id(1));
    assert_eq!(
        account["checkpoint_count"], 4,
        "three and the safety checkpoint"
    );
    let history = account["rollback_history"].as_array().unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0]["to_checkpoint"], scene.id(1));
    assert_eq!(history[0]["from_checkpoint"], scene.id(3));
    assert_eq!(history[0]["reason"], "a dead end");
    scene.undo();
    let now = state(&scene.repo);
    assert_eq!(
        (&now["phase"], &now["n"]),
        (&at_the_end["phase"], &at_the_end["n"])
    );
    let history = &now["checkpoint"]["rollback_history"];
    assert!(history[0]["undone_at"].is_string(), "{history}");
}

#[test]
fn the_file_of_the_state_says_the_same() {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    let text = fs::read(scene.repo.session_dir().join("state.json")).unwrap();
    let file: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(file, state(&scene.repo));
}

#[test]
fn outputs_are_those_of_the_checkpoint() {
    let repo = TestRepo::with_commit();
    let (one, two) = (
        r#"{"spec": "one"}"#,
        r#"{"spec": "two", "code_files": ["a"]}"#,
    );
    repo.run_with_input(&["cp-create", "--outputs", "-"], one);
    repo.run_with_input(&["cp-create", "--outputs", "-"], two);
    // What the next checkpoint inherits is what the one before it had.
    let inherited = || {
        let copy = repo.copy();
        let made = copy.ok(&["cp-create", "--json"]).json();
        made["data"]["record"]["outputs"].clone()
    };
    assert_eq!(inherited()["spec"], "two");
    repo.ok(&["rollback", "1", "--yes"]);
    assert_eq!(inherited(), json!({"spec": "one"}));
    repo.ok(&["undo", "--yes"]);
    assert_eq!(inherited(), json!({"spec": "two", "code_files": ["a"]}));
}

#[test]
fn unknown_fields_and_numbers_stay_exact() {
    let repo = TestRepo::with_commit();
    let text = r#"{"big": 123456789012345678901234567890, "small": 0.1000, "deep": {"x": [null, true, "ü\u0000"]}}"#;
    repo.run_with_input(&["cp-create", "--state", "-"], text);
    let before = state(&repo);
    repo.run_with_input(&["cp-create", "--state", "-"], "{}");
    assert_eq!(state(&repo)["big"], Value::Null);
    repo.ok(&["rollback", "1", "--yes"]);
    let after = state(&repo);
    for field in ["big", "small", "deep"] {
        assert_eq!(after[field].to_string(), before[field].to_string());
        assert_ne!(after[field], Value::Null);
    }
}

/// A session whose state is a file of the orchestrator's, with two checkpoints.
fn linked(file: &str) -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write(".gitignore", "run/\n");
    repo.write("go-team.toml", format!("[state]\nfile = \"{file}\"\n"));
    repo.write(file, "{\"n\": 1}\n");
    repo.ok(&["cp-create"]);
    repo.write(file, "{\"n\": 2}\n");
    repo.ok(&["cp-create"]);
    repo.write(file, "{\"n\": 3}\n");
    repo
}

fn read(repo: &TestRepo, file: &str) -> Value {
    serde_json::from_slice(&fs::read(repo.path(file)).unwrap()).unwrap()
}

#[test]
fn a_linked_file_is_written_back() {
    // One that git sees, and one that it ignores.
    for file in ["state.json", "run/state.json"] {
        let repo = linked(file);
        repo.ok(&["rollback", "1", "--yes"]);
        assert_eq!(read(&repo, file)["n"], 1, "{file}");
        repo.ok(&["undo", "--yes"]);
        assert_eq!(read(&repo, file)["n"], 3, "{file}");
        repo.ok(&["redo", "--yes"]);
        assert_eq!(read(&repo, file)["n"], 1, "{file}");
    }
}

#[test]
fn a_linked_file_that_is_gone_is_written_again() {
    let repo = linked("run/state.json");
    repo.remove("run");
    repo.ok(&["rollback", "1", "--yes"]);
    assert_eq!(read(&repo, "run/state.json")["n"], 1);
}

#[test]
fn a_linked_file_is_not_written_through_a_link_that_leaves_the_work_tree() {
    for is_dir in [false, true] {
        let repo = linked("run/state.json");
        let outside = repo.home().join("outside");
        fs::create_dir(&outside).unwrap();
        let target = outside.join("state.json");
        fs::write(&target, "{\"n\": 9}\n").unwrap();
        if is_dir {
            repo.remove("run");
            repo.link(outside.to_str().unwrap(), "run");
        } else {
            repo.remove("run/state.json");
            repo.link(target.to_str().unwrap(), "run/state.json");
        }
        let output = repo.run(&["rollback", "1", "--yes"]);
        let text = fs::read_to_string(&target).unwrap();
        assert_eq!(text, "{\"n\": 9}\n", "{output}");
        let names: Vec<_> = fs::read_dir(&outside).unwrap().collect();
        assert_eq!(names.len(), 1, "{output}");
        // It could not be done as asked, so that is said; or the link was replaced by the file.
        if output.code == Some(0) && output.stderr.is_empty() {
            let meta = repo.path("run").symlink_metadata().unwrap();
            assert!(meta.is_dir(), "{output}");
            assert_eq!(read(&repo, "run/state.json")["n"], 1);
        }
    }
}

#[test]
fn the_history_in_the_state_grows_with_each_rollback() {
    let scene = Scene::lived_in();
    for nth in 1..=3 {
        scene.roll_back("1");
        let history = state(&scene.repo)["checkpoint"]["rollback_history"].clone();
        assert_eq!(history.as_array().unwrap().len(), nth);
    }
    let ledger = scene.ledger();
    let now = state(&scene.repo);
    assert_eq!(
        now["checkpoint"]["rollback_history"],
        json!(ledger.rollbacks)
    );
}
