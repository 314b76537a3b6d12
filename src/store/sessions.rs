//! Sessions on disk: made, listed, archived and removed, each in one step that a crash cannot split.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::archive::clean_exports;
use super::durable::{self, Staged, Temp, on};
use super::{Error, Store, WorktreeKey, is_missing, platform};
use crate::model::ids::SessionId;
use crate::model::manifest::Manifest;
use crate::model::state::State;

/// A session as it was found.
#[derive(Debug)]
pub struct SessionItem {
    /// The name of its directory.
    pub name: OsString,
    /// Its manifest, or why it cannot be had.
    pub manifest: Result<Manifest, Error>,
}

impl Store {
    /// Makes a session: its directory with a manifest and a state, all of it or nothing.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is one of that id, else what the system says.
    pub fn create_session(&self, manifest: &Manifest, state: &State) -> Result<(), Error> {
        let target = self.layout().open_session(&manifest.session_id);
        let archived = self.layout().failed_session(&manifest.session_id);
        for path in [&target, &archived] {
            if path.symlink_metadata().is_ok() {
                let path = path.clone();
                return Err(Error::Exists { path });
            }
        }
        self.prepare()?;
        let ((), mut temp) = Temp::beside(&target, platform::create_private_dir)?;
        for (path, bytes) in [
            (
                self.layout().state(&manifest.session_id),
                state.to_file_bytes(),
            ),
            (
                self.layout().manifest(&manifest.session_id),
                manifest.to_file_bytes(),
            ),
        ] {
            let name = path.file_name().unwrap_or_default();
            Staged::write(&temp.path.join(name), &bytes, self.durability())?.publish()?;
        }
        durable::sync_dir(&temp.path, self.durability())?;
        temp.rename_to(&target)?;
        durable::sync_parent(&target, self.durability())?;
        Ok(())
    }

    /// Whether there is a directory of that session, archived or not.
    #[must_use]
    pub fn has_session(&self, session: &SessionId) -> bool {
        self.layout().session(session).is_dir()
    }

    /// All sessions, by name. One that cannot be loaded is reported as such and hides no other.
    ///
    /// # Errors
    /// When the directory of sessions is there and cannot be read.
    pub fn list_sessions(&self) -> Result<Vec<SessionItem>, Error> {
        list(&self.layout().sessions())
    }

    /// All archived sessions, as [`Store::list_sessions`].
    ///
    /// # Errors
    /// When the directory is there and cannot be read.
    pub fn list_failed(&self) -> Result<Vec<SessionItem>, Error> {
        list(&self.layout().failed())
    }

    /// Makes the names in a session's directory durable, after publishing files there.
    ///
    /// # Errors
    /// When the system cannot promise it.
    pub fn sync_session(&self, session: &SessionId) -> Result<(), Error> {
        let dir = self.layout().session(session);
        Ok(durable::sync_dir(&dir, self.durability())?)
    }

    /// Removes a session for good, archived or not: at once for whoever looks, then file by file.
    ///
    /// # Errors
    /// When there is no such session or it cannot be removed.
    pub fn remove_session(&self, session: &SessionId) -> Result<(), Error> {
        self.remove_dir(&self.layout().session(session))
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), Error> {
        if dir.symlink_metadata().is_err() {
            let path = dir.to_owned();
            return Err(Error::Missing { path });
        }
        // Renamed over an empty directory of a temporary name, it is gone in one step.
        let ((), temp) = Temp::beside(dir, platform::create_private_dir)?;
        fs::rename(dir, &temp.path).map_err(on("remove", dir))?;
        durable::sync_parent(dir, self.durability())?;
        fs::remove_dir_all(&temp.path).map_err(on("remove", &temp.path))?;
        Ok(())
    }

    /// Removes what killed processes left beside the sessions; says how much. Only for the holder of the lock.
    ///
    /// # Errors
    /// When a directory cannot be read or something cannot be removed.
    pub fn clean_work_temps(&self, key: &WorktreeKey) -> Result<usize, Error> {
        let mut count = durable::clean_temps(self.layout().root())?;
        let worktree = self.layout().worktree(key);
        if worktree.is_dir() {
            count += durable::clean_temps(&worktree)?;
        }
        Ok(count)
    }

    /// Removes what killed processes left in the store; says how much. Only for the holder of the lock.
    ///
    /// # Errors
    /// When a directory cannot be read or something cannot be removed.
    pub fn clean_temps(&self, session: Option<&SessionId>) -> Result<usize, Error> {
        let mut count = durable::clean_temps(&self.layout().sessions())?;
        count += durable::clean_temps(&self.layout().failed())?;
        if let Some(session) = session {
            count += durable::clean_temps(&self.layout().session(session))?;
            clean_exports(&self.layout().exports(session));
        }
        Ok(count)
    }
}

