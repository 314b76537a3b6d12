//! `go-team cleanup`

use clap::Args;

use super::Failure;
use super::context::Context;
use super::ending::agree;
use crate::engine::cleanup::{CleanupOptions, cleanup, plan_cleanup};
use crate::render::cleanup_prompt;

/// Remove sessions that ended long ago, with all their checkpoints
///
/// Completed sessions go after retention.completed_days, failed ones after failed_days, abandoned ones after
/// abandoned_days. Sessions that are active or interrupted stay, and so does one that another work tree is in or in which
/// a rollback is under way.
#[derive(Debug, Args)]
pub(super) struct CleanupArgs {
    /// Those that have not changed for this many days, whatever the settings say
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u64>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl CleanupArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = CleanupOptions {
            older_than: self.older_than,
        };
        let plan = plan_cleanup(&workspace, &options)?;
        if self.dry_run {
            return context.answer(&plan);
        }
        if !self.yes && !plan.removed.is_empty() {
            agree(context, &cleanup_prompt(&plan), "cleanup")
                .map_err(|failure| failure.hint("--dry-run shows what would be removed"))?;
        }
        context.answer(&cleanup(&workspace, &plan)?)
    }
}
