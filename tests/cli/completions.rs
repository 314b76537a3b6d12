//! What shells offer while somebody types, asked through the scripts themselves.

use std::fs;
use std::process::Command;

use insta::assert_snapshot;

use crate::support::TestRepo;

/// What the program offers for a line, whose last word is being typed.
fn offers(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let variables = [
        ("GO_TEAM_COMPLETE", "bash"),
        ("_CLAP_COMPLETE_INDEX", index.as_str()),
        ("_CLAP_IFS", "\n"),
    ];
    let line: Vec<&str> = ["--"].into_iter().chain(words.iter().copied()).collect();
    let output = repo.run_env(&variables, &line);
    assert_eq!(output.stderr, "", "silent whatever happens");
    assert_eq!(output.code, Some(0));
    output.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn checkpoints_steps_and_sessions_are_offered_live() {
    let repo = TestRepo::with_checkpoints();
    let session = repo.session_of("auth system");
    let found = offers(&repo, &["go-team", "cp-show", ""]);
    for word in ["2", "1", "requirements", "init", "current", "latest"] {
        assert!(found.iter().any(|offer| offer == word), "{word}: {found:?}");
    }
    assert_eq!(
        offers(&repo, &["go-team", "rollback", "cp-01"]),
        ["cp-01-init-20251228-210200"]
    );
    assert_eq!(
        offers(&repo, &["go-team", "cp-diff", "1", "req"]),
        ["requirements"]
    );
    assert_eq!(
        offers(&repo, &["go-team", "cp-list", "--session", "au"]),
        [session.as_str()]
    );
    assert_eq!(
        offers(&repo, &["go-team", "session-info", "a"]),
        [session.as_str()]
    );
    assert_eq!(
        offers(&repo, &["go-team", "cp-create", "--step", "9"]),
        ["9"]
    );
    assert_eq!(
        offers(&repo, &["go-team", "cp-create", "--trigger", "conf"]),
        ["conflict_start", "conflict_resolved"]
    );
    assert_eq!(
        offers(&repo, &["go-team", "start", "x", "--workflow", "cr"]),
        ["crunch"]
    );
    assert_eq!(
        offers(&repo, &["go-team", "sessions", "--status", "c"]),
        ["completed"]
    );
    assert_eq!(
        offers(&repo, &["go-team", "config", "get", "lock."]),
        ["lock.timeout_seconds"]
    );
    assert_eq!(
        offers(&repo, &["go-team", "config", "set", "durability.sync", "t"]),
        ["true"]
    );
    assert_eq!(offers(&repo, &["go-team", "cp-ex"]), ["cp-export"]);
    let other = TestRepo::with_commit();
    other.ok(&["start", "elsewhere"]);
    let there = repo.root();
    let line = ["go-team", "-C", there.to_str().unwrap(), "cp-show", "ini"];
    assert_eq!(
        offers(&other, &line),
        ["init"],
        "in the directory that the line names"
    );
}

#[test]
fn nothing_is_offered_that_a_shell_would_run_and_nothing_is_written() {
    let repo = TestRepo::with_commit();
    repo.ok(&["cp-create", "--name", "$(touch owned)", "x"]);
    repo.ok(&["cp-create", "--name", "a b;c\u{1b}[31m", "x"]);
    repo.ok(&["cp-create", "--name=-rf", "x"]);
    let found = offers(&repo, &["go-team", "cp-show", ""]);
    assert!(found.len() >= 8, "{found:?}");
    let harmless = |word: &String| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-=".contains(c))
    };
    assert!(found.iter().all(harmless), "{found:?}");
    assert!(!found.contains(&"-rf".to_owned()));
    for place in [TestRepo::without_git(), TestRepo::new()] {
        assert_eq!(offers(&place, &["go-team", "cp-show", "c"]), [""; 0]);
        assert!(!place.store().exists());
    }
    let damaged = TestRepo::with_checkpoints();
    fs::write(damaged.session_dir().join("manifest.json"), "{").unwrap();
    assert_eq!(offers(&damaged, &["go-team", "cp-show", "c"]), [""; 0]);
    damaged.write("go-team.toml", "[lock\n");
    assert_eq!(offers(&damaged, &["go-team", "cp-show", "c"]), [""; 0]);
}

