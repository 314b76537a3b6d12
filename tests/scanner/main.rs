//! The scanner against git: for every repository here, the tree of a checkpoint is what `git add -A` and
//! `git write-tree` give on a copy of the index, and checking it out gives every byte and mode back.
//!
//! | what | where |
//! |---|---|
//! | ignore files of all kinds, tracked and staged files that are ignored | `ignore`, `rules::ignore_patterns` |
//! | `assume-unchanged`, `skip-worktree`, intent-to-add, `core.fileMode`, `core.symlinks` | `index` |
//! | index versions 2 to 4, split, with extensions, coming and going | `index` |
//! | conflicts | `conflicts` |
//! | `text`, `eol`, `-text`, `ident`, `working-tree-encoding`, `core.autocrlf` | `attributes`, `rules::conversions` |
//! | which attributes a path has: patterns, macros, precedence, `core.ignoreCase`, `attr.tree` | `check_attr` |
//! | filter programs, pointers of large-file stores | `filters` |
//! | links, modes, swaps of file, directory and link, special and unreadable files, empty directories | `kinds` |
//! | unicode in both normal forms, non-UTF-8, 255 bytes, newline, quote, dash, look-alikes of `.git` | `names` |
//! | twins in case and `core.ignoreCase` | `ignore::case_of_patterns`, `names::twins_in_case_are_all_kept` |
//! | submodules, uninitialised ones too, nested repositories with and without commits | `nested` |
//! | sparse checkouts with and without cone, sparse index, files outside | `sparse` |
//! | unborn and detached HEAD, shallow clones, linked work trees | `cases`, `worktrees` |
//! | changes in the same tick, files that change while they are read | `races` |
//! | a stat cache that is stale, damaged, foreign; several processes | `cache`, `processes` |
//! | memory | `memory` |
//! | go-team's own include, exclude and size limit | `capture` |
//! | any of it at random | `property`, `rules` |
//!
//! `GO_TEAM_SCAN_CASES=<n>` runs more cases of what is random, and what takes long.

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
mod memory;
mod names;
mod nested;
mod processes;
mod property;
mod races;
mod repo;
mod restore;
mod rules;
mod sparse;
mod worktrees;
