//! The scanner against git: for every repository here, the tree of a checkpoint is what `git add -A` and
//! `git write-tree` give on a copy of the index, and checking it out gives every byte and mode back.

mod cases;
mod repo;
mod restore;
