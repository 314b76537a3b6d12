//! Values, pure: no disk, clock, environment or process.
//!
//! Every shape that go-team keeps on disk is defined here together with its bytes; `store` only moves those bytes.
//! Three rules hold for all of them: an id can only be built by parsing it, what is unknown is absent (never `null`),
//! and a checksum covers the canonical JSON of everything but itself.

#![allow(
    clippy::missing_panics_doc,
    reason = "an `expect` here states an invariant, not a condition for the caller"
)]

pub mod archive;
pub mod chain;
pub mod current;
pub mod digest;
pub mod files;
pub mod finding;
pub mod format;
pub mod ids;
pub mod journal;
pub mod json;
pub mod json_diff;
pub mod life;
mod lower_hex;
pub mod manifest;
pub mod nearest;
pub mod object_id;
pub mod path_text;
pub mod record;
#[cfg(test)]
pub(crate) mod sample;
pub mod selector;
pub mod size;
pub mod star;
pub mod state;
pub mod status;
pub mod timestamp;
pub mod trigger;
pub mod workflow;
pub mod yaml;

pub use current::CurrentPointer;
pub use digest::Sha256Digest;
pub use files::Files;
pub use format::FormatError;
pub use ids::{CheckpointId, RollbackId, SessionId};
pub use journal::Journal;
pub use life::{LifeChange, LifeJournal};
pub use manifest::{
    Entry, Manifest, MovedBranch, PrunedRange, RollbackKind, RollbackRecord, StatusChange,
};
pub use object_id::{ObjectFormat, ObjectId};
pub use record::{GitSnapshot, Record, RecordDraft, Recovery};
pub use selector::{Selector, SelectorError};
pub use star::{StarCommand, StarError};
pub use state::State;
pub use status::SessionStatus;
pub use trigger::Trigger;
