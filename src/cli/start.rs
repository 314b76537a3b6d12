//! `go-team start`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::Failure;
use super::context::Context;
use crate::engine::start::{StartOptions, start};

/// Begin a session
///
/// The work tree's former session stays as it is; `--session` reaches it.
#[derive(Debug, Args)]
pub(super) struct StartArgs {
    /// What the session is about
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    topic: String,
    /// The workflow: go-team, impl, phases, crunch, free, or one of your own [default: free]
    #[arg(long, value_name = "W")]
    workflow: Option<String>,
}

impl StartArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = StartOptions {
            topic: self.topic,
            workflow: self.workflow,
        };
        let result = start(&workspace, &options);
        context.answer(&context.logged(&workspace, "start", None, result)?)
    }
}
