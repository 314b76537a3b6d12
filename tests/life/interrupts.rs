//! A session whose user interrupted the work is interrupted, until somebody goes on with it.

use crate::support::TestRepo;

fn info(repo: &TestRepo) -> serde_json::Value {
    repo.ok(&["session-info", "--json"]).json()["data"].clone()
}

fn status(repo: &TestRepo) -> String {
    info(repo)["status"].as_str().unwrap().to_owned()
}

/// The statuses it had, with the reasons.
fn history(repo: &TestRepo) -> Vec<String> {
    let info = info(repo);
    let changes = info["status_history"].as_array().unwrap().iter();
    changes
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap().to_owned();
            format!("{}: {}", text("status"), text("reason"))
        })
        .collect()
}

fn interrupt(repo: &TestRepo) {
    repo.ok(&["cp-create", "-q", "--trigger", "user_interrupt"]);
    assert_eq!(status(repo), "interrupted");
}

#[test]
fn the_next_checkpoint_takes_it_up() {
    let repo = TestRepo::with_checkpoints();
    assert_eq!(status(&repo), "active");
    interrupt(&repo);
    interrupt(&repo);
    let shown = repo.ok(&["status"]).stdout;
    assert!(shown.contains("interrupted"), "{shown}");
    repo.ok(&["cp-create", "-q", "--step", "3"]);
    assert_eq!(status(&repo), "active");
    assert_eq!(
        history(&repo),
        [
            "interrupted: the user interrupted the work: cp-02-requirements-20251228-210500",
            "active: the work went on: cp-03-architecture-20251228-211000",
        ]
    );
    repo.ok(&["cp-validate", "--deep"]);
}

#[test]
fn what_is_kept_for_safety_does_not() {
    let repo = TestRepo::with_checkpoints();
    interrupt(&repo);
    repo.write("main.go", "package other\n");
    repo.ok(&["rollback", "1", "--yes"]);
    assert_eq!(status(&repo), "interrupted");
    repo.ok(&["undo", "--yes"]);
    assert_eq!(status(&repo), "interrupted");
}

#[test]
fn resuming_takes_it_up() {
    let repo = TestRepo::with_checkpoints();
    interrupt(&repo);
    let shown = repo.ok(&["resume", "--view", "--json"]).json();
    assert_eq!(shown["data"]["session"]["status"], "interrupted");
    assert_eq!(status(&repo), "interrupted", "looking changes nothing");
    repo.ok(&["resume", "--resume"]);
    assert_eq!(status(&repo), "active");
}

#[test]
fn it_can_still_end() {
    let repo = TestRepo::with_checkpoints();
    interrupt(&repo);
    repo.write("more", "more\n");
    repo.ok(&["complete"]);
    assert_eq!(status(&repo), "completed");
}
