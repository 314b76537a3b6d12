//! An operation about to begin: what there is before it, what it makes of that, and at which points it can be disturbed.

use std::cell::Cell;
use std::fmt;

use nix::errno::Errno;

use super::account::Account;
use super::operations::{Operation, Reach};
use super::photo::Photo;
use super::support::TestRepo;
use super::tracer::{self, Point, Traced, Verdict};

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Kill,
    Fail(Errno),
}

impl Fault {
    pub const ALL: [Self; 4] = [
        Self::Kill,
        Self::Fail(Errno::EIO),
        Self::Fail(Errno::ENOSPC),
        Self::Fail(Errno::EDQUOT),
    ];

    fn at(self, nth: usize, point: &Point) -> Verdict {
        match self {
            _ if point.nth != nth => Verdict::Go,
            Self::Kill => Verdict::Kill,
            Self::Fail(errno) => Verdict::Fail(errno),
        }
    }

    /// Whether a call can fail like this: what takes no room is not stopped by a full disk.
    pub fn can_be_at(self, point: &Point) -> bool {
        let is_full = matches!(self, Self::Fail(Errno::ENOSPC | Errno::EDQUOT));
        !(is_full && ["unlink", "chmod"].contains(&point.call))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill => f.write_str("kill"),
            Self::Fail(errno) => write!(f, "{errno:?}"),
        }
    }
}

/// Everything at one moment.
#[derive(Clone)]
pub struct Moment {
    pub photo: Photo,
    pub account: Account,
}

impl Moment {
    pub fn of(repo: &TestRepo) -> Self {
        let mut photo = Photo::quick(repo, &repo.root());
        // The account has them.
        photo.states.clear();
        Self {
            photo,
            account: Account::of(repo),
        }
    }
}

/// What an answer of success must mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// All that the operation does is done.
    Done,
    /// An earlier operation was dealt with, by finishing or by undoing it.
    Settled,
}

/// An operation about to begin.
pub struct Stage {
    pub name: String,
    pub repo: TestRepo,
    pub args: Vec<&'static str>,
    pub reach: Reach,
    /// Another command that changes something.
    pub next: &'static [&'static str],
    pub is_damaged: bool,
    pub goes_on: bool,
    pub goal: Goal,
    pub before: Moment,
    pub after: Moment,
    /// The exit code of a run that nothing disturbs.
    pub code: i32,
    /// That of the same command once more, when it has done all there is to do.
    pub once_more: Option<i32>,
    /// That of the same command when half of it was done.
    pub halfway: Option<i32>,
    pub points: Vec<Point>,
}

impl Stage {
    /// Runs the operation to its end once, in a copy.
    pub fn new(operation: &Operation) -> Self {
        let repo = (operation.build)();
        let golden = repo.copy();
        let traced = trace(&golden, operation.args, |_| Verdict::Go);
        assert_eq!(traced.code, Some(operation.code), "{traced:#?}");
        let after = Moment::of(&golden);
        let stage = Self {
            name: operation.name.to_owned(),
            before: Moment::of(&repo.copy()),
            after,
            once_more: golden.run(operation.args).code,
            halfway: operation.halfway,
            repo,
            args: operation.args.to_vec(),
            reach: operation.reach,
            next: operation.next,
            is_damaged: operation.is_damaged,
            goes_on: operation.goes_on,
            goal: Goal::Done,
            code: operation.code,
            points: traced.points,
        };
        let is_same = stage.before.photo == stage.after.photo;
        let delta = stage.before.account.delta(&stage.after.account);
        assert!(!is_same || !delta.is_empty(), "{} does nothing", stage.name);
        assert!(is_same || stage.reach != Reach::Nothing, "{}", stage.name);
        stage
    }

    /// The points at which a fault can be.
    pub fn points_for(&self, fault: Fault) -> Vec<usize> {
        let points = self.points.iter();
        let can_be = points.filter(|point| fault.can_be_at(point));
        can_be.map(|point| point.nth).collect()
    }

    /// Runs the operation in a copy, with a fault at a point.
    pub fn strike(&self, fault: Fault, nth: usize) -> Struck<'_> {
        let repo = self.repo.copy();
        let hit = Cell::new(None);
        let traced = trace(&repo, &self.args, |point| {
            // Two runs differ by a call here and there, so another kind of call may have this number.
            let verdict = match fault.at(nth, point) {
                Verdict::Go => return Verdict::Go,
                verdict => verdict,
            };
            if !fault.can_be_at(point) {
                return Verdict::Go;
            }
            hit.set(Some(point.clone()));
            verdict
        });
        Struck {
            stage: self,
            repo,
            traced,
            hit: hit.take(),
            fault,
        }
    }
}

/// A repository in which an operation was disturbed.
pub struct Struck<'a> {
    pub stage: &'a Stage,
    pub repo: TestRepo,
    pub traced: Traced,
    /// Where; absent when the run did not come to that point.
    pub hit: Option<Point>,
    fault: Fault,
}

impl fmt::Display for Struck<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Traced {
            code,
            stdout,
            stderr,
            ..
        } = &self.traced;
        let (name, fault) = (&self.stage.name, self.fault);
        match &self.hit {
            Some(Point { nth, call, path }) => {
                write!(f, "{name}, {fault} at {nth} ({call} {})", path.display())?;
            }
            None => write!(f, "{name}, {fault} nowhere")?,
        }
        write!(f, ": {code:?}\n{stdout}{stderr}")
    }
}

/// Runs go-team call by call.
pub fn trace(repo: &TestRepo, args: &[&str], ask: impl FnMut(&Point) -> Verdict) -> Traced {
    let mut command = repo.go_team();
    command.args(args);
    let all = repo.root();
    tracer::run(&command, all.parent().unwrap(), ask)
}
