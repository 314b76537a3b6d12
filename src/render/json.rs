//! The one shape of every JSON answer.

use serde::Serialize;

use super::escape::escape_json;

/// The version of the shape.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Success<'a, T> {
    schema_version: u32,
    ok: bool,
    command: &'a str,
    data: &'a T,
}

#[derive(Serialize)]
struct Verdict<'a, T, E> {
    schema_version: u32,
    ok: bool,
    command: &'a str,
    data: &'a T,
    error: &'a E,
}

#[derive(Serialize)]
struct Failure<'a, T> {
    schema_version: u32,
    ok: bool,
    command: Option<&'a str>,
    error: &'a T,
}

/// The answer of a command that went well: one line.
#[must_use]
pub fn success<T: Serialize>(command: &str, data: &T) -> String {
    line(&Success {
        schema_version: SCHEMA_VERSION,
        ok: true,
        command,
        data,
    })
}

/// The answer of a command that failed: one line. Without a command when the arguments named none.
#[must_use]
pub fn failure<T: Serialize>(command: Option<&str>, error: &T) -> String {
    line(&Failure {
        schema_version: SCHEMA_VERSION,
        ok: false,
        command,
        error,
    })
}

/// The answer of a check that found something: what was found, and that it is not well.
#[must_use]
pub fn verdict<T: Serialize, E: Serialize>(command: &str, data: &T, error: &E) -> String {
    line(&Verdict {
        schema_version: SCHEMA_VERSION,
        ok: false,
        command,
        data,
        error,
    })
}

/// A value for people: indented.
#[must_use]
pub fn pretty<T: Serialize>(value: &T) -> String {
    let text =
        serde_json::to_string_pretty(value).expect("reports are plain values with text keys");
    escape_json(&text)
}

/// A value in one line.
#[must_use]
pub fn compact<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).expect("reports are plain values with text keys");
    escape_json(&text)
}

fn line<T: Serialize>(value: &T) -> String {
    let mut text = compact(value);
    text.push('\n');
    text
}
