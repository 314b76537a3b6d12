//! Checkpoints against the same work done with git, in one run.
//!
//! `cargo bench --bench against_git` builds its repositories in a temporary directory, runs go-team and git in turn, and
//! prints a table of medians and spreads. go-team writes durably, as always; git runs with its defaults. Names of rows
//! given as arguments select them (`cargo bench --bench against_git -- "one changed"`); `--rounds N` and `--quick`
//! shorten or lengthen it, `--session N` shortens the long sessions. `TMPDIR` chooses the file system.

#![allow(clippy::cast_precision_loss, reason = "sizes in a table")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const GO_TEAM: &str = env!("CARGO_BIN_EXE_go-team");

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let number = |flag: &str, default: usize| {
        let at = arguments.iter().position(|argument| argument == flag);
        let text = at.and_then(|at| arguments.get(at + 1));
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let rounds = number("--rounds", if quick { 3 } else { 11 });
    let last = number("--session", 10_000);
    let wanted: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--") && argument.parse::<usize>().is_err())
        .collect();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    let place = tempfile::tempdir().expect("a temporary directory");

    println!("| work | git, ms | go-team, ms | ratio | target | spread of the ratio | floor, ms |");
    println!("|---|---|---|---|---|---|---|");
    let large = [
        ("30,000 files, nothing changed", 0.4, Edit::Nothing),
        ("30,000 files, one changed", 0.4, Edit::One),
        (
            "30,000 files, 1,000 modified + 100 deleted + 1,000 new",
            0.6,
            Edit::Many,
        ),
    ];
    if large.iter().any(|(name, ..)| is_wanted(name)) {
        let mut pair = Pair::new(place.path(), "large", 30_000, 6_000);
        for (name, target, edit) in large.into_iter().filter(|(name, ..)| is_wanted(name)) {
            pair.measure(name, target, edit, rounds);
        }
    }
    let name = "10,000 new files of 5 kB";
    if is_wanted(name) {
        Pair::new(place.path(), "new", 100, 10).measure(name, 0.5, Edit::New, rounds.min(5));
    }
    let name = "100 files, one changed";
    if is_wanted(name) {
        Pair::new(place.path(), "small", 100, 10).measure(name, 0.6, Edit::One, rounds * 3);
    }
    let name = "the 10,000th checkpoint against the 10th, default retention, 100 files";
    if is_wanted(name) && !quick {
        long_session(
            &Work::new(&place.path().join("auto"), 100, 10),
            (name, last, 1.3),
            &["--trigger", "auto"],
        );
    }
    let name = "the 10,000th checkpoint against the 10th, all kept, 30,000 files";
    if is_wanted(name) && !quick {
        long_session(
            &Work::new(&place.path().join("kept"), 30_000, 6_000),
            (name, last, 1.5),
            &["--trigger", "manual"],
        );
    }
    let name = "disk: 1,000 checkpoints of one-line changes, 30,000 files";
    if is_wanted(name) && !quick {
        disk(place.path(), name);
    }
}

/// What changes before each checkpoint.
#[derive(Clone, Copy)]
enum Edit {
    Nothing,
    One,
    Many,
    New,
}

/// The same repository twice: one for git, one for go-team.
struct Pair {
    git: Work,
    ours: Work,
}

impl Pair {
    fn new(place: &Path, name: &str, files: usize, dirs: usize) -> Self {
        let git = Work::new(&place.join(format!("{name}-git")), files, dirs);
        let ours = Work::new(&place.join(format!("{name}-ours")), files, dirs);
        git.git_checkpoint(0);
        ours.checkpoint(&[]);
        Self { git, ours }
    }

