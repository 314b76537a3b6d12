//! Why a checkpoint is kept or removed, each as a sentence.

use std::fmt;

/// Why a checkpoint must stay, whatever the policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// The work tree descends from it.
    Current,
    /// An `undo` or `redo` would bring it back.
    NeededByUndo,
    /// An `undo` or `redo` would make it valid again.
    RevivedByUndo,
    /// It is the newest valid one that is no safety checkpoint.
    NewestWork,
    /// Anything else the caller knows of, as a clause: "it is …".
    Because(String),
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current => f.write_str("it is the current checkpoint"),
            Self::NeededByUndo => f.write_str("undo needs it"),
            Self::RevivedByUndo => f.write_str("undo would make it valid again"),
            Self::NewestWork => {
                f.write_str("it is the newest valid checkpoint that is no safety checkpoint")
            }
            Self::Because(clause) => f.write_str(clause),
        }
    }
}

/// Why a checkpoint is kept or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason<'a, T> {
    /// Kept: something needs it.
    Protected(Protection),
    /// Kept: no newer checkpoint is valid.
    NewestValid,
    /// Kept: the policy keeps all of this trigger.
    Always {
        /// The trigger.
        trigger: T,
    },
    /// Kept: it is one of the last of its kind.
    AmongLast {
        /// The trigger.
        trigger: T,
        /// Its place among those that compete with it, 1 being the first to be kept.
        rank: u64,
        /// How many are kept.
        limit: u64,
        /// The phase they are counted in, unless they are counted in the whole session.
        phase: Option<&'a str>,
    },
    /// Removed: enough others of its kind go before it.
    BeyondLast {
        /// The trigger.
        trigger: T,
        /// Its place among those that compete with it, 1 being the first to be kept.
        rank: u64,
        /// How many are kept.
        limit: u64,
        /// The phase they are counted in, unless they are counted in the whole session.
        phase: Option<&'a str>,
    },
    /// Removed: its age is over the cap.
    OlderThan {
        /// The cap.
        days: u64,
    },
    /// Removed: it was the oldest when there were too many.
    OverCount {
        /// The cap.
        limit: u64,
    },
    /// Removed: it was the oldest when all together were too large.
    OverSize {
        /// The cap in bytes.
        limit: u64,
    },
}

impl<T: fmt::Display> fmt::Display for Reason<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |phase: Option<&str>| match phase {
            Some(phase) => format!(" in phase {phase:?}"),
            None => String::new(),
        };
        match self {
            Self::Protected(protection) => protection.fmt(f),
            Self::NewestValid => f.write_str("it is the newest valid checkpoint"),
            Self::Always { trigger } => write!(f, "every {trigger} checkpoint is kept"),
            Self::AmongLast {
                trigger,
                rank,
                limit,
                phase,
            } => {
                write!(
                    f,
                    "number {rank} of the last {limit} {trigger}{}",
                    place(*phase)
                )
            }
            Self::BeyondLast {
                trigger,
                limit,
                phase,
                ..
            } => {
                write!(
                    f,
                    "only the last {limit} {trigger}{} are kept",
                    place(*phase)
                )
            }
            Self::OlderThan { days } => write!(f, "it is older than {days} days"),
            Self::OverCount { limit } => {
                write!(
                    f,
                    "it was the oldest while more than {limit} checkpoints were left"
                )
            }
            Self::OverSize { limit } => {
                write!(
                    f,
                    "it was the oldest while more than {limit} bytes were left"
                )
            }
        }
    }
}
