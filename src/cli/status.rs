//! `go-team status`

use clap::Args;

use super::Failure;
use super::context::Context;
use crate::engine::status::{StatusOptions, status};

/// Show where you are: repository, session, current checkpoint, and what changed since
#[derive(Debug, Args)]
pub(super) struct StatusArgs {}

impl StatusArgs {
    pub(super) fn run(context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = StatusOptions {
            session: context.session.clone(),
        };
        let report = context.watch(|progress| status(&workspace, &options, progress))?;
        context.answer(&report)
    }
}
