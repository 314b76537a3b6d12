//! `go-team cp-list`

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, Utc};
use clap::Args;

use super::context::Context;
use super::error::{Exit, Failure};
use crate::engine::list::{Detail, Filter, ListOptions, Shape, ValidityFilter, list};
use crate::model::Trigger;
use crate::render::style::Verbosity;

/// List the checkpoints of a session
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Draw them as a tree that branches where work was rolled back
    #[arg(long)]
    graph: bool,
    /// Only those of this step, by number or name; can be given more than once
    #[arg(long = "step", value_name = "N")]
    steps: Vec<String>,
    /// Only those made for this reason; can be given more than once
    #[arg(long = "trigger", value_name = "T")]
    triggers: Vec<Trigger>,
    /// Only those made since then: 2025-12-28, 2025-12-28T21:00:00Z, or an age such as 90m, 2h, 3d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only those that can be rolled back to
    #[arg(long)]
    valid: bool,
    /// Show this metric, and how it went
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
}

impl ListArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        let shape = if self.graph {
            Shape::Graph
        } else {
            Shape::Table
        };
        let shows_records =
            self.graph || context.is_json() || context.verbosity() == Verbosity::Verbose;
        let now = workspace.clock.now();
        let since = self.since.as_deref().map(|text| {
            parse_time(text, now).ok_or_else(|| {
                let message = format!("--since: {text:?} is not a time");
                Failure::new("usage", Exit::Usage, message)
                    .hint("2025-12-28, 2025-12-28T21:00:00Z, or an age such as 90m, 2h, 3d, 1w")
            })
        });
        let options = ListOptions {
            session: context.session.clone(),
            detail: if shows_records {
                Detail::Records
            } else {
                Detail::Few
            },
            shape,
            filter: Filter {
                steps: self.steps,
                triggers: self.triggers,
                since: since.transpose()?,
                validity: if self.valid {
                    ValidityFilter::Valid
                } else {
                    ValidityFilter::Any
                },
            },
            metric: self.metric,
        };
        context.answer(&list(&workspace, &options)?)
    }
}

/// A time, a day (UTC), or how long ago.
fn parse_time(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    for format in ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(text, format) {
            return Some(time.and_utc());
        }
    }
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(day.and_hms_opt(0, 0, 0)?.and_utc());
    }
    let unit = text.chars().last()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok().filter(|n| *n >= 0)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return None,
    };
    let age = Duration::try_seconds(number.checked_mul(seconds)?)?;
    now.checked_sub_signed(age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_points_days_or_ages() {
        let now = DateTime::parse_from_rfc3339("2025-12-28T21:00:00Z").unwrap();
        let of = |text: &str| parse_time(text, now.to_utc()).map(|time| time.to_rfc3339());
        let is = |text: &str, time: &str| assert_eq!(of(text).as_deref(), Some(time), "{text}");
        is("2h", "2025-12-28T19:00:00+00:00");
        is("1w", "2025-12-21T21:00:00+00:00");
        is("2025-12-01", "2025-12-01T00:00:00+00:00");
        is("2025-12-01 10:30", "2025-12-01T10:30:00+00:00");
        is("2025-12-01T10:30:00+02:00", "2025-12-01T08:30:00+00:00");
        for text in [
            "",
            "x",
            "-1h",
            "2y",
            "99999999999999999999d",
            "9223372036854775807w",
            "é",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
