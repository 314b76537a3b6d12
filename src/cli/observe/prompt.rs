//! The prompt, for an observer at a terminal.
//!
//! Each command runs as a process of its own, in the foreground: Ctrl-C ends that, and not the prompt.

use std::env;
use std::ffi::OsString;
use std::io;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Editor, Helper};

use crate::cli::context::Context;
use crate::cli::output::complain;
use crate::cli::run::child::{Launch, Stdout};
use crate::cli::{Exit, Failure, signals};
use crate::engine::completion;
use crate::engine::run::End;
use crate::model::StarCommand;
use crate::model::star::FORMS;
use crate::render::{Note, StarHelp};

const PROMPT: &str = "observe> ";

/// Reads star commands and does them, until the observer leaves.
pub(super) fn open(context: &Context, yes: bool) -> Result<(), Failure> {
    let workspace = context.open()?;
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .build();
    let mut editor = Editor::with_history(config.clone(), MemHistory::with_config(&config))
        .map_err(|error| no_terminal(&error))?;
    editor.set_helper(Some(Names { context }));
    for line in workspace.typed() {
        let _ = editor.add_history_entry(line);
    }
    context.note(&Note::info("*help lists the star commands; Ctrl-D leaves"));
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            // As in a shell: the line is given up, nothing else.
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                complain("that was not UTF-8\n");
                continue;
            }
            Err(error) => return Err(no_terminal(&error)),
        };
        if line.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(&line);
        workspace.note_typed(&line);
        match StarCommand::parse(line.as_bytes()) {
            Ok(StarCommand::Quit) => return Ok(()),
            Ok(StarCommand::Help) => context.answer(&StarHelp::default())?,
            Ok(command) => obey(context, &command, yes),
            Err(error) => context.output().failure(&error.into()),
        }
    }
}

/// Does what a command says. It says by itself what went wrong.
fn obey(context: &Context, command: &StarCommand, yes: bool) {
    let mut arguments = context.global().words();
    let words = super::words(command, yes).unwrap_or_default();
    arguments.extend(words.into_iter().map(OsString::from));
    let program = match env::current_exe() {
        Ok(program) => program,
        Err(error) => return complain(&format!("go-team does not find itself: {error}\n")),
    };
    let launch = Launch {
        program: program.as_os_str(),
        arguments: &arguments,
        directory: &context.start,
        variables: Vec::new(),
        stdout: Stdout::Stdout,
    };
    let ended = launch.run();
    signals::unwatched();
    match (ended.error, ended.end) {
        (Some(error), _) => complain(&format!("go-team cannot run itself: {error}\n")),
        // Ctrl-C has left its sign on the line.
        (None, End::Killed { .. }) => complain("\n"),
        (None, _) => {}
    }
}

fn no_terminal(error: &ReadlineError) -> Failure {
    let message = format!("the terminal cannot be used for a prompt: {error}");
    Failure::new("terminal", Exit::Failure, message)
        .hint("go-team observe '*cp-list' takes star commands as arguments, go-team observe < FILE as lines")
}

/// What can be typed: names of commands, and behind them checkpoints or sessions as they are now.
struct Names<'a> {
    context: &'a Context,
}

impl Names<'_> {
    /// The words that may stand behind a command.
    fn arguments(&self, form: &str) -> Vec<String> {
        let options = self.context.open_options();
        let session = self.context.session.as_ref();
        let offers = if form.contains("ID") {
            completion::sessions(options)
        } else if form.contains(':') {
            completion::checkpoints(options, session)
        } else {
            None
        };
        let offers = offers.unwrap_or_default().into_iter();
        offers.map(|offer| offer.word).collect()
    }
}

impl Completer for Names<'_> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or(line);
        let Some(end) = typed.find([':', ' ']) else {
            let names = FORMS.iter().map(|form| {
                let separator = if form.form.contains(':') { ":" } else { "" };
                let is_optional = form.form.contains("[:") && !form.form.contains(":A");
                format!("*{}{}", form.name, if is_optional { "" } else { separator })
            });
            let name = format!("*{}", typed.trim_start_matches('*'));
            return Ok((0, names.filter(|each| each.starts_with(&name)).collect()));
        };
        let name = typed[..end].trim_start_matches('*');
        let form = FORMS.iter().find(|form| form.name == name);
        let words = form.map(|form| self.arguments(form.form));
        let begin = typed.rfind([':', ' ']).map_or(0, |at| at + 1);
        let words = words.unwrap_or_default().into_iter();
        let words = words.filter(|word| word.starts_with(&typed[begin..]));
        // What is offered is shown as it is.
        let words = words.filter(|word| word.chars().all(crate::render::escape::is_harmless));
        Ok((begin, words.collect()))
    }
}

impl Hinter for Names<'_> {
    type Hint = String;
}

impl Highlighter for Names<'_> {}
impl Validator for Names<'_> {}
impl Helper for Names<'_> {}
