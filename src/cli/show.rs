//! `go-team cp-show`

use clap::Args;

use super::Failure;
use super::context::Context;
use crate::engine::show::{ShowOptions, show};
use crate::model::Selector;

/// Show everything about one checkpoint
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The checkpoint: a number as in cp-list, a step's name, an id or its beginning, latest, latest~2, current
    #[arg(value_name = "N")]
    checkpoint: String,
}

impl ShowArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = ShowOptions {
            session: context.session.clone(),
            checkpoint: Selector::parse(&self.checkpoint)?,
        };
        context.answer(&show(&workspace, &options)?)
    }
}
