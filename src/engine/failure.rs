//! The log of operations that failed.

use super::{Error, Workspace};
use crate::model::SessionId;
use crate::store::ErrorLine;

impl Workspace {
    /// Notes in a session's log that an operation failed. Best effort: the failure itself is what matters, and a
    /// disk that refuses the log has often caused it.
    pub fn note_failure(
        &self,
        session: Option<&SessionId>,
        operation: &str,
        step: Option<u32>,
        error: &Error,
    ) {
        let Ok(session) = self.find_session(session) else {
            return;
        };
        let line = ErrorLine {
            timestamp: self.clock.now(),
            operation: operation.to_owned(),
            step,
            error: error_chain(error),
        };
        let _ = self.store.append_error(&session, &line);
    }
}

/// What went wrong, and why, and why that: joined in one line, each thing said once.
#[must_use]
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}
