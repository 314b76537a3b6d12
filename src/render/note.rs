//! Remarks beside an answer.

use super::escape::escape;
use super::style::{Role, Style};
use crate::engine::recover::Recovered;
use crate::engine::summary::Unfinished;

/// How much a remark matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know; silenced by `-q`.
    Info,
    /// Never silenced.
    Warning,
}

/// A remark beside an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub level: Level,
    /// The remark, fit to be shown.
    pub text: String,
}

impl Note {
    /// Good to know. The text is taken as it is.
    #[must_use]
    pub fn info(text: impl Into<String>) -> Self {
        Self {
            level: Level::Info,
            text: text.into(),
        }
    }

    /// Never silenced. The text is taken as it is.
    #[must_use]
    pub fn warning(text: impl Into<String>) -> Self {
        Self {
            level: Level::Warning,
            text: text.into(),
        }
    }

    /// As it is written to a stream, newline included.
    #[must_use]
    pub fn line(&self, style: &Style) -> String {
        match self.level {
            Level::Info => format!("{}\n", self.text),
            Level::Warning => {
                let word = style.paint(Role::Warning, "warning:");
                format!("{word} {}\n", self.text)
            }
        }
    }
}

/// The warnings of a report.
pub(super) fn warnings(texts: &[String]) -> impl Iterator<Item = Note> {
    texts.iter().map(|text| Note::warning(escape(text)))
}

/// What a command that only reads found unfinished.
pub(super) fn unfinished(found: Option<&Unfinished>) -> Option<Note> {
    let found = found?;
    if found.operation == "rollback" {
        return Some(interrupted_rollback());
    }
    let operation = escape(&found.operation);
    Some(Note::warning(format!(
        "an operation ({operation}) is under way or was interrupted; \
         the next command that writes finishes or undoes it"
    )))
}

/// That a rollback waits to be finished or put back.
#[must_use]
pub fn interrupted_rollback() -> Note {
    Note::warning(
        "a rollback is under way or was interrupted; go-team rollback --continue finishes it, \
         go-team rollback --abort puts everything back",
    )
}

/// What a command that writes finished or undid first.
pub(super) fn recovered(done: &[Recovered]) -> impl Iterator<Item = Note> {
    done.iter().map(|recovered| {
        Note::warning(match recovered {
            Recovered::Completed { checkpoint } => {
                format!(
                    "an earlier command was interrupted; its checkpoint {checkpoint} is complete"
                )
            }
            Recovered::RolledBack { rollback, to } => {
                format!("the rollback {rollback} to {to} was interrupted; it is complete now")
            }
            Recovered::Retracted { checkpoint } => format!(
                "an earlier command was interrupted before its checkpoint {checkpoint} was made; \
                 what it left is cleared away"
            ),
            Recovered::ImportCompleted { session } => {
                format!("an earlier import was interrupted; its session {session} is complete")
            }
            Recovered::ImportRetracted { session } => format!(
                "an earlier import was interrupted before its session {session} was there; \
                 what it left is cleared away"
            ),
            Recovered::Settled { session, status } => format!(
                "an earlier command was interrupted while session {session} became {status}; it is {status} now"
            ),
            Recovered::NotSettled { session, status } => format!(
                "an earlier command was interrupted before session {session} became {status}, and its manifest \
                 cannot be read; its status is as it was"
            ),
            Recovered::Removed { session } => format!(
                "an earlier command was interrupted while it removed session {session}; the session is gone now"
            ),
            Recovered::JournalSetAside { kept } => format!(
                "an earlier command was interrupted, and the file that says what it did is damaged; it is kept as {}; \
                 go-team doctor says whether something is left to do",
                escape(kept)
            ),
            Recovered::Deleted { checkpoints } if checkpoints.is_empty() => {
                "an earlier cp-delete was interrupted before anything was deleted".to_owned()
            }
            Recovered::Deleted { checkpoints } => format!(
                "an earlier cp-delete was interrupted; it is finished now: {} deleted",
                checkpoints.len()
            ),
        })
    })
}
