//! Taking refs out of `packed-refs`, where `git gc` puts them, and putting many in at once.
//!
//! The file is guarded by git's own lock, `packed-refs.lock`. A process that is killed while it holds that lock blocks
//! git; so the lock is made here as a second name of a file of go-team's, by which the next go-team command recognises
//! its own lock and removes it.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// How long to wait for another process's lock; git itself waits a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a file begins that git finds refs in by halving.
const HEADER: &[u8] = b"# pack-refs with: peeled fully-peeled sorted \n";

/// What becomes of the file, which may not be there.
type Change<'c> = dyn Fn(Option<&[u8]>) -> Option<Vec<u8>> + 'c;

/// The packed refs of one repository.
pub(super) struct PackedRefs {
    file: PathBuf,
    lock: PathBuf,
    /// The other name of a lock of ours.
    ours: PathBuf,
}

impl PackedRefs {
    pub fn new(common_dir: &Path, scratch: &Path) -> Self {
        Self {
            file: common_dir.join("packed-refs"),
            lock: common_dir.join("packed-refs.lock"),
            ours: scratch.join("packed-refs.new"),
        }
    }

    /// Removes a lock that a killed go-team left. Only for the holder of go-team's own lock.
    pub fn recover(&self) -> Result<(), Error> {
        let Ok(ours) = self.ours.symlink_metadata() else {
            return Ok(());
        };
        let is_ours = |lock: fs::Metadata| (lock.dev(), lock.ino()) == (ours.dev(), ours.ino());
        if self.lock.symlink_metadata().is_ok_and(is_ours) {
            remove(&self.lock)?;
        }
        remove(&self.ours)
    }

    /// Takes a ref out; one that is not there is fine.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.remove_all(&BTreeSet::from([name]))
    }

    /// Takes refs out; those that are not there are fine.
    pub fn remove_all(&self, names: &BTreeSet<&str>) -> Result<(), Error> {
        self.edit(&|content| without(content?, names))
    }

    /// The names below a directory.
    pub fn below(&self, dir: &str) -> Result<BTreeSet<String>, Error> {
        let content = self.read()?.map(|(content, _)| content).unwrap_or_default();
        let prefix = format!("{dir}/");
        let lines = content.split(|byte| *byte == b'\n');
        let names = lines.filter_map(|line| {
            let line = std::str::from_utf8(line).ok()?;
            let (_, name) = line.split_once(' ')?;
            let counts = name.starts_with(&prefix) && !line.starts_with(['#', '^']);
            counts.then(|| name.to_owned())
        });
        Ok(names.collect())
    }

    /// Puts refs to commits in, all of them in one instant.
    pub fn add(&self, refs: &[(String, ObjectId)]) -> Result<(), Error> {
        if refs.is_empty() {
            return Ok(());
        }
        self.edit(&|content| Some(with(content.unwrap_or(HEADER), refs)))
    }

    /// Replaces the file by what `change` makes of it; `None` leaves it as it is. What fails leaves no lock.
    fn edit(&self, change: &Change<'_>) -> Result<(), Error> {
        let edited = self.replace(change);
        if edited.is_err() {
            let _ = self.recover();
        }
        edited
    }

    fn replace(&self, change: &Change<'_>) -> Result<(), Error> {
        let started = Instant::now();
        loop {
            let (content, stamp) = self.read()?.unzip();
            let Some(changed) = change(content.as_deref()) else {
                return Ok(());
            };
            let dir = self
                .ours
                .parent()
                .expect("a scratch file lies in a directory");
            fs::create_dir_all(dir).at("create directory", dir)?;
            self.recover()?;
            fs::write(&self.ours, changed).at("write", &self.ours)?;
            let written = fs::File::open(&self.ours).at("open", &self.ours)?;
            if let Some(stamp) = &stamp {
                written
                    .set_permissions(stamp.permissions())
                    .at("set permissions of", &self.ours)?;
            }
            written.sync_all().at("sync", &self.ours)?;
            match fs::hard_link(&self.ours, &self.lock) {
                Ok(()) if self.is_as(stamp.as_ref()) => {
                    fs::rename(&self.lock, &self.file).at("replace", &self.file)?;
                    return remove(&self.ours);
                }
                Ok(()) => remove(&self.lock)?,
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(error).at("create", &self.lock);
                }
                Err(error) if started.elapsed() > PATIENCE => {
                    remove(&self.ours)?;
                    return Err(error).at("create", &self.lock);
                }
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    fn read(&self) -> Result<Option<(Vec<u8>, fs::Metadata)>, Error> {
        let stamp = match self.file.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            stamp => stamp.at("stat", &self.file)?,
        };
        let content = fs::read(&self.file).at("read", &self.file)?;
        Ok(Some((content, stamp)))
    }

    /// Whether the file is the one that was read; git replaces it, never changes it.
    fn is_as(&self, stamp: Option<&fs::Metadata>) -> bool {
        let Some(stamp) = stamp else {
            return self.file.symlink_metadata().is_err();
        };
        let same = |now: fs::Metadata| {
            (now.ino(), now.size(), now.ctime(), now.ctime_nsec())
                == (stamp.ino(), stamp.size(), stamp.ctime(), stamp.ctime_nsec())
        };
        self.file.metadata().is_ok_and(same)
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// The file with more refs, in order of their names, as the header of a sorted one promises. A commit peels to nothing.
fn with(content: &[u8], refs: &[(String, ObjectId)]) -> Vec<u8> {
    let mut header = Vec::new();
    let mut entries: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if line.starts_with(b"#") {
            header.extend_from_slice(line);
        } else if let Some(last) = entries.last_mut().filter(|_| line.starts_with(b"^")) {
            last.1.extend_from_slice(line);
        } else {
            let at = text.iter().position(|byte| *byte == b' ');
            let name = at.map_or(&[][..], |at| &text[at + 1..]);
            entries.push((name.to_vec(), [text, b"\n"].concat()));
        }
    }
    entries.extend(refs.iter().map(|(name, id)| {
        let line = format!("{id} {name}\n");
        (name.clone().into_bytes(), line.into_bytes())
    }));
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, lines) in entries {
        header.extend_from_slice(&lines);
    }
    header
}

