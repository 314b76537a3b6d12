//! Arguments, names and input that a user can get wrong.

use std::fs::{self, File};

use insta::assert_snapshot;

use crate::support::TestRepo;

#[test]
fn names_that_mean_nothing() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["cp-list"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: this work tree has no session yet
    hint: go-team start TOPIC
    hint: go-team cp-create begins one by itself
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "--session", "no-such"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: there is no session no-such
    hint: go-team start TOPIC
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "--session", "../x"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: not a session id: "../x"
    hint: ids are lower-case letters, digits and -: go-team sessions lists them
    ---
    "#);
    repo.ok(&["start", "topic"]);
    assert_snapshot!(repo.run(&["cp-show", "1"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: no checkpoint is meant by 1
    hint: there are none yet: go-team cp-create makes one
    ---
    ");
    assert_snapshot!(repo.run(&["session-info", "no-such"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: there is no session no-such
    hint: there is: topic-2e68
    hint: go-team sessions
    ---
    ");
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-show", "7"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: no checkpoint is meant by 7
    hint: there is: 2 (cp-02-requirements-20251228-210300), 1 (cp-01-init-20251228-210200)
    hint: go-team cp-list
    ---
    ");
    assert_snapshot!(repo.run(&["cp-show", "cp-0"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: more than one checkpoint is meant by cp-0
    hint: it could be: 2 (cp-02-requirements-20251228-210300), 1 (cp-01-init-20251228-210200)
    hint: type more of it, or the number that cp-list shows
    ---
    ");
    assert_snapshot!(repo.run(&["cp-show", "latest~x"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: not a name of a checkpoint: "latest~x"
    hint: a number as in cp-list, a step's name, an id or its beginning, latest, latest~2, current
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-show", "7", "--json"]).pretty(), @r#"
    {
      "command": "cp-show",
      "error": {
        "hints": [
          "there is: 2 (cp-02-requirements-20251228-210300), 1 (cp-01-init-20251228-210200)",
          "go-team cp-list"
        ],
        "kind": "unknown-checkpoint",
        "message": "no checkpoint is meant by 7"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
    assert_snapshot!(repo.run(&["state", "get", "metrics.none"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: the state has no value at metrics.none
    hint: the state has: checkpoint, topic
    hint: go-team state show
    ---
    ");
    assert_snapshot!(repo.run(&["start", "topic", "--workflow", "waterfall"]), @r#"
    exit: 4
    --- stdout
    --- stderr
    error: no workflow is named "waterfall"; known: go-team, impl, phases, crunch, free
    hint: define it in go-team.toml as [workflow.NAME], or use one of those that are known
    ---
    "#);
}

#[test]
fn arguments_that_are_not_understood() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["cp-lst"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: unrecognized subcommand 'cp-lst'

      tip: some similar subcommands exist: 'cp-create', 'cp-export', 'cp-import', 'complete', 'cp-show', 'cp-validate', 'cp-delete', 'cp-list'

    Usage: go-team [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "--grap"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: unexpected argument '--grap' found

      tip: a similar argument exists: '--graph'

    Usage: go-team cp-list --graph

    For more information, try '--help'.
    ---
    ");
    assert_snapshot!(repo.run(&["cp-list", "--grap", "--json"]).pretty(), @r#"
    {
      "command": null,
      "error": {
        "hints": [
          "did you mean --graph",
          "go-team --help"
        ],
        "kind": "usage",
        "message": "unexpected argument '--grap' found"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
    assert_snapshot!(repo.run(&["cp-show"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: the following required arguments were not provided:
      <N[:PATH]>

    Usage: go-team cp-show <N[:PATH]>

    For more information, try '--help'.
    ---
    ");
    assert_snapshot!(repo.run(&["start", ""]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: a value is required for '<TOPIC>' but none was supplied

    For more information, try '--help'.
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--step", "0"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: invalid value '0' for '--step <N>': 0 is not in 1..=4294967295

    For more information, try '--help'.
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--step", "two", "--json"]).pretty(), @r#"
    {
      "command": null,
      "error": {
        "hints": [
          "go-team --help"
        ],
        "kind": "usage",
        "message": "invalid value 'two' for '--step <N>': invalid digit found in string"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
    assert_snapshot!(repo.run(&["cp-create", "--trigger", "whim"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: invalid value 'whim' for '--trigger <T>': not a trigger: "whim" (one of manual, auto, step_complete, phase_transition, batch_complete, agent_complete, conflict_start, conflict_resolved, user_interrupt, session_end, safety)

    For more information, try '--help'.
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-create", "--metric", "coverage"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: invalid value 'coverage' for '--metric <K=V>': not an assignment of a path to a value: "coverage"

    For more information, try '--help'.
    ---
    "#);
    assert_snapshot!(repo.run(&["sessions", "--status", "done"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: invalid value 'done' for '--status <S>': not a session status: "done" (one of active, interrupted, completed, failed, abandoned)

    For more information, try '--help'.
    ---
    "#);
    assert_snapshot!(repo.run(&["state", "set", "phase"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: invalid value 'phase' for '<PATH=VALUE>...': not an assignment of a path to a value: "phase"

    For more information, try '--help'.
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-create", "-q", "-v"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: the argument '--quiet' cannot be used with '--verbose'

    Usage: go-team cp-create --quiet [DESCRIPTION]

    For more information, try '--help'.
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--state", "-", "--outputs", "-"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: --state and --outputs cannot both come from stdin
    hint: give one of them as a file
    ---
    ");
    assert_eq!(repo.run::<&str>(&[]).code, Some(2));
}

#[test]
fn json_that_is_not_acceptable() {
    let repo = TestRepo::with_commit();
    repo.write("bad.json", "{\n  \"phase\": design\n}\n");
    repo.write("list.json", "[1]");
    repo.write("twice.json", "{\"a\": 1,\n \"a\": 2}");
    assert_snapshot!(repo.run(&["cp-create", "--state", "bad.json"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: --state: bad.json is refused: expected a value at line 2 column 12
    hint: --state takes one JSON object of at most 16 MiB, nested at most 128 levels deep
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--outputs", "list.json"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: --outputs: list.json is refused: expected an object at line 1 column 1
    hint: --outputs takes one JSON object of at most 16 MiB, nested at most 128 levels deep
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--state", "twice.json"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: --state: twice.json is refused: duplicate key "a" at line 2 column 2
    hint: --state takes one JSON object of at most 16 MiB, nested at most 128 levels deep
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-create", "--state", "none.json"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: --state: cannot read none.json: No such file or directory (os error 2)
    hint: --state takes a file, or - for stdin
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--state", "."]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: --state: cannot read .: is a directory
    hint: --state takes a file, or - for stdin
    ---
    ");
    assert_snapshot!(repo.run_with_input(&["cp-create", "--state", "-"], "{\"a\": "), @r"
    exit: 2
    --- stdout
    --- stderr
    error: --state: stdin is refused: unexpected end at line 1 column 7
    hint: --state takes one JSON object of at most 16 MiB, nested at most 128 levels deep
    ---
    ");
    let deep = "[".repeat(200_000);
    assert_snapshot!(repo.run_with_input(&["cp-create", "--state", "-"], &deep), @r"
    exit: 2
    --- stdout
    --- stderr
    error: --state: stdin is refused: nested more than 128 levels deep at line 1 column 129
    hint: --state takes one JSON object of at most 16 MiB, nested at most 128 levels deep
    ---
    ");
    assert!(!repo.store().join("sessions").exists(), "nothing was begun");
}

#[test]
fn input_that_is_too_large_is_refused_without_reading_it() {
    let repo = TestRepo::with_commit();
    File::create(repo.path("huge.json"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let before = std::time::Instant::now();
    assert_snapshot!(repo.run(&["cp-create", "--state", "huge.json"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: --state: huge.json is refused: larger than 16777216 bytes
    hint: --state takes one JSON object of at most 16 MiB, nested at most 128 levels deep
    ---
    ");
    assert!(before.elapsed().as_secs() < 20);
    let endless = |command: &mut std::process::Command| {
        command.args(["--state", "/dev/zero"]);
    };
    assert_eq!(repo.run_with(&["cp-create"], endless, "").code, Some(2));
}

#[test]
fn a_step_that_may_not_follow() {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "issue 7", "--workflow", "impl"]);
    repo.ok(&["cp-create", "--name", "impl"]);
    assert_snapshot!(repo.run(&["cp-create", "--name", "done"]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: workflow impl: step 4 done cannot follow step 1 impl; legal: 1 impl, 2 review
    hint: go-team cp-create --step N, with one of the legal steps
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--step", "99", "--json"]).pretty(), @r#"
    {
      "command": "cp-create",
      "error": {
        "hints": [
          "go-team cp-create --step N, with one of the legal steps"
        ],
        "kind": "illegal-transition",
        "message": "workflow impl: there is no step 99; legal: 1 impl, 2 review"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
    let log = fs::read_to_string(repo.session_dir().join("errors.jsonl")).unwrap();
    assert_snapshot!(log, @r#"
    {"timestamp":"2025-12-28T21:03:00.000Z","operation":"cp-create","error":"workflow impl: step 4 done cannot follow step 1 impl; legal: 1 impl, 2 review"}
    {"timestamp":"2025-12-28T21:04:00.000Z","operation":"cp-create","step":99,"error":"workflow impl: there is no step 99; legal: 1 impl, 2 review"}
    "#);
}
