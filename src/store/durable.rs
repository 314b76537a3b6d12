//! The one place that writes files so that they survive: temporary file, sync, rename, sync of the directory.
//!
//! A file is seen either as it was or as it will be, never half written. [`Staged`] splits the two halves, so that
//! many files can be synced side by side before the first of them is published.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Error, is_missing, platform};

/// How the names of temporary files begin.
pub const TEMP_PREFIX: &str = ".tmp-";

/// How much is done for a file to survive a power cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// Files and directories are synced.
    #[default]
    Full,
    /// The system writes when it likes; a crash of the process is still harmless.
    None,
}

/// The system refused an operation on a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {op} {}", path.display())]
pub struct IoError {
    /// What was tried, as a verb.
    pub op: &'static str,
    /// On which file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Turns the system's error into one that says what was tried on which file.
pub(super) fn on<'p>(op: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> IoError + 'p {
    move |source| IoError {
        op,
        path: path.to_owned(),
        source,
    }
}

/// A file that is written but not yet in its place. Dropped without being published, it goes away.
#[derive(Debug)]
pub struct Staged {
    file: File,
    temp: Temp,
    target: PathBuf,
    durability: Durability,
    is_synced: bool,
}

impl Staged {
    /// Writes a temporary file beside `target`.
    ///
    /// # Errors
    /// When the file cannot be created or written; nothing of it stays.
    pub fn write(target: &Path, bytes: &[u8], durability: Durability) -> Result<Self, IoError> {
        Self::write_parts(target, &[bytes], durability)
    }

    /// As [`Staged::write`], for content that is not in one piece.
    ///
    /// # Errors
    /// The same.
    pub fn write_parts(
        target: &Path,
        parts: &[&[u8]],
        durability: Durability,
    ) -> Result<Self, IoError> {
        let (mut file, temp) = Temp::beside(target, |path| {
            platform::open_private(OpenOptions::new().write(true).create_new(true), path)
        })?;
        write_all(&mut file, &temp.path, parts)?;
        Ok(Self {
            file,
            temp,
            target: target.to_owned(),
            durability,
            is_synced: false,
        })
    }

    /// Adds to what was written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, parts: &[&[u8]]) -> Result<(), IoError> {
        self.is_synced = false;
        write_all(&mut self.file, &self.temp.path, parts)
    }

    /// Makes the content durable; files can be synced side by side.
    ///
    /// # Errors
    /// When the system cannot promise it.
    pub fn sync(&mut self) -> Result<(), IoError> {
        if self.durability == Durability::Full && !self.is_synced {
            self.file.sync_all().map_err(on("sync", &self.temp.path))?;
        }
        self.is_synced = true;
        Ok(())
    }

    /// Makes the contents of many files durable at once, others' too.
    ///
    /// # Errors
    /// When the system cannot promise it for one of them.
    pub fn sync_all(
        staged: &mut [&mut Self],
        others: &[(&File, &Path)],
        durability: Durability,
    ) -> Result<(), IoError> {
        let own = staged
            .iter()
            .map(|staged| (&staged.file, staged.temp.path.as_path()));
        let all: Vec<_> = own.chain(others.iter().copied()).collect();
        super::sync_files(&all, durability)?;
        for staged in staged {
            staged.is_synced = true;
        }
        Ok(())
    }

    /// Puts the file in its place, synced if that has not been done. The directory remains to be synced.
    ///
    /// # Errors
    /// When syncing or renaming fails; the target is then as it was.
    pub fn publish(mut self) -> Result<(), IoError> {
        self.sync()?;
        self.temp.rename_to(&self.target)
    }

    /// Where the file will be.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }
}

fn write_all(file: &mut File, path: &Path, parts: &[&[u8]]) -> Result<(), IoError> {
    for part in parts {
        file.write_all(part).map_err(on("write", path))?;
    }
    Ok(())
}

/// A temporary file or directory that is removed unless it is renamed.
#[derive(Debug)]
pub(super) struct Temp {
    pub(super) path: PathBuf,
    is_renamed: bool,
}

