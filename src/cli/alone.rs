//! Reading a command line with one command in mind.
//!
//! The definition of every command with all its options is larger than what most of them work with, and building it took a
//! good part of the time of a short one. A line that begins with a command's name is read with that command alone. Whatever
//! does not go well, the help and every mistake included, is left to the whole definition, which knows what to say.

use std::ffi::OsString;

use clap::{Args as _, Command as Definition, FromArgMatches as _};

use super::global::GlobalArgs;
use super::{
    Cli, cleanup, completions, config, create, delete, diff, doctor, ending, export, import,
    import_from, list, man, observe, prune, rebuild, resume, rollback, run, session_info, sessions,
    show, start, state, status, validate,
};

/// Reads a line whose first word is a command, if it can be read.
pub(super) fn parse(args: &[OsString]) -> Option<Cli> {
    let command = definition(args.get(1)?.to_str()?)?;
    let whole = GlobalArgs::augment_args(Definition::new("go-team")).subcommand(command);
    let matches = whole.try_get_matches_from(args).ok()?;
    Cli::from_arg_matches(&matches).ok()
}

type Define = fn(Definition) -> Definition;

/// The names of every command, the one it is known by first, and what it takes.
const COMMANDS: [(&[&str], Define); 30] = [
    (&["start"], start::StartArgs::augment_args),
    (&["resume"], resume::ResumeArgs::augment_args),
    (&["sessions"], sessions::SessionsArgs::augment_args),
    (
        &["session-info"],
        session_info::SessionInfoArgs::augment_args,
    ),
    (&["complete"], ending::CompleteArgs::augment_args),
    (&["fail"], ending::FailArgs::augment_args),
    (&["abandon"], ending::AbandonArgs::augment_args),
    (&["cleanup"], cleanup::CleanupArgs::augment_args),
    (
        &["cp-create", "checkpoint"],
        create::CreateArgs::augment_args,
    ),
    (&["cp-list", "checkpoints"], list::ListArgs::augment_args),
    (&["cp-show"], show::ShowArgs::augment_args),
    (&["cp-diff"], diff::DiffArgs::augment_args),
    (
        &["rollback", "restore"],
        rollback::RollbackArgs::augment_args,
    ),
    (&["undo"], rollback::UndoArgs::augment_args),
    (&["redo"], rollback::RedoArgs::augment_args),
    (&["cp-validate"], validate::ValidateArgs::augment_args),
    (&["cp-rebuild"], rebuild::RebuildArgs::augment_args),
    (&["cp-delete"], delete::DeleteArgs::augment_args),
    (&["cp-prune"], prune::PruneArgs::augment_args),
    (&["cp-export"], export::ExportArgs::augment_args),
    (&["cp-import"], import::ImportArgs::augment_args),
    (&["import-from"], import_from::ImportFromArgs::augment_args),
    (&["state"], state::StateArgs::augment_args),
    (&["run"], run::RunArgs::augment_args),
    (&["observe"], observe::ObserveArgs::augment_args),
    (&["status"], status::StatusArgs::augment_args),
    (&["doctor"], doctor::DoctorArgs::augment_args),
    (&["config"], config::ConfigArgs::augment_args),
    (&["completions"], completions::CompletionsArgs::augment_args),
    (&["man"], man::ManArgs::augment_args),
];

/// The definition of the command that a word names.
fn definition(word: &str) -> Option<Definition> {
    let (names, define) = COMMANDS.iter().find(|(names, _)| names.contains(&word))?;
    let command = Definition::new(names[0]).aliases(&names[1..]);
    Some(define(command))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Everything about an option or argument that reading a line depends on.
    fn told(command: &Definition) -> Vec<String> {
        let options = command.get_arguments().map(|arg| {
            format!(
                "{:?} {:?} {:?} {:?} {:?} {:?} {}",
                arg.get_id(),
                arg.get_long(),
                arg.get_short(),
                arg.get_index(),
                arg.get_num_args(),
                arg.get_action(),
                arg.is_required_set(),
            )
        });
        let below = command.get_subcommands();
        options
            .chain(below.map(|one| format!("{}: {:?}", one.get_name(), told(one))))
            .collect()
    }

    #[test]
    fn every_command_is_known_by_all_its_names() {
        let mut whole = Cli::command();
        whole.build();
        for command in whole
            .get_subcommands()
            .filter(|one| one.get_name() != "help")
        {
            let names = std::iter::once(command.get_name()).chain(command.get_all_aliases());
            for name in names {
                let mut alone = GlobalArgs::augment_args(Definition::new("go-team"))
                    .subcommand(definition(name).unwrap_or_else(|| panic!("{name}")));
                alone.build();
                let alone = alone.find_subcommand(name).unwrap();
                assert_eq!(told(alone), told(command), "{name}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_to_the_whole_definition() {
        let parse = |words: &[&str]| {
            let words = std::iter::once("go-team").chain(words.iter().copied());
            parse(&words.map(OsString::from).collect::<Vec<_>>())
        };
        for words in [
            &[][..],
            &["--json", "cp-list"],
            &["cp-list", "--help"],
            &["cp-list", "--nonsense"],
            &["help", "cp-list"],
            &["cp-lst"],
            &["rollback", "--continue", "--abort"],
        ] {
            assert!(parse(words).is_none(), "{words:?}");
        }
        let cli = parse(&["checkpoint", "text", "--json", "--step", "2"]).unwrap();
        assert!(cli.global.json);
        assert_eq!(cli.command.name(), "cp-create");
        assert_eq!(
            parse(&["state", "show"]).unwrap().command.name(),
            "state show"
        );
    }
}
