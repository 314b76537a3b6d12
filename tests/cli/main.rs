//! The program as its users meet it: every command as text and as JSON, and every mistake they can make.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::too_many_lines, reason = "an answer is shown in full")]

#[path = "../support/mod.rs"]
mod support;

#[path = "../rollback/pty.rs"]
mod pty;

mod completions;
mod config;
mod create;
mod diff;
mod list;
mod mistakes;
mod observe;
mod progress;
mod refusals;
mod resume;
mod resume_damage;
mod resume_freshness;
mod resume_prompt;
mod resume_workflows;
mod run;
mod run_terminal;
mod sessions;
mod show;
mod state;
mod status;
mod terminal;
mod workflows;
