//! One operation a file: options in, report out. The engine knows the order of things and prints nothing.

pub mod clock;
pub mod create;
pub mod error;
mod inputs;
mod live;
pub mod recover;
mod retention;
pub mod session;
mod tidy;
pub mod workspace;

pub use clock::Clock;
pub use error::Error;
pub use workspace::Workspace;