    fn measure(&mut self, name: &str, target: f64, edit: Edit, rounds: usize) {
        let mut rows = Vec::new();
        for round in 0..rounds {
            self.git.edit(edit, round);
            self.ours.edit(edit, round);
            // Files that are older than the clock's last tick: nobody has to look twice.
            std::thread::sleep(Duration::from_millis(20));
            let floor = self.ours.floor();
            // Neither pays for what was written before: not by the edits, not by the other one.
            rustix::fs::sync();
            let git = time(|| self.git.git_checkpoint(round + 1));
            rustix::fs::sync();
            let ours = time(|| self.ours.checkpoint(&[]));
            rows.push((git, ours, floor));
        }
        let git = median(rows.iter().map(|row| row.0));
        let ours = median(rows.iter().map(|row| row.1));
        let floor = median(rows.iter().map(|row| row.2));
        let mut ratios: Vec<f64> = rows.iter().map(|row| row.1 / row.0).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        let (low, high) = (
            ratios[ratios.len() / 10],
            ratios[ratios.len() - 1 - ratios.len() / 10],
        );
        println!(
            "| {name} | {git:.1} | {ours:.1} | {ratio:.2} | ≤ {target} | {low:.2}–{high:.2} | {floor:.1} |"
        );
    }
}

/// One repository.
struct Work {
    dir: PathBuf,
    files: Vec<PathBuf>,
}

impl Work {
    fn new(dir: &Path, files: usize, dirs: usize) -> Self {
        let mut work = Self {
            dir: dir.to_owned(),
            files: Vec::new(),
        };
        fs::create_dir_all(dir).expect("a directory");
        for d in 0..dirs {
            let sub = dir.join(format!(
                "d{:02}/e{:02}/g{:02}",
                d % 20,
                d / 20 % 20,
                d / 400
            ));
            fs::create_dir_all(&sub).expect("a directory");
            for f in 0..files / dirs {
                let path = sub.join(format!("file{f}.go"));
                fs::write(&path, text(d * 1000 + f, 900)).expect("a file");
                work.files.push(path);
            }
        }
        work.git(["init", "-q", "-b", "main"]);
        for setting in [["gc.auto", "0"], ["maintenance.auto", "false"]] {
            work.git(["config"].into_iter().chain(setting));
        }
        work.git(["add", "-A"]);
        work.git(["commit", "-q", "-m", "start"]);
        work.git(["gc", "-q"]);
        work
    }

    fn git<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> String {
        self.run(Command::new("git").args(args))
    }

    fn run(&self, command: &mut Command) -> String {
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "bench")
                .env(format!("GIT_{role}_EMAIL"), "bench@example.com");
        }
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .current_dir(&self.dir);
        let output = command.output().expect("a program that runs");
        assert!(
            output.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// What a user would do with git: a private index, a tree, a commit, a ref.
    fn git_checkpoint(&self, nth: usize) {
        let index = self.dir.join(".git/index-bench");
        fs::copy(self.dir.join(".git/index"), &index).expect("a copy of the index");
        let with =
            |args: &[&str]| self.run(Command::new("git").env("GIT_INDEX_FILE", &index).args(args));
        with(&["add", "-A"]);
        let tree = with(&["write-tree"]);
        let commit = self.git(["commit-tree", "-p", "HEAD", "-m", "checkpoint", &tree]);
        self.git(["update-ref", &format!("refs/bench/{nth:06}"), &commit]);
    }

    fn checkpoint(&self, more: &[&str]) {
        self.run(Command::new(GO_TEAM).args(["cp-create", "-q"]).args(more));
    }

    fn edit(&mut self, edit: Edit, round: usize) {
        match edit {
            Edit::Nothing => {}
            Edit::One => fs::write(
                &self.files[round % self.files.len()],
                text(round + 1_000_000, 900),
            )
            .expect("a file"),
            Edit::Many => {
                for nth in 0..1000 {
                    let at = (round * 1000 + nth * 7) % self.files.len();
                    fs::write(&self.files[at], text(round * 10_000 + nth + 2_000_000, 900))
                        .expect("a file");
                }
                for _ in 0..100 {
                    fs::remove_file(self.files.pop().expect("a file is left"))
                        .expect("a file to remove");
                }
                for nth in 0..1000 {
                    let dir = self
                        .dir
                        .join(format!("d{:02}/e{:02}", nth % 20, nth / 20 % 20));
                    let path = dir.join(format!("new-{round}-{nth}.go"));
                    fs::write(&path, text(round * 10_000 + nth + 3_000_000, 900)).expect("a file");
                    self.files.insert(nth, path);
                }
            }
            Edit::New => {
                for nth in 0..10_000 {
                    let dir = self.dir.join(format!("new/{round}/{:03}", nth / 100));
                    fs::create_dir_all(&dir).expect("a directory");
                    fs::write(
                        dir.join(format!("n{nth}.go")),
                        text(round * 100_000 + nth + 5_000_000, 5000),
                    )
                    .expect("a file");
                }
            }
        }
    }

    /// The least a scan can cost: `lstat` of every known path, by two threads.
    fn floor(&self) -> f64 {
        time(|| {
            std::thread::scope(|scope| {
                for half in self.files.chunks(self.files.len().div_ceil(2)) {
                    scope.spawn(move || {
                        half.iter()
                            .filter(|path| path.symlink_metadata().is_ok())
                            .count()
                    });
                }
            });
        })
    }
}

