//! What changed since the checkpoint, and the verdict on it, in real repositories.

use serde_json::{Value, json};

use crate::support::TestRepo;

/// Verdict and reasons.
fn verdict(repo: &TestRepo, more: &[&str]) -> (String, Vec<String>) {
    let args = [&["resume", "--view", "--json"], more].concat();
    let answer = repo.ok(&args).json();
    let reasons = answer["data"]["reasons"].as_array().unwrap();
    let kinds = reasons
        .iter()
        .map(|reason| reason["kind"].as_str().unwrap().to_owned());
    (
        answer["data"]["verdict"].as_str().unwrap().to_owned(),
        kinds.collect(),
    )
}

fn expect(repo: &TestRepo, expected: &str, reasons: &[&str]) {
    let (verdict, found) = verdict(repo, &[]);
    assert_eq!(
        (verdict.as_str(), found),
        (
            expected,
            reasons.iter().map(|one| (*one).to_owned()).collect()
        )
    );
}

/// All committed, so that HEAD and files can move one without the other.
fn committed() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("a.txt", "1\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "second"]);
    repo.ok(&["start", "work", "--workflow", "go-team"]);
    repo.ok(&["cp-create", "--step", "1"]);
    repo
}

#[test]
fn files_and_commits() {
    let repo = committed();
    expect(&repo, "resume", &[]);
    repo.write("b.txt", "2\n");
    expect(&repo, "proceed_with_warning", &["files-changed"]);
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "third"]);
    expect(
        &repo,
        "proceed_with_warning",
        &["head-moved", "files-changed"],
    );
    let shown = repo.ok(&["resume", "--view"]).stdout;
    for text in [
        "1 commit further",
        "1 file changed since (1 created",
        "+ b.txt",
        " third",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    repo.git(&["reset", "-q", "--hard", "HEAD~2"]);
    expect(&repo, "prompt_user", &["head-moved", "files-changed"]);
    assert!(
        repo.ok(&["resume", "--view"])
            .stdout
            .contains("1 commit back")
    );
    repo.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
    let shown = repo.ok(&["resume", "--view"]).stdout;
    assert!(shown.contains("1 commit new, 1 gone"), "{shown}");
    std::fs::write(repo.path(".git/MERGE_HEAD"), "").unwrap();
    expect(
        &repo,
        "prompt_user",
        &["head-moved", "files-changed", "in-progress"],
    );
}

#[test]
fn branches() {
    let repo = committed();
    repo.git(&["checkout", "-q", "-b", "other"]);
    expect(&repo, "prompt_user", &["branch-switched"]);
    repo.git(&["branch", "-q", "-D", "main"]);
    expect(&repo, "start_fresh", &["branch-gone"]);
    let shown = repo.ok(&["resume", "--view"]).stdout;
    assert!(shown.contains("the branch main is gone"), "{shown}");
    // Whoever insists gets it all the same.
    repo.ok(&["resume", "--resume"]);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.ok(&["cp-create", "--step", "2"]);
    expect(&repo, "resume", &[]);
    repo.git(&["checkout", "-q", "other"]);
    expect(&repo, "prompt_user", &["branch-switched"]);
    // An unborn branch is no branch that is gone.
    let unborn = TestRepo::new();
    unborn.ok(&["cp-create"]);
    expect(&unborn, "resume", &[]);
    unborn.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    expect(&unborn, "proceed_with_warning", &["head-moved"]);
}

#[test]
fn a_checkpoint_without_files_is_compared_with_nothing() {
    let repo = committed();
    repo.ok(&["cp-create", "--step", "2", "--no-git"]);
    repo.write("b.txt", "2\n");
    repo.git(&["checkout", "-q", "-b", "other"]);
    expect(&repo, "resume", &[]);
}

#[test]
fn a_workflow_that_is_done_is_not_taken_up() {
    let repo = committed();
    repo.ok(&["cp-create", "--step", "9", "--trigger", "user_interrupt"]);
    expect(&repo, "resume", &[]);
    repo.ok(&["cp-create", "--step", "9", "--trigger", "step_complete"]);
    expect(&repo, "start_fresh", &["finished"]);
}

#[test]
fn damage_elsewhere_is_said() {
    let repo = committed();
    repo.ok(&["cp-create", "--step", "2"]);
    let first = repo.ok(&["cp-list", "--json"]).json()["data"]["checkpoints"][0]["id"].clone();
    let record = format!("{}.json", first.as_str().unwrap());
    std::fs::write(repo.session_dir().join(record), "{").unwrap();
    expect(&repo, "proceed_with_warning", &["blemished"]);
    repo.ok(&["resume", "--resume"]);
}

fn tracked(snapshot: &Value) -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "work", "--workflow", "crunch"]);
    let state = json!({"issue_no": 7, "issue_snapshot": snapshot});
    let made = repo.run_with_input(
        &["cp-create", "--name", "enrich", "--state", "-"],
        &state.to_string(),
    );
    assert_eq!(made.code, Some(0), "{made}");
    repo
}

#[test]
fn the_tracked_issue() {
    let then = json!({"number": 7, "title": "Sign in", "body": "one\ntwo\nthree", "state": "OPEN", "labels": ["bug"]});
    let repo = tracked(&then);
    let issue = |name: &str, value: Value| {
        let mut now = then.clone();
        now["labels"] = json!([{"name": "bug"}]);
        now[name] = value;
        std::fs::write(repo.home().join("issue.json"), now.to_string()).unwrap();
        let file = repo.home().join("issue.json");
        verdict(&repo, &["--issue", file.to_str().unwrap()])
    };
    let is = |found: (String, Vec<String>), expected: &str, reason: &[&str]| {
        assert_eq!(
            (found.0.as_str(), found.1),
            (
                expected,
                reason.iter().map(|one| (*one).to_owned()).collect()
            )
        );
    };
    is(issue("comments", json!(3)), "resume", &[]);
    is(issue("state", json!("open")), "resume", &[]);
    is(
        issue("body", json!("one\r\ntwo\r\nthree\r\n")),
        "resume",
        &[],
    );
    is(
        issue("labels", json!(["bug", "urgent"])),
        "proceed_with_warning",
        &["issue-labels"],
    );
    is(
        issue("title", json!("Sign out")),
        "proceed_with_warning",
        &["issue-title"],
    );
    is(
        issue("state", json!("CLOSED")),
        "prompt_user",
        &["issue-state"],
    );
    is(
        issue("body", json!("one\n2\nthree")),
        "prompt_user",
        &["issue-body"],
    );
    let file = repo.home().join("issue.json");
    let shown = repo
        .ok(&["resume", "--view", "--issue", file.to_str().unwrap()])
        .stdout;
    for text in [
        "the issue says something else: 1 lines new, 1 gone",
        "  - two",
        "  + 2",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let other = repo.run_with_input(&["resume", "--view", "--issue", "-"], r#"{"number": 8}"#);
    assert_eq!(other.code, Some(2), "{other}");
    assert!(other.stderr.contains("about issue 7, not 8"), "{other}");
    let bad = repo.run_with_input(&["resume", "--view", "--issue", "-"], "[");
    assert_eq!(bad.code, Some(2), "{bad}");
    assert_eq!(
        repo.run(&["resume", "--view", "--issue", "none.json"]).code,
        Some(4)
    );
    let nothing = tracked(&Value::Null);
    let found = nothing.run_with_input(
        &["resume", "--view", "--json", "--issue", "-"],
        r#"{"number": 7, "body": "x"}"#,
    );
    assert_eq!(found.json()["data"]["reasons"][0]["kind"], "issue-unknown");
}
