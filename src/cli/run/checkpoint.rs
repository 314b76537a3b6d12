//! The checkpoints around the user's command.

use std::path::PathBuf;

use super::{Run, words};
use crate::cli::Failure;
use crate::cli::input::Source;
use crate::engine::Workspace;
use crate::engine::create::{CreateOptions, CreateReport, Files, create};
use crate::engine::trigger::SwitchedOff;
use crate::model::{CheckpointId, SessionId, State, Trigger};
use crate::render::CreateView;

impl Run<'_> {
    /// The checkpoint right before the command.
    pub(super) fn before(
        &mut self,
        workspace: &Workspace,
        session: &SessionId,
    ) -> Result<CheckpointId, Failure> {
        let place = self.args.place.clone();
        let is_recorded_only = self.args.content.no_git && self.args.guard.is_none();
        let options = CreateOptions {
            session: Some(session.clone()),
            description: format!("before {}", words::program(&self.args.command)),
            // It is within the step that begins: work would go on there.
            step: place.step,
            name: place.name,
            phase: place.phase,
            // Whoever asks for it by name gets it, routine or not.
            trigger: if workspace.wants(Trigger::Auto) {
                Trigger::Auto
            } else {
                Trigger::Manual
            },
            state: None,
            outputs: None,
            metrics: Vec::new(),
            files: files(is_recorded_only),
        };
        let report = self.create(workspace, &options)?;
        let id = report.record.id.clone();
        self.report.before = Some(report);
        Ok(id)
    }

    /// Records what the command did. What stands in the way is a warning.
    pub(super) fn checkpoint(&mut self, trigger: Trigger) {
        let made = self.context.open().and_then(|workspace| {
            if !workspace.wants(trigger) {
                self.context.tell(&SwitchedOff::new(trigger));
                return Ok(None);
            }
            let options = self.options(trigger);
            self.create(&workspace, &options).map(Some)
        });
        match made {
            Ok(made) => self.report.checkpoint = made,
            Err(failure) => self.warn("no checkpoint was made", &failure),
        }
    }

    fn create(
        &self,
        workspace: &Workspace,
        options: &CreateOptions,
    ) -> Result<CreateReport, Failure> {
        let result = self
            .context
            .watch(|progress| create(workspace, options, progress));
        let report = self
            .context
            .logged(workspace, "cp-create", options.step, result)?;
        self.context.tell(&CreateView {
            report: &report,
            timings: false,
        });
        Ok(report)
    }

    /// What the checkpoint is made with, read now that the command has ended. State and outputs that cannot be read are
    /// left out: files are better kept without them than not at all.
    fn options(&mut self, trigger: Trigger) -> CreateOptions {
        let content = self.args.content.clone();
        let mut read = |file: &Option<PathBuf>, flag: &str| {
            let source = Source::parse(file.clone()?);
            match source.read_object(flag, &self.context.start) {
                Ok(object) => Some(object),
                Err(failure) => {
                    self.warn(&format!("the checkpoint is made without {flag}"), &failure);
                    None
                }
            }
        };
        let state = read(&content.state, "--state").map(State::from);
        let outputs = read(&content.outputs, "--outputs");
        let place = self.args.place.clone();
        let session = self.report.session.clone();
        CreateOptions {
            session: session.or_else(|| self.context.session.clone()),
            description: self.args.description.clone(),
            step: place.step,
            name: place.name,
            phase: place.phase,
            trigger,
            state,
            outputs,
            metrics: content.metrics,
            files: files(content.no_git),
        }
    }
}

fn files(is_record_only: bool) -> Files {
    if is_record_only {
        Files::RecordOnly
    } else {
        Files::Capture
    }
}
