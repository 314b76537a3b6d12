//! The scanner against git: for every repository here, the tree of a checkpoint is what `git add -A` and
//! `git write-tree` give on a copy of the index, and checking it out gives every byte and mode back.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod attributes;
mod cache;
mod capture;
mod cases;
mod check_attr;
mod conflicts;
mod filters;
mod ignore;
mod index;
mod kinds;
mod names;
mod nested;
mod property;
mod races;
mod repo;
mod restore;
mod rules;
mod sparse;
mod worktrees;
