//! `go-team run`

mod checkpoint;
pub(super) mod child;
mod guard;
mod words;

use std::ffi::OsString;
use std::path::Path;

use clap::Args;

use super::context::Context;
use super::create::{ContentArgs, PlaceArgs};
use super::{Exit, Failure};
use crate::engine::Error;
use crate::engine::run::{Begun, End, Outcome, RunReport, as_recorded, begin, outcome};
use crate::model::Trigger;
use crate::render::escape::escape;
use crate::render::{Note, RunView};
use child::{Launch, Stdout};
use guard::Ground;

/// The variable that names the session to the command.
const SESSION: &str = "GO_TEAM_SESSION";

/// Run a command, and make a checkpoint of what it did
///
/// The previous checkpoint is verified and shown first. The command has the terminal, the streams and the signals to
/// itself, and its exit code is passed on. A checkpoint is made when it succeeds, and when it is interrupted; when it
/// fails, that is logged and the ways on are shown. Whatever go-team itself cannot do is a warning: the command runs all
/// the same. go-team's own words go to stderr; with --json, the command's stdout goes there too.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// What you say about it
    #[arg(default_value = "", hide_default_value = true)]
    description: String,
    #[command(flatten)]
    place: PlaceArgs,
    /// Why the checkpoint is made
    #[arg(long, value_name = "T", default_value = "step_complete")]
    trigger: Trigger,
    #[command(flatten)]
    content: ContentArgs,
    /// Make a checkpoint before the command, too
    #[arg(long)]
    before: bool,
    /// Test what the command did with this shell command, and roll back to how it was before when the test fails
    #[arg(long, value_name = "TEST CMD")]
    guard: Option<String>,
    /// The command, and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl RunArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        for (flag, file) in [
            ("--state", &self.content.state),
            ("--outputs", &self.content.outputs),
        ] {
            if file.as_deref() == Some(Path::new("-")) {
                let message = format!("{flag} cannot come from stdin, which is the command's");
                return Err(Failure::new("usage", Exit::Usage, message)
                    .hint(format!("{flag} FILE is read when the command has ended")));
            }
        }
        let command = self.command.iter().map(|word| word.to_string_lossy());
        let mut run = Run {
            context,
            report: RunReport {
                command: command.map(std::borrow::Cow::into_owned).collect(),
                ..RunReport::default()
            },
            args: self,
            reasons: Vec::new(),
        };
        let done = run.go();
        run.answer(done)
    }
}

/// A run under way.
struct Run<'a> {
    context: &'a Context,
    args: RunArgs,
    report: RunReport,
    /// Why something could not be done, as far as it was said.
    reasons: Vec<String>,
}

