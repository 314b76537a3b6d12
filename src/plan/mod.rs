//! Decisions, pure: values in, a plan out, with the reasons. No disk, clock, environment or process.

pub mod graph;
pub mod import;
pub mod lineage;
pub mod retention;
pub mod rollback;
