//! go-team.
pub mod git;
pub mod model;
pub mod plan;
pub mod store;
