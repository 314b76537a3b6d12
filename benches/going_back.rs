//! Going back to a checkpoint, against git doing the same, in one run.
//!
//! `cargo bench --bench going_back` makes two repositories of 30,000 files, changes 1,000 files, deletes 100 and adds 1,000
//! in both, and takes them back: one with `go-team rollback`, which takes its safety checkpoint and writes durably as
//! always, one with git's snapshot on a copied index, `git reset --hard` and `git clean -fd`. The two take turns; medians
//! and the spread of the ratio are printed. `--rounds N` takes more or fewer rounds; `TMPDIR` chooses the file system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const GO_TEAM: &str = env!("CARGO_BIN_EXE_go-team");
const FILES: usize = 30_000;
const DIRS: usize = 6_000;
const TARGET: f64 = 0.7;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds = arguments
        .iter()
        .position(|argument| argument == "--rounds")
        .and_then(|at| arguments.get(at + 1));
    let rounds: usize = rounds.map_or(11, |text| text.parse().expect("a number of rounds"));
    let place = tempfile::tempdir().expect("a temporary directory");
    let [git, ours] = ["git", "go-team"].map(|name| {
        let dir = place.path().join(name);
        prepare(&dir);
        dir
    });
    run(&ours, GO_TEAM, &["cp-create", "-q"]);
    let mut times = Vec::new();
    for round in 0..=rounds {
        edit(&git, round);
        edit(&ours, round);
        // What was just written is not part of the work.
        run(place.path(), "sync", &[]);
        let with_git = time(|| go_back_with_git(&git, round));
        let with_us = time(|| run(&ours, GO_TEAM, &["rollback", "1", "--yes", "-q"]));
        for dir in [&git, &ours] {
            let left = output(dir, "git", &["status", "--porcelain"]);
            assert!(left.is_empty(), "{} is not clean: {left}", dir.display());
        }
        // The first round warms both up.
        if round > 0 {
            times.push((with_git, with_us));
        }
    }
    let ratios: Vec<f64> = times.iter().map(|(git, ours)| ours / git).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    println!("| work | git, ms | go-team, ms | ratio | target | spread of the ratio |");
    println!("|---|---|---|---|---|---|");
    println!(
        "| going back over 1,000 modified + 100 deleted + 1,000 new of 30,000 files | {:.0} | {:.0} | {:.2} | {TARGET} | {least:.2}–{most:.2} |",
        median(times.iter().map(|(git, _)| *git)),
        median(times.iter().map(|(_, ours)| *ours)),
        median(ratios.iter().copied()),
    );
}

fn prepare(dir: &Path) {
    for nth in 0..DIRS {
        fs::create_dir_all(dir.join(parent(nth))).expect("a directory");
    }
    for nth in 0..FILES {
        fs::write(dir.join(path(nth)), text(nth)).expect("a file");
    }
    run(dir, "git", &["init", "-q", "-b", "main"]);
    run(dir, "git", &["config", "user.name", "bench"]);
    run(dir, "git", &["config", "user.email", "bench@example.org"]);
    run(dir, "git", &["config", "gc.auto", "0"]);
    run(dir, "git", &["add", "-A"]);
    run(dir, "git", &["commit", "-q", "-m", "all"]);
    run(dir, "git", &["gc", "-q"]);
}

/// The same in both repositories, and other contents in each round.
fn edit(dir: &Path, round: usize) {
    for nth in 0..1_000 {
        let file = dir.join(path(nth * 29));
        fs::write(file, format!("{round} {}", text(nth))).expect("a file");
    }
    for nth in 0..100 {
        fs::remove_file(dir.join(path(nth * 290 + 7))).expect("a file that is there");
    }
    for nth in 0..1_000 {
        let file = dir.join(parent(nth * 5)).join(format!("new-{nth}.txt"));
        fs::write(file, format!("{round} new {}", text(nth))).expect("a file");
    }
}

fn go_back_with_git(dir: &Path, round: usize) {
    let index = dir.join(".git/bench-index");
    fs::copy(dir.join(".git/index"), &index).expect("the index");
    let with_index = |args: &[&str]| {
        let output = command(dir, "git")
            .args(args)
            .env("GIT_INDEX_FILE", &index)
            .output();
        let output = output.expect("git");
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8(output.stdout)
            .expect("text")
            .trim()
            .to_owned()
    };
    with_index(&["add", "-A"]);
    let tree = with_index(&["write-tree"]);
    let commit = with_index(&["commit-tree", &tree, "-p", "HEAD", "-m", "safety"]);
    let name = format!("refs/bench/{round}");
    run(dir, "git", &["update-ref", &name, &commit]);
    run(dir, "git", &["reset", "-q", "--hard", "HEAD"]);
    run(dir, "git", &["clean", "-q", "-fd"]);
}

fn parent(nth: usize) -> PathBuf {
    let nth = nth % DIRS;
    format!("d{:02}/e{:02}/f{nth:04}", nth % 40, nth % 400 / 40).into()
}

fn path(nth: usize) -> PathBuf {
    parent(nth).join(format!("file-{nth:05}.txt"))
}

fn text(nth: usize) -> String {
    format!("line of file {nth}\n").repeat(20 + nth % 60)
}

fn command(dir: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(dir)
        .env("HOME", dir.join(".git"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

fn output(dir: &Path, program: &str, args: &[&str]) -> String {
    let output = command(dir, program).args(args).output();
    let output = output.expect("a program that runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn run(dir: &Path, program: &str, args: &[&str]) {
    output(dir, program, args);
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1000.0
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
