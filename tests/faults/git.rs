//! Git's own commands, killed at each of their calls: what one is used to.

use std::fmt::Write as _;
use std::process::Command;

use super::check;
use super::photo::{Item, Photo};
use super::process;
use super::support::TestRepo;
use super::tracer::{self, Point, Traced, Verdict};

/// A repository with 21 files, of which some are changed, staged, new.
fn scene() -> TestRepo {
    let repo = TestRepo::new();
    for nth in 0..20 {
        repo.write(
            format!("dir{}/file{nth}.txt", nth % 4),
            format!("{nth} old\n"),
        );
    }
    repo.write("README.md", "old\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "old"]);
    for nth in 0..10 {
        repo.write(
            format!("dir{}/file{nth}.txt", nth % 4),
            format!("{nth} new\n"),
        );
    }
    repo.git(&["add", "."]);
    repo.write("untracked.txt", "untracked\n");
    repo
}

/// Two commits, with HEAD on the second.
fn committed() -> TestRepo {
    let repo = scene();
    repo.git(&["commit", "-q", "-m", "new"]);
    repo
}

fn trace(repo: &TestRepo, args: &[&str], ask: impl FnMut(&Point) -> Verdict) -> Traced {
    let mut command: Command = process::git(repo, &repo.root());
    command.args(args);
    tracer::run(&command, &repo.root(), ask)
}

/// What a kill left, at how many points.
#[derive(Default)]
struct Counts {
    points: usize,
    locks: usize,
    blocked: usize,
    mixed: usize,
    torn: usize,
    missing: usize,
}

fn sweep(build: fn() -> TestRepo, args: &[&str]) -> Counts {
    let repo = build();
    let golden = repo.copy();
    let points = trace(&golden, args, |_| Verdict::Go).points.len();
    let (before, after) = (Photo::of(&repo), Photo::of(&golden));
    let mut counts = Counts::default();
    for nth in 1..=points {
        let repo = repo.copy();
        let traced = trace(&repo, args, |point| {
            if point.nth == nth {
                Verdict::Kill
            } else {
                Verdict::Go
            }
        });
        if !traced.is_killed() {
            continue;
        }
        counts.points += 1;
        let is_lock = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "lock");
        let below = check::below(&repo.path(".git"));
        counts.locks += usize::from(below.iter().any(is_lock));
        look(&repo, &before, &after, &mut counts);
        let mut commit = process::git(&repo, &repo.root());
        commit.args(["commit", "-q", "--allow-empty", "-m", "goes on"]);
        counts.blocked += usize::from(!commit.output().unwrap().status.success());
    }
    counts
}

/// Compares the files with those before and those after.
fn look(repo: &TestRepo, before: &Photo, after: &Photo, counts: &mut Counts) {
    let now = super::photo::files_below(&repo.root());
    counts.mixed += usize::from(now != before.files && now != after.files);
    let paths = || before.files.keys().chain(after.files.keys());
    let is_file = |item: Option<&Item>| matches!(item, Some(Item::File { .. }));
    let is_torn = paths().any(|path| {
        let item = now.get(path);
        is_file(item) && item != before.files.get(path) && item != after.files.get(path)
    });
    let is_missing = paths().any(|path| {
        let both = is_file(before.files.get(path)) && is_file(after.files.get(path));
        both && !now.contains_key(path)
    });
    counts.torn += usize::from(is_torn);
    counts.missing += usize::from(is_missing);
}

/// The same sweeps of git's own commands, as Markdown.
pub fn table() -> String {
    let mut text = String::from(
        "| killed | points | stale lock left | next commit blocked | work tree mixed | file torn | file missing |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    let commit = sweep(scene, &["commit", "-q", "-m", "new"]);
    let reset = sweep(committed, &["reset", "-q", "--hard", "HEAD~1"]);
    let stash = sweep(scene, &["stash", "-q", "-u"]);
    for (name, counts) in [
        ("git commit", commit),
        ("git reset --hard", reset),
        ("git stash -u", stash),
    ] {
        let Counts {
            points,
            locks,
            blocked,
            mixed,
            torn,
            missing,
        } = counts;
        let _ = writeln!(
            text,
            "| `{name}` | {points} | {locks} | {blocked} | {mixed} | {torn} | {missing} |"
        );
    }
    text
}
