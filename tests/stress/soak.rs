//! Random operations with random kills, and a log of what was acknowledged that is kept elsewhere.
//!
//! Each checkpoint that was acknowledged is written down with the name of every file's content. In the end all of them are
//! there, valid to the last object, and hold what was written down.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::check;
use super::dice::Dice;
use super::photo::{Item, Photo};
use super::process;
use super::support::TestRepo;

/// How long: `GO_TEAM_SOAK` is a number of minutes.
fn duration() -> Duration {
    let asked = std::env::var("GO_TEAM_SOAK").ok();
    asked.map_or(Duration::from_secs(4), |text| {
        let minutes: u64 = text.parse().expect("GO_TEAM_SOAK is a number of minutes");
        Duration::from_secs(60 * minutes)
    })
}

/// Mode and object of each path, as a tree has them.
type Tree = BTreeMap<Vec<u8>, (String, String)>;

/// What is kept of an acknowledged checkpoint.
struct Kept {
    tree: Tree,
    photo: Photo,
}

/// What became of a command.
struct Ran {
    /// Absent when it was killed.
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

struct Soak {
    repo: TestRepo,
    dice: Dice,
    acknowledged: BTreeMap<String, Kept>,
    /// Checkpoints whose deletion was killed: they may be there or not.
    doubtful: BTreeSet<String>,
    usual: Duration,
    counts: BTreeMap<&'static str, [usize; 2]>,
    nth: usize,
}

impl Soak {
    fn new() -> Self {
        let repo = TestRepo::with_commit();
        let keep = "[retention]\nkeep_auto = 100000\nkeep_safety = 100000\n";
        repo.write("go-team.toml", keep);
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "settings"]);
        Self {
            repo,
            dice: Dice::new(),
            acknowledged: BTreeMap::new(),
            doubtful: BTreeSet::new(),
            usual: Duration::from_millis(30),
            counts: BTreeMap::new(),
            nth: 0,
        }
    }

    /// Runs go-team, and sometimes kills it.
    fn run(&mut self, what: &'static str, args: &[&str]) -> Ran {
        let mut command = process::go_team(&self.repo, &self.repo.root());
        command.args(args);
        let is_killed = self.dice.roll(2) == 0;
        let limit = usize::try_from(self.usual.as_micros()).unwrap() * 5 / 4;
        let delay = Duration::from_micros(self.dice.roll(limit.max(1)) as u64);
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if is_killed {
            thread::sleep(delay);
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        let code = output.status.code();
        if code == Some(0) && !is_killed {
            self.usual = started.elapsed().min(Duration::from_secs(1));
        }
        let count = self.counts.entry(what).or_default();
        count[0] += 1;
        count[1] += usize::from(code.is_none());
        Ran {
            code,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs go-team to its end.
    fn succeed(&self, args: &[&str]) -> String {
        let mut command = process::go_team(&self.repo, &self.repo.root());
        command.args(args);
        process::succeed(command)
    }

    /// Some work of the user's.
    fn work(&mut self) {
        self.nth += 1;
        let nth = self.nth;
        for _ in 0..=self.dice.roll(4) {
            let dir = self.dice.roll(4);
            let path = format!("dir{dir}/file{}", self.dice.roll(12));
            let place = self.repo.path(&path);
            let is_there = place.symlink_metadata().is_ok();
            match self.dice.roll(8) {
                0 if is_there => fs::remove_file(&place).unwrap(),
                1 if is_there && !place.is_symlink() => {
                    let mode = [0o644, 0o755, 0o600][self.dice.roll(3)];
                    fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
                }
                2 if !is_there => {
                    fs::create_dir_all(place.parent().unwrap()).unwrap();
                    symlink(format!("target {nth}"), &place).unwrap();
                }
                3 => _ = self.git(&["add", "-A"]),
                4 => _ = self.git(&["commit", "-q", "-a", "--allow-empty", "-m", "work"]),
                _ => {
                    if place.is_symlink() {
                        fs::remove_file(&place).unwrap();
                    }
                    let size = 1 + self.dice.roll(3000);
                    self.repo
                        .write(&path, format!("{nth} {path}\n").repeat(size / 10 + 1));
                }
            }
        }
    }

    fn git(&self, args: &[&str]) -> String {
        check::git(&self.repo, &self.repo.root(), args)
    }

    /// Everything of the user's; the state is go-team's own.
    fn look(&self) -> Photo {
        let mut photo = Photo::quick(&self.repo, &self.repo.root());
        photo.states.clear();
        photo
    }

    fn create(&mut self) {
        let photo = self.look();
        let trigger = ["auto", "manual", "step_complete"][self.dice.roll(3)];
        let ran = self.run("cp-create", &["cp-create", "--quiet", "--trigger", trigger]);
        photo.assert_same(&self.look(), "a checkpoint touches nothing");
        // The id is the acknowledgement, whatever happened next.
        if ran.stdout.ends_with('\n') {
            let tree = tree_of(&photo);
            let kept = Kept { tree, photo };
            self.acknowledged
                .insert(ran.stdout.trim_end().to_owned(), kept);
        } else {
            assert_eq!(ran.code, None, "{}", ran.stderr);
        }
    }

    /// Goes somewhere: in the end the files are as they were, or as they are to be.
    fn go(&mut self, what: &'static str, args: &[&str], target: Option<&str>) {
        let before = self.look();
        let ran = self.run(what, args);
        // Deals with what may be left.
        self.succeed(&["state", "set", &format!("n={}", self.nth)]);
        let now = self.look();
        let is_same =
            before.files == now.files && before.index == now.index && before.head == now.head;
        match (ran.code, target.map(|id| &self.acknowledged[id].photo)) {
            (Some(0), Some(target)) => assert_files(target, &now, &ran.stderr),
            (None, Some(target)) if !is_same => assert_files(target, &now, &ran.stderr),
            (Some(code), _) if code != 0 => {
                assert!([1, 4].contains(&code), "{what}: {code} {}", ran.stderr);
                assert!(is_same, "{what} was refused: {}", ran.stderr);
            }
            _ => {}
        }
    }

    fn some_id(&mut self) -> Option<String> {
        let known: Vec<&String> = self.acknowledged.keys().collect();
        let nth = (!known.is_empty()).then(|| self.dice.roll(known.len()))?;
        Some(known[nth].clone())
    }

    fn delete(&mut self) {
        let Some(id) = self.some_id() else { return };
        let ran = self.run("cp-delete", &["cp-delete", &id, "--yes"]);
        match ran.code {
            Some(0) => _ = self.acknowledged.remove(&id),
            // Needed by somebody: it stays.
            Some(code) => assert_eq!(code, 1, "{}", ran.stderr),
            None => {
                self.acknowledged.remove(&id);
                self.doubtful.insert(id);
            }
        }
    }

    fn step(&mut self) {
        match self.dice.roll(20) {
            0..=7 => self.create(),
            8..=10 => {
                if let Some(id) = self.some_id() {
                    self.go(
                        "rollback",
                        &["rollback", &id, "--yes", "--force"],
                        Some(&id),
                    );
                }
            }
            11 | 12 => self.go("undo", &["undo", "--yes"], None),
            13 => self.go("redo", &["redo", "--yes"], None),
            14 => self.delete(),
            15 => {
                let ran = self.run("cp-export", &["cp-export", "-o", "../home/session.tar.gz"]);
                if ran.code == Some(0) {
                    let name = format!("copy-{}", self.nth);
                    let args = ["cp-import", "../home/session.tar.gz", "--as", &name];
                    let ran = self.run("cp-import", &args);
                    assert!(matches!(ran.code, None | Some(0)), "{}", ran.stderr);
                }
                let _ = fs::remove_file(self.repo.home().join("session.tar.gz"));
            }
            16 => {
                let ran = self.run("cp-validate", &["cp-validate"]);
                assert!(
                    matches!(ran.code, None | Some(0)),
                    "{}{}",
                    ran.stdout,
                    ran.stderr
                );
            }
            17 => {
                let ran = self.run("state set", &["state", "set", "phase=soaked"]);
                assert!(matches!(ran.code, None | Some(0)), "{}", ran.stderr);
            }
            18 => _ = self.git(&["pack-refs", "--all"]),
            _ => {
                if self.dice.roll(4) == 0 {
                    self.git(&["gc", "-q", "--prune=now"]);
                }
            }
        }
        self.work();
    }

    /// Everything that was acknowledged is there, and holds what it held.
    fn check(&self) {
        self.succeed(&["cp-create", "--quiet", "--trigger", "auto"]);
        check::no_residue(&self.repo.path(".git"));
        self.git(&["fsck", "--strict", "--no-dangling"]);
        let listed: Value = serde_json::from_str(&self.succeed(&["cp-list", "--json"])).unwrap();
        let session = listed["data"]["session_id"].as_str().unwrap();
        let listed = listed["data"]["checkpoints"].as_array().unwrap();
        let listed: BTreeSet<&str> = listed
            .iter()
            .map(|one| one["id"].as_str().unwrap())
            .collect();
        for (id, kept) in &self.acknowledged {
            assert!(listed.contains(&**id), "{id} was acknowledged and is gone");
            let reference = format!("refs/go-team/{session}/{id}");
            let tree = parse_tree(&self.git(&["ls-tree", "-r", &reference]));
            assert_eq!(tree, kept.tree, "{id} holds something else");
        }
        self.succeed(&["cp-validate", "--deep"]);
    }
}

#[track_caller]
fn assert_files(expected: &Photo, now: &Photo, what: &str) {
    let same =
        expected.files == now.files && expected.index == now.index && expected.head == now.head;
    assert!(same, "{what}\n{}", expected.differences(now).join("\n"));
}

/// What a checkpoint of these files holds.
fn tree_of(photo: &Photo) -> Tree {
    let entry = |(path, item): (&Vec<u8>, &Item)| {
        let (mode, bytes) = match item {
            Item::File { bytes, mode } if mode & 0o100 != 0 => ("100755", bytes.clone()),
            Item::File { bytes, .. } => ("100644", bytes.clone()),
            Item::Link(target) => ("120000", target.to_str().unwrap().into()),
            _ => return None,
        };
        let mut hash = Sha1::new();
        hash.update(format!("blob {}\0", bytes.len()));
        hash.update(&bytes);
        Some((
            path.clone(),
            (mode.to_owned(), hex::encode(hash.finalize())),
        ))
    };
    photo.files.iter().filter_map(entry).collect()
}

fn parse_tree(listed: &str) -> Tree {
    let entry = |line: &str| {
        let (meta, path) = line.split_once('\t').unwrap();
        let mut meta = meta.split(' ');
        let (mode, _, id) = (meta.next(), meta.next(), meta.next());
        let value = (mode.unwrap().to_owned(), id.unwrap().to_owned());
        (path.as_bytes().to_vec(), value)
    };
    listed.lines().map(entry).collect()
}

/// Reads again and again until it is over; never an error, never half an answer.
fn read_on(
    mut command: impl FnMut(&[&str]) -> std::process::Command,
    is_over: &AtomicBool,
) -> usize {
    let mut rounds = 0;
    while !is_over.load(Ordering::Relaxed) {
        for args in [
            &["cp-list", "--json"][..],
            &["status", "--json"],
            &["sessions", "--json"],
        ] {
            let text = process::succeed(command(args));
            let answer: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(answer["ok"], true);
            rounds += 1;
            thread::sleep(Duration::from_millis(20));
        }
    }
    rounds
}

#[test]
fn nasty_43_soak() {
    let mut soak = Soak::new();
    soak.create();
    soak.succeed(&["cp-create", "--quiet"]);
    let ends = Instant::now() + duration();
    let is_over = AtomicBool::new(false);
    let reads = AtomicUsize::new(0);
    let reader = process::go_team(&soak.repo, &soak.repo.root());
    thread::scope(|scope| {
        let (is_over, reads, reader) = (&is_over, &reads, &reader);
        let reading = scope.spawn(move || {
            let command = |args: &[&str]| {
                let mut command = std::process::Command::new(reader.get_program());
                command.current_dir(reader.get_current_dir().unwrap());
                command.env_clear().args(args);
                command.envs(
                    reader
                        .get_envs()
                        .filter_map(|(key, value)| Some((key, value?))),
                );
                command
            };
            reads.store(read_on(command, is_over), Ordering::Relaxed);
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut look = Instant::now() + Duration::from_secs(60);
            while Instant::now() < ends {
                soak.step();
                if Instant::now() > look {
                    soak.check();
                    look = Instant::now() + Duration::from_secs(60);
                }
            }
            soak.check();
        }));
        is_over.store(true, Ordering::Relaxed);
        reading.join().unwrap();
        done.unwrap();
    });
    println!(
        "{} checkpoints acknowledged and there, none lost",
        soak.acknowledged.len()
    );
    println!("{} reads, none failed", reads.into_inner());
    for (what, [runs, killed]) in &soak.counts {
        println!("{what}: {runs} runs, {killed} killed");
    }
}
