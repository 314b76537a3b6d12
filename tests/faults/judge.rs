//! What must hold after a disturbance, whatever it was and wherever it struck.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::account::Account;
use super::check;
use super::operations::{LINKED_STATE, Reach};
use super::process;
use super::recoverable::assert_recoverable;
use super::stage::{Goal, Moment, Stage, Struck};
use super::support::TestRepo;

/// How a promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// The command said that it went well, and it did not; or it failed without a word.
    FalseAnswer,
    /// Content or a checkpoint that there was is nowhere.
    Lost,
    /// Something of the user's is neither as before nor as after.
    Mixed,
    /// The next command, the same command again, or `git commit` does not work.
    Blocked,
    /// Something is left that somebody would have to repair or clear away.
    Repair,
}

impl Breach {
    pub const ALL: [Self; 5] = [
        Self::FalseAnswer,
        Self::Lost,
        Self::Mixed,
        Self::Blocked,
        Self::Repair,
    ];
}

/// A broken promise, with all that one needs to look into it.
pub type Finding = (Breach, String);

/// How an interruption is dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Another command that changes something.
    Next,
    /// The same command again.
    Again,
    /// `rollback --continue`
    Continue,
    /// `rollback --abort`
    Abort,
}

impl Remedy {
    /// Those that there are for an operation.
    pub fn of(reach: Reach) -> &'static [Self] {
        match reach {
            Reach::Everything => &[Self::Next, Self::Continue, Self::Abort, Self::Again],
            Reach::Nothing | Reach::File => &[Self::Next, Self::Again],
        }
    }
}

/// Gathers what is wrong, and goes on.
struct Findings {
    what: String,
    found: Vec<Finding>,
}

impl Findings {
    fn expect(&mut self, is_so: bool, breach: Breach, text: impl FnOnce() -> String) {
        if !is_so {
            self.found
                .push((breach, format!("{}\n{}", text(), self.what)));
        }
    }

    /// Runs checks that panic.
    fn check(&mut self, breach: Breach, check: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(check)) {
            let text = message(&*panic);
            self.found.push((breach, format!("{text}\n{}", self.what)));
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic".to_owned())
}

impl Struck<'_> {
    /// Looks at everything, and deals with it by each of some remedies, in copies.
    pub fn judge(&self, remedies: &[Remedy]) -> Vec<Finding> {
        let mut findings = Findings {
            what: self.to_string(),
            found: Vec::new(),
        };
        let Some(now) = self.right_away(&mut findings) else {
            return findings.found;
        };
        for remedy in remedies {
            let repo = self.repo.copy();
            self.after_remedy(*remedy, &now, &repo, &mut findings);
        }
        findings.found
    }

    fn is_done(&self, now: &Moment) -> bool {
        self.is_done_but(now, stderr_has(self, "warning"))
    }

    /// The same, where what is not listed any more may still lie there.
    fn is_done_but(&self, now: &Moment, is_told: bool) -> bool {
        let Stage { before, after, .. } = self.stage;
        let delta = before.account.delta(&after.account);
        let missing = now.account.unlike(&after.account, &delta);
        let may_wait = |name: &String| is_told && after.account.is_behind(name);
        missing.iter().all(may_wait) && now.photo == after.photo
    }

    /// Before anybody does anything about it.
    fn right_away(&self, findings: &mut Findings) -> Option<Moment> {
        let stage = self.stage;
        let code = self.traced.code;
        findings.expect(code != Some(101), Breach::FalseAnswer, || "a panic".into());
        let now = catch_unwind(AssertUnwindSafe(|| Moment::of(&self.repo)));
        let now = match now {
            Ok(now) => now,
            Err(panic) => {
                let text = format!("a command that reads fails: {}", message(&*panic));
                findings.expect(false, Breach::Blocked, || text);
                return None;
            }
        };
        if code == Some(0) {
            let is_true = match stage.goal {
                Goal::Done if stage.goes_on && stderr_has(self, "warning: ") => true,
                Goal::Done => stage.code == 0 && self.is_done(&now),
                Goal::Settled => stage.is_settled(&now),
            };
            findings.expect(is_true, Breach::FalseAnswer, || {
                let delta = stage.before.account.delta(&stage.after.account);
                let missing = now.account.unlike(&stage.after.account, &delta);
                let differences = stage.after.photo.differences(&now.photo);
                format!("a false success: {missing:#?} {differences:#?}")
            });
        }
        if code == Some(stage.code) && code != Some(0) {
            // What was found is said in any case, and that it could not be noted down too.
            let is_true = self.is_done(&now) || stderr_has(self, "marked");
            findings.expect(is_true, Breach::FalseAnswer, || {
                "not marked, not said".into()
            });
        }
        if code.is_some_and(|code| code != 0 && code != stage.code) {
            let is_said = stderr_has(self, "error: ");
            findings.expect(is_said, Breach::FalseAnswer, || "no word of it".into());
        }
        match stage.reach {
            Reach::Nothing => {
                let changed = stage.before.photo.differences(&now.photo);
                findings.expect(changed.is_empty(), Breach::Mixed, || {
                    format!("the user's own was touched: {changed:#?}")
                });
            }
            Reach::File => {
                let moments = [&stage.before, &stage.after];
                let is_one = moments.iter().any(|moment| moment.photo == now.photo);
                findings.expect(is_one, Breach::Mixed, || "neither before nor after".into());
            }
            Reach::Everything => {
                // A linked state is in the record of the safety checkpoint, as a value and not as a file.
                let mut before = stage.before.photo.clone();
                before.files.remove(LINKED_STATE.as_bytes());
                findings.check(Breach::Lost, || {
                    assert_recoverable(&self.repo, &before, &now.photo, "");
                });
                let is_mixed = now.photo != stage.before.photo && now.photo != stage.after.photo;
                if is_mixed {
                    let said = self.repo.run(&["status"]);
                    let text = format!("{}{}", said.stdout, said.stderr).to_lowercase();
                    findings.expect(text.contains("interrupted"), Breach::FalseAnswer, || {
                        format!("status does not tell: {said}")
                    });
                }
            }
        }
        let kept = stage.before.account.kept(&stage.after.account);
        let lost = now.account.unlike(&stage.before.account, &kept);
        findings.expect(lost.is_empty(), Breach::Lost, || format!("gone: {lost:#?}"));
        Some(now)
    }

