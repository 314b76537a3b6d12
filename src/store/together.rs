//! Syncing many files in one wait for the disk.
//!
//! Synced one by one, each small file costs a commit of the file system's own journal. Where little else waits to be
//! written, the whole file system is synced in place of its files: that is one commit. Where much does, somebody else's
//! data would have to be waited for; there every file is sent on its way first, and waited for afterwards.

use std::fs::File;
use std::path::Path;

use super::durable::{Durability, IoError, on};

/// Makes the contents of files durable.
///
/// # Errors
/// When the system cannot promise it for one of them.
pub fn sync_files(files: &[(&File, &Path)], durability: Durability) -> Result<(), IoError> {
    if durability == Durability::None || system::sync_whole(files) {
        return Ok(());
    }
    for (file, _) in files {
        system::send(file);
    }
    for (file, path) in files {
        file.sync_all().map_err(on("sync", path))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io::Read as _;
    use std::path::Path;

    use rustix::fs::{Advice, fadvise, fstat, fstatfs, syncfs};

    /// File systems whose own sync waits for data and journal, by the number that `fstatfs` gives: ext4, xfs, btrfs, f2fs,
    /// tmpfs. On a network or in user space it may promise less.
    const LOCAL: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];
    /// With more than this many kilobytes waiting to be written, others' data would have to be waited for.
    const LITTLE: u64 = 4 << 10;

    /// Syncs the file systems of all files, where that is quick and as good; says whether it did. When it fails, which
    /// somebody else's file can cause, the files themselves are left to be asked.
    pub fn sync_whole(files: &[(&File, &Path)]) -> bool {
        if files.len() < 3 || !reports_errors() || !is_quiet() {
            return false;
        }
        let mut systems = BTreeMap::new();
        for (file, _) in files {
            let Ok(stat) = fstat(file) else { return false };
            systems.entry(stat.st_dev).or_insert(*file);
        }
        let is_local = |file: &&File| {
            let kind = fstatfs(file).map(|stat| u64::try_from(stat.f_type).unwrap_or(0));
            kind.is_ok_and(|kind| LOCAL.contains(&(kind & 0xffff_ffff)))
        };
        systems.values().all(is_local) && systems.values().all(|file| syncfs(*file).is_ok())
    }

    /// Has the content on its way to the disk, without waiting.
    pub fn send(file: &File) {
        // Only advice: what comes of it shows when the file is synced.
        let _ = fadvise(file, 0, None, Advice::DontNeed);
    }

    /// Whether the system says so when a write failed: syncing a file system does since Linux 5.8.
    fn reports_errors() -> bool {
        let name = rustix::system::uname();
        let release = name.release().to_str().unwrap_or_default();
        let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
        let mut number = || numbers.next().and_then(|text| text.parse::<u32>().ok());
        match (number(), number()) {
            (Some(major), Some(minor)) => (major, minor) >= (5, 8),
            _ => false,
        }
    }

    /// Whether little waits to be written, on any disk.
    fn is_quiet() -> bool {
        let mut info = Vec::with_capacity(8 << 10);
        let read = File::open("/proc/meminfo").and_then(|mut file| file.read_to_end(&mut info));
        let info = String::from_utf8_lossy(&info);
        read.is_ok() && waiting(&info).is_some_and(|kilobytes| kilobytes <= LITTLE)
    }

    /// How many kilobytes wait to be written, or are being written.
    fn waiting(info: &str) -> Option<u64> {
        let number = |name: &str| -> Option<u64> {
            let line = info.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix("kB")?.trim().parse().ok()
        };
        Some(number("Dirty:")? + number("Writeback:")?)
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn what_waits_is_read_from_the_systems_own_account() {
            let info =
                "MemTotal:  24 kB\nDirty:    300 kB\nWriteback:   12 kB\nWritebackTmp: 9 kB\n";
            assert_eq!(super::waiting(info), Some(312));
            assert_eq!(super::waiting("Dirty: 1 kB\n"), None);
            assert_eq!(super::waiting(""), None);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;
    use std::path::Path;

    /// Files are synced one by one here.
    pub fn sync_whole(_files: &[(&File, &Path)]) -> bool {
        false
    }

    /// There is no way to say so here.
    pub fn send(_file: &File) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn files_are_synced_however_many_there_are() {
        let dir = tempfile::tempdir().unwrap();
        for count in [0, 1, 2, 7] {
            let paths: Vec<_> = (0..count)
                .map(|nth| dir.path().join(format!("{count}-{nth}")))
                .collect();
            let files: Vec<File> = paths
                .iter()
                .map(|path| {
                    let mut file = File::create(path).unwrap();
                    file.write_all(b"content").unwrap();
                    file
                })
                .collect();
            let both: Vec<(&File, &Path)> =
                files.iter().zip(paths.iter().map(AsRef::as_ref)).collect();
            for durability in [Durability::Full, Durability::None] {
                sync_files(&both, durability).unwrap();
            }
        }
    }
}
