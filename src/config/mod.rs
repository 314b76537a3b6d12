//! Settings: typed, in layers, each with its origin.
//!
//! Flags go before `GO_TEAM_*` variables, these before `go-team.toml` at the work tree's root, that before the user's
//! own file, and that before what is built in. [`settings`] holds the one table that everything else follows: which keys
//! there are, their types, what is built in, what each is for. [`load()`] reads the layers; nothing here looks at the
//! process's environment, home or clock, the caller passes these in. [`edit`] changes one key of a file's text.
//!
//! A configuration file is not trusted: its size is limited, a key that is not known is an error, and a project's file
//! cannot point the state file out of the work tree.

pub mod edit;
mod error;
mod file;
mod load;
mod origin;
mod reference;
pub mod settings;
mod value;
mod workflow;

use crate::model::nearest;

pub use error::ConfigError;
pub use file::{Owner, read_text};
pub use load::{Config, Entry, Flag, PROJECT_FILE, Sources, load, user_file};
pub use origin::Origin;
pub use reference::{generated, reference};
pub use settings::Settings;
pub use value::Kind;

#[cfg(test)]
mod tests;
