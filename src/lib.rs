//! A git-backed checkpoint engine: exact snapshots of files, staging, branch and workflow state.
//!
//! | module | what it owns | what it must not do |
//! |---|---|---|
//! | [`model`] | values: ids, records, manifests, state, selectors, workflows | touch disk, clock, environment, process |
//! | [`plan`] | decisions: values in, a plan with reasons out | the same |
//! | [`config`] | settings in layers, each with its origin | look at the environment by itself |
//! | [`git`] | all that touches the repository | know of sessions |
//! | [`store`] | all that touches go-team's own files | know of git |
//! | [`engine`] | one operation a file: options in, report out | print |
//! | [`render`] | reports as text or JSON | read or write anything |
//! | [`cli`] | arguments, environment, streams, exit codes | decide anything |
//!
//! Uses go one way: `cli → {engine, render, config}`, `render → engine`'s reports, `engine → {plan, git, store,
//! config}`, all of them `→ model`. On disk: a commit per checkpoint under `refs/go-team/`, and JSON below
//! `<git common dir>/go-team/` ([`store::layout`]).

pub mod cli;
pub mod config;
pub mod engine;
pub mod git;
pub mod model;
pub mod plan;
pub mod render;
pub mod store;
