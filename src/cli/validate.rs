//! `go-team cp-validate`

use clap::Args;

use super::context::Context;
use super::{Exit, Failure};
use crate::engine::validate::{Depth, Marking, ValidateOptions, validate};
use crate::model::Selector;
use crate::render::commands_for;

/// Check that checkpoints can be relied on: record, checksum, chain, ref and objects, state
///
/// What is corrupt is marked, so that nothing rolls back to it. Exit code 3 when anything is not valid.
#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    /// The checkpoints; all of the session when absent
    #[arg(value_name = "N")]
    checkpoints: Vec<String>,
    /// Read every object and hash it again
    #[arg(long)]
    deep: bool,
}

impl ValidateArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let names = self.checkpoints.iter();
        let options = ValidateOptions {
            session: context.session.clone(),
            checkpoints: names
                .map(|name| Selector::parse(name))
                .collect::<Result<_, _>>()?,
            depth: if self.deep { Depth::Deep } else { Depth::Plain },
            marking: Marking::Mark,
        };
        let report = context.watch_objects(|tally| validate(&workspace, &options, tally))?;
        if report.is_valid() {
            return context.answer(&report);
        }
        let mut failure = Failure::new("validation-failed", Exit::Invalid, report.summary());
        for command in commands_for(&report.findings, report.way_back()) {
            failure = failure.hint(command);
        }
        context.answer_invalid(&report, failure)
    }
}