fn list(dir: &Path) -> Result<Vec<SessionItem>, Error> {
    let entries = match fs::read_dir(dir) {
        Err(error) if is_missing(&error) => return Ok(Vec::new()),
        entries => entries.map_err(on("read", dir))?,
    };
    let mut items = Vec::new();
    for entry in entries {
        let name = entry.map_err(on("read", dir))?.file_name();
        let path = dir.join(&name);
        if durable::is_temp(&name) || !path.is_dir() {
            continue;
        }
        let session = name.to_str().and_then(|name| SessionId::parse(name).ok());
        let manifest = match session {
            Some(session) => Store::load_manifest_at(&path.join("manifest.json"), &session),
            None => Err(Error::BadName { path }),
        };
        items.push(SessionItem { name, manifest });
    }
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::current::CurrentPointer;
    use crate::model::journal::{CreateJournal, Journal};
    use crate::model::sample;
    use crate::model::trigger::Trigger;
    use crate::store::{Durability, WorktreeKey};

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("go-team"), Durability::Full);
        (dir, store)
    }

    #[test]
    fn a_session_lives_and_goes() {
        let (_dir, store) = store();
        assert!(store.list_sessions().unwrap().is_empty());
        let manifest = sample::manifest();
        let session = &manifest.session_id;
        assert!(matches!(
            store.load_manifest(session),
            Err(Error::Missing { .. })
        ));
        store.create_session(&manifest, &State::default()).unwrap();
        let again = store.create_session(&manifest, &State::default());
        assert!(matches!(again, Err(Error::Exists { .. })));
        assert_eq!(store.load_state(session).unwrap(), Some(State::default()));
        assert_eq!(store.list_sessions().unwrap().len(), 1);
        for _ in 0..2 {
            store.archive_session(session).unwrap();
            assert!(store.has_session(session) && store.is_archived(session));
            assert!(store.list_sessions().unwrap().is_empty());
            assert_eq!(store.list_failed().unwrap().len(), 1);
            assert!(store.load_manifest(session).is_ok());
        }
        let again = store.create_session(&manifest, &State::default());
        assert!(matches!(again, Err(Error::Exists { .. })));
        for _ in 0..2 {
            store.unarchive_session(session).unwrap();
            assert!(!store.is_archived(session));
            assert!(store.list_failed().unwrap().is_empty());
        }
        store.archive_session(session).unwrap();
        store.remove_session(session).unwrap();
        assert!(!store.has_session(session));
        let gone = [
            store.remove_session(session),
            store.archive_session(session),
            store.unarchive_session(session),
        ];
        for gone in gone {
            assert!(matches!(gone, Err(Error::Missing { .. })), "{gone:?}");
        }
        store.create_session(&manifest, &State::default()).unwrap();
        store.remove_session(session).unwrap();
        assert!(
            fs::read_dir(store.layout().sessions())
                .unwrap()
                .next()
                .is_none()
        );
    }

    #[test]
    fn records_are_staged_published_linked_and_found() {
        let (_dir, store) = store();
        let mut manifest = sample::manifest();
        store.create_session(&manifest, &State::default()).unwrap();
        let record = sample::append(&mut manifest, 1, "init", Trigger::Manual);
        let session = &manifest.session_id;
        let staged = [
            store.stage_record(&record).unwrap(),
            store.stage_manifest(&manifest).unwrap(),
        ];
        assert!(store.record_ids(session).unwrap().is_empty());
        for staged in staged {
            staged.publish().unwrap();
        }
        store.point_latest(session, &record.id).unwrap();
        store.sync_session(session).unwrap();
        assert_eq!(store.latest(session), Some(record.id.clone()));
        assert!(store.record_ids(session).unwrap().iter().eq([&record.id]));
        let manifest = store.load_manifest(session).unwrap();
        assert_eq!(
            store
                .load_listed(session, &manifest.checkpoints()[0])
                .unwrap(),
            record
        );
        assert!(store.remove_record(session, &record.id).unwrap());
        assert!(!store.remove_record(session, &record.id).unwrap());
        assert_eq!(store.clean_temps(Some(session)).unwrap(), 0);
    }

    #[test]
    fn what_is_in_the_way_is_reported_or_left_out() {
        let (_dir, store) = store();
        store
            .create_session(&sample::manifest(), &State::default())
            .unwrap();
        for name in ["Upper", ".tmp-1-1", "empty"] {
            fs::create_dir(store.layout().sessions().join(name)).unwrap();
        }
        fs::write(store.layout().sessions().join("a-file"), b"").unwrap();
        let items = store.list_sessions().unwrap();
        let [upper, good, empty] = &items[..] else {
            panic!("{items:?}");
        };
        assert!(matches!(upper.manifest, Err(Error::BadName { .. })));
        assert!(good.manifest.is_ok());
        assert!(matches!(empty.manifest, Err(Error::Missing { .. })));
        assert_eq!(store.clean_temps(None).unwrap(), 1);
    }

    #[test]
    fn journal_and_current_come_and_go() {
        let (_dir, store) = store();
        let manifest = sample::manifest();
        store.create_session(&manifest, &State::default()).unwrap();
        let session = &manifest.session_id;
        let journal = Journal::Create(CreateJournal {
            session: session.clone(),
            checkpoint: sample::draft(&manifest, 1, "init", Trigger::Auto).id,
            keep: None,
            prune: Vec::new(),
            started_at: sample::at(0),
        });
        assert_eq!(store.load_journal(session).unwrap(), None);
        store.write_journal(&journal).unwrap();
        assert_eq!(store.load_journal(session).unwrap(), Some(journal));
        assert!(store.remove_journal(session).unwrap());
        assert!(!store.remove_journal(session).unwrap());
        let key = WorktreeKey::main();
        let current = CurrentPointer::new(session.clone(), sample::at(0));
        assert_eq!(store.load_current(&key).unwrap(), None);
        store.write_current(&key, &current).unwrap();
        assert_eq!(store.load_current(&key).unwrap(), Some(current));
        assert_eq!(
            store.load_current(&WorktreeKey::linked(b"x")).unwrap(),
            None
        );
        assert!(store.clear_current(&key).unwrap());
        assert!(!store.clear_current(&key).unwrap());
    }
}
