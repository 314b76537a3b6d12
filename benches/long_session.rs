//! How long listing and validating take when a session has become long.
//!
//! `cargo bench --bench long_session` makes 10,000 checkpoints of 2,000 files, one of which changes each time, and then
//! times `cp-list`, `cp-validate` and `cp-validate --deep`. `-- --checkpoints N`, `--files N` change the size;
//! `--dir DIR` keeps the session there, and measures the one that is there already.

#![allow(clippy::unwrap_used, reason = "a measurement may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use go_team::engine::create::{CreateOptions, Files, create};
use go_team::engine::open::{OpenOptions, WideWorkTree, open};
use go_team::engine::{Clock, Progress, Workspace};
use go_team::model::Trigger;

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, usual: usize| value(name).map_or(usual, |n| n.parse().unwrap());
    let (checkpoints, files) = (number("--checkpoints", 10_000), number("--files", 2_000));
    let temp = tempfile::tempdir().unwrap();
    let dir = value("--dir").map_or_else(|| temp.path().join("session"), PathBuf::from);
    if !dir.join(".git").exists() {
        let started = Instant::now();
        build(&dir, checkpoints, files);
        println!(
            "made {checkpoints} checkpoints of {files} files in {:.0} s",
            started.elapsed().as_secs_f64()
        );
    }
    println!("| command | median, ms | slowest, ms | most memory, MiB |\n|---|---|---|---|");
    for (command, rounds) in [
        (&["cp-list"][..], ROUNDS),
        (&["cp-validate"], ROUNDS),
        (&["cp-validate", "--deep"], 3),
    ] {
        let mut times: Vec<f64> = Vec::new();
        let mut memory = 0;
        for _ in 0..rounds {
            let (time, peak) = run(&dir, command);
            times.push(time);
            memory = memory.max(peak);
        }
        times.sort_by(f64::total_cmp);
        let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
        println!(
            "| `{}` | {median:.0} | {slowest:.0} | {memory} |",
            command.join(" ")
        );
    }
}

/// Milliseconds and the most MiB that a command took.
fn run(dir: &Path, command: &[&str]) -> (f64, u64) {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_go-team"))
        .args(command)
        .current_dir(dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) / 1024);
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert!(ended.success(), "{command:?}");
    (started.elapsed().as_secs_f64() * 1000.0, peak)
}

fn build(dir: &Path, checkpoints: usize, files: usize) {
    fs::create_dir_all(dir).unwrap();
    let status = Command::new("git")
        .args(["init", "-q", "-b", "main"])
        .current_dir(dir)
        .status();
    assert!(status.unwrap().success());
    let file = |nth: usize| dir.join(format!("d{:02}/e{:02}/f{nth}.txt", nth % 20, nth / 20 % 20));
    for nth in 0..files {
        let path = file(nth);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("file {nth}\n").repeat(20)).unwrap();
    }
    let config = "[durability]\nsync = false\n[retention]\nenabled = false\n";
    fs::write(dir.join("go-team.toml"), config).unwrap();
    let workspace = workspace(dir);
    for nth in 0..checkpoints {
        fs::write(file(nth * 7 % files), format!("round {nth}\n").repeat(20)).unwrap();
        let options = CreateOptions {
            session: None,
            description: format!("round {nth}"),
            step: None,
            name: None,
            phase: None,
            trigger: Trigger::Manual,
            state: None,
            outputs: None,
            metrics: Vec::new(),
            files: Files::Capture,
        };
        create(&workspace, &options, &Progress::default()).unwrap();
    }
}

fn workspace(dir: &Path) -> Workspace {
    open(OpenOptions {
        start: dir.to_owned(),
        home: None,
        xdg_config_home: None,
        environment: Vec::new(),
        wide: WideWorkTree::Refuse,
        clock: Clock::System,
    })
    .unwrap()
}
