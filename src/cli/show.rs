//! `go-team cp-show`

use clap::Args;

use super::Failure;
use super::context::Context;
use super::pager::Paging;
use crate::engine::Workspace;
use crate::engine::show::contents::{show_file, show_state, show_tree};
use crate::engine::show::{ShowOptions, show};
use crate::model::Selector;

/// Show everything about one checkpoint, or one of its files
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The checkpoint: a number as in cp-list, a step's name, an id or its beginning, latest, latest~2, current; N:PATH
    /// prints a file of it exactly as it was
    #[arg(value_name = "N[:PATH]")]
    checkpoint: String,
    /// Print its state as JSON
    #[arg(long, conflicts_with = "tree")]
    state: bool,
    /// List its files
    #[arg(long)]
    tree: bool,
    /// Print everything at once, on a terminal too
    #[arg(long)]
    no_pager: bool,
}

impl ShowArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let session = context.session.as_ref();
        let paging = if self.no_pager {
            Paging::Off
        } else {
            Paging::Allowed
        };
        if let Some((selector, path)) = self.file(&workspace, context)? {
            let report = show_file(&workspace, session, &selector, path.as_bytes())?;
            return context.answer_bytes(&report, report.content.as_bytes());
        }
        let checkpoint = Selector::parse(&self.checkpoint)?;
        if self.state {
            let report = show_state(&workspace, session, &checkpoint)?;
            return context.answer_paged(&report, paging);
        }
        if self.tree {
            let report = show_tree(&workspace, session, &checkpoint)?;
            return context.answer_paged(&report, paging);
        }
        let options = ShowOptions {
            session: context.session.clone(),
            checkpoint,
        };
        context.answer_paged(&show(&workspace, &options)?, paging)
    }

    /// `N:PATH`, unless a step's name with a colon in it is meant.
    fn file(
        &self,
        workspace: &Workspace,
        context: &Context,
    ) -> Result<Option<(Selector, String)>, Failure> {
        let Some((name, path)) = self.checkpoint.split_once(':') else {
            return Ok(None);
        };
        let whole = ShowOptions {
            session: context.session.clone(),
            checkpoint: Selector::parse(&self.checkpoint)?,
        };
        if whole.is_known(workspace) {
            return Ok(None);
        }
        Ok(Some((Selector::parse(name)?, path.to_owned())))
    }
}
