//! `go-team cp-rebuild`

use clap::Args;

use super::context::Context;
use super::{Exit, Failure};
use crate::engine::rebuild::{RebuildOptions, Target, rebuild};
use crate::model::Selector;
use crate::render::commands_for;

/// Rebuild damaged or missing records, refs and manifests from what git holds
///
/// Damaged files are kept aside, in the session's directory `damaged`.
#[derive(Debug, Args)]
pub(super) struct RebuildArgs {
    /// The checkpoint whose record or ref is rebuilt
    #[arg(
        value_name = "N",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    checkpoint: Option<String>,
    /// Rebuild everything that is damaged, the manifest included
    #[arg(long)]
    all: bool,
}

impl RebuildArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let target = match &self.checkpoint {
            Some(name) => Target::One(Selector::parse(name)?),
            None => Target::All,
        };
        let options = RebuildOptions {
            session: context.session.clone(),
            target,
        };
        let result = context.watch_objects(|tally| rebuild(&workspace, &options, tally));
        let report = context.logged(&workspace, "cp-rebuild", None, result)?;
        if report.is_valid() {
            return context.answer(&report);
        }
        let message = "not everything could be rebuilt";
        let mut failure = Failure::new("validation-failed", Exit::Invalid, message);
        for command in commands_for(&report.findings, None) {
            failure = failure.hint(command);
        }
        context.answer_invalid(&report, failure)
    }
}
