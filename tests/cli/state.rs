//! The live state, as a user sees it.

use insta::assert_snapshot;

use crate::support::TestRepo;

#[test]
fn state_is_shown_looked_up_and_set() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(
        repo.run(&["state", "set", "phase=design", "metrics.test_coverage=81.50", "list=[1,2]"]),
        @r#"
    exit: 0
    --- stdout
    ✓ State of auth-system-504f set:
      phase = "design"
      metrics.test_coverage = 81.50
      list = [1,2]
    --- stderr
    ---
    "#
    );
    assert_snapshot!(repo.run(&["state", "show"]), @r#"
    exit: 0
    --- stdout
    {
      "checkpoint": {
        "checkpoint_count": 2,
        "current_checkpoint": "cp-02-requirements-20251228-210300",
        "last_checkpoint_at": "2025-12-28T21:03:00.000Z",
        "rollback_history": []
      },
      "list": [
        1,
        2
      ],
      "metrics": {
        "test_coverage": 81.50
      },
      "phase": "design",
      "topic": "auth system"
    }
    --- stderr
    ---
    "#);
    assert_snapshot!(repo.run(&["state", "show", "--json"]).pretty(), @r#"
    {
      "command": "state show",
      "data": {
        "session_id": "auth-system-504f",
        "state": {
          "checkpoint": {
            "checkpoint_count": 2,
            "current_checkpoint": "cp-02-requirements-20251228-210300",
            "last_checkpoint_at": "2025-12-28T21:03:00.000Z",
            "rollback_history": []
          },
          "list": [
            1,
            2
          ],
          "metrics": {
            "test_coverage": 81.50
          },
          "phase": "design",
          "topic": "auth system"
        }
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
    assert_snapshot!(repo.run(&["state", "get", "phase"]), @r"
    exit: 0
    --- stdout
    design
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["state", "get", "metrics"]), @r#"
    exit: 0
    --- stdout
    {
      "test_coverage": 81.50
    }
    --- stderr
    ---
    "#);
    assert_snapshot!(repo.run(&["state", "get", "list.1", "--json"]).pretty(), @r#"
    {
      "command": "state get",
      "data": {
        "path": "list.1",
        "session_id": "auth-system-504f",
        "value": 2
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
    assert_snapshot!(repo.run(&["state", "set", "a.b=c", "--json"]).json()["data"]["set"], @r#"[{"path":"a.b","value":"c"}]"#);
    assert_eq!(repo.run(&["state", "set", "-q", "a.b=d"]).stdout, "");
}

#[test]
fn setting_is_all_or_nothing() {
    let repo = TestRepo::with_checkpoints();
    let before = repo.ok(&["state", "show"]).stdout;
    assert_snapshot!(repo.run(&["state", "set", "new=1", "topic.inner=2"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: topic is not an object
    hint: go-team state show
    ---
    ");
    assert_snapshot!(repo.run(&["state", "set", "new=1", "checkpoint.checkpoint_count=9"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: checkpoint.checkpoint_count is maintained by go-team and cannot be set
    hint: go-team cp-create changes it by making a checkpoint
    ---
    ");
    assert_eq!(repo.ok(&["state", "show"]).stdout, before);
}

#[test]
fn a_linked_state_is_shown_and_left_to_its_owner() {
    let repo = TestRepo::with_checkpoints();
    repo.write("go-team.toml", "[state]\nfile = \"flow.json\"\n");
    repo.write("flow.json", "{\"phase\": \"theirs\"}");
    assert_eq!(repo.ok(&["state", "get", "phase"]).stdout, "theirs\n");
    assert_snapshot!(repo.run(&["state", "set", "phase=mine"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: the state is linked to $TMP/work/flow.json, which is its owner's to change
    hint: change that file, or unset state.file in the configuration
    ---
    ");
}

#[test]
fn values_go_to_a_program_as_they_are() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&["state", "set", "text=\u{1b}[31m\u{202e}x"]);
    assert_eq!(
        repo.ok(&["state", "get", "text"]).stdout,
        "\u{1b}[31m\u{202e}x\n"
    );
    let shown = repo.ok(&["state", "show"]).stdout;
    assert!(shown.contains(r"\u001b[31m\u202ex"), "{shown}");
}
