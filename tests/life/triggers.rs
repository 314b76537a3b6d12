//! Kinds of checkpoints that the settings switch off.

use insta::assert_snapshot;

use crate::support::TestRepo;

const AUTOMATIC: [&str; 9] = [
    "auto",
    "step_complete",
    "phase_transition",
    "batch_complete",
    "agent_complete",
    "conflict_start",
    "conflict_resolved",
    "user_interrupt",
    "session_end",
];

#[test]
fn a_kind_that_is_switched_off_makes_nothing_and_says_so() {
    let repo = TestRepo::with_checkpoints();
    let off: String = AUTOMATIC
        .iter()
        .flat_map(|name| [name, " = false\n"])
        .collect();
    repo.write("go-team.toml", format!("[triggers]\n{off}"));
    let before = repo.git(&["for-each-ref", "refs/go-team/"]);
    for trigger in AUTOMATIC {
        let answer = repo
            .ok(&["cp-create", "--trigger", trigger, "--json"])
            .json();
        assert_eq!(answer["data"]["created"], false);
        assert_eq!(answer["data"]["trigger"], trigger);
        assert_eq!(answer["data"]["setting"], format!("triggers.{trigger}"));
    }
    assert_eq!(repo.git(&["for-each-ref", "refs/go-team/"]), before);
    assert_snapshot!(repo.run(&["cp-create", "--trigger", "auto"]), @r"
    exit: 0
    --- stdout
    --- stderr
    No checkpoint made: auto checkpoints are switched off (triggers.auto = false)
    ---
    ");
    let made = repo.ok(&["cp-create", "--json"]).json();
    assert_eq!(made["data"]["created"], true);
    // Nobody can switch off what makes a rollback reversible.
    repo.ok(&["rollback", "1", "--yes"]);
    repo.ok(&["undo", "--yes"]);
}

#[test]
fn a_run_goes_on_without_them() {
    let repo = TestRepo::with_checkpoints();
    let off = [
        ("GO_TEAM_TRIGGERS_STEP_COMPLETE", "false"),
        ("GO_TEAM_TRIGGERS_AUTO", "false"),
    ];
    let before = repo.git(&["for-each-ref", "refs/go-team/"]).lines().count();
    let ran = repo.run_env(&off, &["run", "--", "true"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("switched off"), "{}", ran.stderr);
    assert_eq!(
        repo.git(&["for-each-ref", "refs/go-team/"]).lines().count(),
        before
    );
    let ran = repo.run_env(&off, &["run", "--before", "--", "true"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(
        repo.git(&["for-each-ref", "refs/go-team/"]).lines().count(),
        before + 1
    );
}

#[test]
fn no_session_begins_for_nothing() {
    let repo = TestRepo::with_commit();
    let off = [("GO_TEAM_TRIGGERS_AUTO", "false")];
    let answer = repo.run_env(&off, &["cp-create", "--trigger", "auto"]);
    assert_eq!(answer.code, Some(0));
    assert!(!repo.path(".git/go-team").exists());
}
