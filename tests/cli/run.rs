//! `run`: a command of the user's between checkpoints.

use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Output, TestRepo};

fn sh(text: &str) -> [&str; 4] {
    ["--", "sh", "-c", text]
}

/// `go-team run OPTIONS -- sh -c TEXT`.
fn run(repo: &TestRepo, options: &[&str], text: &str) -> Output {
    let mut args = vec!["run"];
    args.extend(options);
    args.extend(sh(text));
    repo.run(&args)
}

/// The checkpoints' triggers, oldest first.
fn triggers(repo: &TestRepo) -> Vec<String> {
    let listed = repo.ok(&["cp-list", "--json"]).json();
    let checkpoints = listed["data"]["checkpoints"].as_array().unwrap().clone();
    let triggers = checkpoints
        .iter()
        .map(|each| each["trigger"].as_str().unwrap());
    triggers.map(str::to_owned).collect()
}

/// What the error log holds.
fn errors(repo: &TestRepo) -> Vec<Value> {
    let text = fs::read_to_string(repo.session_dir().join("errors.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn read(repo: &TestRepo, path: &str) -> String {
    fs::read_to_string(repo.path(path)).unwrap_or_else(|_| "(gone)".to_owned())
}

#[test]
fn a_command_is_run_between_checkpoints() {
    let repo = TestRepo::with_checkpoints();
    let output = repo.run_with_input(
        &[
            "run",
            "--step",
            "3",
            "two services",
            "--",
            "sh",
            "-c",
            "cat; echo err >&2; echo x > new; echo $GO_TEAM_SESSION",
        ],
        "from stdin\n",
    );
    assert_snapshot!(output, @r"
    exit: 0
    --- stdout
    from stdin
    auth-system-504f
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements), verified
    err
    ✓ Checkpoint created: cp-03-architecture-20251228-210400
      Step: 3 - architecture
      Files: 1 changed since cp-02-requirements-20251228-210300 (1 created, 0 modified, 0 deleted)
      Commit: 769cf70569
    ---
    ");
    let record = repo.ok(&["cp-show", "3", "--json"]).json();
    let record = &record["data"]["record"];
    assert_eq!(record["trigger"], "step_complete");
    assert_eq!(record["description"], "two services");
    assert_eq!(record["files"]["created"], serde_json::json!(["new"]));
    assert_snapshot!(run(&repo, &["-q"], "echo out"), @r"
    exit: 0
    --- stdout
    out
    --- stderr
    ---
    ");
}

#[test]
fn a_session_begins_with_the_command() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(run(&repo, &[], "echo $GO_TEAM_SESSION; exit 1"), @r"
    exit: 1
    --- stdout
    main-cf97
    --- stderr
    Started session main-cf97
    Previous checkpoint: none yet
    error: sh -c 'echo $GO_TEAM_SESSION; exit 1' failed with exit code 1
    hint: to try again: go-team run -- sh -c 'echo $GO_TEAM_SESSION; exit 1'
    hint: to go on with what it left: go-team cp-create
    ---
    ");
    // It is the same one that the next command uses.
    assert_snapshot!(run(&repo, &[], "true"), @r"
    exit: 0
    --- stdout
    --- stderr
    Previous checkpoint: none yet
    ✓ Checkpoint created: cp-01-checkpoint-20251228-210200
      Step: 1 - checkpoint
      Files: 0 changed since HEAD af432a220c (0 created, 0 modified, 0 deleted)
      Commit: 285a2b2c66
    ---
    ");
}

#[test]
fn a_command_that_fails_is_logged_and_the_ways_on_are_shown() {
    let repo = TestRepo::with_checkpoints();
    let output = run(&repo, &["--step", "3"], "echo password=1; exit 3");
    assert_snapshot!(output, @r"
    exit: 3
    --- stdout
    password=1
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements), verified
    error: sh -c 'echo password=1; exit 3' failed with exit code 3
    hint: to try again: go-team run --step 3 -- sh -c 'echo password=1; exit 3'
    hint: to go on with what it left: go-team cp-create --step 3
    hint: to see what it changed: go-team cp-diff cp-02-requirements-20251228-210300
    hint: to go back to the last valid checkpoint: go-team rollback cp-02-requirements-20251228-210300
    ---
    ");
    assert_eq!(triggers(&repo).len(), 2);
    let logged = errors(&repo);
    assert_eq!(logged.len(), 1);
    assert_eq!(logged[0]["operation"], "run");
    assert_eq!(logged[0]["step"], 3);
    assert_eq!(logged[0]["error"], "sh failed with exit code 3");
}

#[test]
fn exit_codes_are_those_of_a_shell() {
    let repo = TestRepo::with_checkpoints();
    for code in [0, 1, 2, 42, 125, 255] {
        assert_eq!(run(&repo, &[], &format!("exit {code}")).code, Some(code));
    }
    for (signal, code) in [("KILL", 137), ("TERM", 143), ("SEGV", 139)] {
        let output = run(&repo, &[], &format!("kill -{signal} $$"));
        assert_eq!(output.code, Some(code));
        let said = format!("was killed by SIG{signal}");
        assert!(output.stderr.contains(&said), "{output}");
    }
    assert_snapshot!(repo.run(&["run", "--", "no-such-program", "x"]), @r"
    exit: 127
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210400 (step 2 - requirements), verified
    error: no-such-program x was not found: No such file or directory (os error 2)
    hint: the first word after -- is the program's name, looked for in PATH unless it has a / in it
    ---
    ");
    assert_snapshot!(repo.run(&["run", "--", "make test"]), @r"
    exit: 127
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210400 (step 2 - requirements), verified
    error: 'make test' was not found: No such file or directory (os error 2)
    hint: the first word after -- is the program's name; a whole line is a shell's: go-team run … -- sh -c 'make test'
    ---
    ");
    assert_snapshot!(repo.run(&["run", "--", "./main.go"]), @r"
    exit: 126
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210400 (step 2 - requirements), verified
    error: ./main.go cannot be run: Permission denied (os error 13)
    hint: the first word after -- is the program's name, looked for in PATH unless it has a / in it
    ---
    ");
    repo.write("script", "echo hello\n");
    fs::set_permissions(repo.path("script"), Permissions::from_mode(0o755)).unwrap();
    assert_snapshot!(repo.run(&["run", "--", "./script"]), @r"
    exit: 126
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210400 (step 2 - requirements), verified
    error: ./script cannot be run: Exec format error (os error 8)
    hint: a script begins with a line such as #!/bin/sh; or: go-team run … -- sh ./script
    ---
    ");
    assert_snapshot!(repo.run(&["run", "make"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: the following required arguments were not provided:
      <CMD>...

    Usage: go-team run <DESCRIPTION> -- <CMD>...

    For more information, try '--help'.
    ---
    ");
}

#[test]
fn before_takes_one_first() {
    let repo = TestRepo::with_checkpoints();
    repo.write("mine", "unsaved\n");
    assert_snapshot!(run(&repo, &["--before", "--step", "3"], "rm mine"), @r"
    exit: 0
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements), verified
    ✓ Checkpoint created: cp-03-architecture-20251228-210400
      Step: 3 - architecture
      Files: 1 changed since cp-02-requirements-20251228-210300 (1 created, 0 modified, 0 deleted)
      Commit: b3384ef36a
    ✓ Checkpoint created: cp-03-architecture-20251228-210400-2
      Step: 3 - architecture
      Files: 1 changed since cp-03-architecture-20251228-210400 (0 created, 0 modified, 1 deleted)
      Commit: 18da719401
    ---
    ");
    assert_eq!(triggers(&repo)[2..], ["auto", "step_complete"]);
    repo.ok(&["rollback", "3.1", "--yes"]);
    assert_eq!(read(&repo, "mine"), "unsaved\n");
}

#[test]
fn a_guard_that_passes_lets_the_step_be() {
    let repo = TestRepo::with_checkpoints();
    let output = run(
        &repo,
        &["--guard", "echo tested; cat new", "--step", "3"],
        "echo x > new; echo done",
    );
    assert_snapshot!(output, @r"
    exit: 0
    --- stdout
    done
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements), verified
    tested
    x
    ✓ Checkpoint created: cp-03-architecture-20251228-210400
      Step: 3 - architecture
      Files: 1 changed since cp-02-requirements-20251228-210300 (1 created, 0 modified, 0 deleted)
      Commit: 02d70d7793
    ---
    ");
    // Everything was as the last checkpoint had it: that one would have been gone back to.
    assert_eq!(triggers(&repo)[2..], ["step_complete"]);
}

#[test]
fn a_guard_that_fails_rolls_back() {
    let repo = TestRepo::with_checkpoints();
    repo.write("mine", "unsaved\n");
    repo.git(&["add", "mine"]);
    let output = run(
        &repo,
        &["--guard", "test -e main.go || exit 9", "--step", "3"],
        "rm main.go mine; echo x > new; git rm -q --cached mine",
    );
    assert_snapshot!(output, @r"
    exit: 9
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements), verified
    ✓ Checkpoint created: cp-03-architecture-20251228-210400
      Step: 3 - architecture
      Files: 1 changed since cp-02-requirements-20251228-210300 (1 created, 0 modified, 0 deleted)
      Commit: 47f1c9da8c
    ✓ Rolled back to cp-03-architecture-20251228-210400
      Files: 2 written, 1 deleted
      HEAD: stays: main at af432a220c
      Checkpoints: 0 invalidated
      Safety checkpoint: cp-03-safety-20251228-210400
      Next: step 3
    Commands:
      go-team undo   go-team status   go-team cp-list
    error: the test command failed with exit code 9; everything is as it was before, at cp-03-architecture-20251228-210400
    hint: go-team undo brings back what the command did, which cp-03-safety-20251228-210400 holds
    hint: go-team cp-diff cp-03-architecture-20251228-210400 cp-03-safety-20251228-210400 shows it
    ---
    ");
    assert_eq!(read(&repo, "mine"), "unsaved\n");
    assert_eq!(read(&repo, "main.go"), "package main\n\nfunc main() {}\n");
    assert_eq!(read(&repo, "new"), "(gone)");
    assert_eq!(repo.git(&["status", "--porcelain", "mine"]), "A  mine\n");
    assert_eq!(triggers(&repo)[2..], ["auto", "safety"]);
    assert_eq!(
        errors(&repo)[0]["error"],
        "the test command failed with exit code 9"
    );
    repo.ok(&["undo", "--yes"]);
    assert_eq!(read(&repo, "new"), "x\n");
    assert_eq!(read(&repo, "main.go"), "(gone)");
}

#[test]
fn a_guard_that_cannot_roll_back_says_so() {
    let repo = TestRepo::with_checkpoints();
    let output = run(
        &repo,
        &["--guard", "touch .git/MERGE_HEAD; false"],
        "echo x > new",
    );
    assert_snapshot!(output, @r"
    exit: 1
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements), verified
    error: the test command failed with exit code 1, and so did the rollback: a merge is in progress
    hint: git merge --abort or --continue ends it
    hint: go-team rollback cp-02-requirements-20251228-210300 goes back to how it was before the command
    ---
    ");
    assert_eq!(read(&repo, "new"), "x\n");
    // A command that fails is not tested.
    let output = run(&repo, &["--guard", "touch tested"], "exit 5");
    assert_eq!(output.code, Some(5));
    assert_eq!(read(&repo, "tested"), "(gone)");
}

#[test]
fn programs_get_one_object_and_the_command_s_words_on_stderr() {
    let repo = TestRepo::with_checkpoints();
    let output = run(
        &repo,
        &["--json", "--before", "--step", "3"],
        "echo out; echo x > new",
    );
    assert_eq!(output.stderr, "out\n");
    let quiet = |output: Output| Output {
        stderr: String::new(),
        ..output
    };
    let answer = quiet(output).json();
    assert_eq!(answer["command"], "run");
    let data = &answer["data"];
    assert_eq!(data["outcome"], "complete");
    assert_eq!(data["exit_code"], 0);
    assert_eq!(
        data["end"],
        serde_json::json!({"kind": "exited", "code": 0})
    );
    assert_eq!(data["previous"]["verified"], true);
    assert_eq!(data["previous"]["step"], 2);
    assert_eq!(data["before"]["trigger"], "auto");
    assert_eq!(data["checkpoint"]["trigger"], "step_complete");
    assert_eq!(
        data["checkpoint"]["record"]["files"]["created"],
        serde_json::json!(["new"])
    );
    assert_eq!(data["guard"], Value::Null);

    let answer = run(&repo, &["--json"], "kill -9 $$").json();
    assert_eq!(answer["error"]["kind"], "command-failed");
    assert_eq!(answer["data"]["exit_code"], 137);
    assert_eq!(
        answer["data"]["end"],
        serde_json::json!({"kind": "killed", "signal": 9})
    );
    assert_eq!(answer["data"]["checkpoint"], Value::Null);
    assert_eq!(answer["error"]["hints"].as_array().unwrap().len(), 4);

    let answer = run(&repo, &["--json", "--guard", "exit 4"], "rm new").json();
    assert_eq!(answer["error"]["kind"], "guard-failed");
    assert_eq!(answer["data"]["outcome"], "complete");
    assert_eq!(answer["data"]["exit_code"], 0);
    let guard = &answer["data"]["guard"];
    assert_eq!(guard["exit_code"], 4);
    assert_eq!(guard["outcome"], "failed");
    assert_eq!(guard["rollback"]["written"], 1);
    assert_eq!(read(&repo, "new"), "x\n");

    let answer = repo.run(&["run", "--json", "--", "no-such-program"]).json();
    assert_eq!(answer["error"]["kind"], "command-not-run");
    assert_eq!(answer["data"]["end"]["kind"], "not_found");
}

#[test]
fn a_checkpoint_that_fails_is_a_warning() {
    let repo = TestRepo::with_checkpoints();
    let lock = File::options()
        .write(true)
        .open(repo.store().join("lock"))
        .unwrap();
    lock.lock().unwrap();
    let wait = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", "0")];
    let output = repo.run_env(&wait, &["run", "--before", "--", "sh", "-c", "echo ran"]);
    assert_eq!(
        (output.code, &*output.stdout),
        (Some(0), "ran\n"),
        "{output}"
    );
    assert_eq!(output.stderr.matches("warning: ").count(), 1, "{output}");
    let said =
        "warning: no checkpoint was made before the command: another go-team command is at work";
    assert!(output.stderr.contains(said), "{output}");
    let answer = repo.run_env(&wait, &["run", "--json", "--", "true"]).json();
    let warning = answer["data"]["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("no checkpoint was made: another"),
        "{warning}"
    );
    // Without it there would be no way back.
    repo.write("mine", "unsaved\n");
    let output = repo.run_env(&wait, &["run", "--guard", "false", "--", "rm", "mine"]);
    assert_eq!(output.code, Some(6), "{output}");
    assert!(
        output.stderr.contains("the command was not run"),
        "{output}"
    );
    assert_eq!(read(&repo, "mine"), "unsaved\n");
    drop(lock);
    assert_snapshot!(run(&repo, &[], "mv .git/HEAD .git/away"), @r"
    exit: 0
    --- stdout
    --- stderr
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements), verified
    warning: no checkpoint was made: there is no git repository at $TMP/work or above
    hint: git init makes one here; -C DIR names another directory
    ---
    ");
    assert_snapshot!(run(&repo, &[], "mv .git/away .git/HEAD; exit 3"), @r"
    exit: 3
    --- stdout
    --- stderr
    warning: go-team cannot look after this command: there is no git repository at $TMP/work or above
    hint: git init makes one here; -C DIR names another directory
    error: sh -c 'mv .git/away .git/HEAD; exit 3' failed with exit code 3
    hint: to try again: go-team run -- sh -c 'mv .git/away .git/HEAD; exit 3'
    ---
    ");
}

#[test]
fn a_place_that_go_team_does_not_know_stops_nothing() {
    let repo = TestRepo::without_git();
    assert_snapshot!(run(&repo, &[], "echo out"), @r"
    exit: 0
    --- stdout
    out
    --- stderr
    warning: go-team cannot look after this command: there is no git repository at $TMP/work or above
    hint: git init makes one here; -C DIR names another directory
    ---
    ");
    assert_snapshot!(run(&repo, &["--guard", "true"], "echo out"), @r"
    exit: 7
    --- stdout
    --- stderr
    error: the command was not run, as --guard cannot keep its promise: there is no git repository at $TMP/work or above
    hint: git init makes one here; -C DIR names another directory
    ---
    ");
    let repo = TestRepo::with_checkpoints();
    repo.write("go-team.toml", "[capture]\nexlude = []\n");
    let output = run(&repo, &[], "exit 4");
    assert_eq!(output.code, Some(4), "{output}");
    assert!(
        output
            .stderr
            .starts_with("warning: go-team cannot look after this command: "),
        "{output}"
    );
}

#[test]
fn what_was_asked_for_wrongly_is_refused_before_the_command() {
    let repo = TestRepo::with_checkpoints();
    for (options, code) in [
        (&["--session", "nobody"][..], 4),
        (&["--session", "../x"], 2),
        (&["--step", "0"], 2),
        (&["--trigger", "never"], 2),
        (&["--metric", "x"], 2),
        (&["--state", "-"], 2),
        (&["--outputs", "-"], 2),
        (&["-C", "nowhere"], 4),
    ] {
        let output = run(&repo, options, "echo ran > ran");
        assert_eq!(output.code, Some(code), "{options:?} {output}");
        assert_eq!(read(&repo, "ran"), "(gone)", "{options:?}");
    }
    assert_eq!(repo.run(&["run"]).code, Some(2));
    assert_eq!(repo.run(&["run", "--"]).code, Some(2));
    assert_snapshot!(run(&repo, &["--state", "-"], "true"), @r"
    exit: 2
    --- stdout
    --- stderr
    error: --state cannot come from stdin, which is the command's
    hint: --state FILE is read when the command has ended
    ---
    ");
}

#[test]
fn state_and_outputs_are_read_when_the_command_has_ended() {
    let repo = TestRepo::with_checkpoints();
    let made = r#"echo '{"phase": "built", "n": 1}' > s.json; echo '{"code_files": ["main.go"]}' > o.json"#;
    let options = [
        "--state",
        "s.json",
        "--outputs",
        "o.json",
        "--metric",
        "test_coverage=80",
        "--step",
        "3",
    ];
    assert_eq!(run(&repo, &options, made).code, Some(0));
    let record = repo.ok(&["cp-show", "3", "--json"]).json()["data"]["record"].clone();
    assert_eq!(record["phase"], "built");
    assert_eq!(record["state"]["n"], 1);
    assert_eq!(record["state"]["metrics"]["test_coverage"], 80);
    assert_eq!(record["outputs"]["code_files"][0], "main.go");
    // What cannot be read costs neither the exit code nor the files.
    assert_snapshot!(run(&repo, &["--state", "s.json", "--step", "4"], "echo '{' > s.json"), @r"
    exit: 0
    --- stdout
    --- stderr
    Previous checkpoint: cp-03-architecture-20251228-210400 (step 3 - architecture), verified
    warning: the checkpoint is made without --state: --state: s.json is refused: unexpected end at line 2 column 1
    hint: --state takes one JSON object of at most 16 MiB, nested at most 128 levels deep
    ✓ Checkpoint created: cp-04-implementation-20251228-210600
      Step: 4 - implementation
      Files: 1 changed since cp-03-architecture-20251228-210400 (0 created, 1 modified, 0 deleted)
      Commit: 3d1a397777
    ---
    ");
}

#[test]
fn commands_within_it_are_in_the_same_session() {
    let repo = TestRepo::with_checkpoints();
    let program = env!("CARGO_BIN_EXE_go-team");
    let inner = format!(
        "{program} start other -q >&2 && echo x > inner && {program} cp-create inner --step 3 -q && \
         {program} run --step 4 -q -- sh -c 'echo y > innermost'"
    );
    let output = run(&repo, &["--step", "5", "-q"], &inner);
    assert_eq!(output.code, Some(0), "{output}");
    let session = repo.session_of("auth system");
    let listed = repo
        .ok(&["cp-list", "--json", "--session", &session])
        .json();
    let steps = listed["data"]["checkpoints"].as_array().unwrap();
    let steps: Vec<u64> = steps
        .iter()
        .map(|each| each["step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, [1, 2, 3, 4, 5]);
}

#[test]
fn it_runs_where_it_is_told_to() {
    let repo = TestRepo::with_checkpoints();
    let output = run(&repo, &["-C", "docs", "--guard", "pwd; ls main.go"], "pwd");
    assert_eq!(output.stdout, "$TMP/work/docs\n", "{output}");
    assert!(output.stderr.contains("$TMP/work\nmain.go\n"), "{output}");
    assert_eq!(output.code, Some(0));
}

#[test]
fn a_damaged_previous_checkpoint_is_said_and_stops_nothing() {
    let repo = TestRepo::with_checkpoints();
    let newest = fs::read_link(repo.session_dir().join("latest")).unwrap();
    let record = repo.session_dir().join(newest);
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("spec agreed", "spec agreeD")).unwrap();
    assert_snapshot!(run(&repo, &["--step", "3"], "exit 1"), @r"
    exit: 1
    --- stdout
    --- stderr
    warning: the previous checkpoint cp-02-requirements-20251228-210300 is not valid: the record is damaged: checksum is 34e1173cca1b6b28cb2ac9cb6c1f9780ceb4d505197140b8b04330c7e8dcc58d, the content has 11f2976e483c15edb4b06396770d12d943b69cc68fd1745911d2d93cfeaa3f8d
    Previous checkpoint: cp-02-requirements-20251228-210300 (step 2 - requirements)
    error: sh -c 'exit 1' failed with exit code 1
    hint: to try again: go-team run --step 3 -- sh -c 'exit 1'
    hint: to go on with what it left: go-team cp-create --step 3
    hint: to see what it changed: go-team cp-diff cp-02-requirements-20251228-210300
    hint: to go back to the last valid checkpoint: go-team rollback cp-01-init-20251228-210200
    hint: go-team cp-rebuild cp-02-requirements-20251228-210300
    ---
    ");
    let output = run(&repo, &["--step", "3", "--json"], "true").json();
    assert_eq!(output["data"]["previous"]["verified"], false);
    assert_eq!(output["data"]["checkpoint"]["step"], 3);
}

/// Runs a shell script under `run`, sends go-team this signal once the script is ready, and returns the exit code.
fn signalled(repo: &TestRepo, signal: &str, script: &str) -> Option<i32> {
    let mut command = repo.go_team();
    command.args(["run", "--step", "3", "--", "sh", "-c", script]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let pid = child.id().to_string();
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &pid])
        .status();
    assert!(sent.unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), None);
    status.code()
}

#[test]
fn signals_are_passed_on_once_and_what_was_done_is_kept() {
    for (signal, traps) in [
        ("TERM", "TERM"),
        ("INT", "INT"),
        ("HUP", "HUP"),
        ("QUIT", "QUIT"),
    ] {
        let repo = TestRepo::with_checkpoints();
        let script = format!(
            "trap 'echo {signal} >> heard; sleep 0.2; exit 7' {traps}; echo half > work; echo ready; \
             while :; do sleep 0.05; done"
        );
        assert_eq!(signalled(&repo, signal, &script), Some(7), "{signal}");
        assert_eq!(read(&repo, "heard"), format!("{signal}\n"));
        assert_eq!(triggers(&repo)[2..], ["user_interrupt"], "{signal}");
        assert_eq!(repo.ok(&["cp-show", "3:work"]).stdout, "half\n");
    }
    // Without a trap it dies of the signal, and that is passed on as shells say it.
    let repo = TestRepo::with_checkpoints();
    assert_eq!(
        signalled(&repo, "TERM", "echo ready; exec sleep 30"),
        Some(143)
    );
    assert_eq!(triggers(&repo)[2..], ["user_interrupt"]);
    // One that goes politely was interrupted all the same; one that made use of Ctrl-C was not.
    let polite =
        |signal: &str| format!("trap 'exit 0' {signal}; echo ready; while :; do sleep 0.05; done");
    assert_eq!(signalled(&repo, "TERM", &polite("TERM")), Some(0));
    assert_eq!(signalled(&repo, "INT", &polite("INT")), Some(0));
    assert_eq!(triggers(&repo)[2..], ["user_interrupt", "step_complete"]);
}

#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_stay_ignored() {
    let repo = TestRepo::with_checkpoints();
    let mut command = repo.go_team();
    let inner = "grep SigIgn /proc/self/status";
    let outer = format!("trap '' HUP INT; exec \"$0\" run -q -- {inner}");
    let program = command.get_program().to_owned();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &outer])
        .arg(program)
        .current_dir(repo.root())
        .env_clear();
    shell.envs(
        command
            .get_envs()
            .filter_map(|(key, value)| Some((key, value?))),
    );
    command.arg("--version");
    let output = shell.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mask = u64::from_str_radix(text.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(mask & 0b1111, 0b0011, "{text}");
}