impl Temp {
    /// Makes something under a new temporary name in the directory of `target`.
    pub(super) fn beside<T>(
        target: &Path,
        make: impl Fn(&Path) -> io::Result<T>,
    ) -> Result<(T, Self), IoError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let dir = target.parent().unwrap_or(Path::new(""));
        loop {
            let nth = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{TEMP_PREFIX}{}-{nth}", std::process::id());
            let path = dir.join(name);
            match make(&path) {
                Ok(result) => {
                    let is_renamed = false;
                    return Ok((result, Self { path, is_renamed }));
                }
                // Left behind by a killed process that had the same process id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(on("create", &path)(error)),
            }
        }
    }

    pub(super) fn rename_to(&mut self, target: &Path) -> Result<(), IoError> {
        fs::rename(&self.path, target).map_err(on("rename a file to", target))?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !self.is_renamed {
            // Best effort: whatever stays is recognised by its name later.
            let _ = remove_any(&self.path);
        }
    }
}

/// Writes a file for good.
///
/// # Errors
/// When any of the steps fails; the target is then as it was, or complete but perhaps not durable.
pub fn write(target: &Path, bytes: &[u8], durability: Durability) -> Result<(), IoError> {
    Staged::write(target, bytes, durability)?.publish()?;
    sync_parent(target, durability)
}

/// Writes a file of the user's for good: with these permissions, or with those that the system gives a new file. It is
/// made ready in `aside`, a directory that is cleaned of what killed processes leave, if a rename can lead from there.
///
/// # Errors
/// As [`write`].
pub fn write_shared(
    target: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
    durability: Durability,
    aside: Option<&Path>,
) -> Result<(), IoError> {
    if let Some(aside) = aside {
        let ready = aside.join("shared");
        let permissions = permissions.clone();
        match write_by_way_of(&ready, target, bytes, permissions, durability) {
            Err(error) if error.source.kind() == io::ErrorKind::CrossesDevices => {}
            result => return result,
        }
    }
    write_by_way_of(target, target, bytes, permissions, durability)
}

/// The same with a temporary file beside `ready`.
fn write_by_way_of(
    ready: &Path,
    target: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
    durability: Durability,
) -> Result<(), IoError> {
    let (mut file, mut temp) = Temp::beside(ready, |path| {
        OpenOptions::new().write(true).create_new(true).open(path)
    })?;
    file.write_all(bytes).map_err(on("write", &temp.path))?;
    if let Some(permissions) = permissions {
        let set = file.set_permissions(permissions);
        set.map_err(on("set the permissions of", &temp.path))?;
    }
    if durability == Durability::Full {
        file.sync_all().map_err(on("sync", &temp.path))?;
    }
    temp.rename_to(target)?;
    sync_parent(target, durability)
}

/// Makes the names in a directory durable.
///
/// # Errors
/// When the system cannot promise it.
pub fn sync_dir(path: &Path, durability: Durability) -> Result<(), IoError> {
    match durability {
        Durability::Full => platform::sync_dir(path).map_err(on("sync", path)),
        Durability::None => Ok(()),
    }
}

/// Makes the name of `path` durable.
pub(super) fn sync_parent(path: &Path, durability: Durability) -> Result<(), IoError> {
    match path.parent() {
        Some(dir) if dir.as_os_str().is_empty() => sync_dir(Path::new("."), durability),
        Some(dir) => sync_dir(dir, durability),
        None => Ok(()),
    }
}

/// Makes a directory and those above it that are missing, each for the owner alone. What exists is left as it is.
///
/// # Errors
/// When a directory cannot be made or synced.
pub fn create_dir_all(path: &Path, durability: Durability) -> Result<(), IoError> {
    if path.is_dir() || path.as_os_str().is_empty() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_dir_all(parent, durability)?;
    }
    match platform::create_private_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(on("create", path)(error)),
        Ok(()) => sync_parent(path, durability),
    }
}

/// Makes a directory of the user's, and those above it that are missing, with the permissions that the system gives.
///
/// # Errors
/// When a directory cannot be made.
pub fn create_shared_dir_all(path: &Path) -> Result<(), IoError> {
    fs::create_dir_all(path).map_err(on("create", path))
}

/// Puts a symbolic link in its place, whatever was there.
///
/// # Errors
/// When the link cannot be made; what was there is then still there.
pub fn replace_symlink(link: &Path, target: &Path) -> Result<(), IoError> {
    let ((), mut temp) = Temp::beside(link, |path| platform::symlink(target, path))?;
    temp.rename_to(link)
}

