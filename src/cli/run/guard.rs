//! The test command after the user's, and the way back when it fails.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::child::{Launch, Stdout};
use super::{Run, words};
use crate::cli::{Exit, Failure, signals};
use crate::engine::rollback::{Forward, RollbackOptions, RollbackReport, What, execute};
use crate::engine::run::{Guard, Outcome, outcome};
use crate::model::{CheckpointId, Trigger};
use crate::render::RollbackView;

/// What a guard needs: where the test is run, and the checkpoint to go back to.
pub(super) struct Ground {
    pub work_tree: PathBuf,
    pub target: CheckpointId,
}

impl Run<'_> {
    /// The command did what it was to do: that is tested, if asked for, and recorded.
    pub(super) fn complete(&mut self, ground: Option<Ground>) -> Result<(), Failure> {
        let guard = self.args.guard.clone();
        let Some((test, ground)) = guard.zip(ground) else {
            self.checkpoint(self.args.trigger);
            return Ok(());
        };
        let test = [OsString::from("-c"), OsString::from(test)];
        let launch = Launch {
            program: OsStr::new("sh"),
            arguments: &test,
            directory: &ground.work_tree,
            variables: self.variables(),
            // What a test says is not what the command says.
            stdout: Stdout::Stderr,
        };
        let ended = launch.run();
        let means = outcome(ended.end, ended.heard);
        self.report.guard = Some(Guard {
            command: test[1].to_string_lossy().into_owned(),
            end: ended.end,
            outcome: means,
            rollback: None,
        });
        match means {
            Outcome::Complete => {
                self.checkpoint(self.args.trigger);
                Ok(())
            }
            Outcome::Interrupted => {
                self.checkpoint(Trigger::UserInterrupt);
                let what = "the test command was interrupted, and nothing was rolled back";
                self.fail("interrupted", what.to_owned())
            }
            Outcome::Failed => {
                let how = format!("the test command {}", words::failed(&ended));
                self.log(&how);
                self.roll_back(&ground.target, &how)
            }
        }
    }

    /// The test failed: everything goes back to how it was before the command.
    fn roll_back(&mut self, target: &CheckpointId, how: &str) -> Result<(), Failure> {
        let code = self.exit_code();
        match self.go_back(target, how) {
            Ok(report) => {
                let safety = report.record.safety_checkpoint.clone();
                self.context.tell(&RollbackView { report: &report });
                if let Some(guard) = &mut self.report.guard {
                    guard.rollback = Some(report);
                }
                let message = format!("{how}; everything is as it was before, at {target}");
                Err(Failure::new("guard-failed", Exit::Command(code), message)
                    .hint(format!(
                        "go-team undo brings back what the command did, which {safety} holds"
                    ))
                    .hint(format!("go-team cp-diff {target} {safety} shows it")))
            }
            Err(failure) => {
                let message = format!("{how}, and so did the rollback: {}", failure.view.message);
                let mut both = Failure::new("guard-failed", Exit::Command(code), message);
                both.view.hints = failure.view.hints;
                Err(both.hint(format!(
                    "go-team rollback {target} goes back to how it was before the command"
                )))
            }
        }
    }

    fn go_back(&self, target: &CheckpointId, reason: &str) -> Result<RollbackReport, Failure> {
        let workspace = self.context.open()?;
        let options = RollbackOptions {
            session: self.report.session.clone(),
            what: What::To(target.to_string()),
            paths: Vec::new(),
            reason: reason.to_owned(),
            // The command may have rolled back by itself, further than this.
            forward: Forward::Accept,
        };
        let marks = signals::watched();
        let result = self.context.watch_walk(marks, |progress| {
            execute(&workspace, &options, None, progress, marks)
        });
        signals::finish_with(self.exit_code());
        self.context.logged(&workspace, "rollback", None, result)
    }
}
