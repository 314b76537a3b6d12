//! The promises, each tested as a user would find out that it was broken.
//!
//! Nothing here looks at how go-team works inside: what it left on the disk is read with git, and with the library's
//! own formats, after processes were run, raced and killed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

mod check;
mod clock;
mod kills;
mod places;
mod process;
mod side_by_side;
mod survival;
mod untouched;
