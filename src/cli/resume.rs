//! `go-team resume`

use std::path::PathBuf;

use clap::Args;

use super::confirm::Answer;
use super::context::Context;
use super::input::Source;
use super::{Exit, Failure};
use crate::engine::Workspace;
use crate::engine::resume::{
    ProblemKind, ResumeOptions, ResumeReport, delete, look, resume, start_fresh,
};
use crate::model::SessionId;
use crate::render::style::Style;
use crate::render::{Render as _, commands_for, remove_prompt, resume_found, resume_question};

/// Take a session up again: validate it, see what changed, and say where work goes on
///
/// Without a name it is this work tree's own, else the newest that is active or interrupted. On a terminal you are asked
/// what to do; without one, say it: --resume, --fresh, --view or --delete.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct ResumeArgs {
    /// The session
    #[arg(value_name = "SESSION")]
    id: Option<SessionId>,
    /// Take it up: it is active and this work tree's own afterwards
    #[arg(long, group = "choice")]
    resume: bool,
    /// Put it away and begin another one of the same topic and workflow; nothing is deleted
    #[arg(long, group = "choice")]
    fresh: bool,
    /// Show everything about it, and change nothing
    #[arg(long, group = "choice")]
    view: bool,
    /// Delete it for good, after a typed yes
    #[arg(long, group = "choice")]
    delete: bool,
    /// Do not ask before deleting
    #[arg(long, requires = "delete", conflicts_with_all = ["resume", "fresh", "view"])]
    yes: bool,
    /// The tracked issue as it is now, a JSON object in a file or on stdin: its labels and its text are compared
    #[arg(long, value_name = "FILE|-")]
    issue: Option<PathBuf>,
}

/// What to do with the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Resume,
    Fresh,
    View,
    Delete,
}

impl Choice {
    /// A letter or a word, in any case.
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        match words.join(" ").as_str() {
            "r" | "resume" => Some(Self::Resume),
            "s" | "start" | "fresh" | "start fresh" => Some(Self::Fresh),
            "v" | "view" | "details" | "view details" => Some(Self::View),
            "d" | "delete" => Some(Self::Delete),
            _ => None,
        }
    }
}

impl ResumeArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let issue = self.issue.clone().map(Source::parse);
        let issue = issue.map(|source| source.read_object("--issue", &context.start));
        let workspace = context.open()?;
        let options = ResumeOptions {
            session: self.id.clone().or_else(|| context.session.clone()),
            issue: issue.transpose()?,
        };
        let flags = [
            (self.resume, Choice::Resume),
            (self.fresh, Choice::Fresh),
            (self.view, Choice::View),
            (self.delete, Choice::Delete),
        ];
        let chosen = flags.into_iter().find(|(is_set, _)| *is_set);
        if let Some((_, Choice::Resume)) = chosen {
            return take_up(context, &workspace, &options);
        }
        let report = watch(context, |progress, tally| {
            look(&workspace, &options, progress, tally)
        })?;
        let choice = match chosen {
            Some((_, choice)) => choice,
            None if context.may_ask() => ask(context, &report)?,
            None => return answer(context, &report, Some(undecided(&report))),
        };
        match choice {
            Choice::View => answer(context, &report, unusable(&report)),
            Choice::Delete => self.remove(context, &workspace, &report),
            Choice::Fresh => {
                let result = start_fresh(&workspace, &report);
                context.answer(&context.logged(&workspace, "resume", None, result)?)
            }
            Choice::Resume => {
                // What was looked at is the one that was agreed to, whatever has become the newest since.
                let session = Some(report.session_id);
                take_up(context, &workspace, &ResumeOptions { session, ..options })
            }
        }
    }

    fn remove(
        &self,
        context: &Context,
        workspace: &Workspace,
        report: &ResumeReport,
    ) -> Result<(), Failure> {
        if !self.yes {
            match context.confirm(&remove_prompt(report)) {
                Answer::Confirmed => {}
                Answer::Cancelled => {
                    let message = "cancelled; nothing was deleted";
                    return Err(Failure::new("cancelled", Exit::Cancelled, message).hint(
                        "only the whole word yes goes on; --delete --yes says it beforehand",
                    ));
                }
                Answer::NoTerminal => {
                    let message = "deleting has to be confirmed, and there is nobody to ask";
                    return Err(Failure::new("needs-confirmation", Exit::Cancelled, message)
                        .hint("--delete --yes confirms it; --view shows what would be deleted"));
                }
            }
        }
        context.answer(&delete(workspace, report)?)
    }
}

