//! Decisions, pure: values in, a plan out, with the reasons. No disk, clock, environment or process.

pub mod cleanup;
pub mod delete;
pub mod freshness;
pub mod graph;
pub mod import;
pub mod import_from;
pub mod lineage;
pub mod rebuild;
pub mod resume;
pub mod retention;
pub mod rollback;
pub mod run;
pub mod validate;
