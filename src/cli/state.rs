//! `go-team state`

use clap::{Args, Subcommand};
use serde_json::Value;

use super::Failure;
use super::context::Context;
use crate::engine::state::{self, Assignment};
use crate::model::state::parse_assignment;

/// Show or change the live state of a session
#[derive(Debug, Args)]
pub(super) struct StateArgs {
    #[command(subcommand)]
    command: StateCommand,
}

#[derive(Debug, Subcommand)]
enum StateCommand {
    /// Show all of it, as JSON
    Show,
    /// Show one value
    Get {
        /// The place, such as metrics.test_coverage or history.0.stage
        path: String,
    },
    /// Set values, all of them or none
    Set {
        /// A place and its value, such as phase=design or metrics.test_coverage=81.5; what is not JSON is text
        #[arg(required = true, value_name = "PATH=VALUE", value_parser = parse_assignment)]
        assignments: Vec<(String, Value)>,
    },
}

impl StateArgs {
    /// The name in JSON answers.
    pub(super) fn name(&self) -> &'static str {
        match self.command {
            StateCommand::Show => "state show",
            StateCommand::Get { .. } => "state get",
            StateCommand::Set { .. } => "state set",
        }
    }

    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let name = self.name();
        let workspace = context.open()?;
        let session = context.session.as_ref();
        match self.command {
            StateCommand::Show => context.answer(&state::show(&workspace, session)?),
            StateCommand::Get { path } => context.answer(&state::get(&workspace, session, &path)?),
            StateCommand::Set { assignments } => {
                let assignments = assignments.into_iter();
                let assignments = assignments.map(|(path, value)| Assignment { path, value });
                let result = state::set(&workspace, session, assignments.collect());
                context.answer(&context.logged(&workspace, name, None, result)?)
            }
        }
    }
}
