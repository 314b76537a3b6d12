//! Comparing trees and states: git is the oracle for files, and applying a difference is the proof of it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

mod commits;
mod property;
mod random;
