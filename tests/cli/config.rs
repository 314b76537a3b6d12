//! `go-team config`: what is in effect and why, and files changed one key at a time.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::TestRepo;

const PROJECT: &str = "\
# Settings of this project.

[lock] # two at once
# CI is slow.
timeout_seconds = 120   # two minutes

[capture]
exclude = [
    \"debug.jsonl\", # noise
    'tmp/',
]

[workflow.mine]
steps = ['draft', 'ship']
";

fn project(repo: &TestRepo) -> String {
    fs::read_to_string(repo.path("go-team.toml")).unwrap()
}

fn user_file(repo: &TestRepo) -> std::path::PathBuf {
    repo.home().join(".config/go-team/config.toml")
}

fn setting(answer: &Value, key: &str) -> Value {
    let settings = answer["data"]["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["key"] == key);
    found.unwrap().clone()
}

#[test]
fn every_setting_is_listed_with_its_origin() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", PROJECT);
    let variables = [("GO_TEAM_RETENTION_KEEP_AUTO", "7")];
    let changed = repo.run_env(&variables, &["config", "list", "--changed"]);
    assert_snapshot!(changed, @r#"
    exit: 0
    --- stdout
    ┌──────────────────────┬────────────────────────────────────────────────┬──────────────────────────┐
    │ Setting              │ Value                                          │ Origin                   │
    ├──────────────────────┼────────────────────────────────────────────────┼──────────────────────────┤
    │ capture.exclude      │ ["debug.jsonl","tmp/"]                         │ go-team.toml:8           │
    │ retention.keep_auto  │ 7                                              │ GO_TEAM_RETENTION_KEEP_… │
    │ lock.timeout_seconds │ 120                                            │ go-team.toml:5           │
    │ workflow.mine        │ {"steps":["draft","ship"],"terminal":["ship"]} │ go-team.toml:13          │
    └──────────────────────┴────────────────────────────────────────────────┴──────────────────────────┘
    --- stderr
    Project's file: $TMP/work/go-team.toml
    Your own file: $TMP/home/.config/go-team/config.toml, not there
    ---
    "#);
    repo.ok(&["config", "set", "--user", "git.author_name", "Robot"]);
    let answer = repo
        .run_env(&variables, &["config", "list", "--json"])
        .json();
    assert_eq!(
        setting(&answer, "lock.timeout_seconds")["origin"],
        json!({"layer": "project", "path": "$TMP/work/go-team.toml", "line": 5})
    );
    assert_eq!(
        setting(&answer, "git.author_name")["origin"],
        json!({"layer": "user", "path": "$TMP/home/.config/go-team/config.toml", "line": 2})
    );
    assert_eq!(
        setting(&answer, "retention.keep_auto")["origin"],
        json!({"layer": "environment", "variable": "GO_TEAM_RETENTION_KEEP_AUTO"})
    );
    let built_in = setting(&answer, "durability.sync");
    assert_eq!(built_in["origin"], json!({"layer": "built_in"}));
    assert_eq!(built_in["value"], true);
    assert_eq!(
        setting(&answer, "workflow.mine")["value"],
        json!({"steps": ["draft", "ship"], "terminal": ["ship"]})
    );
    let quiet = repo.ok(&["config", "list", "-q"]).stdout;
    assert!(quiet.contains("\nlock.timeout_seconds = 120\n"), "{quiet}");
    assert!(
        quiet.contains("\nstorage.path = none\n") || quiet.starts_with("storage.path = none\n"),
        "{quiet}"
    );
}

#[test]
fn one_value_is_printed_for_a_script() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", PROJECT);
    let get = |key: &str| repo.ok(&["config", "get", key]).stdout;
    assert_eq!(get("lock.timeout_seconds"), "120\n");
    assert_eq!(get("git.author_name"), "go-team\n");
    assert_eq!(get("capture.exclude"), "debug.jsonl\ntmp/\n");
    assert_eq!(get("storage.path"), "none\n");
    assert_eq!(get("workflow.mine.steps"), "draft\nship\n");
    let answer = repo
        .ok(&["--json", "config", "get", "durability.sync"])
        .json();
    assert_eq!(answer["command"], "config get");
    assert_eq!(answer["data"]["value"], true);
    assert_eq!(answer["data"]["key"], "durability.sync");
    assert_snapshot!(repo.run(&["config", "get", "lock.timeout"]), @r#"
    exit: 4
    --- stdout
    --- stderr
    error: there is no setting "lock.timeout"
    hint: did you mean lock.timeout_seconds?
    hint: go-team config list shows all of them
    ---
    "#);
    assert_snapshot!(repo.run(&["config", "get", "colour"]), @r#"
    exit: 4
    --- stdout
    --- stderr
    error: there is no setting "colour"
    hint: go-team config list shows all of them
    ---
    "#);
}

#[test]
fn setting_a_value_keeps_comments_and_layout() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", PROJECT);
    assert_snapshot!(repo.run(&["config", "set", "lock.timeout_seconds", "2.5"]), @"
    exit: 0
    --- stdout
    ✓ Set in $TMP/work/go-team.toml:
      lock.timeout_seconds = 2.5
    --- stderr
    ---
    ");
    repo.ok(&["config", "set", "durability.sync", "off"]);
    repo.ok(&["config", "set", "capture.max_file_mb", "10"]);
    repo.ok(&["config", "set", "capture.include", "dist/*.js", "a, b"]);
    repo.ok(&["config", "set", "workflow.mine.terminal", "ship"]);
    repo.ok(&["config", "set", "workflow.other.steps", "['a', 'b']"]);
    assert_snapshot!(project(&repo), @r#"
    # Settings of this project.

    [lock] # two at once
    # CI is slow.
    timeout_seconds = 2.5   # two minutes

    [capture]
    exclude = [
        "debug.jsonl", # noise
        'tmp/',
    ]
    max_file_mb = 10
    include = ["dist/*.js", "a, b"]

    [workflow.mine]
    steps = ['draft', 'ship']
    terminal = ["ship"]

    [durability]
    sync = false

    [workflow.other]
    steps = ["a", "b"]
    "#);
    assert_eq!(
        repo.ok(&["config", "get", "capture.include"]).stdout,
        "dist/*.js\na, b\n"
    );
    let again = repo
        .ok(&["config", "set", "capture.max_file_mb", "10", "--json"])
        .json();
    assert_eq!(again["data"]["changed"], false);
    let answer = repo
        .ok(&["--json", "config", "set", "retention.max_age_days", "none"])
        .json();
    assert_eq!(answer["data"]["value"], "none");
    assert_eq!(answer["data"]["effective"]["value"], Value::Null);
    assert_eq!(answer["data"]["layer"], "project");
    let mode = fs::metadata(repo.path("go-team.toml"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644, "as it was");
    assert_eq!(
        repo.git(&["status", "--porcelain"]),
        "?? go-team.toml\n",
        "nothing else is left"
    );
}

#[test]
fn a_value_goes_again_and_its_remark_stays() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", PROJECT);
    assert_snapshot!(repo.run(&["config", "unset", "lock.timeout_seconds"]), @"
    exit: 0
    --- stdout
    ✓ Unset in $TMP/work/go-team.toml: lock.timeout_seconds
    --- stderr
    ---
    ");
    repo.ok(&["config", "unset", "capture.exclude"]);
    assert_snapshot!(project(&repo), @"
    # Settings of this project.

    [lock] # two at once
    # CI is slow.

    [capture]

    [workflow.mine]
    steps = ['draft', 'ship']
    ");
    repo.ok(&["config", "unset", "workflow.mine"]);
    assert!(!project(&repo).contains("draft"));
    assert_snapshot!(repo.run(&["config", "unset", "lock.timeout_seconds"]), @"
    exit: 4
    --- stdout
    --- stderr
    error: $TMP/work/go-team.toml does not set lock.timeout_seconds
    hint: go-team config list shows where each value comes from; --user means your own file
    ---
    ");
    repo.write(
        "go-team.toml",
        "lock = { timeout_seconds = 3 }\ngit.author_name = 'x' # me\ngit.author_email = 'y'\n",
    );
    repo.ok(&["config", "set", "lock.timeout_seconds", "4"]);
    repo.ok(&["config", "unset", "git.author_name"]);
    assert_eq!(
        project(&repo),
        "lock = { timeout_seconds = 4 }\ngit.author_email = 'y'\n"
    );
    repo.ok(&["config", "unset", "lock.timeout_seconds"]);
    assert_eq!(
        repo.ok(&["config", "get", "lock.timeout_seconds"]).stdout,
        "30\n"
    );
}

#[test]
fn what_a_setting_does_not_take_is_refused_before_anything_is_written() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["config", "set", "capture.max_file_mb", "0"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: capture.max_file_mb takes a whole number of at least 1, not "0"
    hint: go-team config list -v says what each setting is for
    ---
    "#);
    assert_snapshot!(repo.run(&["config", "set", "capture.max_file_mb", "1", "2"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: capture.max_file_mb takes a whole number of at least 1, not 2 values
    hint: go-team config list -v says what each setting is for
    ---
    ");
    assert_snapshot!(repo.run(&["config", "set", "capture.exlude", "x"]), @r#"
    exit: 4
    --- stdout
    --- stderr
    error: there is no setting "capture.exlude"
    hint: did you mean capture.exclude?
    hint: go-team config list shows all of them
    ---
    "#);
    assert_snapshot!(repo.run(&["config", "set", "state.file", "../outside.json"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: nothing was written, because the file would not be valid: $TMP/work/go-team.toml:2: state.file points out of the work tree: $TMP/work/../outside.json
    hint: settings come from GO_TEAM_* variables, go-team.toml, and your own config.toml
    ---
    ");
    assert_snapshot!(repo.run(&["config", "set", "workflow.mine.terminal", "ship"]), @"
    exit: 2
    --- stdout
    --- stderr
    error: nothing was written, because the file would not be valid: $TMP/work/go-team.toml:1: workflow mine: a workflow needs at least one step
    hint: settings come from GO_TEAM_* variables, go-team.toml, and your own config.toml
    ---
    ");
    assert_snapshot!(repo.run(&["config", "set", "workflow.mine.step", "ship"]), @r#"
    exit: 4
    --- stdout
    --- stderr
    error: there is no setting "workflow.mine.step"
    hint: did you mean workflow.mine.steps?
    hint: go-team config list shows all of them
    ---
    "#);
    for value in [
        "99999999999999999999",
        "18446744073709551615",
        "-1",
        "many",
        "",
    ] {
        let refused = repo.run(&["config", "set", "retention.keep_auto", "--", value]);
        assert_eq!(refused.code, Some(2), "{refused}");
    }
    assert!(!repo.path("go-team.toml").exists());
    assert!(!repo.store().exists());
}

#[test]
fn a_broken_file_is_mended_key_by_key() {
    let repo = TestRepo::with_commit();
    repo.write(
        "go-team.toml",
        "[lock]\ntimeout_seconds = 'soon'\n[git]\nname = 'x'\n",
    );
    assert_eq!(repo.run(&["config", "list"]).code, Some(1));
    assert_snapshot!(repo.run(&["config", "set", "lock.timeout_seconds", "3"]), @r#"
    exit: 0
    --- stdout
    ✓ Set in $TMP/work/go-team.toml:
      lock.timeout_seconds = 3
    --- stderr
    warning: the file is still not valid: $TMP/work/go-team.toml:4: unknown key "git.name"
    ---
    "#);
    assert_snapshot!(repo.run(&["config", "unset", "git.name"]), @"
    exit: 0
    --- stdout
    ✓ Unset in $TMP/work/go-team.toml: git.name
    --- stderr
    ---
    ");
    assert_eq!(project(&repo), "[lock]\ntimeout_seconds = 3\n[git]\n");
    repo.ok(&["config", "list"]);
    repo.write("go-team.toml", "[lock\n");
    assert_snapshot!(repo.run(&["config", "set", "lock.timeout_seconds", "3"]), @"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/go-team.toml:1: unclosed table, expected `]`
    hint: settings come from GO_TEAM_* variables, go-team.toml, and your own config.toml
    ---
    ");
    assert_eq!(project(&repo), "[lock\n");
}

#[test]
fn a_layer_that_goes_first_is_named() {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[lock]\ntimeout_seconds = 5\n");
    assert_snapshot!(repo.run(&["config", "set", "--user", "lock.timeout_seconds", "9"]), @"
    exit: 0
    --- stdout
    ✓ Set in $TMP/home/.config/go-team/config.toml:
      lock.timeout_seconds = 9
    --- stderr
    warning: it has no effect here: go-team.toml:2 goes first and says 5
    ---
    ");
    let variables = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", "1")];
    let unset = repo.run_env(&variables, &["config", "unset", "lock.timeout_seconds"]);
    assert_snapshot!(unset, @"
    exit: 0
    --- stdout
    ✓ Unset in $TMP/work/go-team.toml: lock.timeout_seconds
    --- stderr
    warning: lock.timeout_seconds is 1 all the same, because of GO_TEAM_LOCK_TIMEOUT_SECONDS
    ---
    ");
}

#[test]
fn the_users_own_file_needs_no_repository() {
    let place = TestRepo::without_git();
    assert_snapshot!(place.run(&["config", "path", "--user"]), @"
    exit: 0
    --- stdout
    $TMP/home/.config/go-team/config.toml
    --- stderr
    ---
    ");
    assert_snapshot!(place.run(&["config", "set", "lock.timeout_seconds", "9"]), @"
    exit: 7
    --- stdout
    --- stderr
    error: there is no git repository at $TMP/work or above
    hint: git init makes one here; -C DIR names another directory
    hint: go-team config set --user is for your own file, which needs no repository
    ---
    ");
    place.ok(&["config", "set", "--user", "lock.timeout_seconds", "9"]);
    assert_eq!(
        fs::read_to_string(user_file(&place)).unwrap(),
        "[lock]\ntimeout_seconds = 9\n"
    );
    let listed = place.ok(&["config", "list", "--changed"]);
    assert!(listed.stdout.contains("lock.timeout_seconds"), "{listed}");
    let homeless = place.run_env(&[("HOME", "")], &["config", "path", "--user"]);
    assert_snapshot!(homeless, @"
    exit: 1
    --- stdout
    --- stderr
    error: there is no place for a configuration of your own: neither HOME nor XDG_CONFIG_HOME is an absolute path
    hint: set HOME, or XDG_CONFIG_HOME
    ---
    ");
}

#[test]
fn a_link_of_the_users_is_followed_and_a_projects_is_not() {
    let repo = TestRepo::with_commit();
    let outside = repo.home().join("outside.toml");
    fs::write(&outside, "# mine\n").unwrap();
    std::os::unix::fs::symlink(&outside, repo.path("go-team.toml")).unwrap();
    assert_snapshot!(repo.run(&["config", "set", "durability.sync", "false"]), @"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/go-team.toml is a link, and is not written through
    hint: change the file that it points at, or put a file of its own in its place
    hint: go-team config set --user KEY VALUE changes your own settings
    ---
    ");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "# mine\n");
    fs::create_dir_all(user_file(&repo).parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&outside, user_file(&repo)).unwrap();
    repo.ok(&["config", "set", "--user", "durability.sync", "false"]);
    assert_eq!(
        fs::read_to_string(&outside).unwrap(),
        "# mine\n\n[durability]\nsync = false\n"
    );
    assert!(user_file(&repo).is_symlink());
}

#[test]
fn a_generated_file_describes_everything_and_is_never_written_over() {
    let repo = TestRepo::with_commit();
    assert_snapshot!(repo.run(&["config", "init"]), @"
    exit: 0
    --- stdout
    ✓ Written: $TMP/work/go-team.toml
      It describes every setting and sets none.
    Commands:
      go-team config list   go-team config set KEY VALUE
    --- stderr
    ---
    ");
    let text = project(&repo);
    assert!(text.ends_with(&go_team::config::reference()), "{text}");
    assert_snapshot!(repo.run(&["config", "init"]), @"
    exit: 1
    --- stdout
    --- stderr
    error: $TMP/work/go-team.toml exists already
    hint: nothing is overwritten: name another file, or remove that one first
    ---
    ");
    assert_eq!(project(&repo), text);
    let listed = repo.ok(&["config", "list", "--changed"]);
    assert_eq!(listed.stdout, "", "it sets nothing");
    repo.ok(&["config", "set", "lock.timeout_seconds", "9"]);
    let described = "## How long a command waits for another one to finish. Takes a number of seconds.\n\
        # timeout_seconds = 30\ntimeout_seconds = 9\n";
    assert!(project(&repo).contains(described), "{}", project(&repo));
    repo.ok(&["config", "unset", "lock.timeout_seconds"]);
    assert_eq!(project(&repo), text);
    repo.ok(&["config", "init", "--user"]);
    assert!(user_file(&repo).exists());
}
