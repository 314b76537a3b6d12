//! A git-backed checkpoint engine: exact snapshots of files, staging, branch and workflow state.
//!
//! # Where things are
//!
//! The path of a command is guessed from its name: `cp-create` is `cli/create.rs`, which turns arguments into options;
//! `engine/create.rs`, which does the work and knows its order; `render/create.rs`, which shows the report; and
//! `tests/cli/create.rs`, which proves it.
//!
//! | module | what it owns | what it must not do |
//! |---|---|---|
//! | [`model`] | values: ids, records, manifests, state, selectors, workflows, and their stored form | touch disk, clock, environment or process |
//! | [`plan`] | decisions: values in, a plan with reasons out | the same |
//! | [`config`] | settings in layers, each with its origin | look at the environment by itself; decide what a setting does |
//! | [`git`] | all that touches the repository: opening, scanning, objects, packs, refs, the index, restoring | know of sessions; write to files, the index, HEAD or a ref outside `refs/go-team/`, but in [`git::restore`] |
//! | [`store`] | all that touches go-team's own files: where they are, how they are written, who may write | know of git; know what the bytes mean |
//! | [`engine`] | one operation a file: options in, report out | print, parse arguments, read the environment |
//! | [`render`] | reports as text or JSON, with hostile text escaped | read or write anything |
//! | [`cli`] | arguments, environment, streams; errors as message, hints and exit code | decide anything; pass a type of clap's on |
//!
//! Going back has more than one file in each of them, as it has the most to get right:
//!
//! | file | its part |
//! |---|---|
//! | [`plan::rollback`] | the plan as a value, who is valid afterwards, what `undo` and `redo` mean |
//! | [`engine::rollback`] | the order: plan, safety checkpoint, journal, walk, check, manifest; and what to do with an unfinished one |
//! | [`git::restore`] | two checkpoints compared, and the walk from one to the other: files, index, branches, HEAD |
//! | [`model::journal`], `store/journal.rs` | what a killed rollback leaves for the next command |
//!
//! So has running a command of the user's, which is mostly about the terminal:
//!
//! | file | its part |
//! |---|---|
//! | `cli/run/child.rs` | the command itself: started in the foreground, waited for; the only program that is started by name |
//! | `cli/signals.rs` | what signals mean at the moment: to stop at a safe place, or to be passed on |
//! | [`plan::run`] | what the end of a command means: complete, interrupted, failed |
//! | [`engine::run`] | the look at the previous checkpoint; no lock is held while the command runs |
//!
//! `observe` has nothing of its own to do: [`model::star`] reads what an observer types, and `cli/observe` calls the command
//! that it stands for.
//!
//! Checkpoints of other programs come in through `import-from`: [`plan::import_from`] knows what their documents mean,
//! [`engine::import_from`] reads them, and [`git::assemble`] makes commits of the files that they had copied.
//!
//! A line is read by `cli/alone.rs` with the one command in mind that it names; what that cannot read is left to the
//! definition of all of them in `cli/mod.rs`.
//!
//! Completion has no command of its own: a shell calls the program with `GO_TEAM_COMPLETE` set, and `cli/complete.rs` answers
//! before arguments are parsed, with names from `engine/completion.rs`.
//!
//! Taking a session up again is decided in [`plan::freshness`] (what changed) and [`plan::resume`] (what that calls for, and
//! where work goes on); [`engine::resume`] gathers what they need.
//!
//! # Who may use whom
//!
//! ```text
//! main → cli → engine, render, config
//!              render → the reports of engine
//!              engine → plan, git, store, config
//!              each of them → model, which uses nothing of ours
//! ```
//!
//! The clock is read in `engine/clock.rs` alone, the environment in `cli` alone; nothing but `cli` and `render` prints.
//! `tests/architecture.rs` reads the sources and fails where a line takes a wrong turn.
//!
//! # What always holds
//!
//! 1. Checkpointing touches nothing of the user's: no byte of work tree, index, HEAD, refs, config, stash or reflogs; no
//!    hook runs, and no lock of git's is left.
//! 2. Acknowledged means durable: objects, then ref, then record, then manifest are on the disk, directories included.
//! 3. Nothing destroys the only copy of anything.
//! 4. All or nothing: killed at any instant, the next command finishes or undoes what was begun, and says so.
//! 5. What git ignores is never touched, unless the configuration includes it; nor anything outside the work tree, nor
//!    what had to be skipped.
//! 6. No false success: what failed or was skipped is said.
//! 7. Plain formats: git and a JSON viewer are enough to read everything.
//! 8. History only grows: events are added, records are never edited. Order is by `seq`, never by clock.
//!
//! `tests/promises` tests them from outside.
//!
//! # What is on disk
//!
//! ```text
//! refs/go-team/<session>/<checkpoint> → commit C     its tree is the work tree as `git add -A` would record it
//!   C's parents: HEAD's commit, where there is one, and the sidecar S, whose tree holds
//!     record.json                                    the record, without what depends on C
//!     staged/, index.json, conflicts/                the index: its tree, its flags, its conflicts
//!     raw/, extras.json                              what git would not give back: bytes, modes, empty directories
//!
//! <git common dir>/go-team/                          or where `[storage] path` says
//!   lock, packs, import.json                         who writes; which packs are ours to merge; an import under way
//!   observe-history                                  what an observer typed at the prompt
//!   life.json                                        only while a session gets another status or is removed
//!   worktrees/<key>/current, stat-cache, clock       the session of a work tree; what the scanner remembers, and the file system's time
//!   sessions/<session>/manifest.json                 the list of checkpoints
//!   sessions/<session>/<checkpoint>.json             one record each, sealed and linked by checksums
//!   sessions/<session>/state.json, latest            the live state; a link to the newest record
//!   sessions/<session>/journal.json                  only while a checkpoint is made
//!   sessions/<session>/rollback.json                 only while a rollback is under way
//!   sessions/<session>/errors.jsonl                  operations that failed
//!   sessions/<session>/exports/                      archives: a tar.gz of all of this and a git bundle of the refs
//!   sessions/<session>/size.json                     how much it takes, where there is a limit; only a memory
//!   sessions/<session>/damaged/                      damaged files that were replaced by rebuilt ones
//!   failed/<session>/                                the same, of a session that failed
//! ```
//!
//! Paths are built in [`store::layout`], trees in [`git::snapshot`] and [`git::sidecar`], files of JSON in [`model`].
//! For the time of a rollback there are also files that wait for their rename: `.go-team-tmp-<rollback>-<n>` beside the
//! file that they replace, and `go-team-index-<rollback>` beside the index. The journal knows their names.
//! Every file of go-team's own is written beside its place, synced, and renamed ([`store::durable`]), so readers need no
//! lock. Ids are types that are checked whenever they come from outside ([`model::ids`]), so none can lead out of its
//! directory.

pub mod cli;
pub mod config;
pub mod engine;
pub mod git;
pub mod model;
pub mod plan;
pub mod render;
pub mod store;