/// Reads a file of at most `max` bytes; `None` when it is larger.
///
/// # Errors
/// [`Error::Missing`] when there is no such file, else what the system says.
pub fn read_limited(path: &Path, max: usize) -> Result<Option<Vec<u8>>, Error> {
    let fail = |error: io::Error| {
        if is_missing(&error) {
            let path = path.to_owned();
            return Error::Missing { path };
        }
        on("read", path)(error).into()
    };
    let file = File::open(path).map_err(fail)?;
    let size = usize::try_from(file.metadata().map_err(fail)?.len()).unwrap_or(usize::MAX);
    if size > max {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(size + 1);
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(fail)?;
    Ok((bytes.len() <= max).then_some(bytes))
}

/// Removes a file if it is there; says whether it was.
///
/// # Errors
/// When it is there and cannot be removed.
pub fn remove_file(path: &Path) -> Result<bool, IoError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(on("remove", path)(error)),
    }
}

/// Removes what killed processes left in a directory; says how much. Only for the holder of the lock: a running
/// writer's files look the same.
///
/// # Errors
/// When the directory cannot be read or something cannot be removed.
pub fn clean_temps(dir: &Path) -> Result<usize, IoError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if is_missing(&error) => return Ok(0),
        entries => entries.map_err(on("read", dir))?,
    };
    let mut count = 0;
    for entry in entries {
        let entry = entry.map_err(on("read", dir))?;
        if is_temp(&entry.file_name()) {
            let path = entry.path();
            remove_any(&path).map_err(on("remove", &path))?;
            count += 1;
        }
    }
    Ok(count)
}

/// Whether a name is that of a temporary file.
pub(super) fn is_temp(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes())
}

fn remove_any(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_staged_file_is_not_seen_until_it_is_published() {
        for durability in [Durability::Full, Durability::None] {
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("file");
            write(&target, b"old", durability).unwrap();
            let mut staged = Staged::write(&target, b"new", durability).unwrap();
            staged.sync().unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"old");
            staged.publish().unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"new");
            drop(Staged::write(&target, b"never", durability).unwrap());
            assert_eq!(names(dir.path()), ["file"]);
            assert_eq!(fs::read(&target).unwrap(), b"new");
        }
    }

    #[test]
    fn a_failed_publication_leaves_the_target_and_no_residue() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        fs::create_dir(&target).unwrap();
        let staged = Staged::write(&target, b"new", Durability::Full).unwrap();
        let error = staged.publish().unwrap_err();
        assert_eq!((error.op, &error.path), ("rename a file to", &target));
        assert_eq!(names(dir.path()), ["file"]);
        let error = write(&dir.path().join("no/file"), b"", Durability::Full).unwrap_err();
        assert_eq!(error.op, "create");
        assert!(error.to_string().contains(TEMP_PREFIX), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn everything_is_for_the_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let sub = dir.path().join("a/b");
        create_dir_all(&sub, Durability::Full).unwrap();
        create_dir_all(&sub, Durability::Full).unwrap();
        write(&sub.join("file"), b"x", Durability::Full).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&sub), 0o700);
        assert_eq!(mode(sub.parent().unwrap()), 0o700);
        assert_eq!(mode(&sub.join("file")), 0o600);
    }

    #[test]
    fn reads_no_more_than_allowed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert!(matches!(read_limited(&path, 3), Err(Error::Missing { .. })));
        fs::write(&path, b"1234").unwrap();
        assert_eq!(read_limited(&path, 3).unwrap(), None);
        assert_eq!(read_limited(&path, 4).unwrap().unwrap(), b"1234");
        assert!(matches!(
            read_limited(dir.path(), 1 << 20),
            Err(Error::Io(_))
        ));
    }

    #[test]
    fn cleans_what_was_left_behind_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".tmp-1-2"), b"").unwrap();
        fs::create_dir(dir.path().join(".tmp-1-3")).unwrap();
        fs::write(dir.path().join(".tmp-1-3/manifest.json"), b"").unwrap();
        fs::write(dir.path().join("tmp-keep"), b"").unwrap();
        replace_symlink(&dir.path().join("latest"), Path::new("gone")).unwrap();
        replace_symlink(&dir.path().join("latest"), Path::new("tmp-keep")).unwrap();
        assert_eq!(clean_temps(dir.path()).unwrap(), 2);
        assert_eq!(names(dir.path()), ["latest", "tmp-keep"]);
        assert_eq!(clean_temps(&dir.path().join("none")).unwrap(), 0);
    }
}
