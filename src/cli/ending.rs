//! `go-team complete`, `fail`, `abandon`

use clap::Args;

use super::confirm::Answer;
use super::context::Context;
use super::{Exit, Failure};
use crate::engine::abandon::abandon;
use crate::engine::complete::{Afterwards, CompleteOptions, complete};
use crate::engine::ending::EndOptions;
use crate::engine::fail::fail;
use crate::model::SessionId;
use crate::render::removal_prompt;

/// Mark the session as completed
///
/// What changed since the current checkpoint goes into a last one, unless triggers.session_end is off. The session is
/// kept for retention.completed_days; with 0 it is deleted at once.
#[derive(Debug, Args)]
pub(super) struct CompleteArgs {
    /// Keep it, whatever the settings say
    #[arg(long, conflicts_with = "delete")]
    keep: bool,
    /// Delete it at once, with all its checkpoints
    #[arg(long)]
    delete: bool,
    /// Do not ask before it is deleted
    #[arg(short, long)]
    yes: bool,
}

/// Mark the session as failed, and move it to the archive
///
/// Its checkpoints stay, and can be shown and validated as before; go-team resume brings it back.
#[derive(Debug, Args)]
pub(super) struct FailArgs {
    /// Why
    #[arg(default_value = "", hide_default_value = true)]
    reason: String,
}

/// Give a session up
///
/// Its checkpoints stay, and can be shown and validated as before; go-team resume brings it back.
#[derive(Debug, Args)]
pub(super) struct AbandonArgs {
    /// The session; this work tree's own when absent
    #[arg(value_name = "SESSION")]
    id: Option<SessionId>,
    /// Why
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    reason: String,
}

impl CompleteArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        if self.delete && !self.yes {
            let session = workspace.find_session(context.session.as_ref())?;
            let manifest = workspace.store.load_manifest(&session);
            let manifest = manifest.map_err(crate::engine::Error::from)?;
            let summary = workspace.summarize(&manifest);
            agree(context, &removal_prompt(&[&summary]), "complete --delete")?;
        }
        let options = CompleteOptions {
            end: EndOptions {
                session: context.session.clone(),
                reason: String::new(),
            },
            afterwards: match (self.keep, self.delete) {
                (true, _) => Afterwards::Keep,
                (_, true) => Afterwards::Delete,
                _ => Afterwards::AsConfigured,
            },
        };
        let result = context.watch(|progress| complete(&workspace, &options, progress));
        context.answer(&context.logged(&workspace, "complete", None, result)?)
    }
}

impl FailArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = EndOptions {
            session: context.session.clone(),
            reason: self.reason,
        };
        let result = fail(&workspace, &options);
        context.answer(&context.logged(&workspace, "fail", None, result)?)
    }
}

impl AbandonArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = EndOptions {
            session: self.id.or_else(|| context.session.clone()),
            reason: self.reason,
        };
        let result = abandon(&workspace, &options);
        context.answer(&context.logged(&workspace, "abandon", None, result)?)
    }
}

/// Goes on only after a yes to losing something for good.
pub(super) fn agree(context: &Context, prompt: &str, command: &str) -> Result<(), Failure> {
    match context.confirm(prompt) {
        Answer::Confirmed => Ok(()),
        Answer::Cancelled => {
            let message = format!("{command} cancelled; nothing was changed");
            Err(Failure::new("cancelled", Exit::Cancelled, message)
                .hint("only the whole word yes goes on; --yes says it beforehand"))
        }
        Answer::NoTerminal => {
            let message = format!("{command} has to be confirmed, and there is nobody to ask");
            Err(Failure::new("needs-confirmation", Exit::Cancelled, message)
                .hint(format!("go-team {command} --yes says it beforehand")))
        }
    }
}
