//! `go-team doctor`

use clap::Args;

use super::context::Context;
use super::{Exit, Failure};
use crate::engine::doctor::{Health, doctor};

/// Look whether this repository is safe to use, and say what to do about what is not
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {}

impl DoctorArgs {
    pub(super) fn run(context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let report = doctor(&workspace);
        if report.is_safe() {
            return context.answer(&report);
        }
        let bad = report.items.iter().filter(|item| item.level == Health::Bad);
        let message = "something stands in the way of safe use";
        let mut failure = Failure::new("not-safe", Exit::Invalid, message);
        for item in bad {
            failure = failure.hint(item.remedy.clone().unwrap_or_else(|| item.text.clone()));
        }
        context.answer_invalid(&report, failure)
    }
}
