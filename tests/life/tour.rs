//! The walk through a whole workflow in the README: every command of it is run, and its output is what is printed there.
//!
//! With `UPDATE_README=1` the README is written instead of being compared.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::TestRepo;

const BEGIN: &str = "<!-- walk -->\n";
const END: &str = "<!-- /walk -->\n";
/// What the README calls the place that it is all done in.
const HOME: &str = "/home/you/billing";

/// Runs a line as a shell does, at the next minute, and gives all that it prints.
fn run(repo: &TestRepo, bin: &Path, line: &str, now: Option<&str>) -> String {
    let prepared = repo.go_team();
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("exec 2>&1\n{line}"))
        .current_dir(repo.root())
        .env_clear();
    for (key, value) in prepared.get_envs() {
        if let Some(value) = value {
            shell.env(key, value);
        }
    }
    if let Some(now) = now {
        shell.env("GO_TEAM_TEST_NOW", now);
    }
    let path = std::env::var("PATH").unwrap_or_default();
    shell.env("PATH", format!("{}:{path}", bin.display()));
    let output = shell.output().unwrap();
    assert!(
        output.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let root = repo.root().canonicalize().unwrap();
    text.replace(root.to_str().unwrap(), HOME)
}

/// The same text with what the commands in it print now.
fn replayed(text: &str) -> String {
    let repo = TestRepo::with_commit();
    let bin = repo.path("../bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_go-team"), bin.join("go-team")).unwrap();
    let mut now = None;
    let mut is_console = false;
    let mut out = String::new();
    for line in text.lines() {
        if is_console && let Some(command) = line.strip_prefix("$ ") {
            out.push_str(line);
            out.push('\n');
            if command == "# a week later" {
                now = Some("2026-01-06T09:00:00Z");
            } else {
                out.push_str(&run(&repo, &bin, command, now));
            }
            continue;
        }
        match line {
            "```console" => is_console = true,
            "```" => is_console = false,
            // What was printed when this was written.
            _ if is_console => continue,
            _ => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[test]
fn the_walk_in_the_readme_is_what_happens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (told, after) = rest.split_once(END).unwrap();
    let real = replayed(told);
    for step in [
        "--step 1 ",
        "6.2",
        "6.3",
        "rollback 4",
        "complete",
        "cleanup",
    ] {
        assert!(told.contains(step), "the walk leaves out {step}");
    }
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, [before, BEGIN, &real, END, after].concat()).unwrap();
        return;
    }
    similar_asserts(told, &real);
}

/// Says in which line two texts part.
fn similar_asserts(told: &str, real: &str) {
    let parts = told
        .lines()
        .zip(real.lines())
        .position(|(told, real)| told != real);
    let at = parts.unwrap_or_else(|| told.lines().count().min(real.lines().count()));
    let near = |text: &str| {
        let lines = text.lines().skip(at.saturating_sub(3)).take(7);
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(
        told == real,
        "the README says:\n{}\n\nin truth:\n{}",
        near(told),
        near(real)
    );
}
