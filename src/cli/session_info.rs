//! `go-team session-info`

use clap::Args;

use super::Failure;
use super::context::Context;
use crate::engine::session_info::{SessionInfoOptions, session_info};
use crate::model::SessionId;

/// Show everything about a session
#[derive(Debug, Args)]
pub(super) struct SessionInfoArgs {
    /// The session; the work tree's own when absent
    id: Option<SessionId>,
}

impl SessionInfoArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let options = SessionInfoOptions {
            session: self.id.or_else(|| context.session.clone()),
        };
        context.answer(&session_info(&workspace, &options)?)
    }
}
