//! `go-team config`

use clap::{Args, Subcommand};

use super::context::Context;
use super::{Exit, Failure};
use crate::config::Owner;
use crate::engine::config::{self, Which};

/// Show or change settings
///
/// Settings come from GO_TEAM_* variables, go-team.toml at the root of the work tree, your own config.toml, and what is
/// built in; the first that says something wins.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// List the settings in effect, each with its origin
    List {
        /// Only those that somebody has set
        #[arg(long)]
        changed: bool,
    },
    /// Show one value in effect
    Get {
        /// The setting, such as lock.timeout_seconds or workflow.NAME
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Set a value in a file; comments and layout of the file stay as they are
    Set {
        /// The setting, such as lock.timeout_seconds or workflow.NAME.steps
        #[arg(value_name = "KEY")]
        key: String,
        /// The value; several for a list. Relative paths are relative to the file
        #[arg(required = true, value_name = "VALUE")]
        values: Vec<String>,
        #[command(flatten)]
        file: FileArgs,
    },
    /// Remove a value from a file, so that the layer below has its say
    Unset {
        /// The setting
        #[arg(value_name = "KEY")]
        key: String,
        #[command(flatten)]
        file: FileArgs,
    },
    /// Print the path of the file that set changes
    Path {
        #[command(flatten)]
        file: FileArgs,
    },
    /// Write a file that describes every setting and sets none
    Init {
        #[command(flatten)]
        file: FileArgs,
    },
}

#[derive(Debug, Clone, Copy, Args)]
struct FileArgs {
    /// Your own file instead of the project's; needs no repository
    #[arg(long)]
    user: bool,
}

impl FileArgs {
    fn layer(self) -> Owner {
        if self.user {
            Owner::User
        } else {
            Owner::Project
        }
    }

    /// Outside a repository there is still the user's own file.
    fn hint(self, command: &str, failure: Failure) -> Failure {
        if failure.exit == Exit::Refused && !self.user {
            failure.hint(format!(
                "go-team {command} --user is for your own file, which needs no repository"
            ))
        } else {
            failure
        }
    }
}

impl ConfigArgs {
    /// The name in JSON answers.
    pub(super) fn name(&self) -> &'static str {
        match self.command {
            ConfigCommand::List { .. } => "config list",
            ConfigCommand::Get { .. } => "config get",
            ConfigCommand::Set { .. } => "config set",
            ConfigCommand::Unset { .. } => "config unset",
            ConfigCommand::Path { .. } => "config path",
            ConfigCommand::Init { .. } => "config init",
        }
    }

    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let name = self.name();
        let options = context.open_options();
        match self.command {
            ConfigCommand::List { changed } => {
                let which = if changed { Which::Changed } else { Which::All };
                context.answer(&config::list(options, which)?)
            }
            ConfigCommand::Get { key } => context.answer(&config::get(options, &key)?),
            ConfigCommand::Set { key, values, file } => {
                let result = config::set(options, file.layer(), &key, &values);
                let result = result.map_err(Failure::from);
                context.answer(&result.map_err(|failure| file.hint(name, failure))?)
            }
            ConfigCommand::Unset { key, file } => {
                let result = config::unset(options, file.layer(), &key);
                let result = result.map_err(Failure::from);
                context.answer(&result.map_err(|failure| file.hint(name, failure))?)
            }
            ConfigCommand::Path { file } => {
                let result = config::path(options, file.layer()).map_err(Failure::from);
                context.answer(&result.map_err(|failure| file.hint(name, failure))?)
            }
            ConfigCommand::Init { file } => {
                let result = config::init(options, file.layer()).map_err(Failure::from);
                context.answer(&result.map_err(|failure| file.hint(name, failure))?)
            }
        }
    }
}
