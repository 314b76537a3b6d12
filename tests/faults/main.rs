//! Every command that changes something, disturbed at each call that changes a file: killed there, or that call fails.
//!
//! A point is one such call, of any process or thread of the command. At each point the command runs in a fresh copy of
//! its repository, and afterwards everything that was promised is checked ([`judge`]): the answer was true, nothing that was
//! there is lost, the user's files, index and HEAD are as before or as after, the next command and the next `git commit`
//! work, and nobody has to repair anything. What deals with an interruption is disturbed in the same way ([`recovery`]).
//!
//! `cargo test` tries a few points of each command, other ones each time. All of them, with a table of what was found, git's
//! own commands beside them:
//!
//! ```sh
//! GO_TEAM_FAULTS=most cargo test --release --test faults complete -- --nocapture
//! ```
//!
//! That strikes at every point of every command (ENOSPC and EDQUOT at every other one), and deals with it in one of the ways
//! there are, in turn; and then at up to eight points of dealing with each of up to four kinds of interruption.
//! `GO_TEAM_FAULTS=all` takes every way, every kind and every point, for hours. Both take less with `TMPDIR` on a file system
//! in memory. `GO_TEAM_FAULTS_ONLY=undo` limits them to the commands whose name contains that.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../promises/check.rs"]
#[allow(dead_code, reason = "the promises use the rest")]
mod check;
#[path = "../support/dice.rs"]
mod dice;
#[path = "../rollback/ledger.rs"]
#[allow(dead_code, reason = "the tests of rollback use the rest")]
mod ledger;
#[path = "../rollback/photo.rs"]
#[allow(dead_code, reason = "the tests of rollback use the rest")]
mod photo;
#[path = "../promises/process.rs"]
#[allow(dead_code, reason = "the promises use the rest")]
mod process;
#[path = "../rollback/scene.rs"]
#[allow(dead_code, reason = "the tests of rollback use the rest")]
mod scene;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/tracer.rs"]
#[allow(dead_code, reason = "the tests of rollback use the rest")]
mod tracer;

mod account;
mod complete;
mod few;
mod git;
mod judge;
mod operations;
mod recoverable;
mod recovery;
mod stage;
mod stopped;
mod table;
