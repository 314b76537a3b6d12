//! The size of a session as it was measured, on disk. It can be deleted at any time.

use super::durable::{self, Durability};
use super::{Error, Store};
use crate::model::ids::SessionId;
use crate::model::json::Limits;
use crate::model::size::MeasuredSize;

impl Store {
    /// What was measured; `None` when nobody knows.
    #[must_use]
    pub fn load_size(&self, session: &SessionId) -> Option<MeasuredSize> {
        let path = self.layout().size(session);
        Self::read(&path, Limits::INPUT.bytes, MeasuredSize::from_file_bytes).ok()
    }

    /// Remembers what was measured.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_size(&self, session: &SessionId, size: &MeasuredSize) -> Result<(), Error> {
        let path = self.layout().size(session);
        Ok(durable::write(
            &path,
            &size.to_file_bytes(),
            Durability::None,
        )?)
    }
}
