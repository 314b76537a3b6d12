//! What is said about an import, and what is refused.

use std::fs;

use insta::assert_snapshot;

use crate::place::{busy_repo, sample, sessions};

#[test]
fn what_came_is_said() {
    let repo = busy_repo();
    sample(&repo, "directory");
    assert_snapshot!(repo.run(&["import-from", "../home/directory", "--dry-run"]), @r#"
    exit: 0
    --- stdout
    Session that would be imported: login-form-7f1e
      Topic: login-form
      Workflow: free
      Status: interrupted
      Scheme: directory
      Contents: 3 checkpoints, 3 of them with files (6 in all)
    Session that would be imported: iteration-2-c0e8
      Topic: iteration 2
      Workflow: free
      Status: completed
      Scheme: directory
      Contents: 1 checkpoint, 1 of them with files (1 in all)
    --- stderr
    login-form/checkpoints/3/state.json: the trigger "turn_limit" is not known, so it is manual
    ---
    "#);
    assert_snapshot!(repo.run(&["import-from", "../home/directory"]), @r#"
    exit: 0
    --- stdout
    ✓ Session imported: login-form-7f1e
      Topic: login-form
      Workflow: free
      Status: interrupted
      Scheme: directory
      Contents: 3 checkpoints, 3 of them with files (6 in all)
    ✓ Session imported: iteration-2-c0e8
      Topic: iteration 2
      Workflow: free
      Status: completed
      Scheme: directory
      Contents: 1 checkpoint, 1 of them with files (1 in all)
    Commands:
      go-team cp-list --session iteration-2-c0e8   go-team session-info iteration-2-c0e8
    --- stderr
    login-form/checkpoints/3/state.json: the trigger "turn_limit" is not known, so it is manual
    ---
    "#);
    assert_snapshot!(repo.run(&["import-from", "-q", "../home/directory", "--as", "again"]), @"
    exit: 0
    --- stdout
    again-1
    again-2
    --- stderr
    ---
    ");
}

#[test]
fn the_same_twice_is_said_and_never_merged() {
    let repo = busy_repo();
    let from = sample(&repo, "flat");
    let first = repo.ok(&["import-from", "../home/flat", "--json"]).json();
    let refs = repo.git(&["for-each-ref", "refs/go-team"]);
    assert_snapshot!(repo.run(&["import-from", "../home/flat"]), @"
    exit: 1
    --- stdout
    --- stderr
    error: all of it has been imported already, as sessions move-the-blog-1bbf, refactor-api-11ad, move-the-webshop-to-postgresql-17-37bb
    hint: go-team sessions lists what is there
    hint: --as NAME brings it in once more, under another name
    ---
    ");
    assert_eq!(repo.git(&["for-each-ref", "refs/go-team"]), refs);
    let again = repo
        .ok(&["import-from", "../home/flat", "--as", "again", "--json"])
        .json();
    assert_eq!(sessions(&again), ["again-1", "again-2", "again-3"]);
    assert_eq!(sessions(&first).len(), 3);
    let new = r#"{"checkpoint_id": "new", "workflow_type": "audit", "created_at": "2025-10-01T00:00:00Z", "current_phase": 1}"#;
    fs::write(from.join("audit_shop_20251001_000000.json"), new).unwrap();
    assert_snapshot!(repo.run(&["import-from", "../home/flat"]), @"
    exit: 0
    --- stdout
    ✓ Session imported: audit-shop-449c
      Topic: audit shop
      Workflow: phases
      Status: interrupted
      Scheme: flat
      Contents: 1 checkpoint, without files
    Commands:
      go-team cp-list --session audit-shop-449c   go-team session-info audit-shop-449c
    --- stderr
    warning: there is a session move-the-blog-1bbf already, among the failed ones; it was left alone, --as NAME brings it in once more
    warning: there is a session refactor-api-11ad already; it was left alone, --as NAME brings it in once more
    warning: there is a session move-the-webshop-to-postgresql-17-37bb already; it was left alone, --as NAME brings it in once more
    ---
    ");
    let long = "a".repeat(80);
    assert_eq!(
        repo.run(&["import-from", "../home/flat", "--as", &long])
            .code,
        Some(2)
    );
    assert_eq!(
        repo.run(&["import-from", "../home/flat", "--as", "No/Id"])
            .code,
        Some(2)
    );
}

#[test]
fn what_is_not_known_is_refused_with_what_is() {
    let repo = busy_repo();
    assert_snapshot!(repo.run(&["import-from", "nowhere"]), @"
    exit: 4
    --- stdout
    --- stderr
    error: cannot read $TMP/work/nowhere: No such file or directory (os error 2)
    hint: import-from takes the directory or file that holds the checkpoints
    ---
    ");
    assert_snapshot!(repo.run(&["import-from", "."]), @"
    exit: 4
    --- stdout
    --- stderr
    error: $TMP/work holds no checkpoints of a scheme that is known
    hint: known are: directory (<iteration>/checkpoints/<n>/state.json), single-file (impl-checkpoint.json), flat ({type}_{project}_{YYYYMMDD_HHMMSS}.json), index (index.yaml and CP-*.yaml)
    hint: --scheme SCHEME reads it as one of them
    ---
    ");
    assert_snapshot!(repo.run(&["import-from", "new.txt"]), @"
    exit: 4
    --- stdout
    --- stderr
    error: $TMP/work/new.txt holds no checkpoints of a scheme that is known
    hint: known are: directory (<iteration>/checkpoints/<n>/state.json), single-file (impl-checkpoint.json), flat ({type}_{project}_{YYYYMMDD_HHMMSS}.json), index (index.yaml and CP-*.yaml)
    hint: --scheme SCHEME reads it as one of them
    ---
    ");
    assert_snapshot!(repo.run(&["import-from", ".", "--scheme", "flat"]), @"
    exit: 4
    --- stdout
    --- stderr
    error: $TMP/work holds no checkpoint of the scheme flat
    hint: known are: directory (<iteration>/checkpoints/<n>/state.json), single-file (impl-checkpoint.json), flat ({type}_{project}_{YYYYMMDD_HHMMSS}.json), index (index.yaml and CP-*.yaml)
    ---
    ");
    assert_eq!(
        repo.run(&["import-from", ".", "--scheme", "other"]).code,
        Some(2)
    );
    let flat = sample(&repo, "flat");
    let single = sample(&repo, "single-file");
    fs::copy(
        single.join("impl-checkpoint.json"),
        flat.join("impl-checkpoint.json"),
    )
    .unwrap();
    assert_snapshot!(repo.run(&["import-from", "../home/flat"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: $TMP/home/flat could be any of single-file, flat
    hint: --scheme SCHEME says which is meant
    ---
    ");
    let one = repo
        .ok(&[
            "import-from",
            "../home/flat",
            "--scheme",
            "single-file",
            "--json",
        ])
        .json();
    assert_eq!(sessions(&one).len(), 1);
    fs::rename(flat.join("impl-checkpoint.json"), flat.join("other.json")).unwrap();
    let named = repo.ok(&[
        "import-from",
        "../home/flat/other.json",
        "--scheme",
        "single-file",
        "--as",
        "x",
        "--json",
    ]);
    assert_eq!(sessions(&named.json()), ["x"]);
    let refused = repo.run(&["-C", "../home", "import-from", "flat"]);
    assert_eq!(refused.code, Some(7), "a repository is needed: {refused}");
}
