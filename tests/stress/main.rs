//! Many at once, for a long time, and with any bytes: what a quiet test never meets.
//!
//! - `crowd`: many processes in one session, in many sessions, in many linked work trees; readers and git beside them;
//! - `soak`: random operations and random kills; what was acknowledged is written down elsewhere, and checked. A few
//!   seconds in `cargo test`; ten minutes, or any other number of them, with
//!
//!   ```sh
//!   GO_TEAM_SOAK=10 cargo test --release --test stress soak -- --nocapture
//!   ```
//! - `parsers`: arbitrary and changed bytes in every file that is read. `GO_TEAM_CASES=10000` tries more of them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../promises/check.rs"]
#[allow(dead_code, reason = "the promises use the rest")]
mod check;
#[path = "../support/dice.rs"]
#[allow(dead_code, reason = "the faults use the rest")]
mod dice;
#[path = "../rollback/photo.rs"]
#[allow(dead_code, reason = "the tests of rollback use the rest")]
mod photo;
#[path = "../promises/process.rs"]
mod process;
#[path = "../support/mod.rs"]
mod support;

mod crowd;
mod limits;
mod parsers;
mod soak;
