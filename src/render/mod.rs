//! Reports as text or JSON. Pure: a report and a [`Style`] in, text out; `cli` writes it to a stream.
//!
//! Every name, path, topic and description that comes from a repository or a user goes through [`escape`].

#![allow(
    clippy::missing_panics_doc,
    reason = "an `expect` here states an invariant, not a condition for the caller"
)]

mod cleanup;
mod completions;
mod config;
mod create;
mod delete;
mod diff;
mod doctor;
mod ending;
mod error;
pub mod escape;
mod export;
mod import;
mod import_from;
pub mod json;
mod layout;
mod list;
mod man;
mod note;
mod observe;
mod prune;
mod rebuild;
mod remedy;
mod resume;
mod rollback;
mod run;
mod session_info;
mod sessions;
mod shell;
mod show;
mod start;
mod state;
mod status;
pub mod style;
pub mod table;
pub mod time;
mod trigger;
mod validate;

use serde::Serialize;

pub use cleanup::cleanup_prompt;
pub use completions::ScriptView;
pub use create::CreateView;
pub use delete::delete_prompt;
pub use diff::patch_text;
pub use ending::removal_prompt;
pub use error::ErrorView;
pub use man::PageView;
pub use note::{Level, Note, interrupted_rollback};
pub use observe::StarHelp;
pub use prune::prune_prompt;
pub use remedy::commands_for;
pub use resume::{remove_prompt, resume_found, resume_question};
pub use rollback::{ConfirmView, PlanView, ResumeView, RollbackView};
pub use run::RunView;
pub use shell::shell_line;
pub use style::Style;

/// A report that can be shown: as JSON by its fields, as text by what is below.
pub trait Render: Serialize {
    /// What was asked for; goes to stdout and ends with a newline, or is empty.
    fn text(&self, style: &Style) -> String;

    /// What should be known beside it; goes to stderr.
    fn notes(&self, style: &Style) -> Vec<Note>;
}
