//! Checkpoints as a git bundle, version 2: a list of refs, and a pack with everything that they need.
//!
//! A bundle that go-team writes stands on its own: `git clone` and `git fetch` read it in an empty directory. One that it
//! reads may be anybody's, so every object is named anew, every delta is applied within limits, and every reference is
//! looked up before anything of it reaches the repository.

mod collect;
pub(super) mod delta;
mod header;
mod inspect;
mod objects;
mod pack;
mod region;
mod rename;
mod scan;
mod write;

pub use collect::{Collected, Missing, collect};
pub use header::{BundleRef, HEAD};
pub use inspect::{Inspected, Inspection, inspect};
pub use objects::name_defect;
pub use pack::VerifiedPack;
pub use region::Region;
pub use rename::rename;
pub use write::write;

/// Why a bundle is refused.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It does not begin as bundles do.
    #[error("the bundle's header is damaged: {0}")]
    Header(&'static str),
    /// It needs commits that it does not hold.
    #[error("the bundle needs commits that it does not hold")]
    Prerequisites,
    /// It ends too early.
    #[error("the bundle is cut short")]
    Truncated,
    /// The pack is not one that can be read.
    #[error("the bundle's pack is damaged: {0}")]
    Pack(&'static str),
    /// An object is larger than what is read.
    #[error("the bundle holds an object of {size} bytes; {limit} is the most for one of its kind")]
    TooLarge {
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// An object is not what it should be.
    #[error("the bundle's {kind} {id} is damaged: {what}")]
    Object {
        /// What it is.
        kind: &'static str,
        /// Its id.
        id: crate::model::ObjectId,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A tree names something that must never be in a work tree.
    #[error(
        "the bundle's tree {tree} has an entry called {name:?}, which must never be in a work tree"
    )]
    Name {
        /// The tree.
        tree: crate::model::ObjectId,
        /// The name, escaped.
        name: String,
    },
    /// An object that others need is not there, or is of another kind.
    #[error("the bundle lacks the {kind} {id}")]
    Lacks {
        /// What it should be.
        kind: &'static str,
        /// Its id.
        id: crate::model::ObjectId,
    },
    /// The repository, or a file.
    #[error(transparent)]
    Git(#[from] super::Error),
}
