//! go-team.
pub mod config;
pub mod engine;
pub mod git;
pub mod model;
pub mod plan;
pub mod store;
