//! What differs between systems: permissions, symbolic links, syncing a directory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens for the owner alone, whatever the umask takes away or leaves.
#[cfg(unix)]
pub(super) fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let file = options.mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o777 != 0o600 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Opens with what protection the directory gives.
#[cfg(not(unix))]
pub(super) fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Makes a directory for the owner alone, whatever the umask takes away.
#[cfg(unix)]
pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    fs::DirBuilder::new().mode(0o700).create(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Makes a directory.
#[cfg(not(unix))]
pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Makes a symbolic link.
#[cfg(unix)]
pub(super) fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Makes a symbolic link.
#[cfg(not(unix))]
pub(super) fn symlink(_target: &Path, _link: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// How many bytes the owner may still write where `path` is.
///
/// # Errors
/// When the system does not tell.
#[cfg(unix)]
pub fn free_space(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Nothing is known here, so nothing is refused.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn free_space(_path: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Makes the names in a directory durable.
#[cfg(unix)]
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some file systems cannot sync a directory and say so; there is no other way to ask them.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Directories cannot be opened for that here.
#[cfg(not(unix))]
pub(super) fn sync_dir(_path: &Path) -> io::Result<()> {
    Ok(())
}
