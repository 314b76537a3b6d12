//! `go-team cp-prune`

use clap::Args;

use super::Failure;
use super::context::Context;
use super::ending::agree;
use crate::engine::prune::{PruneOptions, plan_prune, prune};
use crate::render::prune_prompt;

/// Remove the checkpoints that the retention policy does not keep
///
/// The same happens after each new checkpoint, unless retention.enabled is off. The current checkpoint, the newest valid
/// one and what undo needs always stay.
#[derive(Debug, Args)]
pub(super) struct PruneArgs {
    /// Say what would be removed and why, and remove nothing; with -v, also why the others stay
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl PruneArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = PruneOptions {
            session: context.session.clone(),
        };
        let plan = plan_prune(&workspace, &options)?;
        if self.dry_run {
            return context.answer(&plan);
        }
        if !self.yes && !plan.pruned.is_empty() {
            agree(context, &prune_prompt(&plan), "cp-prune")
                .map_err(|failure| failure.hint("--dry-run shows what would be removed"))?;
        }
        let result = prune(&workspace, &plan);
        context.answer(&context.logged(&workspace, "cp-prune", None, result)?)
    }
}
