//! `go-team cp-list`

use clap::Args;

use super::Failure;
use super::context::Context;
use crate::engine::list::{Detail, ListOptions, Shape, list};
use crate::render::style::Verbosity;

/// List the checkpoints of a session
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Draw them as a tree that branches where work was rolled back
    #[arg(long)]
    graph: bool,
}

impl ListArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let shape = if self.graph {
            Shape::Graph
        } else {
            Shape::Table
        };
        let shows_records =
            self.graph || context.is_json() || context.verbosity() == Verbosity::Verbose;
        let options = ListOptions {
            session: context.session.clone(),
            detail: if shows_records {
                Detail::Records
            } else {
                Detail::Manifest
            },
            shape,
        };
        context.answer(&list(&workspace, &options)?)
    }
}
