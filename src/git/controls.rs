//! `.gitignore` and `.gitattributes`: whether they changed since the last scan, on disk or in the index.

use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::content::lstat;
use super::index::Tracked;
use super::node::{Dir, push};
use super::rules::as_path;
use super::stamp::Stamp;
use super::walk::Walk;
use super::{Error, IoContext as _};

pub(super) const CONTROLS: [&[u8]; 2] = [b".gitignore", b".gitattributes"];

/// git does not read larger ignore files, nor attribute files of this size.
pub(super) const MAX_FILE: u64 = 100 << 20;

/// An ignore or attribute file in the work tree.
pub(super) enum ControlFile {
    /// Its content.
    Text(Vec<u8>),
    /// It can be opened, but it is no file or cannot be read.
    Unusable,
    /// It is larger than git reads.
    TooLarge,
    /// It is not there, is a link, or may not be opened.
    Closed,
}

/// Reads an ignore or attribute file. A link is not followed, nor a pipe waited for.
pub(super) fn read(work_dir: &Path, path: &[u8]) -> ControlFile {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(work_dir.join(as_path(path)), flags, Mode::empty()) else {
        return ControlFile::Closed;
    };
    let file = std::fs::File::from(file);
    match file.metadata() {
        Ok(meta) if !meta.is_file() => return ControlFile::Unusable,
        Ok(meta) if meta.len() > MAX_FILE => return ControlFile::TooLarge,
        Ok(_) => {}
        Err(_) => return ControlFile::Unusable,
    }
    let mut bytes = Vec::new();
    match (&file).take(MAX_FILE).read_to_end(&mut bytes) {
        Ok(_) => ControlFile::Text(bytes),
        Err(_) => ControlFile::Unusable,
    }
}

impl Walk<'_> {
    /// Whether `.gitignore` or `.gitattributes` changed since they were last seen. New ones are found by listing, but
    /// for attributes in an ignored directory, which is not listed.
    pub(super) fn controls_moved(
        &self,
        node: &mut Dir,
        path: &[u8],
        ignored: bool,
    ) -> Result<[bool; 2], Error> {
        let mut moved = [false; 2];
        for (slot, name) in CONTROLS.iter().enumerate() {
            let old = node.controls[slot].as_deref().copied();
            if old.is_none() && (slot == 0 || !ignored) {
                continue;
            }
            let now = self.control(path, name)?;
            moved[slot] = now != old || now == Some(Stamp::default());
            node.controls[slot] = now.map(Box::new);
        }
        Ok(moved)
    }

    /// The stamp of an ignore or attribute file. One that may change again without showing it gets none that a later
    /// scan could take for its own.
    pub(super) fn control(&self, path: &[u8], name: &[u8]) -> Result<Option<Stamp>, Error> {
        let mut path = path.to_vec();
        push(&mut path, name);
        match lstat(self.root(), &path) {
            Ok(stamp) if stamp.is_older_than(self.clock) => Ok(Some(stamp)),
            Ok(_) => Ok(Some(Stamp::default())),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::LOOP) => Ok(None),
            Err(error) => Err(error).at("stat", as_path(&path)),
        }
    }
}

/// Which of `.gitignore` and `.gitattributes` are not on disk and changed in the index, where they count too.
pub(super) fn staged_controls_moved(node: &Dir, tracked: &Tracked<'_>) -> [bool; 2] {
    [0, 1].map(|slot| {
        let name = CONTROLS[slot];
        let old = node
            .files
            .binary_search_by(|file| (*file.name).cmp(name))
            .ok()
            .and_then(|at| node.files[at].index);
        let new = tracked
            .files
            .binary_search_by(|file| file.name.cmp(name))
            .ok()
            .map(|at| tracked.files[at].facts);
        node.controls[slot].is_none() && old != new
    })
}
