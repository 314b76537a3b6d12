//! Killed at any instant: a checkpoint is absent or complete, and the next command needs no help.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use go_team::model::Record;

use super::check;
use super::process;
use super::support::TestRepo;

/// Numbers that differ from run to run, and come again when the seed that was printed is given.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let seed = std::env::var("PROMISES_SEED").ok();
        let seed = seed.map(|seed| seed.parse().expect("PROMISES_SEED is a number"));
        let fresh = || {
            let hasher = std::collections::hash_map::RandomState::new().build_hasher();
            hasher.finish() | 1
        };
        let seed = seed.unwrap_or_else(fresh);
        println!("PROMISES_SEED={seed}");
        Self(seed)
    }

    /// Less than `limit`.
    fn roll(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn rounds(default: u32) -> u32 {
    let asked = std::env::var("PROMISES_ROUNDS").ok();
    asked.map_or(default, |asked| asked.parse().expect("a number of rounds"))
}

/// How one checkpoint came out whose process was to be killed.
enum Fate {
    /// It was acknowledged before the kill: this is its id.
    Made(String),
    Killed,
}

/// Starts a checkpoint and kills it after `delay`.
fn kill_after(repo: &TestRepo, dir: &Path, delay: Duration) -> Fate {
    let mut command = process::go_team(repo, dir);
    command.args(["cp-create", "--quiet", "--trigger", "auto"]);
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(delay.saturating_sub(started.elapsed()));
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let id = String::from_utf8(output.stdout).unwrap();
    if id.is_empty() {
        Fate::Killed
    } else {
        Fate::Made(id.trim_end().to_owned())
    }
}

#[test]
fn killed_at_random_instants() {
    let mut dice = Dice::new();
    let repo = TestRepo::with_commit();
    let root = repo.root();
    repo.write("go-team.toml", "[retention]\nkeep_auto = 4\n");
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    let mut killed = 0;
    let mut usual = Duration::from_millis(40);
    for round in 0..rounds(25) {
        repo.write("file.txt", format!("{round}\n"));
        repo.write(format!("dir/{round}.txt"), "new\n");
        if round % 5 == 4 {
            repo.git(&["pack-refs", "--all"]);
        }
        let limit = u64::try_from(usual.as_micros()).unwrap() * 5 / 4;
        let fate = kill_after(&repo, &root, Duration::from_micros(dice.roll(limit)));
        match &fate {
            Fate::Made(id) => _ = acknowledged.insert(id.clone()),
            Fate::Killed => killed += 1,
        }
        let mut next = process::go_team(&repo, &root);
        next.args(["cp-create", "--quiet", "--trigger", "auto"]);
        let started = Instant::now();
        acknowledged.insert(process::succeed(next).trim_end().to_owned());
        usual = started.elapsed().min(Duration::from_secs(1));
        check::no_residue(&repo.path(".git"));
        let session = check::complete_one(&repo, &root);
        let manifest = &session.manifest;
        assert!(manifest.next_seq() > acknowledged.len() as u64);
        let newest = &session.records.last().unwrap().id;
        assert!(acknowledged.contains(newest.as_str()), "the newest is ours");
        assert_eq!(manifest.current_checkpoint.as_ref(), Some(newest));
        if let Fate::Made(id) = &fate {
            let is_it = |record: &Record| record.id.as_str() == id;
            assert!(session.records.iter().any(is_it), "{id} was acknowledged");
        }
    }
    assert!(killed > 0, "the delays are too long to kill anything");
}

#[test]
fn killed_before_there_is_a_session() {
    let mut dice = Dice::new();
    for _ in 0..rounds(8) {
        let repo = TestRepo::with_commit();
        repo.write("file.txt", "work\n");
        let fate = kill_after(
            &repo,
            &repo.root(),
            Duration::from_micros(dice.roll(40_000)),
        );
        let made = repo.ok(&["cp-create", "--quiet"]).stdout;
        let listed = repo.ok(&["cp-list", "--json"]).json();
        let listed = listed["data"]["checkpoints"].to_string();
        assert!(listed.contains(made.trim_end()), "{listed}");
        if let Fate::Made(id) = fate {
            assert!(listed.contains(&id), "{listed}");
        }
        check::complete(&repo, &repo.root());
        check::no_residue(&repo.path(".git"));
    }
}

#[test]
fn what_a_killed_process_was_writing_goes_with_the_next_command() {
    let repo = TestRepo::with_commit();
    repo.ok(&["cp-create"]);
    let store = repo.store();
    let left = [
        store.join(".tmp-ref-1a2b3c"),
        store.join(".tmp-packs-1a2b3c"),
        store.join("sessions/.tmp-1-1"),
        store.join("worktrees/main/.tmp-1-1"),
        repo.session_dir().join(".tmp-1-1"),
    ];
    for path in &left {
        fs::write(path, b"half of").unwrap();
    }
    repo.ok(&["cp-create"]);
    let still: Vec<_> = left.iter().filter(|path| path.exists()).collect();
    assert!(still.is_empty(), "{still:#?}");
}

#[test]
fn a_journal_that_a_power_cut_brings_back_changes_nothing() {
    let repo = TestRepo::with_commit();
    let made = repo.ok(&["cp-create", "--json"]).json();
    let id = made["data"]["record"]["id"].as_str().unwrap().to_owned();
    let session = repo
        .session_dir()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    repo.ok(&["state", "set", "mine=1"]);
    let journal = format!(
        "{{\"version\": 1, \"op\": \"create\", \"session\": \"{session}\", \"checkpoint\": \"{id}\", \
         \"started_at\": \"2025-12-28T21:00:00.000Z\"}}\n"
    );
    fs::write(repo.session_dir().join("journal.json"), journal).unwrap();
    repo.ok(&["cp-create"]);
    let shown = repo.ok(&["state", "get", "mine"]);
    assert_eq!(shown.stdout, "1\n");
    assert!(!repo.session_dir().join("journal.json").exists());
}
