//! Whether validation can be believed: every way of being broken is found, named, and can be put right.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

mod bits;
mod cases;
mod commands;
mod damage;
mod garbage;
mod gc;
mod objects;
mod rebuilding;
mod states;
