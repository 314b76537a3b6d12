//! Checkpoints of other programs, brought in: exactly, as far as they can be read, and without touching anything.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::too_many_lines, reason = "an answer is shown in full")]

#[path = "../promises/check.rs"]
#[allow(dead_code, reason = "shared with the tests of the promises")]
mod check;
#[path = "../promises/process.rs"]
#[allow(dead_code, reason = "shared with the tests of the promises")]
mod process;
#[path = "../support/mod.rs"]
mod support;

mod answers;
mod broken;
mod hostile;
mod kills;
mod place;
mod samples;
