//! Times as programs write them.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, Utc};
use serde_json::Value;

/// Spellings without a time zone, which are read as UTC.
const NAIVE: [&str; 5] = [
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y%m%d_%H%M%S",
    "%Y%m%d-%H%M%S",
];

/// Reads a time: RFC 3339, the same without a zone, a date, `20251228_210000`, or seconds since 1970.
pub(super) fn read_time(value: &Value) -> Option<DateTime<Utc>> {
    let time = match value {
        Value::Number(number) => of_seconds(number.as_f64()?)?,
        Value::String(text) => of_text(text.trim())?,
        _ => return None,
    };
    (1..=9999).contains(&time.year()).then_some(time)
}

fn of_seconds(seconds: f64) -> Option<DateTime<Utc>> {
    // Beyond the year 5138 it is a count of milliseconds.
    let seconds = if seconds.abs() > 1e11 {
        seconds / 1000.0
    } else {
        seconds
    };
    if !seconds.is_finite() || seconds.abs() > 1e11 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "bounded above")]
    DateTime::from_timestamp_millis((seconds * 1000.0).round() as i64)
}

fn of_text(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    if let Ok(time) = DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z") {
        return Some(time.to_utc());
    }
    let bare = text.strip_suffix('Z').unwrap_or(text);
    let mut naive = NAIVE.iter();
    if let Some(time) = naive.find_map(|format| NaiveDateTime::parse_from_str(bare, format).ok()) {
        return Some(time.and_utc());
    }
    if let Ok(date) = NaiveDate::parse_from_str(bare, "%Y-%m-%d") {
        return Some(date.and_hms_opt(0, 0, 0)?.and_utc());
    }
    of_seconds(text.parse().ok()?)
}
