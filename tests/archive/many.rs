//! A long session: time and memory grow with it, and with nothing else. `ARCHIVE_MANY=10000` makes it as long as
//! sessions get; `ARCHIVE_PROGRAM` names another build of go-team to measure.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use go_team::engine::create::{CreateOptions, Files, create};
use go_team::engine::open::{OpenOptions, WideWorkTree, open};
use go_team::engine::{Clock, Progress};
use go_team::model::Trigger;

use crate::place::{refs, unused};
use crate::support::TestRepo;

/// Makes checkpoints in this process, each with a changed file.
fn fill(repo: &TestRepo, count: u64) {
    repo.write(
        "go-team.toml",
        "[durability]\nsync = false\n[retention]\nenabled = false\n",
    );
    for nth in 0..200 {
        repo.write(
            format!("src/{}/{nth}.txt", nth % 10),
            format!("{nth}\n").repeat(50),
        );
    }
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "many files"]);
    let workspace = open(OpenOptions {
        start: repo.root(),
        home: Some(repo.home().into_os_string()),
        xdg_config_home: None,
        environment: Vec::new(),
        wide: WideWorkTree::Refuse,
        clock: Clock::System,
    });
    let workspace = workspace.unwrap_or_else(|error| panic!("{error}"));
    for nth in 0..count {
        let place = nth % 200;
        repo.write(
            format!("src/{}/{place}.txt", place % 10),
            format!("{nth}\n").repeat(50),
        );
        let options = CreateOptions {
            session: None,
            description: format!("checkpoint {nth}"),
            step: None,
            name: None,
            phase: None,
            trigger: Trigger::Manual,
            state: None,
            outputs: None,
            metrics: vec![("run".to_owned(), nth.into())],
            files: Files::Capture,
        };
        create(&workspace, &options, &Progress::default())
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Runs go-team, and says how long it took and how much memory it had at most, in kilobytes.
fn measured(repo: &TestRepo, args: &[&str]) -> (Duration, u64) {
    let prepared = repo.go_team();
    let program = std::env::var_os("ARCHIVE_PROGRAM");
    let mut command = Command::new(program.unwrap_or_else(|| prepared.get_program().to_owned()));
    command.current_dir(repo.root()).env_clear();
    for (name, value) in prepared.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let started = Instant::now();
    let mut child = command.args(args).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        most = most.max(number.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(ended.success(), "{args:?}");
    println!("{args:?}: {:?}, {most} kB", started.elapsed());
    (started.elapsed(), most)
}

fn size(path: &Path) -> u64 {
    path.metadata().unwrap().len()
}

#[test]
fn a_long_session_goes_out_and_comes_in() {
    let asked = std::env::var("ARCHIVE_MANY").ok();
    let count: u64 = asked.map_or(300, |asked| asked.parse().expect("a number of checkpoints"));
    let repo = TestRepo::with_commit();
    fill(&repo, count);
    let file = unused(&repo, "many");
    let path = file.to_str().unwrap();
    let (_, exporting) = measured(&repo, &["cp-export", "-o", path]);
    println!("{count} checkpoints, {} bytes", size(&file));
    let other = TestRepo::new();
    let (_, importing) = measured(&other, &["cp-import", path]);
    assert_eq!(refs(&other), refs(&repo));
    assert_eq!(u64::try_from(refs(&other).lines().count()).unwrap(), count);
    let (_, renaming) = measured(&other, &["cp-import", path, "--as", "again"]);
    other.git(&["fsck", "--strict", "--no-dangling"]);
    // Some kilobytes a checkpoint, beside what any command takes.
    for most in [exporting, importing, renaming] {
        assert!(most < 200_000 + 40 * count, "{most} kB");
    }
}