impl Run<'_> {
    fn go(&mut self) -> Result<(), Failure> {
        let ground = match self.prepare() {
            Ok(ground) => ground,
            Err(Trouble::Arguments(failure)) => return Err(failure),
            Err(Trouble::GoTeam(mut failure)) if self.args.guard.is_some() => {
                let reason = failure.view.message;
                failure.view.message = format!(
                    "the command was not run, as --guard cannot keep its promise: {reason}"
                );
                return Err(failure);
            }
            Err(Trouble::GoTeam(failure)) => {
                self.warn("go-team cannot look after this command", &failure);
                None
            }
        };
        let (program, arguments) = self.args.command.split_first().unwrap_or_else(|| {
            unreachable!("a command has at least one word: clap has seen to it")
        });
        let launch = Launch {
            program,
            arguments,
            directory: &self.context.start,
            variables: self.variables(),
            stdout: if self.context.is_json() {
                Stdout::Stderr
            } else {
                Stdout::Stdout
            },
        };
        let ended = launch.run();
        let means = outcome(ended.end, ended.heard);
        self.report.end = Some(ended.end);
        self.report.outcome = Some(means);
        match means {
            Outcome::Complete => self.complete(ground),
            Outcome::Interrupted => {
                self.checkpoint(Trigger::UserInterrupt);
                let what = format!("{} was interrupted", words::named(&self.args.command));
                self.fail("interrupted", what)
            }
            Outcome::Failed => {
                let how = words::failed(&ended);
                self.log(&format!("{} {how}", words::program(&self.args.command)));
                let what = format!("{} {how}", words::named(&self.args.command));
                let Some(error) = &ended.error else {
                    return self.fail("command-failed", what);
                };
                let code = Exit::Command(ended.end.code());
                let mut failure = Failure::new("command-not-run", code, what);
                failure.view.hints = words::hints_of(&self.args.command, error);
                Err(failure)
            }
        }
    }

    /// The session, the look at the previous checkpoint, and the checkpoints that come before the command.
    fn prepare(&mut self) -> Result<Option<Ground>, Trouble> {
        let context = self.context;
        let workspace = context.open()?;
        let wanted = context.session.as_ref();
        let begun = context.watch_objects(|tally| begin(&workspace, wanted, tally))?;
        context.tell(&begun);
        let Begun {
            session,
            previous,
            warnings,
            ..
        } = begun;
        self.report.session = Some(session.clone());
        self.report.previous = previous;
        self.report.warnings.extend(warnings);
        let mut target = None;
        if self.args.before {
            match self.before(&workspace, &session) {
                Ok(id) => target = Some(id),
                Err(failure) if self.args.guard.is_some() => return Err(failure.into()),
                Err(failure) => self.warn("no checkpoint was made before the command", &failure),
            }
        }
        if self.args.guard.is_none() {
            return Ok(None);
        }
        if target.is_none() {
            let look = |progress: &_| as_recorded(&workspace, &session, progress);
            // One that cannot be read is no way back.
            target = context.watch(look).unwrap_or_default();
        }
        let target = match target {
            Some(target) => target,
            None => self.before(&workspace, &session)?,
        };
        Ok(Some(Ground {
            work_tree: workspace.repo.work_dir.clone(),
            target,
        }))
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let session = self.report.session.iter();
        session.map(|id| (SESSION, id.to_string())).collect()
    }

    fn log(&self, text: &str) {
        if let (Ok(workspace), Some(session)) = (self.context.open(), &self.report.session) {
            workspace.note_failed_command(session, self.args.place.step, text);
        }
    }

    /// Says what go-team could not do; the command is not concerned. What is wrong is said once.
    fn warn(&mut self, what: &str, failure: &Failure) {
        let reason = &failure.view.message;
        if self.reasons.contains(reason) {
            return;
        }
        self.reasons.push(reason.clone());
        let text = format!("{what}: {}", failure.view.message);
        let mut lines = vec![text.clone()];
        lines.extend(
            failure
                .view
                .hints
                .iter()
                .map(|hint| format!("hint: {hint}")),
        );
        for (nth, line) in lines.iter().enumerate() {
            let line = escape(line);
            self.context.note(&match nth {
                0 => Note::warning(line),
                _ => Note::info(line),
            });
        }
        self.report.warnings.push(lines.join("; "));
    }

    /// The exit code: that of the test command once there is one, else of the command.
    fn exit_code(&self) -> u8 {
        let guard = self.report.guard.as_ref().map(|guard| guard.end);
        guard.or(self.report.end).map_or(0, End::code)
    }

    /// The command did not come to a good end: the ways on. One that was asked to end and did so well is no failure.
    fn fail(&self, kind: &'static str, what: String) -> Result<(), Failure> {
        let code = self.exit_code();
        if code == 0 {
            self.context.note(&Note::info(escape(&what)));
            return Ok(());
        }
        let mut failure = Failure::new(kind, Exit::Command(code), what);
        failure.view.hints = words::ways_on(&self.report, &self.args.place);
        Err(failure)
    }

    /// The answer for programs; for people everything has been said, but why it failed.
    fn answer(&self, done: Result<(), Failure>) -> Result<(), Failure> {
        let view = RunView {
            report: &self.report,
        };
        let is_begun = self.report.end.is_some();
        match done {
            _ if !self.context.is_json() => done,
            Ok(()) => self.context.answer(&view),
            Err(failure) if is_begun => self.context.answer_invalid(&view, failure),
            Err(failure) => Err(failure),
        }
    }
}

/// Why nothing could be prepared.
enum Trouble {
    /// What was asked for cannot be: nothing is run.
    Arguments(Failure),
    /// go-team cannot do its part.
    GoTeam(Failure),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::NoSuchSession { .. }
            | Error::SessionEnded { .. }
            | Error::OtherWorktree { .. } => Self::Arguments(error.into()),
            error => Self::GoTeam(error.into()),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::GoTeam(failure)
    }
}
