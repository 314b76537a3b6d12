//! What to say about settings that cannot be used or changed.

use super::{Exit, Failure};
use crate::config::ConfigError;
use crate::config::edit::EditError;

/// The failure of a layer of settings.
pub(super) fn of_config(error: &ConfigError, message: String) -> Failure {
    let (kind, nearest) = match error {
        ConfigError::UnknownKey { nearest, .. } => ("config-unknown-key", nearest.as_ref()),
        ConfigError::UnknownVariable { nearest, .. } => {
            ("config-unknown-variable", nearest.as_ref())
        }
        ConfigError::WrongValue { .. } => ("config-wrong-value", None),
        ConfigError::Syntax { .. } => ("config-syntax", None),
        ConfigError::Workflow { .. } => ("config-workflow", None),
        ConfigError::OutsideWorkTree { .. } => ("config-outside-work-tree", None),
        _ => ("config-unreadable", None),
    };
    let failure = Failure::new(kind, Exit::Failure, message);
    match nearest {
        Some(nearest) => failure.hint(format!("did you mean {nearest}?")),
        None => failure
            .hint("settings come from GO_TEAM_* variables, go-team.toml, and your own config.toml"),
    }
}

/// The failure of an edit.
pub(super) fn of_edit(error: &EditError, message: String) -> Failure {
    let fail = |kind, exit| Failure::new(kind, exit, message.clone());
    match error {
        EditError::UnknownKey { nearest, .. } => {
            let failure = fail("unknown-setting", Exit::NotFound);
            let failure = match nearest {
                Some(nearest) => failure.hint(format!("did you mean {nearest}?")),
                None => failure,
            };
            failure.hint("go-team config list shows all of them")
        }
        EditError::WrongValue { .. } | EditError::TooMany { .. } => fail("bad-value", Exit::Usage)
            .hint("go-team config list -v says what each setting is for"),
        EditError::NotSet { .. } => fail("not-set", Exit::NotFound).hint(
            "go-team config list shows where each value comes from; --user means your own file",
        ),
        EditError::Breaks { source } => {
            let failure = of_config(source, message.clone());
            Failure {
                exit: Exit::Usage,
                ..failure
            }
        }
        EditError::Unreadable(source) => of_config(source, message),
    }
}
