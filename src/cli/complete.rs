//! What a shell asks for while somebody types: options, and live names of checkpoints, sessions, settings.
//!
//! The script that `completions` prints calls the program again, with the words so far and a variable that names the shell.
//! Such a call only reads, says nothing on stderr, and offers what it can find.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;

use super::{Cli, Exit, output};
use crate::config::settings::{SETTINGS, Setting};
use crate::config::{self, Kind};
use crate::engine::Clock;
use crate::engine::completion::{self, Offer};
use crate::engine::open::{OpenOptions, WideWorkTree};
use crate::model::{SessionId, SessionStatus, Trigger};
use crate::render::escape::escape;

/// Set by the scripts, to the name of the shell.
pub(super) const VARIABLE: &str = "GO_TEAM_COMPLETE";

/// Answers a shell, if one asks.
pub(super) fn answer(args: &[OsString]) -> Option<Exit> {
    let shell = env::var(VARIABLE).ok().filter(|shell| !shell.is_empty())?;
    let words = typed(args);
    let mut text = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&shell)
        && !words.is_empty()
    {
        let here = env::current_dir().ok();
        let mut command = with_names(Cli::command());
        command.build();
        // A shell has no use for a message.
        let _ = shell.write_complete(&mut command, words, here.as_deref(), &mut text);
    }
    let _ = output::print_bytes(&text);
    Some(Exit::Ok)
}

/// The words that stand on the line.
fn typed(args: &[OsString]) -> Vec<OsString> {
    let words = args.iter().skip_while(|arg| *arg != "--").skip(1);
    words.cloned().collect()
}

/// Tells every argument of every command what can stand there. Arguments are known by what they are called, so that a new
/// command has its names completed without saying so.
fn with_names(command: Command) -> Command {
    let command = command.mut_args(|arg| match completer_of(&arg) {
        Some(complete) => arg.add(ArgValueCompleter::new(complete)),
        None => arg,
    });
    command.mut_subcommands(with_names)
}

type Complete = fn(&OsStr) -> Vec<CompletionCandidate>;

fn completer_of(arg: &Arg) -> Option<Complete> {
    if let Some(long) = arg.get_long() {
        return match long {
            "session" => Some(sessions),
            "step" => Some(steps),
            "workflow" => Some(workflows),
            "trigger" => Some(triggers),
            "status" => Some(statuses),
            _ => None,
        };
    }
    let names = arg.get_value_names().unwrap_or_default();
    match names.first().map_or("", |name| name.as_str()) {
        "N" | "N[:PATH]" | "A" | "B" | "TARGET" => Some(checkpoints),
        "SESSION" | "ID" => Some(sessions),
        "KEY" => Some(settings),
        "VALUE" => Some(values),
        _ => None,
    }
}

/// Checkpoints as they can be named: numbers, names of steps, ids.
fn checkpoints(current: &OsStr) -> Vec<CompletionCandidate> {
    live(current, |options, session| {
        completion::checkpoints(options, session)
    })
}

/// The numbers of steps.
fn steps(current: &OsStr) -> Vec<CompletionCandidate> {
    live(current, |options, session| {
        completion::steps(options, session)
    })
}

/// Sessions.
fn sessions(current: &OsStr) -> Vec<CompletionCandidate> {
    live(current, |options, _| completion::sessions(options))
}

/// Workflows, the user's own included.
fn workflows(current: &OsStr) -> Vec<CompletionCandidate> {
    live(current, |options, _| completion::workflows(options))
}

/// Settings.
fn settings(current: &OsStr) -> Vec<CompletionCandidate> {
    let known = SETTINGS.iter().map(|setting| Offer {
        word: setting.key.to_owned(),
        about: setting.doc.to_owned(),
    });
    matching(current, known)
}

/// Values of the setting that stands before.
fn values(current: &OsStr) -> Vec<CompletionCandidate> {
    let words = typed(&env::args_os().collect::<Vec<_>>());
    let key = words
        .iter()
        .filter_map(|word| Setting::find(word.to_str()?))
        .next_back();
    let Some(setting) = key else {
        return Vec::new();
    };
    let mut offers = Vec::new();
    let mut offer = |word: &str| {
        offers.push(Offer {
            word: word.to_owned(),
            about: String::new(),
        });
    };
    if setting.kind == Kind::Switch {
        offer("true");
        offer("false");
    }
    if setting.optional {
        offer("none");
    }
    let built_in = setting.show(&config::Settings::default());
    if let Some(number) = built_in.as_u64() {
        offer(&number.to_string());
    }
    matching(current, offers)
}

/// Why a checkpoint is made.
fn triggers(current: &OsStr) -> Vec<CompletionCandidate> {
    matching(current, Trigger::ALL.map(|trigger| plain(trigger.as_str())))
}

/// Where sessions are in their lives.
fn statuses(current: &OsStr) -> Vec<CompletionCandidate> {
    matching(
        current,
        SessionStatus::ALL.map(|status| plain(status.as_str())),
    )
}

fn plain(word: &str) -> Offer {
    Offer {
        word: word.to_owned(),
        about: String::new(),
    }
}

/// Asks the engine, in the directory and the session that the line names.
fn live(
    current: &OsStr,
    ask: impl FnOnce(OpenOptions, Option<&SessionId>) -> Option<Vec<Offer>>,
) -> Vec<CompletionCandidate> {
    let words = typed(&env::args_os().collect::<Vec<_>>());
    let Some(here) = env::current_dir().ok() else {
        return Vec::new();
    };
    let directory = value_of(&words, "-C").map(PathBuf::from);
    let session = value_of(&words, "--session").or_else(|| env::var_os("GO_TEAM_SESSION"));
    let session = session.and_then(|id| SessionId::parse(id.to_str()?).ok());
    let options = OpenOptions {
        start: directory.map_or(here.clone(), |directory| here.join(directory)),
        home: env::var_os("HOME").filter(|home| !home.is_empty()),
        xdg_config_home: env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()),
        environment: env::vars_os().collect(),
        wide: WideWorkTree::Accept,
        clock: Clock::System,
    };
    let found = ask(options, session.as_ref()).unwrap_or_default();
    matching(current, found)
}

/// What an option on the line is set to: `--session x`, `--session=x`, `-Cx`.
fn value_of(words: &[OsString], option: &str) -> Option<OsString> {
    let mut found = None;
    for (nth, word) in words.iter().enumerate() {
        if word == option {
            found = words.get(nth + 1).cloned();
        } else if let Some(rest) = word.to_str().and_then(|word| word.strip_prefix(option)) {
            let is_short = !option.starts_with("--");
            let rest = rest.strip_prefix('=').or_else(|| is_short.then_some(rest));
            found = rest.map(OsString::from).or(found);
        }
    }
    found.filter(|value| !value.is_empty())
}

/// The offers that go on from what was typed.
///
/// A shell puts a candidate on the line as it is, so nothing is offered that a shell would do something with.
fn matching(current: &OsStr, offers: impl IntoIterator<Item = Offer>) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else {
        return Vec::new();
    };
    let is_word = |word: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-~".contains(c);
        !word.is_empty() && !word.starts_with(['-', '~']) && word.chars().all(fits)
    };
    let offers = offers.into_iter();
    let offers = offers.filter(|offer| is_word(&offer.word) && offer.word.starts_with(current));
    let candidate = |offer: Offer| {
        let about = escape(&offer.about.chars().take(60).collect::<String>());
        let help = Some(about).filter(|about| !about.is_empty());
        CompletionCandidate::new(offer.word).help(help.map(Into::into))
    };
    offers.map(candidate).collect()
}