    /// When it has been dealt with.
    fn after_remedy(
        &self,
        remedy: Remedy,
        struck: &Moment,
        repo: &TestRepo,
        findings: &mut Findings,
    ) {
        let stage = self.stage;
        let was_mixed = || struck.photo != stage.before.photo && struck.photo != stage.after.photo;
        let (args, may_fail): (&[&str], bool) = match remedy {
            Remedy::Next => (stage.next, false),
            // What is done already may be refused: the checkpoint is deleted, the session is there.
            Remedy::Again => (&stage.args, self.is_done_but(struck, true)),
            Remedy::Continue => (&["rollback", "--continue"], !was_mixed()),
            Remedy::Abort => (&["rollback", "--abort"], !was_mixed()),
        };
        let output = repo.run(args);
        let text = || format!("then {remedy:?} {args:?}: {output}");
        // What was interrupted is finished first, or is gone already for whoever looks. Then there is nothing left to do, as
        // there is not after a run that nothing disturbed.
        let is_over = remedy == Remedy::Again && output.code == stage.once_more;
        let is_good = output.code == Some(0)
            || (remedy == Remedy::Again && output.code == Some(stage.code))
            || is_over
            || (remedy == Remedy::Again
                && stage.halfway.is_some_and(|code| output.code == Some(code)))
            || (may_fail && output.code != Some(101));
        findings.expect(is_good, Breach::Blocked, text);
        // One more command, for what was only said to be left behind; the same one again may have been refused at once.
        let mut last = None;
        if remedy == Remedy::Again {
            last = Some(repo.run(stage.next));
        }
        findings.check(Breach::Repair, || {
            let now = Moment::of(repo);
            if remedy != Remedy::Again || output.code != Some(0) {
                let is_settled = if is_over {
                    stage.is_as_at(&stage.after, &now)
                } else {
                    stage.is_settled(&now)
                };
                assert!(
                    is_settled,
                    "neither done nor undone: {} {:#?} {:#?}",
                    text(),
                    stage.before.photo.differences(&now.photo),
                    stage.after.photo.differences(&now.photo),
                );
            }
        });
        let last = last.unwrap_or_else(|| repo.run(stage.next));
        findings.expect(last.code == Some(0), Breach::Blocked, || {
            format!("{} then {last}", text())
        });
        findings.check(Breach::Repair, || no_residue(repo));
        // The same once more may take away what the first time has left.
        let prunes_more = remedy == Remedy::Again && stage.args.contains(&"auto");
        findings.check(Breach::Lost, || {
            let now = Account::of(repo);
            if !prunes_more {
                kept(stage, &now);
            }
            whole(stage, repo, &now);
        });
        findings.check(Breach::Blocked, || commit_works(repo));
    }
}

fn stderr_has(struck: &Struck, text: &str) -> bool {
    struck.traced.stderr.contains(text)
}

impl Stage {
    /// Whether everything is as before the operation, or everything as after it.
    fn is_settled(&self, now: &Moment) -> bool {
        let mut moments = [&self.before, &self.after].into_iter();
        moments.any(|moment| self.is_as_at(moment, now))
    }

    /// Whether all that the operation changes is as at a moment.
    fn is_as_at(&self, moment: &Moment, now: &Moment) -> bool {
        let mut delta = self.before.account.delta(&self.after.account);
        // A session that was begun and has no checkpoint yet is no harm: the next one that begins takes it.
        delta.retain(|name| !self.before.account.is_of_new_session(name));
        now.account.unlike(&moment.account, &delta).is_empty() && now.photo == moment.photo
    }
}

/// No lock, nothing half written.
fn no_residue(repo: &TestRepo) {
    let git_dir = repo.path(".git");
    check::no_residue(&git_dir);
    let left: Vec<_> = check::below(&repo.root())
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            let is_temporary = ["tmp_", ".tmp-", ".go-team-tmp-", "go-team-index-"]
                .iter()
                .any(|start| name.starts_with(start));
            is_temporary || ["import.json", "life.json", "rollback.json"].contains(&&*name)
        })
        .collect();
    assert!(left.is_empty(), "left behind: {left:#?}");
}

/// What the operation does not take away is there.
fn kept(stage: &Stage, now: &Account) {
    let kept = stage.before.account.kept(&stage.after.account);
    let lost = now.unlike(&stage.before.account, &kept);
    assert!(lost.is_empty(), "gone: {lost:#?}");
}

/// Everything that was acknowledged is there and valid, and git finds nothing to complain about.
fn whole(stage: &Stage, repo: &TestRepo, now: &Account) {
    if stage.is_damaged {
        check::git(repo, &repo.root(), &["fsck", "--strict", "--no-dangling"]);
        return;
    }
    check::complete(repo, &repo.root());
    for session in now.sessions_listed() {
        let said = repo.run(&["cp-validate", "--deep", "--session", &session]);
        assert_eq!(said.code, Some(0), "{said}");
    }
}

fn commit_works(repo: &TestRepo) {
    let mut commit = process::git(repo, &repo.root());
    commit.args(["commit", "-q", "--allow-empty", "--only", "-m", "goes on"]);
    process::succeed(commit);
}
