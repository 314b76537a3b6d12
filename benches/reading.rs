//! Commands that only read, against git's for the same question, in one run.
//!
//! `cargo bench --bench reading` makes a repository of 30,000 files with two checkpoints that differ in 100 of them, runs
//! go-team and git in turn, and prints medians and spreads of the ratio. `--rounds N` takes more or fewer rounds; `TMPDIR`
//! chooses the file system.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const GO_TEAM: &str = env!("CARGO_BIN_EXE_go-team");
const FILES: usize = 30_000;
const DIRS: usize = 6_000;
const CHANGED: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds = arguments
        .iter()
        .position(|argument| argument == "--rounds")
        .and_then(|at| arguments.get(at + 1));
    let rounds: usize = rounds.map_or(21, |text| text.parse().expect("a number of rounds"));
    let place = tempfile::tempdir().expect("a temporary directory");
    let dir = place.path();
    let (old, new) = prepare(dir);
    let [a, b] = ["1", "2"];
    println!("| question | git, ms | go-team, ms | ratio | target | spread of the ratio |");
    println!("|---|---|---|---|---|---|");
    let git_stat = || run(dir, "git", &["diff", "--stat", &old, &new]);
    measure(
        "`cp-diff` of two checkpoints, 100 of 30,000 files differ, against `git diff --stat`",
        1.2,
        rounds,
        &git_stat,
        &|| run(dir, GO_TEAM, &["cp-diff", a, b]),
    );
    measure("the same with `--stat`", 1.2, rounds, &git_stat, &|| {
        run(dir, GO_TEAM, &["cp-diff", a, b, "--stat"])
    });
    measure(
        "the same with `--patch`, against `git diff`",
        1.2,
        rounds,
        &|| run(dir, "git", &["diff", &old, &new]),
        &|| run(dir, GO_TEAM, &["cp-diff", a, b, "--patch"]),
    );
    // Some of them changed since, and git has refreshed its index.
    for nth in 0..CHANGED {
        edit(dir, nth * 131, "since");
    }
    fs::write(dir.join("untracked.txt"), "new\n").expect("a file");
    std::thread::sleep(std::time::Duration::from_millis(50));
    run(dir, "git", &["status"]);
    measure(
        "`status`, 30,000 files, against `git status`",
        0.6,
        rounds,
        &|| run(dir, "git", &["status"]),
        &|| run(dir, GO_TEAM, &["status"]),
    );
    measure(
        "`cp-diff` against the work tree, against `git diff --stat` of the same",
        1.2,
        rounds,
        &|| run(dir, "git", &["diff", "--stat", &new]),
        &|| run(dir, GO_TEAM, &["cp-diff", b, "--stat"]),
    );
}

/// A repository with two checkpoints; the names of their refs.
fn prepare(dir: &Path) -> (String, String) {
    for nth in 0..DIRS {
        fs::create_dir_all(dir.join(parent(nth))).expect("a directory");
    }
    for nth in 0..FILES {
        fs::write(dir.join(path(nth)), text(nth)).expect("a file");
    }
    run(dir, "git", &["init", "-q", "-b", "main"]);
    // git would collect garbage by itself after the commit, beside what is measured.
    run(dir, "git", &["config", "gc.auto", "0"]);
    run(dir, "git", &["add", "-A"]);
    run(dir, "git", &["commit", "-q", "-m", "start"]);
    run(dir, "git", &["gc", "-q"]);
    run(dir, GO_TEAM, &["cp-create", "-q"]);
    for nth in 0..CHANGED {
        edit(dir, nth * 293, "between");
    }
    run(dir, GO_TEAM, &["cp-create", "-q"]);
    let refs = run(
        dir,
        "git",
        &["for-each-ref", "--format=%(refname)", "refs/go-team/"],
    );
    let mut refs = refs.lines().map(str::to_owned);
    let mut next = || refs.next().expect("a checkpoint's ref");
    (next(), next())
}

fn parent(nth: usize) -> String {
    format!("d{:02}/e{:02}/g{:02}", nth % 20, nth / 20 % 20, nth / 400)
}

fn path(nth: usize) -> String {
    format!("{}/file{}.go", parent(nth % DIRS), nth / DIRS)
}

fn text(nth: usize) -> String {
    let mut text = String::new();
    for line in 0..40 {
        let _ = writeln!(text, "func f{nth}_{line}() {{ return {} }}", nth * line);
    }
    text
}

fn edit(dir: &Path, nth: usize, word: &str) {
    let place = dir.join(path(nth % FILES));
    let text = fs::read_to_string(&place).expect("a file");
    let changed = text.replacen("_7()", &format!("_{word}()"), 1) + word + "\n";
    fs::write(&place, changed).expect("a file");
}

fn run(dir: &Path, program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "bench")
            .env(format!("GIT_{role}_EMAIL"), "bench@example.com");
    }
    let output = command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(dir)
        .args(args)
        .output()
        .expect("a program that runs");
    assert!(output.status.success(), "{program} {args:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn measure(
    name: &str,
    target: f64,
    rounds: usize,
    git: &dyn Fn() -> String,
    ours: &dyn Fn() -> String,
) {
    let time = |work: &dyn Fn() -> String| {
        let start = Instant::now();
        assert!(!work().is_empty(), "an answer");
        start.elapsed().as_secs_f64() * 1000.0
    };
    // Both once, so that neither pays for a cold cache.
    time(git);
    time(ours);
    let rows: Vec<(f64, f64)> = (0..rounds).map(|_| (time(git), time(ours))).collect();
    let sorted = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        values
    };
    let gits = sorted(rows.iter().map(|row| row.0).collect());
    let ourss = sorted(rows.iter().map(|row| row.1).collect());
    let ratios = sorted(rows.iter().map(|row| row.1 / row.0).collect());
    let middle = |values: &[f64]| values[values.len() / 2];
    let edge = ratios.len() / 10;
    println!(
        "| {name} | {:.1} | {:.1} | {:.2} | ≤ {target} | {:.2}–{:.2} |",
        middle(&gits),
        middle(&ourss),
        middle(&ratios),
        ratios[edge],
        ratios[ratios.len() - 1 - edge]
    );
}
