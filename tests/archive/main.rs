//! Sessions that leave a repository as one file and come into another: exactly, or not at all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::too_many_lines, reason = "a corpus is shown in full")]
#![allow(
    clippy::format_push_string,
    clippy::semicolon_if_nothing_returned,
    reason = "forgeries are short, and their text is small"
)]

#[path = "../promises/check.rs"]
#[allow(dead_code, reason = "shared with the tests of the promises")]
mod check;
#[path = "../promises/process.rs"]
#[allow(dead_code, reason = "shared with the tests of the promises")]
mod process;
#[path = "../support/mod.rs"]
mod support;

mod answers;
mod bundles;
mod forge;
mod going_on;
mod hostile;
mod kills;
mod many;
mod place;
mod plain_git;
mod property;
mod refusals;
mod renaming;
mod round_trip;
