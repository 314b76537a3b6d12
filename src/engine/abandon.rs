//! A session that the user gives up: marked, and left where it is.

use super::ending::{EndOptions, EndReport, end};
use super::{Error, Workspace};
use crate::model::SessionStatus;

/// Marks a session as abandoned. Its checkpoints stay.
///
/// # Errors
/// When there is no such session, another work tree is in it, it has ended in another way, or it cannot be written; the
/// next command finishes then what was begun.
pub fn abandon(workspace: &Workspace, options: &EndOptions) -> Result<EndReport, Error> {
    end(workspace, options, "abandon", SessionStatus::Abandoned)
}
