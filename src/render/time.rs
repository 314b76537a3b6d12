//! Times for people: UTC, to the second. JSON has them in full.

use chrono::{DateTime, Utc};

/// `2025-12-28 21:15:00`.
#[must_use]
pub fn seconds(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S").to_string()
}
