//! A session's life: how it ends, how long it is kept, what is kept of it meanwhile, and what a kill leaves of that.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::too_many_lines, reason = "an answer is shown in full")]

#[path = "../support/mod.rs"]
mod support;

#[path = "../rollback/pty.rs"]
mod pty;

mod asking;
mod cleaning;
mod ending;
mod interrupts;
mod kills;
mod pruning;
mod tour;
mod triggers;
