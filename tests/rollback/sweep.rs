//! One operation, interrupted again and again at another point, each time in a fresh copy of its repository.
//!
//! `GO_TEAM_FAULTS=all` tries every point instead of a few.

use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::Signal;

use super::check;
use super::dice::is_complete;
use super::ledger::Ledger;
use super::photo::Photo;
use super::process;
use super::recoverable::assert_recoverable;
use super::support::TestRepo;
use super::tracer::{self, Point, Traced, Verdict};

/// An operation about to begin, or one that was interrupted, with what there is before it and after it.
pub struct Stage {
    pub repo: TestRepo,
    /// What the operation leaves behind.
    pub before: Photo,
    /// What it leads to.
    pub after: Photo,
    old: Ledger,
    new: Ledger,
    args: Vec<&'static str>,
    pub points: Vec<Point>,
}

/// What happens at a point.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    Kill,
    Fail(Errno),
    /// Every call from there on fails, removals and permissions apart: a disk that is full for good.
    FailFrom(Errno),
    Signal(Signal),
}

/// How an interrupted operation is dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    Continue,
    Abort,
    /// Any command that changes something deals with it by itself.
    Next,
}

impl Remedy {
    pub const ALL: [Self; 3] = [Self::Continue, Self::Abort, Self::Next];

    pub fn args(self) -> &'static [&'static str] {
        match self {
            Self::Continue => &["rollback", "--continue"],
            Self::Abort => &["rollback", "--abort"],
            Self::Next => &["cp-create", "and on it goes"],
        }
    }
}

impl Stage {
    /// An operation that is run to its end once, in a copy, to see where it leads and which points it has.
    pub fn new(repo: TestRepo, args: &[&'static str]) -> Self {
        let golden = repo.copy();
        let traced = trace(&golden, args, |_| Verdict::Go);
        assert_eq!(traced.code, Some(0), "{traced:#?}");
        let stage = Self {
            before: Photo::of(&repo),
            after: Photo::of(&golden),
            old: Ledger::of(&repo),
            new: Ledger::of(&golden),
            args: args.to_vec(),
            points: traced.points,
            repo,
        };
        assert!(!stage.before.differences(&stage.after).is_empty());
        stage
    }

    /// The same operation, killed at a point; what follows is another way to deal with it.
    pub fn killed_at(&self, nth: usize, remedy: Remedy) -> Self {
        let repo = self.repo.copy();
        let traced = trace(&repo, &self.args, |point| fault_at(Fault::Kill, nth, point));
        assert!(traced.is_killed(), "{traced:#?}");
        let golden = repo.copy();
        let points = trace(&golden, remedy.args(), |_| Verdict::Go).points;
        Self {
            repo,
            before: self.before.clone(),
            after: self.after.clone(),
            old: self.old.clone(),
            new: self.new.clone(),
            args: remedy.args().to_vec(),
            points,
        }
    }

    /// What a sweep with this fault is called.
    pub fn name(&self, fault: Fault) -> String {
        format!("{} {fault:?}", self.args.join(" "))
    }

    /// The numbers of the points at which a file of the work tree is changed.
    pub fn work_tree_points(&self) -> Vec<usize> {
        let points = self.points.iter();
        let of_work_tree = points.filter(|point| !is_of_git(&point.path));
        of_work_tree.map(|point| point.nth).collect()
    }

    /// Runs the operation with a fault at a point, in a copy, and checks everything that must hold right afterwards.
    pub fn strike(&self, fault: Fault, nth: usize) -> Struck<'_> {
        let repo = self.repo.copy();
        let mut hit = None;
        let traced = trace(&repo, &self.args, |point| {
            let verdict = fault_at(fault, nth, point);
            if hit.is_none() && !matches!(verdict, Verdict::Go) {
                hit = Some(point.clone());
            }
            verdict
        });
        let what = format!(
            "{:?}, {fault:?} at {hit:?}\n{:?} {}{}",
            self.args, traced.code, traced.stdout, traced.stderr
        );
        let struck = Struck {
            stage: self,
            now: Photo::of(&repo),
            repo,
            what,
        };
        struck.check(&traced, fault);
        struck
    }
}

/// A repository in which an operation was disturbed.
pub struct Struck<'a> {
    stage: &'a Stage,
    pub repo: TestRepo,
    pub now: Photo,
    what: String,
}

