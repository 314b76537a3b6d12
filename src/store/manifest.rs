//! Manifests on disk.

use std::path::Path;

use super::{Error, Staged, Store, durable};
use crate::model::ids::SessionId;
use crate::model::json::Limits;
use crate::model::manifest::{Beginning, Manifest};

/// From this size on, reading a manifest takes longer than starting a thread.
const LONG: u64 = 256 << 10;

/// A manifest that is written as far as it is known.
#[derive(Debug)]
pub struct Begun {
    beginning: Beginning,
    staged: Staged,
}

impl Store {
    /// Loads a session's manifest, checked.
    ///
    /// # Errors
    /// When it is missing, damaged, of another version, or that of another session.
    pub fn load_manifest(&self, session: &SessionId) -> Result<Manifest, Error> {
        Self::load_manifest_at(&self.layout().manifest(session), session)
    }

    /// Whether a session's manifest takes its time to be read.
    #[must_use]
    pub fn is_long(&self, session: &SessionId) -> bool {
        let file = self.layout().manifest(session).symlink_metadata();
        file.is_ok_and(|file| file.len() > LONG)
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

    /// Writes as much of a manifest as is known before its next checkpoint is, and has it on its way to the disk. What
    /// goes wrong here will go wrong again, and be said, when the whole is written.
    #[must_use]
    pub fn begin_manifest(&self, manifest: &Manifest, beginning: Beginning) -> Option<Begun> {
        let target = self.layout().manifest(&manifest.session_id);
        let parts = manifest.beginning_parts(&beginning);
        let mut staged = Staged::write_parts(&target, &parts, self.durability()).ok()?;
        staged.sync().ok()?;
        Some(Begun { beginning, staged })
    }

    /// Writes the rest of a manifest that was begun, or all of it where it begins otherwise.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish_manifest(
        &self,
        manifest: &Manifest,
        begun: Option<Begun>,
    ) -> Result<Staged, Error> {
        if let Some(mut begun) = begun {
            let append = |parts: [&[u8]; 2]| begun.staged.append(&parts);
            if let Some(added) = manifest.with_rest_after(&begun.beginning, append) {
                added?;
                return Ok(begun.staged);
            }
        }
        self.stage_manifest(manifest)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;
    use crate::model::trigger::Trigger;
    use crate::store::Durability;

    #[test]
    fn a_manifest_that_was_begun_ends_as_one_that_was_not() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned(), Durability::None);
        let mut long = sample::manifest();
        for step in 1..=2000 {
            sample::append(&mut long, step, "a step", Trigger::Manual);
        }
        std::fs::create_dir_all(store.layout().session(&long.session_id)).unwrap();
        let read = || Manifest::from_file_bytes(&long.to_file_bytes()).unwrap();
        for trigger in [Trigger::Manual, Trigger::Safety] {
            for is_marked in [false, true] {
                let mut manifest = read();
                let mut twin = read();
                let record = sample::append(&mut twin, 2001, "the next", trigger);
                let beginning = manifest
                    .beginning(&record.id, trigger, record.created_at)
                    .expect("a long list");
                let begun = store.begin_manifest(&manifest, beginning).unwrap();
                manifest.append(&record).unwrap();
                if is_marked {
                    manifest.mark(|_, validity| validity.valid = false);
                }
                let staged = store.finish_manifest(&manifest, Some(begun)).unwrap();
                staged.publish().unwrap();
                let path = store.layout().manifest(&manifest.session_id);
                assert!(std::fs::read(path).unwrap() == manifest.to_file_bytes());
            }
        }
        assert_eq!(
            sample::manifest().beginning(
                &read().checkpoints()[0].id,
                Trigger::Manual,
                long.created_at
            ),
            None
        );
    }
}
