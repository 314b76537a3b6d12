//! Values, pure: no disk, clock, environment or process.

pub mod object_id;
pub mod workflow;
