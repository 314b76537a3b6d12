//! Whether a session can be taken up again, in one word, with the reasons; and where work goes on.
//!
//! Every reason calls for something by itself; the verdict is what the gravest one calls for.

pub mod batches;
pub mod point;

use std::fmt;

use serde::Serialize;

use super::freshness::{Change, Way};
use crate::model::SessionStatus;

/// What to do about a session that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything is as it was: go on.
    Resume,
    /// Go on, and know what changed.
    ProceedWithWarning,
    /// Somebody has to look at the difference and decide.
    PromptUser,
    /// What the work stood on is gone, or the work is done: begin anew.
    StartFresh,
}

impl Verdict {
    /// All of them, by rising gravity.
    pub const ALL: [Self; 4] = [
        Self::Resume,
        Self::ProceedWithWarning,
        Self::PromptUser,
        Self::StartFresh,
    ];

    /// The text that answers carry.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::ProceedWithWarning => "proceed_with_warning",
            Self::PromptUser => "prompt_user",
            Self::StartFresh => "start_fresh",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How far the session's own files can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Soundness {
    /// All of them.
    Sound,
    /// The current checkpoint can, but something else cannot.
    Blemished {
        /// How much was found.
        findings: usize,
    },
    /// The current checkpoint, or what lists it, cannot.
    Unusable {
        /// Whether there is a valid checkpoint to go back to, or everything can be rebuilt.
        can_be_mended: bool,
    },
    /// A newer go-team wrote it.
    Newer,
}

/// What is known of a session when it is to be taken up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// How far its files can be relied on.
    pub soundness: Soundness,
    /// Where it is in its life; absent when that cannot be read.
    pub status: Option<SessionStatus>,
    /// Whether its workflow has come to its end.
    pub is_finished: bool,
    /// What is not what it was.
    pub changes: Vec<Change>,
}

/// What speaks against simply going on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Doubt {
    /// Something beside the current checkpoint is damaged.
    Blemished {
        /// How much was found.
        findings: usize,
    },
    /// The current checkpoint, or what lists it, is damaged.
    Damaged,
    /// It is damaged, and nothing valid is left.
    Lost,
    /// A newer go-team wrote it.
    NewerVersion,
    /// The session's end was recorded.
    Ended {
        /// Its status.
        status: SessionStatus,
    },
    /// The workflow has come to its end.
    Finished,
}

/// One reason for the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What it calls for by itself.
    pub calls_for: Verdict,
    /// What it is.
    #[serde(flatten)]
    pub cause: Cause,
}

/// What a reason is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cause {
    /// The session itself.
    Session(Doubt),
    /// The world around it.
    World(Change),
}

/// The verdict and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// In one word.
    pub verdict: Verdict,
    /// Why, the session's own reasons first; none when everything is as it was.
    pub reasons: Vec<Reason>,
}

/// Decides.
#[must_use]
pub fn decide(facts: &Facts) -> Decision {
    let mut reasons = Vec::new();
    let mut doubt = |calls_for, doubt| {
        reasons.push(Reason {
            calls_for,
            cause: Cause::Session(doubt),
        });
    };
    match facts.soundness {
        Soundness::Sound => {}
        Soundness::Blemished { findings } => {
            doubt(Verdict::ProceedWithWarning, Doubt::Blemished { findings });
        }
        Soundness::Unusable {
            can_be_mended: true,
        } => doubt(Verdict::PromptUser, Doubt::Damaged),
        Soundness::Unusable {
            can_be_mended: false,
        } => doubt(Verdict::StartFresh, Doubt::Lost),
        Soundness::Newer => doubt(Verdict::PromptUser, Doubt::NewerVersion),
    }
    if let Some(status) = facts.status.filter(|status| !status.is_open()) {
        doubt(Verdict::StartFresh, Doubt::Ended { status });
    } else if facts.is_finished {
        doubt(Verdict::StartFresh, Doubt::Finished);
    }
    reasons.extend(facts.changes.iter().map(|change| Reason {
        calls_for: calls_for(change),
        cause: Cause::World(change.clone()),
    }));
    let gravest = reasons.iter().map(|reason| reason.calls_for).max();
    Decision {
        verdict: gravest.unwrap_or(Verdict::Resume),
        reasons,
    }
}

/// What a change calls for by itself.
///
/// Work that went on is only said. What may make it the wrong work is asked about: other files lie under it than those
/// it was done on, or another thing is wanted. Without its branch there is nothing to go on with.
fn calls_for(change: &Change) -> Verdict {
    match change {
        Change::BranchGone { .. } => Verdict::StartFresh,
        Change::WorkTreeMissing { .. }
        | Change::BranchSwitched { .. }
        | Change::HeadMoved {
            way: Way::Behind { .. } | Way::Diverged { .. } | Way::Unknown,
            ..
        }
        | Change::IssueBody { .. }
        | Change::IssueState { .. } => Verdict::PromptUser,
        Change::HeadMoved {
            way: Way::Ahead { .. },
            ..
        }
        | Change::FilesChanged { .. }
        | Change::FilesUnknown { .. }
        | Change::InProgress { .. }
        | Change::IssueLabels { .. }
        | Change::IssueTitle { .. }
        | Change::IssueUnknown => Verdict::ProceedWithWarning,
    }
}

#[cfg(test)]
mod tests;