/// Looks for it, with signs of life on a terminal.
fn watch<T>(
    context: &Context,
    work: impl FnOnce(&crate::engine::Progress, &crate::engine::Tally) -> T,
) -> T {
    context.watch(|progress| work(progress, &crate::engine::Tally::default()))
}

fn take_up(
    context: &Context,
    workspace: &Workspace,
    options: &ResumeOptions,
) -> Result<(), Failure> {
    let result = watch(context, |progress, tally| {
        resume(workspace, options, progress, tally)
    });
    let report = context.logged(workspace, "resume", None, result)?;
    answer(context, &report, unusable(&report))
}

/// Shows what was found, and what stands in the way beside it.
fn answer(
    context: &Context,
    report: &ResumeReport,
    failure: Option<Failure>,
) -> Result<(), Failure> {
    match failure {
        Some(failure) if context.is_json() => context.answer_invalid(report, failure),
        Some(failure) => context.answer(report).and(Err(failure)),
        None => context.answer(report),
    }
}

/// Why the session cannot be taken up, and the choices.
fn unusable(report: &ResumeReport) -> Option<Failure> {
    let problem = report.problem.as_ref()?;
    let kind = match problem.kind {
        ProblemKind::NewerVersion => "newer-version",
        ProblemKind::SessionDamaged => "session-damaged",
        ProblemKind::CheckpointCorrupt => "checkpoint-corrupt",
        ProblemKind::CheckpointIncomplete => "checkpoint-incomplete",
    };
    let session = &report.session_id;
    let what = problem.details.join("; ");
    let message = format!("session {session} cannot be taken up as it is: {what}");
    let mut failure = Failure::new(kind, Exit::Invalid, message);
    let last_valid = report.validation.last_valid.as_ref();
    for command in commands_for(&report.validation.findings, last_valid) {
        failure = failure.hint(command);
    }
    let is_here = report.session.as_ref().is_some_and(|one| one.active_here);
    if !is_here {
        failure = failure.hint(format!(
            "this work tree is in another session: add --session {session}"
        ));
    }
    Some(failure.hint(format!(
        "go-team resume {session} --fresh begins anew; the old session is kept"
    )))
}

/// That somebody has to decide, and there is nobody to ask.
fn undecided(report: &ResumeReport) -> Failure {
    if let Some(failure) = unusable(report) {
        return failure;
    }
    let session = &report.session_id;
    let message = format!(
        "session {session} is there to be taken up ({}), and there is nobody to ask",
        report.verdict
    );
    Failure::new("needs-choice", Exit::Cancelled, message)
        .hint(format!("go-team resume {session} --resume takes it up"))
        .hint(format!(
            "go-team resume {session} --fresh puts it away and begins another one"
        ))
        .hint(format!(
            "go-team resume {session} --view shows everything about it"
        ))
        .hint(format!(
            "go-team resume {session} --delete --yes deletes it for good"
        ))
}

/// Asks until the answer is a choice. Details are shown on the way, and change nothing.
fn ask(context: &Context, report: &ResumeReport) -> Result<Choice, Failure> {
    let style: &Style = context.stderr();
    let question = resume_question(report, style);
    let mut prompt = resume_found(report, style);
    loop {
        let Some(answer) = context.ask(&format!("{prompt}{question}")) else {
            let message = "nothing was chosen; nothing was changed";
            return Err(Failure::new("cancelled", Exit::Cancelled, message)
                .hint("--resume, --fresh, --view or --delete says it beforehand"));
        };
        prompt = match Choice::parse(&answer) {
            Some(Choice::View) => report.text(style),
            Some(Choice::Resume) if report.problem.is_some() => {
                let failure = unusable(report).map(|failure| failure.view.text(style));
                failure.unwrap_or_default()
            }
            Some(choice) => return Ok(choice),
            None => "Please type one of the letters in brackets, or the word; Ctrl-D leaves \
                     everything as it is.\n"
                .to_owned(),
        };
    }
}