/// How much slower a session's checkpoints get.
fn long_session(work: &Work, (name, last, target): (&str, usize, f64), trigger: &[&str]) {
    let mut early = Vec::new();
    let mut late = Vec::new();
    for nth in 1..=last + 10 {
        fs::write(
            &work.files[nth % work.files.len()],
            text(nth + 7_000_000, 900),
        )
        .expect("a file");
        let taken = time(|| work.checkpoint(trigger));
        if (5..=25).contains(&nth) {
            early.push(taken);
        }
        if nth > last - 10 {
            late.push(taken);
        }
    }
    let (early, late) = (median(early.into_iter()), median(late.into_iter()));
    println!(
        "| {name} | {early:.1} (10th) | {late:.1} ({last}th) | {:.2} | ≤ {target} | | |",
        late / early
    );
}

/// What a thousand one-line changes cost on disk, as checkpoints and as commits after `git gc`.
fn disk(place: &Path, name: &str) {
    let git = Work::new(&place.join("disk-git"), 30_000, 6_000);
    let ours = Work::new(&place.join("disk-ours"), 30_000, 6_000);
    let start = (objects(&git.dir), objects(&ours.dir));
    let all = (size(&git.dir.join(".git")), size(&ours.dir.join(".git")));
    for nth in 0..1000 {
        for work in [&git, &ours] {
            let path = &work.files[nth * 29 % work.files.len()];
            let mut content = fs::read(path).expect("a file");
            content.extend_from_slice(format!("one more line, {nth}\n").as_bytes());
            fs::write(path, content).expect("a file");
        }
        git.git(["commit", "-q", "-a", "-m", "one line"]);
        ours.checkpoint(&[]);
    }
    git.git(["gc", "-q"]);
    let grown = (objects(&git.dir) - start.0, objects(&ours.dir) - start.1);
    let all = (
        size(&git.dir.join(".git")) - all.0,
        size(&ours.dir.join(".git")) - all.1,
    );
    println!(
        "| {name}: objects, kB | {} | {} | {:.2} | ≤ 2 | | |",
        grown.0 / 1024,
        grown.1 / 1024,
        grown.1 as f64 / grown.0 as f64
    );
    ours.git(["gc", "-q"]);
    let packed = objects(&ours.dir) - start.1;
    println!(
        "| {name}: objects after `git gc`, kB | {} | {} | {:.2} | ≤ 2 | | |",
        grown.0 / 1024,
        packed / 1024,
        packed as f64 / grown.0 as f64
    );
    println!(
        "| {name}: all of .git, kB | {} | {} | {:.2} | | | |",
        all.0 / 1024,
        all.1 / 1024,
        all.1 as f64 / all.0 as f64
    );
}

fn objects(dir: &Path) -> u64 {
    size(&dir.join(".git/objects"))
}

/// The sum of file sizes.
fn size(path: &Path) -> u64 {
    let meta = path.symlink_metadata().expect("a file");
    if meta.is_dir() {
        return fs::read_dir(path)
            .expect("a directory")
            .map(|entry| size(&entry.expect("an entry").path()))
            .sum();
    }
    meta.len()
}

/// Text that looks like code and is different for each seed.
fn text(seed: usize, length: usize) -> String {
    const WORDS: [&str; 16] = [
        "func", "return", "if", "err", "nil", "package", "import", "struct", "value", "string",
        "error", "context", "for", "range", "map", "chan",
    ];
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut text = format!("// {seed}\n");
    while text.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(WORDS[usize::try_from(state % 16).expect("less than 16")]);
        text.push(if state & 0x700 == 0 { '\n' } else { ' ' });
    }
    text
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
