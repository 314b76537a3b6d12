//! What to say when there is no session to take up, and what to type next.

use super::{Exit, Failure};
use crate::engine::resume::NothingToResume;

/// The failure to find a session.
pub(super) fn of_nothing_to_resume(nothing: &NothingToResume, message: String) -> Failure {
    let mut failure = Failure::new("nothing-to-resume", Exit::NotFound, message);
    for (session, path) in nothing.elsewhere.iter().take(5) {
        failure = failure.hint(format!(
            "go-team -C {path} resume goes on with {session} there"
        ));
    }
    for session in nothing.ended.iter().take(3) {
        failure = failure.hint(format!(
            "go-team resume {session} takes up one that has ended"
        ));
    }
    failure.hint("go-team start TOPIC begins another one")
}
