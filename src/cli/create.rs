//! `go-team cp-create`

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::Value;

use super::context::Context;
use super::input::Source;
use super::{Exit, Failure};
use crate::engine::create::{CreateOptions, Files, create};
use crate::engine::trigger::SwitchedOff;
use crate::model::state::parse_assignment;
use crate::model::{State, Trigger};
use crate::render::CreateView;

/// Make a checkpoint of files, staging, branch and state
///
/// Nothing of yours is touched: not the work tree, not the index, not HEAD. A session begins by itself if there is
/// none.
#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// What you say about it
    #[arg(default_value = "", hide_default_value = true)]
    description: String,
    #[command(flatten)]
    place: PlaceArgs,
    /// Why it is made: manual, auto, step_complete, phase_transition, batch_complete, agent_complete,
    /// conflict_start, conflict_resolved, user_interrupt, session_end
    #[arg(long, value_name = "T", default_value = "manual")]
    trigger: Trigger,
    #[command(flatten)]
    content: ContentArgs,
    /// Say where the time went
    #[arg(long)]
    timings: bool,
}

/// Where in the workflow a checkpoint is made.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArgs {
    /// The step of the workflow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub step: Option<u32>,
    /// The step's name
    #[arg(long, value_name = "S", value_parser = NonEmptyStringValueParser::new())]
    pub name: Option<String>,
    /// Where the workflow is; the step's name when absent
    #[arg(long, value_name = "P", value_parser = NonEmptyStringValueParser::new())]
    pub phase: Option<String>,
}

/// What a checkpoint holds.
#[derive(Debug, Clone, Args)]
pub(super) struct ContentArgs {
    /// The workflow's state, a JSON object in a file or on stdin; the live state when absent
    #[arg(long, value_name = "FILE|-")]
    pub state: Option<PathBuf>,
    /// What was produced, a JSON object in a file or on stdin
    #[arg(long, value_name = "FILE|-")]
    pub outputs: Option<PathBuf>,
    /// Set a metric in the state, such as test_coverage=81.5; can be given more than once
    #[arg(long = "metric", value_name = "K=V", value_parser = parse_assignment)]
    pub metrics: Vec<(String, Value)>,
    /// Record state and outputs alone, without files
    #[arg(long)]
    pub no_git: bool,
}

impl CreateArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        if !workspace.wants(self.trigger) {
            return context.answer(&SwitchedOff::new(self.trigger));
        }
        let timings = self.timings;
        let options = self.options(context)?;
        let result = context.watch(|progress| create(&workspace, &options, progress));
        let report = context.logged(&workspace, "cp-create", options.step, result)?;
        context.answer(&CreateView {
            report: &report,
            timings,
        })
    }

    fn options(self, context: &Context) -> Result<CreateOptions, Failure> {
        let Self { place, content, .. } = self;
        let state = content.state.map(Source::parse);
        let outputs = content.outputs.map(Source::parse);
        if (&state, &outputs) == (&Some(Source::Stdin), &Some(Source::Stdin)) {
            let message = "--state and --outputs cannot both come from stdin";
            return Err(
                Failure::new("usage", Exit::Usage, message).hint("give one of them as a file")
            );
        }
        let read = |source: Option<Source>, flag: &str| {
            let object = source.map(|source| source.read_object(flag, &context.start));
            object.transpose()
        };
        Ok(CreateOptions {
            session: context.session.clone(),
            description: self.description,
            step: place.step,
            name: place.name,
            phase: place.phase,
            trigger: self.trigger,
            state: read(state, "--state")?.map(State::from),
            outputs: read(outputs, "--outputs")?,
            metrics: content.metrics,
            files: if content.no_git {
                Files::RecordOnly
            } else {
                Files::Capture
            },
        })
    }
}