/// Runs a shell with `go-team` on its path, if there is such a shell.
fn shell(repo: &TestRepo, program: &str, args: &[&str], script: &str) -> Option<String> {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_go-team"))
        .parent()
        .unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command
        .args(args)
        .arg(script)
        .current_dir(repo.root())
        .env_clear();
    command
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", repo.home());
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().ok()?;
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{program}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn bash_completes_with_the_script() {
    let repo = TestRepo::with_checkpoints();
    let script = r#"
        eval "$(go-team completions bash)"
        ask() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
            COMPREPLY=()
            _clap_complete_go_team go-team "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
            printf '%s:' "${@: -1}"; printf ' %s' "${COMPREPLY[@]}"; echo
        }
        ask go-team cp-val
        ask go-team cp-show req
        ask go-team cp-show cp-02
        ask go-team rollback 1
        ask go-team --json cp-diff init lat
        complete -p go-team
    "#;
    let answer = shell(&repo, "bash", &["--norc", "-c"], script).expect("bash is there");
    assert_snapshot!(answer, @"
    cp-val: cp-validate
    req: requirements
    cp-02: cp-02-requirements-20251228-210300
    1: 1
    lat: latest
    complete -o bashdefault -o nosort -o nospace -F _clap_complete_go_team go-team
    ");
}

#[test]
fn zsh_and_fish_take_the_script_where_they_are_installed() {
    let repo = TestRepo::with_checkpoints();
    let fish = "go-team completions fish | source; complete -C 'go-team cp-show req'";
    if let Some(answer) = shell(&repo, "fish", &["--no-config", "-c"], fish) {
        assert!(answer.starts_with("requirements"), "{answer}");
    }
    let zsh = "autoload -U compinit; compinit -u -D; eval \"$(go-team completions zsh)\"; \
        print -r -- ${_comps[go-team]}";
    if let Some(answer) = shell(&repo, "zsh", &["-f", "-c"], zsh) {
        assert!(
            answer.contains("go_team") || answer.contains("go-team"),
            "{answer}"
        );
    }
}

#[test]
fn every_shell_has_a_script() {
    let repo = TestRepo::without_git();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = repo.ok(&["completions", name]).stdout;
        assert!(script.contains("GO_TEAM_COMPLETE"), "{script}");
        let answer = repo.ok(&["completions", name, "--json"]).json();
        assert_eq!(answer["data"]["shell"], name);
        assert_eq!(
            answer["data"]["script"].as_str().unwrap().trim(),
            script.trim()
        );
    }
    let unknown = repo.run(&["completions", "tcsh"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("powershell"), "{unknown}");
}

#[test]
fn manual_pages_are_printed_and_written() {
    let repo = TestRepo::without_git();
    let page = repo.ok(&["man"]).stdout;
    assert!(page.contains(".TH go-team 1"), "{page}");
    assert!(page.contains("go\\-team\\-cp\\-create(1)"), "{page}");
    let page = repo.ok(&["man", "cp-create"]).stdout;
    assert!(page.contains(".TH go-team-cp-create 1"), "{page}");
    assert!(page.contains("\\-\\-trigger"), "{page}");
    assert_eq!(
        repo.ok(&["man", "checkpoint"]).stdout,
        page,
        "by its other name"
    );
    let nested = repo.ok(&["man", "state", "set"]).stdout;
    assert!(nested.contains(".TH go-team-state-set 1"), "{nested}");
    assert_snapshot!(repo.run(&["man", "cp-frobnicate"]).code.unwrap(), @"4");
    assert_snapshot!(repo.run(&["man", "state", "sets"]), @r#"
    exit: 4
    --- stdout
    --- stderr
    error: there is no command "state sets"
    hint: there is: show, get, set
    ---
    "#);
    let answer = repo.ok(&["man", "status", "--json"]).json();
    assert_eq!(answer["data"]["file"], "go-team-status.1");
    for _ in 0..2 {
        let answer = repo.ok(&["man", "--out", "share/man1", "--json"]).json();
        let files = answer["data"]["files"].as_array().unwrap();
        assert_eq!(
            fs::read_dir(repo.path("share/man1")).unwrap().count(),
            files.len()
        );
        assert!(files.contains(&"go-team-state-get.1".into()), "{files:?}");
    }
    assert_eq!(
        fs::read_to_string(repo.path("share/man1/go-team.1")).unwrap(),
        repo.ok(&["man"]).stdout
    );
    repo.write("plain", "");
    let refused = repo.run(&["man", "--out", "plain"]);
    assert_eq!(refused.code, Some(1), "{refused}");
}