/// The file without some refs and without the lines that say what tags of those names peel to; none when they are not
/// there.
fn without(content: &[u8], names: &BTreeSet<&str>) -> Option<Vec<u8>> {
    let gone = |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| names.contains(name));
    let mut kept = Vec::with_capacity(content.len());
    let mut skipping = false;
    let mut found = false;
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        skipping = if line.starts_with(b"^") {
            skipping
        } else {
            let at = text.iter().position(|byte| *byte == b' ');
            at.is_some_and(|at| gone(&text[at + 1..]) && !text.starts_with(b"#"))
        };
        if skipping {
            found = true;
        } else {
            kept.extend_from_slice(line);
        }
    }
    found.then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &[u8] = b"# pack-refs with: peeled fully-peeled sorted \n\
        1111 refs/go-team/s/a\n2222 refs/go-team/s/ab\n^3333\n4444 refs/heads/main\n";

    #[test]
    fn one_ref_goes_and_the_others_stay() {
        let text = |name: &str| {
            without(CONTENT, &BTreeSet::from([name])).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let rest = text("refs/go-team/s/ab").unwrap();
        assert!(rest.contains("s/a\n") && rest.contains("main") && !rest.contains("3333"));
        assert!(text("refs/go-team/s/a").unwrap().contains("^3333"));
        assert_eq!(text("refs/go-team/s"), None);
    }

    #[test]
    fn refs_come_in_where_the_order_has_them() {
        let id = |digit: u8| ObjectId::from_bytes(&[digit; 20]).unwrap();
        let new = [
            ("refs/go-team/t/b".to_owned(), id(1)),
            ("refs/go-team/s/aa".to_owned(), id(2)),
        ];
        let text = String::from_utf8(with(CONTENT, &new)).unwrap();
        let names: Vec<&str> = text
            .lines()
            .map(|line| line.rsplit(' ').next().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "",
                "refs/go-team/s/a",
                "refs/go-team/s/aa",
                "refs/go-team/s/ab",
                "^3333",
                "refs/go-team/t/b",
                "refs/heads/main"
            ]
        );
        let both = new.each_ref().map(|(name, _)| name.as_str());
        assert_eq!(
            without(text.as_bytes(), &BTreeSet::from(both)).unwrap(),
            CONTENT
        );
    }

    #[test]
    fn a_lock_of_ours_is_removed_and_another_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let refs = PackedRefs::new(dir.path(), &dir.path().join("scratch"));
        fs::create_dir(dir.path().join("scratch")).unwrap();
        fs::write(&refs.file, CONTENT).unwrap();
        fs::write(&refs.ours, b"new").unwrap();
        fs::hard_link(&refs.ours, &refs.lock).unwrap();
        refs.recover().unwrap();
        assert!(!refs.lock.exists() && !refs.ours.exists());
        fs::write(&refs.lock, b"git's").unwrap();
        fs::write(&refs.ours, b"new").unwrap();
        refs.recover().unwrap();
        assert!(refs.lock.exists() && !refs.ours.exists());
        fs::remove_file(&refs.lock).unwrap();
        refs.remove("refs/go-team/s/a").unwrap();
        assert!(!fs::read_to_string(&refs.file).unwrap().contains("s/a\n"));
        assert!(!refs.lock.exists() && !refs.ours.exists());
    }
}
