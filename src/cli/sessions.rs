//! `go-team sessions`

use clap::Args;

use super::Failure;
use super::context::Context;
use crate::engine::sessions::{SessionsOptions, sessions};
use crate::model::SessionStatus;

/// List sessions, the one that changed last first
#[derive(Debug, Args)]
pub(super) struct SessionsArgs {
    /// Only those of this workflow
    #[arg(long, value_name = "W")]
    workflow: Option<String>,
    /// Only those of this status: active, interrupted, completed, failed, abandoned
    #[arg(long, value_name = "S")]
    status: Option<SessionStatus>,
}

impl SessionsArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = SessionsOptions {
            workflow: self.workflow,
            status: self.status,
        };
        context.answer(&sessions(&workspace, &options)?)
    }
}
