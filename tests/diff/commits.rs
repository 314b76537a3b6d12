//! The user's commits between two points.
