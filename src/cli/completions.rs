//! `go-team completions`

use clap::{Args, ValueEnum};
use clap_complete::env::Shells;

use super::complete::VARIABLE;
use super::context::Context;
use super::{Exit, Failure};
use crate::render::ScriptView;

/// Print a script that lets a shell complete commands, options, and live names of checkpoints and sessions
///
/// bash: eval "$(go-team completions bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc, after compinit;
/// fish: go-team completions fish | source in config.fish.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: ShellName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

impl ShellName {
    fn as_str(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Elvish => "elvish",
            Self::Powershell => "powershell",
        }
    }
}

impl CompletionsArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let shell = self.shell.as_str();
        let shells = Shells::builtins();
        let completer = shells.completer(shell);
        let completer = completer.expect("every shell that can be named is built in");
        let mut script = Vec::new();
        let name = "go-team";
        let written = completer.write_registration(VARIABLE, name, name, name, &mut script);
        let script = written.ok().and_then(|()| String::from_utf8(script).ok());
        let script = script.ok_or_else(|| {
            let message = format!("the script for {shell} could not be made");
            Failure::new("internal", Exit::Failure, message)
        })?;
        context.answer(&ScriptView { shell, script })
    }
}
