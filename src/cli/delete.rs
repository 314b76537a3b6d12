//! `go-team cp-delete`

use clap::Args;

use super::confirm::Answer;
use super::context::Context;
use super::{Exit, Failure};
use crate::engine::delete::{DeleteOptions, delete, plan_delete};
use crate::model::Selector;
use crate::render::delete_prompt;

/// Delete checkpoints for good
///
/// The current checkpoint, and what undo needs, cannot be deleted.
#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    /// The checkpoints
    #[arg(value_name = "N", required = true)]
    checkpoints: Vec<String>,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl DeleteArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let names = self.checkpoints.iter();
        let options = DeleteOptions {
            session: context.session.clone(),
            checkpoints: names
                .map(|name| Selector::parse(name))
                .collect::<Result<_, _>>()?,
        };
        let plan = plan_delete(&workspace, &options)?;
        if self.dry_run {
            return context.answer(&plan);
        }
        if !self.yes {
            match context.confirm(&delete_prompt(&plan)) {
                Answer::Confirmed => {}
                Answer::Cancelled => {
                    let message = "cancelled; nothing was deleted";
                    return Err(Failure::new("cancelled", Exit::Cancelled, message));
                }
                Answer::NoTerminal => {
                    let message = "deleting has to be confirmed, and there is nobody to ask";
                    return Err(Failure::new("needs-confirmation", Exit::Cancelled, message)
                        .hint("--yes confirms it; --dry-run says what would be deleted"));
                }
            }
        }
        let result = delete(&workspace, &plan);
        context.answer(&context.logged(&workspace, "cp-delete", None, result)?)
    }
}
