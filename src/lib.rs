//! go-team.
pub mod model;
pub mod store;
pub mod git;
