//! One operation a file: options in, report out. The engine knows the order of things and prints nothing.
//!
//! Operations that only read take no lock, write nothing, and work in a repository that cannot be written.

pub mod abandon;
pub mod checkpoint;
pub mod cleanup;
pub mod clock;
pub mod complete;
pub mod completion;
pub mod config;
pub mod content;
pub mod create;
pub mod delete;
pub mod diff;
pub mod doctor;
pub mod ending;
pub mod error;
pub mod export;
pub mod fail;
pub mod failure;
pub mod import;
pub mod import_from;
mod inputs;
pub mod life;
pub mod list;
mod live;
pub mod man;
mod observe;
pub mod open;
pub mod prune;
mod publish;
pub mod rebuild;
pub mod recover;
pub mod resume;
mod retention;
pub mod rollback;
pub mod run;
pub mod session;
pub mod session_info;
pub mod sessions;
pub mod show;
mod size;
pub mod start;
pub mod state;
pub mod status;
pub mod summary;
mod tidy;
pub mod trigger;
pub mod validate;
pub mod workspace;

pub use crate::git::restore::Marks;
pub use crate::git::verify::deep::Tally;
pub use crate::git::walk::Progress;
pub use clock::Clock;
pub use error::Error;
pub use workspace::Workspace;
