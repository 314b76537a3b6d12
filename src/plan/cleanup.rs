//! Which sessions have been kept long enough after their end.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Serialize, Serializer};

use crate::model::SessionStatus;

/// How many days a session is kept after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// One that reached its end.
    pub completed: u64,
    /// One that failed.
    pub failed: u64,
    /// One that was given up.
    pub abandoned: u64,
}

impl Days {
    /// The same for all of them.
    #[must_use]
    pub fn all(days: u64) -> Self {
        Self {
            completed: days,
            failed: days,
            abandoned: days,
        }
    }

    /// How long a session of this status is kept; for ever while it is open.
    #[must_use]
    pub fn of(&self, status: SessionStatus) -> Option<u64> {
        match status {
            SessionStatus::Active | SessionStatus::Interrupted => None,
            SessionStatus::Completed => Some(self.completed),
            SessionStatus::Failed => Some(self.failed),
            SessionStatus::Abandoned => Some(self.abandoned),
        }
    }
}

/// What there is to know about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Where it is in its life.
    pub status: SessionStatus,
    /// When it last changed, which is when it ended or later.
    pub changed_at: DateTime<Utc>,
    /// Whether a rollback in it is under way or was interrupted.
    pub is_rolling_back: bool,
    /// Whether another work tree is in it.
    pub is_elsewhere: bool,
}

/// Why a session goes or stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It goes: its time is over.
    Over {
        /// Its status.
        status: SessionStatus,
        /// How many days it has been unchanged.
        age: u64,
        /// How many such sessions are kept.
        days: u64,
    },
    /// It stays: it can be carried on.
    Open {
        /// Its status.
        status: SessionStatus,
    },
    /// It stays: its time is not over.
    Recent {
        /// Its status.
        status: SessionStatus,
        /// How many days it has been unchanged.
        age: u64,
        /// How many such sessions are kept.
        days: u64,
    },
    /// It stays: a rollback has to come to its end first.
    RollingBack,
    /// It stays: another work tree is in it.
    Elsewhere,
}

impl Reason {
    /// Whether the session goes.
    #[must_use]
    pub fn removes(&self) -> bool {
        matches!(self, Self::Over { .. })
    }

    /// Whether it would go if something did not stand in the way.
    #[must_use]
    pub fn holds_back(&self) -> bool {
        matches!(self, Self::RollingBack | Self::Elsewhere)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |days: u64| match days {
            1 => "1 day".to_owned(),
            days => format!("{days} days"),
        };
        match self {
            Self::Over { status, age, days } | Self::Recent { status, age, days } => write!(
                f,
                "{status} sessions are kept for {}; it has not changed for {}",
                count(*days),
                count(*age)
            ),
            Self::Open { status } => write!(f, "it is {status}"),
            Self::RollingBack => f.write_str("a rollback in it is under way or was interrupted"),
            Self::Elsewhere => f.write_str("another work tree is in it"),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Decides on a session.
#[must_use]
pub fn decide(session: &Candidate, days: &Days, now: DateTime<Utc>) -> Reason {
    let status = session.status;
    let Some(days) = days.of(status) else {
        return Reason::Open { status };
    };
    let unchanged = now.signed_duration_since(session.changed_at);
    let age = u64::try_from(unchanged.num_days()).unwrap_or(0);
    // Days beyond what time can express are never over; nor is a time that has not come.
    let limit = i64::try_from(days).ok().and_then(TimeDelta::try_days);
    if limit.is_none_or(|limit| unchanged < limit) {
        return Reason::Recent { status, age, days };
    }
    if session.is_rolling_back {
        return Reason::RollingBack;
    }
    if session.is_elsewhere {
        return Reason::Elsewhere;
    }
    Reason::Over { status, age, days }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAYS: Days = Days {
        completed: 7,
        failed: 30,
        abandoned: 20,
    };

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_767_000_000, 0).expect("a time")
    }

    fn ended(status: SessionStatus, days: i64) -> Candidate {
        Candidate {
            status,
            changed_at: now() - TimeDelta::days(days),
            is_rolling_back: false,
            is_elsewhere: false,
        }
    }

    #[test]
    fn every_status_has_its_time() {
        let goes = |status, days| decide(&ended(status, days), &DAYS, now()).removes();
        for (status, days) in [
            (SessionStatus::Completed, 7),
            (SessionStatus::Failed, 30),
            (SessionStatus::Abandoned, 20),
        ] {
            assert!(goes(status, days), "{status}");
            assert!(!goes(status, days - 1), "{status}");
            let mut at_once = ended(status, 0);
            assert!(decide(&at_once, &Days::all(0), now()).removes());
            at_once.changed_at = now() + TimeDelta::seconds(1);
            assert!(!decide(&at_once, &Days::all(0), now()).removes());
            assert!(!decide(&ended(status, 9999), &Days::all(u64::MAX), now()).removes());
        }
        for status in [SessionStatus::Active, SessionStatus::Interrupted] {
            assert!(!goes(status, 10_000), "{status}");
        }
    }

    #[test]
    fn nobody_loses_a_session_that_is_in_use() {
        let mut session = ended(SessionStatus::Failed, 40);
        session.is_elsewhere = true;
        assert_eq!(decide(&session, &DAYS, now()), Reason::Elsewhere);
        session.is_rolling_back = true;
        assert_eq!(decide(&session, &DAYS, now()), Reason::RollingBack);
        assert!(Reason::RollingBack.holds_back());
    }

    #[test]
    fn reasons_read_as_sentences() {
        let say = |status, days| decide(&ended(status, days), &DAYS, now()).to_string();
        insta::assert_snapshot!(say(SessionStatus::Completed, 8), @"completed sessions are kept for 7 days; it has not changed for 8 days");
        insta::assert_snapshot!(say(SessionStatus::Failed, 1), @"failed sessions are kept for 30 days; it has not changed for 1 day");
        insta::assert_snapshot!(say(SessionStatus::Active, 1), @"it is active");
    }
}
