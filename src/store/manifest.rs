//! Manifests on disk.

use std::path::Path;

use super::{Error, Staged, Store, durable};
use crate::model::ids::SessionId;
use crate::model::json::Limits;
use crate::model::manifest::Manifest;

impl Store {
    /// Loads a session's manifest, checked.
    ///
    /// # Errors
    /// When it is missing, damaged, of another version, or that of another session.
    pub fn load_manifest(&self, session: &SessionId) -> Result<Manifest, Error> {
        Self::load_manifest_at(&self.layout().manifest(session), session)
    }

    /// As [`Store::load_manifest`], from wherever the session is.
    pub(super) fn load_manifest_at(path: &Path, session: &SessionId) -> Result<Manifest, Error> {
        let limit = Limits::MANIFEST.bytes;
        let bytes = durable::read_limited(path, limit)?;
        let bytes = bytes.ok_or_else(|| Error::TooLarge {
            path: path.to_owned(),
            limit,
        })?;
        let manifest =
            Manifest::from_file_vec(bytes).map_err(|error| Error::damaged(path, error))?;
        if manifest.session_id != *session {
            return Err(Error::Misplaced {
                path: path.to_owned(),
                found: manifest.session_id.to_string(),
            });
        }
        Ok(manifest)
    }

    /// Writes a manifest beside the one that it will replace.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn stage_manifest(&self, manifest: &Manifest) -> Result<Staged, Error> {
        let target = self.layout().manifest(&manifest.session_id);
        let staged = manifest
            .with_file_parts(|parts| Staged::write_parts(&target, &parts, self.durability()))?;
        Ok(staged)
    }
}
