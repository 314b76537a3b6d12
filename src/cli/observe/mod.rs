//! `go-team observe`

mod lines;
mod prompt;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::OsStrExt as _;

use clap::Args;

use super::context::Context;
use super::output::Output;
use super::{Exit, Failure, signals};
use crate::model::{StarCommand, StarError};
use crate::render::{Note, StarHelp, shell_line};

/// Take the observer's star commands as they are typed, such as *rollback:2
///
/// As arguments, or from stdin, a line each; at a terminal, at a prompt with a history. A line that fails is said, and
/// the rest goes on; the exit code is that of the first that failed. *help lists them.
#[derive(Debug, Args)]
pub(super) struct ObserveArgs {
    /// Star commands, between quotes: '*rollback:2'
    #[arg(value_name = "STAR")]
    commands: Vec<OsString>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl ObserveArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let mut observer = Observer {
            context,
            yes: self.yes,
            done: 0,
            failed: 0,
            first: None,
        };
        if !self.commands.is_empty() {
            for command in &self.commands {
                if observer.obey(command.as_bytes(), None) == Flow::Leave {
                    break;
                }
            }
        } else if context.may_ask() && io::stdout().is_terminal() {
            return prompt::open(context, self.yes);
        } else if io::stdin().is_terminal() {
            let message = "there is no star command, and nobody may be asked for one";
            return Err(Failure::new("usage", Exit::Usage, message)
                .hint("go-team observe '*cp-list', or lines on stdin")
                .hint("without --json and --no-input there is a prompt on a terminal"));
        } else {
            lines::read(&mut observer)?;
        }
        observer.verdict()
    }
}

/// Whether there is more to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Leave,
}

/// Somebody whose star commands are done one after the other.
struct Observer<'a> {
    context: &'a Context,
    yes: bool,
    done: usize,
    failed: usize,
    /// The exit code of the first that failed.
    first: Option<Exit>,
}

impl Observer<'_> {
    /// Does what a line says, and says what went wrong. `line` is its number, where there are lines.
    fn obey(&mut self, text: &[u8], line: Option<usize>) -> Flow {
        self.done += 1;
        let (output, mut failure) = match self.act(text) {
            (_, Ok(flow)) => return flow,
            (output, Err(failure)) => (output, failure),
        };
        self.failed += 1;
        self.first.get_or_insert(failure.exit);
        if let Some(line) = line {
            failure.view.message = format!("line {line}: {}", failure.view.message);
        }
        if !failure.is_said {
            output.failure(&failure);
        }
        Flow::Next
    }

    fn act(&self, text: &[u8]) -> (Output, Result<Flow, Failure>) {
        let own = self.context.output();
        let command = match StarCommand::parse(text) {
            Ok(command) => command,
            Err(error) => return (own, Err(error.into())),
        };
        let Some(words) = words(&command, self.yes) else {
            if command == StarCommand::Quit {
                return (own, Ok(Flow::Leave));
            }
            let said = self.context.answer(&StarHelp::default());
            return (own, said.map(|()| Flow::Next));
        };
        let (output, result) = super::call(self.context.global(), &words);
        signals::unwatched();
        let result = result.map_err(|mut failure| {
            let star = shell_line(&[command.to_string()]);
            match failure.view.kind {
                "needs-confirmation" => {
                    let line = format!("go-team observe --yes {star} says it beforehand");
                    failure.view.hints = vec![line];
                }
                "needs-choice" => {
                    let line = format!("go-team observe --yes {star} takes it up");
                    failure.view.hints.insert(0, line);
                }
                _ => {}
            }
            failure
        });
        (output, result.map(|()| Flow::Next))
    }

    /// What all of them came to.
    fn verdict(self) -> Result<(), Failure> {
        let Self { done, failed, .. } = self;
        let Some(exit) = self.first else {
            return Ok(());
        };
        let message = format!("{failed} of {done} star commands failed");
        if done > 1 {
            self.context.note(&Note::info(message.clone()));
        }
        Err(Failure::new("observe", exit, message).said())
    }
}

/// The words of the command line that do what a star command says.
fn words(command: &StarCommand, yes: bool) -> Option<Vec<String>> {
    let mut words = command.words()?;
    if yes {
        words.extend(command.agreed().map(str::to_owned));
    }
    Some(words)
}

impl From<StarError> for Failure {
    fn from(error: StarError) -> Self {
        let failure = Self::new("star-command", Exit::Usage, error.to_string());
        match error {
            StarError::Selector(error) => error.into(),
            StarError::Session(error) => error.into(),
            StarError::NoStar { nearest, .. } | StarError::Unknown { nearest, .. } => {
                let failure = match nearest {
                    Some(nearest) => failure.hint(format!("did you mean {nearest}?")),
                    None => failure,
                };
                failure.hint("*help lists the star commands")
            }
            StarError::Arguments(_)
            | StarError::Dash { .. }
            | StarError::NotText
            | StarError::TooLong => failure.hint("*help lists the star commands"),
        }
    }
}
