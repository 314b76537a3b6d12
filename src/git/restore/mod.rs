//! From one state of the work tree, the index and HEAD to another, each of them held by a checkpoint.
//!
//! A [`View`] says what a checkpoint holds of the disk. [`Differences`] are what lies between two of them, and nothing
//! else is ever touched: rolling back is the way from the safety checkpoint to the target, undoing it the way back, and
//! finishing after a kill is walking the rest of either way. Every step is repeatable, and each looks first whether the
//! disk holds what one of the two sides has there; what neither has is nobody's to overwrite.

mod compare;
mod disk;
pub mod head;
pub mod index;
mod keep;
mod place;
mod trees;
mod view;
mod walk;

pub use compare::{Change, Differences, DirChange};
pub use disk::{Filters, Seen};
pub use keep::{Kept, Obstacle, Why};
pub use place::TEMP_PREFIX;
pub(super) use view::is_harmless;
pub use view::{Item, View};
pub use walk::{Direction, Foreign, Marks, Outcome, Restore};