impl Struck<'_> {
    fn is_at(&self, photo: &Photo) -> bool {
        photo.differences(&self.now).is_empty()
    }

    /// Neither where the operation began nor where it leads.
    fn is_mixed(&self) -> bool {
        !self.is_at(&self.stage.before) && !self.is_at(&self.stage.after)
    }

    fn check(&self, traced: &Traced, fault: Fault) {
        let what = &self.what;
        assert_ne!(traced.code, Some(101), "a panic: {what}");
        assert_recoverable(&self.repo, &self.stage.before, &self.now, what);
        // A command that ended by itself with success has done what it was to do.
        if traced.code == Some(0) && self.stage.args != Remedy::Abort.args() && !self.is_next() {
            self.stage
                .after
                .assert_same(&self.now, format!("a false success: {what}"));
        }
        if traced.code.is_some_and(|code| code != 0) {
            assert!(traced.stderr.contains("error: "), "{what}");
        }
        if let Fault::Signal(_) = fault {
            assert!(!self.is_mixed(), "neither finished nor undone: {what}");
        }
        if self.is_mixed() {
            for command in ["status", "cp-list"] {
                let said = self.repo.ok(&[command]);
                let text = format!("{}{}", said.stdout, said.stderr).to_lowercase();
                assert!(text.contains("interrupted"), "{what}\n{command}: {said}");
            }
            self.now
                .assert_same(&Photo::of(&self.repo), "reading changes nothing");
        }
    }

    fn is_next(&self) -> bool {
        self.stage.args == Remedy::Next.args()
    }

    /// Deals with it, and checks that it is dealt with.
    pub fn resolve(&self, remedy: Remedy) {
        let output = self.repo.run(remedy.args());
        let what = format!("{}\nthen {remedy:?}: {output}", self.what);
        let now = Photo::of(&self.repo);
        let (before, after) = (&self.stage.before, &self.stage.after);
        let is_at = |photo: &Photo| photo.differences(&now).is_empty();
        match (remedy, output.code) {
            (Remedy::Abort, Some(0)) => before.assert_same(&now, &what),
            (Remedy::Next, Some(0)) if is_at(before) => {}
            (Remedy::Next | Remedy::Continue, Some(0)) => after.assert_same(&now, &what),
            (Remedy::Continue | Remedy::Abort, Some(_)) => {
                // There was nothing to deal with.
                assert!(!self.is_mixed(), "{what}");
                self.now.assert_same(&now, &what);
            }
            _ => panic!("the next command is blocked: {what}"),
        }
        self.assert_sound(is_at(after), &what);
        if is_at(after) && !is_at(before) {
            assert_recoverable(&self.repo, before, &now, &what);
        }
    }

    /// The session is whole, the manifest tells the truth, git works, and so does the next checkpoint.
    fn assert_sound(&self, is_after: bool, what: &str) {
        let repo = &self.repo;
        // Whatever is left is dealt with by the next command at the latest.
        let next = repo.run(&["cp-create", "next"]);
        assert_eq!(next.code, Some(0), "{what}\nthen {next}");
        check::no_residue(&repo.path(".git"));
        check::complete_one(repo, &repo.root());
        let ledger = Ledger::of(repo);
        let expected = if is_after {
            &self.stage.new
        } else {
            &self.stage.old
        };
        for (id, is_valid) in expected.validity() {
            assert_eq!(ledger.line(&id).is_valid, is_valid, "{id} after {what}");
        }
        let line = ledger.current_line();
        let standing = expected.standing().unwrap();
        assert!(
            line.contains(&standing),
            "{standing} in {line:?} after {what}"
        );
        let mut commit = process::git(repo, &repo.root());
        commit.args(["commit", "-q", "--allow-empty", "--only", "-m", "goes on"]);
        process::succeed(commit);
    }

    /// Every remedy in a complete sweep, else one of them.
    pub fn resolve_some(&self, nth: usize) {
        if is_complete() {
            for remedy in Remedy::ALL {
                let struck = Struck {
                    stage: self.stage,
                    repo: self.repo.copy(),
                    now: self.now.clone(),
                    what: self.what.clone(),
                };
                struck.resolve(remedy);
            }
        } else {
            self.resolve(Remedy::ALL[nth % Remedy::ALL.len()]);
        }
    }
}

fn fault_at(fault: Fault, nth: usize, point: &Point) -> Verdict {
    let full = [Errno::ENOSPC, Errno::EDQUOT];
    let takes_no_room = ["unlink", "chmod"].contains(&point.call);
    match fault {
        Fault::Kill if point.nth == nth => Verdict::Kill,
        Fault::Fail(errno) | Fault::FailFrom(errno) if full.contains(&errno) && takes_no_room => {
            Verdict::Go
        }
        Fault::Fail(errno) if point.nth == nth => Verdict::Fail(errno),
        Fault::FailFrom(errno) if point.nth >= nth => Verdict::Fail(errno),
        Fault::Signal(signal) if point.nth == nth => Verdict::Send(signal),
        _ => Verdict::Go,
    }
}

/// Checks at each of some points, and goes on where one fails, so that one run tells of all of them.
pub fn at_each(what: &str, points: &[usize], check: impl Fn(usize)) {
    assert!(!points.is_empty(), "there are no points");
    let is_failed = |nth: &usize| {
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(*nth)));
        checked.is_err()
    };
    let failed: Vec<usize> = points.iter().copied().filter(is_failed).collect();
    println!("{what}: {} points, {} failed", points.len(), failed.len());
    assert!(failed.is_empty(), "{what} failed at {failed:?}");
}

/// Runs go-team call by call.
pub fn trace(repo: &TestRepo, args: &[&str], ask: impl FnMut(&Point) -> Verdict) -> Traced {
    let mut command = repo.go_team();
    command.args(args);
    tracer::run(&command, &repo.root(), ask)
}

fn is_of_git(path: &Path) -> bool {
    path.iter().any(|part| part == ".git")
}
