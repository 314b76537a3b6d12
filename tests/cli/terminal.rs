//! Widths, colours, verbosity and hostile text.

use insta::assert_snapshot;

use crate::support::TestRepo;

const HOSTILE: &str = "a\u{1b}[31m\nb\u{202e}c\u{200b}<script>";

#[test]
fn hostile_text_is_stored_exactly_and_shown_escaped() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["start", HOSTILE]), @r"
    exit: 0
    --- stdout
    ✓ Session started: a-31m-b-c-script-6152
      Topic: a\x1b[31m\nb\u{202e}c\u{200b}<script>
      Workflow: free
    --- stderr
    ---
    ");
    repo.write(HOSTILE.replace('/', "-"), "x");
    let args = [
        "cp-create",
        HOSTILE,
        "--name",
        HOSTILE,
        "--phase",
        HOSTILE,
        "-v",
    ];
    assert_snapshot!(repo.run(&args), @r#"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-01-a-31m-b-c-script-20251228-210200
      Step: 1 - a\x1b[31m\nb\u{202e}c\u{200b}<script>
      Files: 1 changed since HEAD af432a220c (1 created, 0 modified, 0 deleted)
      Commit: 45fe8164f5
    --- stderr
    The repository grew by 8 objects, 1413 bytes
      + "a\033[31m\nb\u{202e}c\u{200b}<script>"
    ---
    "#);
    let outputs = serde_json::json!({ HOSTILE: HOSTILE }).to_string();
    repo.run_with_input(&["cp-create", "--outputs", "-"], &outputs);
    for args in [
        &["cp-list", "-v"][..],
        &["cp-list", "--graph"],
        &["cp-show", "1", "-v"],
        &["cp-show", "2", "-v"],
        &["status", "-v"],
        &["session-info"],
        &["sessions"],
        &["state", "show"],
        &["cp-list", "--json"],
        &["cp-show", HOSTILE],
        &["cp-show", "nothing\u{1b}[31m"],
        &["state", "get", "nothing\u{1b}[31m"],
        &["nothing\u{1b}[31m"],
        &["--session", "\u{1b}[31m", "status"],
        &["-C", "\u{1b}[31m", "status"],
        &["cp-create", "--state", "\u{1b}[31m"],
        &["start", "x", "--workflow", "\u{1b}[31m"],
    ] {
        let output = repo.run(args);
        for text in [&output.stdout, &output.stderr] {
            let is_bad = |letter: char| letter.is_control() && letter != '\n';
            assert!(!text.contains(is_bad), "{args:?}: {output}");
            assert!(
                !text.contains(['\u{202e}', '\u{200b}']),
                "{args:?}: {output}"
            );
        }
    }
    let listed = repo.ok(&["cp-list", "--json"]).json();
    assert_eq!(listed["data"]["topic"], HOSTILE);
    assert_eq!(listed["data"]["checkpoints"][0]["name"], HOSTILE);
    assert_eq!(listed["data"]["checkpoints"][0]["description"], HOSTILE);
}

#[test]
fn a_branch_name_is_hostile_too() {
    let repo = TestRepo::with_commit();
    repo.git(&["checkout", "-q", "-b", "b\u{202e}x"]);
    assert_snapshot!(repo.run(&["cp-create"]), @r"
    exit: 0
    --- stdout
    ✓ Checkpoint created: cp-01-checkpoint-20251228-210100
      Step: 1 - checkpoint
      Files: 0 changed since HEAD af432a220c (0 created, 0 modified, 0 deleted)
      Commit: b86b454797
    --- stderr
    Started session b-x-b800 (topic: b\u{202e}x, workflow: free)
    ---
    ");
    assert_snapshot!(repo.run(&["status"]), @r"
    exit: 0
    --- stdout
    Repository:  $TMP/work
    HEAD:        branch b\u{202e}x at af432a220c
    Session:     b-x-b800 (active, workflow free)
    Topic:       b\u{202e}x
    Progress:    step 1, next is step 2
    Checkpoint:  cp-01-checkpoint-20251228-210100 (checkpoint, 2025-12-28 21:01:00)
    Files:       nothing changed since
    Rollback:    possible: to 1
    Resume:      possible: step 2
    Commands:
      go-team cp-list   go-team cp-show current   go-team rollback N
    --- stderr
    ---
    ");
}

#[test]
fn width_follows_the_terminal() {
    let repo = TestRepo::with_checkpoints();
    repo.ok(&[
        "cp-create",
        "a description that is long enough to need some room on a line",
        "--step",
        "3",
    ]);
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60")], &["cp-list"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-…
    Progress: step 3 of 9, next is step 4 - implementation
    ┌───┬──────┬────────────────────────┬─────────────┬────────┐
    │ # │ Step │ Checkpoint ID          │ Timestamp   │ Status │
    ├───┼──────┼────────────────────────┼─────────────┼────────┤
    │ 1 │ init │ cp-01-init-20251228-2… │ 2025-12-28… │ ✓      │
    │ 2 │ req… │ cp-02-requirements-20… │ 2025-12-28… │ ✓      │
    │ 3 │ arc… │ cp-03-architecture-20… │ 2025-12-28… │ ← curr │
    └───┴──────┴────────────────────────┴─────────────┴────────┘
    Commands:
      go-team rollback N
      go-team cp-show N
      go-team cp-diff N
      go-team cp-list --graph
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60")], &["cp-list", "-v"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-…
    Progress: step 3 of 9, next is step 4 - implementation
    ┌───┬──────┬─────────────────┬─────────────┬────────┬──────┐
    │ # │ Step │ Checkpoint ID   │ Timestamp   │ Status │ Des… │
    ├───┼──────┼─────────────────┼─────────────┼────────┼──────┤
    │ 1 │ init │ cp-01-init-202… │ 2025-12-28… │ ✓      │ sca… │
    │ 2 │ req… │ cp-02-requirem… │ 2025-12-28… │ ✓      │ spe… │
    │ 3 │ arc… │ cp-03-architec… │ 2025-12-28… │ ← curr │ a d… │
    └───┴──────┴─────────────────┴─────────────┴────────┴──────┘
    Commands:
      go-team rollback N
      go-team cp-show N
      go-team cp-diff N
      go-team cp-list --graph
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60")], &["cp-list", "--graph"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-…
    Progress: step 3 of 9, next is step 4 - implementation
    ●  1 init  cp-01-init-20251228-210200  2025-12-28 21:02:00 …
    ●  2 requirements  cp-02-requirements-20251228-210300  2025…
    ◉  3 architecture  cp-03-architecture-20251228-210400  2025…
    Commands:
      go-team rollback N
      go-team cp-show N
      go-team cp-diff N
      go-team cp-list
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run_env(&[("COLUMNS", "160")], &["cp-list", "-v"]), @r"
    exit: 0
    --- stdout
    =================================================
    CHECKPOINTS - Session: auth-system-504f
    =================================================
    Topic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00
    Progress: step 3 of 9, next is step 4 - implementation
    ┌────┬───────────────────┬────────────────────────────────────┬─────────────────────┬─────────┬───────────────────────────────────────────────────────────────┐
    │ #  │ Step              │ Checkpoint ID                      │ Timestamp           │ Status  │ Description                                                   │
    ├────┼───────────────────┼────────────────────────────────────┼─────────────────────┼─────────┼───────────────────────────────────────────────────────────────┤
    │ 1  │ init              │ cp-01-init-20251228-210200         │ 2025-12-28 21:02:00 │ ✓       │ scaffold                                                      │
    │ 2  │ requirements      │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ ✓       │ spec agreed                                                   │
    │ 3  │ architecture      │ cp-03-architecture-20251228-210400 │ 2025-12-28 21:04:00 │ ← curr  │ a description that is long enough to need some room on a line │
    └────┴───────────────────┴────────────────────────────────────┴─────────────────────┴─────────┴───────────────────────────────────────────────────────────────┘
    Commands:
      go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph
    --- stderr
    ---
    ");
    let widest = |output: &str| output.lines().map(|line| line.chars().count()).max();
    for columns in ["60", "80", "160"] {
        let output = repo.run_env(&[("COLUMNS", columns)], &["cp-list"]);
        let room = columns.parse().unwrap();
        assert!(widest(&output.stdout) <= Some(room), "{columns}: {output}");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(repo.run(&["cp-list", "--color", "always"]).stdout.escape_debug(), @r"=================================================\n\u{1b}[1mCHECKPOINTS - Session: auth-system-504f\u{1b}[0m\n=================================================\nTopic: auth system     Workflow: go-team     Created: 2025-12-28 21:01:00\nProgress: step 2 of 9, next is step 3 - architecture\n┌────┬───────────────────┬────────────────────────────────────┬─────────────────────┬─────────┐\n│ #  │ Step              │ Checkpoint ID                      │ Timestamp           │ Status  │\n├────┼───────────────────┼────────────────────────────────────┼─────────────────────┼─────────┤\n│ 1  │ init              │ cp-01-init-20251228-210200         │ 2025-12-28 21:02:00 │ \u{1b}[32m✓\u{1b}[0m       │\n│ 2  │ requirements      │ cp-02-requirements-20251228-210300 │ 2025-12-28 21:03:00 │ \u{1b}[1m\u{1b}[36m← curr\u{1b}[0m  │\n└────┴───────────────────┴────────────────────────────────────┴─────────────────────┴─────────┘\nCommands:\n  go-team rollback N   go-team cp-show N   go-team cp-diff N   go-team cp-list --graph\n");
    let has_codes = |variables: &[(&str, &str)], args: &[&str]| {
        repo.run_env(variables, args).stdout.contains('\u{1b}')
    };
    assert!(!has_codes(&[], &["cp-list"]));
    assert!(has_codes(&[("CLICOLOR_FORCE", "1")], &["cp-list"]));
    assert!(!has_codes(&[("CLICOLOR_FORCE", "0")], &["cp-list"]));
    assert!(!has_codes(
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        &["cp-list"]
    ));
    assert!(has_codes(
        &[("NO_COLOR", "1")],
        &["cp-list", "--color", "always"]
    ));
    assert!(!has_codes(
        &[("CLICOLOR_FORCE", "1")],
        &["cp-list", "--color=never"]
    ));
    assert!(!has_codes(
        &[("CLICOLOR_FORCE", "1")],
        &["cp-list", "--json"]
    ));
    assert_snapshot!(
        repo.run(&["cp-show", "9", "--color", "always"]).stderr.escape_debug(),
        @r"\u{1b}[31merror:\u{1b}[0m no checkpoint is meant by 9\n\u{1b}[1m\u{1b}[36mhint:\u{1b}[0m there is: 2 (cp-02-requirements-20251228-210300), 1 (cp-01-init-20251228-210200)\n\u{1b}[1m\u{1b}[36mhint:\u{1b}[0m go-team cp-list\n"
    );
}

#[test]
fn help_names_what_there_is() {
    let repo = TestRepo::without_git();
    assert_snapshot!(repo.run(&["--help"]), @r"
    exit: 0
    --- stdout
    Checkpoints of files, staging, branch and workflow state in a git repository

    Usage: go-team [OPTIONS] <COMMAND>

    Commands:
      start         Begin a session
      resume        Take a session up again: validate it, see what changed, and say where work goes on
      sessions      List sessions, the one that changed last first
      session-info  Show everything about a session
      complete      Mark the session as completed
      fail          Mark the session as failed, and move it to the archive
      abandon       Give a session up
      cleanup       Remove sessions that ended long ago, with all their checkpoints
      cp-create     Make a checkpoint of files, staging, branch and state [alias: checkpoint]
      cp-list       List the checkpoints of a session [alias: checkpoints]
      cp-show       Show everything about one checkpoint, or one of its files
      cp-diff       Show what happened between two checkpoints, or between one and the work tree as it
                    is now
      rollback      Go back to a checkpoint: files, staging, branch, HEAD and state [alias: restore]
      undo          Bring everything back as it was before the last rollback
      redo          Do the rollback again that was undone last
      cp-validate   Check that checkpoints can be relied on: record, checksum, chain, ref and objects,
                    state
      cp-rebuild    Rebuild damaged or missing records, refs and manifests from what git holds
      cp-delete     Delete checkpoints for good
      cp-prune      Remove the checkpoints that the retention policy does not keep
      cp-export     Write a session to one file that another clone, or plain git, can have it back from
      cp-import     Bring a session in from a file that cp-export wrote
      import-from   Bring checkpoints in that another program made, as sessions of their own
      state         Show or change the live state of a session
      run           Run a command, and make a checkpoint of what it did
      observe       Take the observer's star commands as they are typed, such as *rollback:2
      status        Show where you are: repository, session, current checkpoint, and what changed since
      doctor        Look whether this repository is safe to use, and say what to do about what is not
      config        Show or change settings
      completions   Print a script that lets a shell complete commands, options, and live names of
                    checkpoints and sessions
      man           Print a manual page, or write all of them
      help          Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Global options:
          --session <ID>
              Work in this session instead of the work tree's own [env: GO_TEAM_SESSION]

      -C <DIR>
              Run as if started in DIR

          --json
              Print one JSON object

      -q, --quiet
              Print the answer in its shortest form, and nothing but warnings and errors beside it

      -v, --verbose
              Print more

          --color <WHEN>
              When to use colours

              Possible values:
              - auto:   On a terminal, unless `NO_COLOR` is set
              - always: In any case
              - never:  In no case
              
              [default: auto]

          --no-input
              Never ask; fail where an answer would be needed

          --force
              Accept the home directory or / as a work tree; in rollback, any target
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-create", "--help"]), @r"
    exit: 0
    --- stdout
    Make a checkpoint of files, staging, branch and state

    Nothing of yours is touched: not the work tree, not the index, not HEAD. A session begins by itself
    if there is none.

    Usage: go-team cp-create [OPTIONS] [DESCRIPTION]

    Arguments:
      [DESCRIPTION]
              What you say about it

    Options:
          --step <N>
              The step of the workflow

          --name <S>
              The step's name

          --phase <P>
              Where the workflow is; the step's name when absent

          --trigger <T>
              Why it is made: manual, auto, step_complete, phase_transition, batch_complete,
              agent_complete, conflict_start, conflict_resolved, user_interrupt, session_end
              
              [default: manual]

          --state <FILE|->
              The workflow's state, a JSON object in a file or on stdin; the live state when absent

          --outputs <FILE|->
              What was produced, a JSON object in a file or on stdin

          --metric <K=V>
              Set a metric in the state, such as test_coverage=81.5; can be given more than once

          --no-git
              Record state and outputs alone, without files

          --timings
              Say where the time went

      -h, --help
              Print help (see a summary with '-h')

    Global options:
          --session <ID>
              Work in this session instead of the work tree's own [env: GO_TEAM_SESSION]

      -C <DIR>
              Run as if started in DIR

          --json
              Print one JSON object

      -q, --quiet
              Print the answer in its shortest form, and nothing but warnings and errors beside it

      -v, --verbose
              Print more

          --color <WHEN>
              When to use colours

              Possible values:
              - auto:   On a terminal, unless `NO_COLOR` is set
              - always: In any case
              - never:  In no case
              
              [default: auto]

          --no-input
              Never ask; fail where an answer would be needed

          --force
              Accept the home directory or / as a work tree; in rollback, any target
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["--version"]), @r"
    exit: 0
    --- stdout
    go-team 0.1.0
    --- stderr
    ---
    ");
}

/// Runs a command line of the shell at a terminal of its own.
fn at_terminal(repo: &TestRepo, line: &str, variables: &[(&str, &str)]) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_go-team");
    let mut command = std::process::Command::new("script");
    command
        .args(["-qec", &format!("{program} {line}"), "/dev/null"])
        .current_dir(repo.root())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("HOME", repo.home())
        .env("TERM", "xterm")
        .env_remove("PAGER")
        .env_remove("LESS")
        .env_remove("GO_TEAM_PAGER")
        .envs(variables.iter().copied())
        .stdin(std::process::Stdio::null());
    // Where there is no such program, there is no terminal to be had.
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

#[test]
fn a_terminal_gets_a_pager_and_harmless_patches() {
    let repo = TestRepo::with_checkpoints();
    repo.write("main.go", "package \u{1b}[2Jmain\n");
    repo.ok(&["cp-create", "--step", "3"]);
    let page = |line: &str, variables: &[(&str, &str)]| at_terminal(&repo, line, variables);
    let marked = [("GO_TEAM_PAGER", "sed s/^/PAGED:/"), ("PAGER", "false")];
    let Some(paged) = page("cp-diff 2 3 --patch", &marked) else {
        return;
    };
    assert!(
        paged.contains("PAGED:\u{1b}[1mdiff --git a/main.go b/main.go\u{1b}[0m\n"),
        "{paged}"
    );
    assert!(
        paged.contains("PAGED:\u{1b}[32m+package \\x1b[2Jmain\u{1b}[0m\n"),
        "{paged}"
    );
    let other = page("cp-diff 2 3", &[("PAGER", "sed s/^/OTHER:/")]).unwrap();
    assert!(other.contains("OTHER:"), "{other}");
    for (line, variables) in [
        ("cp-diff 2 3 --patch --no-pager", &marked[..]),
        ("cp-diff 2 3 --patch", &[("GO_TEAM_PAGER", "")]),
        ("cp-diff 2 3 --patch", &[("GO_TEAM_PAGER", "cat")]),
        (
            "cp-diff 2 3 --patch",
            &[("GO_TEAM_PAGER", "no-such-program-at-all 2>/dev/null")],
        ),
    ] {
        let plain = page(line, variables).unwrap();
        assert!(!plain.contains("PAGED:"), "{plain}");
        assert!(
            plain.contains("diff --git a/main.go b/main.go"),
            "{line}: {plain}"
        );
    }
    let json = page("cp-diff 2 3 --json", &marked).unwrap();
    assert!(json.starts_with("{\"schema_version\""), "{json}");
}
