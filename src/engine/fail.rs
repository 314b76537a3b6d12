//! A session that cannot go on: marked, and moved to the archive of failed ones.

use super::ending::{EndOptions, EndReport, end};
use super::{Error, Workspace};
use crate::model::SessionStatus;
use crate::store::ErrorLine;

/// Marks a session as failed and moves it to the archive. Its checkpoints stay.
///
/// # Errors
/// When there is no such session, another work tree is in it, it has ended in another way, or it cannot be written; the
/// next command finishes then what was begun.
pub fn fail(workspace: &Workspace, options: &EndOptions) -> Result<EndReport, Error> {
    let mut report = end(workspace, options, "fail", SessionStatus::Failed)?;
    if report.changed && !options.reason.is_empty() {
        let line = ErrorLine {
            timestamp: workspace.clock.now(),
            operation: "fail".to_owned(),
            step: report.session.progress.as_ref().map(|at| at.step),
            error: options.reason.clone(),
        };
        // The manifest has the reason; the log has it too, among what else went wrong.
        let noted = workspace
            .store
            .append_error(&report.session.session_id, &line);
        report
            .warnings
            .extend(noted.err().map(|error| super::failure::error_chain(&error)));
    }
    Ok(report)
}
