//! Decisions, pure: values in, a plan out, with the reasons. No disk, clock, environment or process.

pub mod delete;
pub mod graph;
pub mod rebuild;
pub mod retention;
pub mod validate;
