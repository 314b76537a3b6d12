//! `go-team cp-diff`

use std::ffi::OsString;

use clap::Args;

use super::Failure;
use super::context::Context;
use super::pager::Paging;
use crate::engine::diff::{DiffOptions, View, diff};
use crate::engine::open::read_without_hashing;
use crate::model::Selector;

/// Show what happened between two checkpoints, or between one and the work tree as it is now
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct DiffArgs {
    /// The old side: a number as in cp-list, a step's name, an id or its beginning, latest, latest~2, current
    #[arg(value_name = "A")]
    old: String,
    /// The new side; the work tree, untracked files included, when absent
    #[arg(value_name = "B")]
    new: Option<String>,
    /// Print how much changed in each file
    #[arg(long, group = "view")]
    stat: bool,
    /// Print the paths of changed files
    #[arg(long, group = "view")]
    name_only: bool,
    /// Print the paths of changed files with git's letter for what happened
    #[arg(long, group = "view")]
    name_status: bool,
    /// Print a patch that git apply takes
    #[arg(short, long, group = "view")]
    patch: bool,
    /// Print state and metrics only
    #[arg(long, group = "view")]
    state: bool,
    /// Print everything at once, on a terminal too
    #[arg(long)]
    no_pager: bool,
    /// Look only at these files, directories or patterns
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<OsString>,
}

impl DiffArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        // This process ends with the answer, which nothing is restored or checked by.
        read_without_hashing();
        let workspace = context.open()?;
        let views = [
            (self.stat, View::Stat),
            (self.name_only, View::NameOnly),
            (self.name_status, View::NameStatus),
            (self.patch, View::Patch),
            (self.state, View::State),
        ];
        let view = views.iter().find(|(is_asked, _)| *is_asked);
        let options = DiffOptions {
            session: context.session.clone(),
            old: Selector::parse(&self.old)?,
            new: self.new.as_deref().map(Selector::parse).transpose()?,
            view: view.map_or(View::Sections, |(_, view)| *view),
            paths: self
                .paths
                .into_iter()
                .map(OsString::into_encoded_bytes)
                .collect(),
            start: context.start.clone(),
        };
        let paging = if self.no_pager {
            Paging::Off
        } else {
            Paging::Allowed
        };
        let report = context.watch(|progress| diff(&workspace, &options, progress))?;
        match &report.patch {
            Some(patch) => context.answer_patch(&report, patch.as_bytes(), paging),
            None => context.answer_paged(&report, paging),
        }
    }
}
