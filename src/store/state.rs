//! The live state on disk.

use super::{Error, Staged, Store, if_there};
use crate::model::ids::SessionId;
use crate::model::json::Limits;
use crate::model::state::State;

impl Store {
    /// Loads a session's live state; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn load_state(&self, session: &SessionId) -> Result<Option<State>, Error> {
        let path = self.layout().state(session);
        if_there(Self::read(
            &path,
            Limits::STATE.bytes,
            State::from_file_bytes,
        ))
    }

    /// Writes a state beside the one that it will replace.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn stage_state(&self, session: &SessionId, state: &State) -> Result<Staged, Error> {
        self.stage(&self.layout().state(session), &state.to_file_bytes())
    }
}
