//! Rollback, undo and redo, each tested as a user would find out that work was lost.
//!
//! Everything goes through the binary. What it left is compared with full copies that the tests keep themselves, and
//! read with git.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../promises/check.rs"]
#[allow(dead_code, reason = "the promises use the rest")]
mod check;
#[path = "../support/dice.rs"]
mod dice;
#[path = "../promises/process.rs"]
#[allow(dead_code, reason = "the promises use the rest")]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "../faults/recoverable.rs"]
mod recoverable;
#[path = "../support/mod.rs"]
mod support;

mod confirm;
mod edits;
mod effects;
mod expect;
mod forge;
mod history;
mod instants;
mod ledger;
mod nasty_files;
mod nasty_git;
mod nasty_places;
mod paths;
mod peers;
mod photo;
mod property;
mod pty;
mod refusals;
mod scene;
mod selftest;
mod state;

/// What stops a command at a call of its choice is written for one system and one kind of processor.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod errnos;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod kills;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod nasty_races;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod sweep;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "../support/tracer.rs"]
mod tracer;
