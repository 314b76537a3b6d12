//! Where time comes from: the system, or a fixed instant in tests.

use chrono::{DateTime, Utc};

/// Tells the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The system's clock.
    System,
    /// Always the same instant.
    Fixed(DateTime<Utc>),
}

impl Clock {
    /// The time now.
    #[must_use]
    pub fn now(self) -> DateTime<Utc> {
        match self {
            Self::System => Utc::now(),
            Self::Fixed(at) => at,
        }
    }
}
