//! Keeping the number of packs small.

use super::{Error, Workspace};
use crate::git::repack::OwnPacks;

impl Workspace {
    /// Merges go-team's own packs when they pile up. `newest` is the pack that was just written. The caller holds the
    /// lock.
    pub(super) fn tidy_packs(&self, newest: &str) -> Result<(), Error> {
        let mut packs = OwnPacks::load(&self.store.layout().root().join("packs"));
        packs.add(newest)?;
        packs.tidy(&self.repo)?;
        Ok(())
    }
}
