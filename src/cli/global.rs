//! The options that every command takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The options that every command takes.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[command(next_help_heading = "Global options")]
pub(super) struct GlobalArgs {
    /// Work in this session instead of the work tree's own [env: GO_TEAM_SESSION]
    #[arg(long, global = true, value_name = "ID")]
    pub session: Option<String>,
    /// Run as if started in DIR
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub json: bool,
    /// Print the answer in its shortest form, and nothing but warnings and errors beside it
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// Never ask; fail where an answer would be needed
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Accept the home directory or / as a work tree; in rollback, any target
    #[arg(long, global = true)]
    pub force: bool,
}

impl GlobalArgs {
    /// The words that say the same, but for the directory and the format of the answer.
    pub(super) fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        if let Some(session) = &self.session {
            words.push(format!("--session={session}").into());
        }
        let colour = match self.color {
            When::Auto => "auto",
            When::Always => "always",
            When::Never => "never",
        };
        words.push(format!("--color={colour}").into());
        for (is_given, word) in [
            (self.quiet, "--quiet"),
            (self.verbose, "--verbose"),
            (self.no_input, "--no-input"),
            (self.force, "--force"),
        ] {
            if is_given {
                words.push(word.into());
            }
        }
        words
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}
