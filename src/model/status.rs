//! Where a session is in its life.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a session is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Work goes on.
    Active,
    /// Work stopped before its end; it can be resumed.
    Interrupted,
    /// The workflow reached its end.
    Completed,
    /// The workflow cannot go on.
    Failed,
    /// The user gave it up.
    Abandoned,
}

/// Text that names no session status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a session status: {text:?} (one of {})", SessionStatus::ALL.map(SessionStatus::as_str).join(", "))]
pub struct SessionStatusError {
    /// The beginning of the text.
    pub text: String,
}

impl SessionStatus {
    /// All of them, in the order of a session's life.
    pub const ALL: [Self; 5] = [
        Self::Active,
        Self::Interrupted,
        Self::Completed,
        Self::Failed,
        Self::Abandoned,
    ];

    /// The text that manifests and options carry.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether the session can be carried on.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Active | Self::Interrupted)
    }
}

impl fmt::Display for SessionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for SessionStatus {
    type Err = SessionStatusError;

    fn from_str(text: &str) -> Result<Self, SessionStatusError> {
        let known = Self::ALL.into_iter().find(|status| status.as_str() == text);
        known.ok_or_else(|| SessionStatusError {
            text: text.chars().take(80).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_same_text_everywhere() {
        for status in SessionStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
            assert_eq!(
                serde_json::to_string(&status).unwrap(),
                format!("\"{status}\"")
            );
        }
        assert!("done".parse::<SessionStatus>().is_err());
    }
}
