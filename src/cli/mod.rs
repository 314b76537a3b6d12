//! The command line: arguments in, options out; reports printed; failures made into messages, hints and exit codes.
//!
//! One file a command, each thin: arguments become options, the engine does the work, `render` shows the report. The
//! process's environment, streams and current directory are read here and nowhere else.

#![allow(
    clippy::doc_markdown,
    reason = "comments on arguments are the help that users read, where a backtick is noise"
)]

mod alone;
mod cleanup;
mod complete;
mod completions;
mod config;
mod confirm;
mod context;
mod create;
mod delete;
mod diff;
mod doctor;
mod ending;
mod error;
mod export;
mod global;
mod import;
mod import_from;
mod input;
mod list;
mod man;
mod observe;
mod output;
mod pager;
mod progress;
mod prune;
mod rebuild;
mod resume;
mod rollback;
mod rollback_error;
mod run;
mod session_info;
mod sessions;
mod show;
mod signals;
mod start;
mod state;
mod status;
mod usage;
mod validate;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use context::Context;
pub use error::{Exit, Failure};
use global::GlobalArgs;
use output::Output;

/// Checkpoints of files, staging, branch and workflow state in a git repository.
#[derive(Debug, Parser)]
#[command(name = "go-team", version, arg_required_else_help = true)]
#[command(subcommand_required = true, infer_long_args = false)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Start(start::StartArgs),
    Resume(resume::ResumeArgs),
    Sessions(sessions::SessionsArgs),
    SessionInfo(session_info::SessionInfoArgs),
    Complete(ending::CompleteArgs),
    Fail(ending::FailArgs),
    Abandon(ending::AbandonArgs),
    Cleanup(cleanup::CleanupArgs),
    #[command(name = "cp-create", visible_alias = "checkpoint")]
    Create(create::CreateArgs),
    #[command(name = "cp-list", visible_alias = "checkpoints")]
    List(list::ListArgs),
    #[command(name = "cp-show")]
    Show(show::ShowArgs),
    #[command(name = "cp-diff")]
    Diff(diff::DiffArgs),
    #[command(visible_alias = "restore")]
    Rollback(rollback::RollbackArgs),
    Undo(rollback::UndoArgs),
    Redo(rollback::RedoArgs),
    #[command(name = "cp-validate")]
    Validate(validate::ValidateArgs),
    #[command(name = "cp-rebuild")]
    Rebuild(rebuild::RebuildArgs),
    #[command(name = "cp-delete")]
    Delete(delete::DeleteArgs),
    #[command(name = "cp-prune")]
    Prune(prune::PruneArgs),
    #[command(name = "cp-export")]
    Export(export::ExportArgs),
    #[command(name = "cp-import")]
    Import(import::ImportArgs),
    ImportFrom(import_from::ImportFromArgs),
    State(state::StateArgs),
    Run(run::RunArgs),
    Observe(observe::ObserveArgs),
    Status(status::StatusArgs),
    Doctor(doctor::DoctorArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    /// The name in JSON answers, whatever alias was typed.
    fn name(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::Resume(_) => "resume",
            Self::Sessions(_) => "sessions",
            Self::SessionInfo(_) => "session-info",
            Self::Complete(_) => "complete",
            Self::Fail(_) => "fail",
            Self::Abandon(_) => "abandon",
            Self::Cleanup(_) => "cleanup",
            Self::Create(_) => "cp-create",
            Self::List(_) => "cp-list",
            Self::Show(_) => "cp-show",
            Self::Rollback(_) => "rollback",
            Self::Undo(_) => "undo",
            Self::Redo(_) => "redo",
            Self::Export(_) => "cp-export",
            Self::Import(_) => "cp-import",
            Self::ImportFrom(_) => "import-from",
            Self::Diff(_) => "cp-diff",
            Self::Validate(_) => "cp-validate",
            Self::Rebuild(_) => "cp-rebuild",
            Self::Delete(_) => "cp-delete",
            Self::Prune(_) => "cp-prune",
            Self::Doctor(_) => "doctor",
            Self::State(args) => args.name(),
            Self::Run(_) => "run",
            Self::Observe(_) => "observe",
            Self::Status(_) => "status",
            Self::Config(args) => args.name(),
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Start(args) => args.run(context),
            Self::Resume(args) => args.run(context),
            Self::Sessions(args) => args.run(context),
            Self::SessionInfo(args) => args.run(context),
            Self::Complete(args) => args.run(context),
            Self::Fail(args) => args.run(context),
            Self::Abandon(args) => args.run(context),
            Self::Cleanup(args) => args.run(context),
            Self::Create(args) => args.run(context),
            Self::List(args) => args.run(context),
            Self::Show(args) => args.run(context),
            Self::Rollback(args) => args.run(context),
            Self::Undo(args) => args.run(context),
            Self::Redo(args) => args.run(context),
            Self::Export(args) => args.run(context),
            Self::Import(args) => args.run(context),
            Self::ImportFrom(args) => args.run(context),
            Self::Diff(args) => args.run(context),
            Self::Validate(args) => args.run(context),
            Self::Rebuild(args) => args.run(context),
            Self::Delete(args) => args.run(context),
            Self::Prune(args) => args.run(context),
            Self::Doctor(doctor::DoctorArgs {}) => doctor::DoctorArgs::run(context),
            Self::State(args) => args.run(context),
            Self::Run(args) => args.run(context),
            Self::Observe(args) => args.run(context),
            Self::Status(status::StatusArgs {}) => status::StatusArgs::run(context),
            Self::Config(args) => args.run(context),
            Self::Completions(args) => args.run(context),
            Self::Man(args) => args.run(context),
        }
    }
}

/// Runs the program with its arguments, the program's own name included.
#[must_use]
pub fn run(args: &[OsString]) -> Exit {
    if let Some(exit) = complete::answer(args) {
        return exit;
    }
    let cli = match alone::parse(args).map_or_else(|| Cli::try_parse_from(args), Ok) {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error, args),
    };
    let (output, result) = perform(cli.global, cli.command);
    match result {
        Ok(()) => Exit::Ok,
        Err(failure) => {
            if !failure.is_said {
                output.failure(&failure);
            }
            failure.exit
        }
    }
}

/// Does what a command says; the result comes with where a failure is said.
fn perform(global: GlobalArgs, command: Command) -> (Output, Result<(), Failure>) {
    let output = Output::new(&global, command.name());
    let context = Context::new(global, output);
    let result = context.and_then(|context| command.run(&context));
    (output, result)
}

/// Does what a command line of these words would do, with options that were given elsewhere.
fn call(global: &GlobalArgs, words: &[String]) -> (Output, Result<(), Failure>) {
    let program = std::iter::once("go-team");
    let words = program.chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(words) {
        Ok(cli) => perform(global.clone(), cli.command),
        Err(error) => (Output::new(global, "observe"), Err(usage::failure(&error))),
    }
}

/// Says that the program itself is at fault, in the form that the arguments ask for.
#[must_use]
pub fn report_bug(args: &[OsString]) -> Exit {
    let failure = Failure::new(
        "internal",
        Exit::Failure,
        "go-team stopped because of a bug in it",
    )
    .hint("run the command again with RUST_BACKTRACE=1 and report what it prints");
    Output::of_raw_arguments(args).failure(&failure);
    failure.exit
}
