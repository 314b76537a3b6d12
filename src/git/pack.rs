//! Writing one pack with everything a checkpoint adds to the object store.
//!
//! A pack costs two syncs and one directory however many objects it holds, appears in one instant, and can be kept
//! from a running `git gc` by a `.keep` file until a ref holds its objects; loose objects can do none of that. Objects
//! are stored whole, never as deltas: that is left to [`super::repack`], which merges packs when they pile up.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use super::hash::{Checksum, Kind, hash_object};
pub use super::pack_entry::Spill;
use super::pack_entry::{Effort, compress};
use super::pack_index::{self, Slot};
use super::pack_keep::{KEEP, release};
pub use super::pack_keep::{clean_temps, release_in, sync_dir_of};
use super::{Error, IoContext as _};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// Not `tmp_…`, as git calls its own: `git prune` removes those, also while they are being written.
pub(super) const TEMP_PACK: &str = "go-team-tmp-pack-";
pub(super) const TEMP_INDEX: &str = "go-team-tmp-idx-";
/// The largest buffer that a pack is read with.
const LARGEST: usize = 64 << 10;
/// How long a pack's header is.
const HEADER: u64 = 12;

struct Open {
    file: BufWriter<File>,
    path: tempfile::TempPath,
    offset: u64,
}

#[derive(Default)]
struct State {
    open: Option<Open>,
    /// Contents that are only held in memory, while there is room.
    held: HashMap<ObjectId, Vec<u8>>,
    room: usize,
    slots: Vec<Slot>,
    seen: HashSet<ObjectId>,
}

/// Collects objects from any number of threads into one temporary pack file.
pub struct PackWriter {
    /// None when objects are only named, for those who want to know what is, not to keep it.
    dir: Option<PathBuf>,
    format: ObjectFormat,
    state: Mutex<State>,
}

impl PackWriter {
    /// Prepares a pack in `dir` (`objects/pack`). Nothing is created before the first object.
    #[must_use]
    pub fn new(dir: &Path, format: ObjectFormat) -> Self {
        Self {
            dir: Some(dir.to_owned()),
            format,
            state: Mutex::default(),
        }
    }

    /// Names objects and keeps none.
    #[must_use]
    pub fn nowhere(format: ObjectFormat) -> Self {
        Self {
            dir: None,
            format,
            state: Mutex::default(),
        }
    }

    /// Names objects and holds contents in memory, up to so many bytes in all.
    #[must_use]
    pub fn in_memory(format: ObjectFormat, room: usize) -> Self {
        let writer = Self::nowhere(format);
        writer.state().room = room;
        writer
    }

    /// A content that is held in memory.
    #[must_use]
    pub fn held(&self, id: &ObjectId) -> Option<Vec<u8>> {
        self.state().held.get(id).cloned()
    }

    fn hold(&self, kind: Kind, id: ObjectId, bytes: &[u8]) {
        let mut state = self.state();
        if kind == Kind::Blob && bytes.len() <= state.room && !state.held.contains_key(&id) {
            state.room -= bytes.len();
            state.held.insert(id, bytes.to_vec());
        }
    }

    /// Where large objects are compressed to; none when objects are only named.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The hash the pack's objects are named with.
    #[must_use]
    pub fn format(&self) -> ObjectFormat {
        self.format
    }

    /// Whether the pack holds this object already.
    #[must_use]
    pub fn contains(&self, id: &ObjectId) -> bool {
        self.state().seen.contains(id)
    }

    /// How many objects and bytes have been added.
    #[must_use]
    pub fn totals(&self) -> (usize, u64) {
        let state = self.state();
        (
            state.slots.len(),
            state.open.as_ref().map_or(0, |open| open.offset),
        )
    }

    /// Names an object, adds it unless the pack has it, and returns its id.
    ///
    /// # Errors
    /// When the pack cannot be written.
    pub fn add(&self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, Error> {
        let id = hash_object(self.format, kind, bytes)?;
        self.add_named(kind, id, bytes)?;
        Ok(id)
    }

    /// Adds an object whose id is known.
    ///
    /// # Errors
    /// When the pack cannot be written.
    pub fn add_named(&self, kind: Kind, id: ObjectId, bytes: &[u8]) -> Result<(), Error> {
        if self.dir.is_none() {
            self.hold(kind, id, bytes);
            return Ok(());
        }
        if self.contains(&id) {
            return Ok(());
        }
        let entry = compress(kind, bytes, Effort::Quick);
        self.append(id, entry.len() as u64, &mut entry.as_slice())?;
        Ok(())
    }

    /// Adds an object as a pack stores it; says where it begins.
    ///
    /// # Errors
    /// When the pack cannot be written.
    pub(super) fn add_entry(&self, id: ObjectId, entry: &[u8]) -> Result<u64, Error> {
        let offset = self.offset();
        self.append(id, entry.len() as u64, &mut &*entry)?;
        Ok(offset)
    }

    /// Where the next object begins.
    pub(super) fn offset(&self) -> u64 {
        let state = self.state();
        state.open.as_ref().map_or(HEADER, |open| open.offset)
    }

    /// Adds an object that was compressed by [`Spill`].
    ///
    /// # Errors
    /// When the pack cannot be written.
    pub fn add_spilled(&self, id: ObjectId, spill: Spill) -> Result<(), Error> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let mut file = spill.finish(dir)?;
        let len = file.stream_position().at("measure", dir)?;
        file.seek(SeekFrom::Start(0)).at("rewind", dir)?;
        self.append(id, len, &mut BufReader::new(file))
    }

    fn append(&self, id: ObjectId, len: u64, entry: &mut dyn Read) -> Result<(), Error> {
        let mut state = self.state();
        if !state.seen.insert(id) {
            return Ok(());
        }
        let Some(dir) = &self.dir else { return Ok(()) };
        if state.open.is_none() {
            state.open = Some(open(dir)?);
        }
        let open = state.open.as_mut().expect("opened above");
        let mut crc = crc32fast::Hasher::new();
        let mut buffer = [0; 16 * 1024];
        loop {
            let n = entry.read(&mut buffer).at("read", &open.path)?;
            if n == 0 {
                break;
            }
            crc.update(&buffer[..n]);
            open.file.write_all(&buffer[..n]).at("write", &open.path)?;
        }
        let offset = open.offset;
        open.offset += len;
        state.slots.push(Slot {
            id,
            crc: crc.finalize(),
            offset,
        });
        Ok(())
    }

    /// Completes pack and index as temporary files. They are neither synced nor visible to git yet.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn finish(self) -> Result<Option<StagedPack>, Error> {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let (Some(open), Some(dir)) = (state.open, self.dir) else {
            return Ok(None);
        };
        let count = u32::try_from(state.slots.len()).map_err(|_| Error::Damaged {
            what: "pack: too many objects".into(),
        })?;
        let path = open.path;
        let mut file = open
            .file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .at("write", &path)?;
        file.seek(SeekFrom::Start(0)).at("rewind", &path)?;
        file.write_all(&header(count)).at("write", &path)?;
        file.seek(SeekFrom::Start(0)).at("rewind", &path)?;
        let mut checksum = Checksum::new(self.format);
        let length = usize::try_from(open.offset).unwrap_or(LARGEST);
        let mut buffer = vec![0; length.min(LARGEST)];
        loop {
            let n = file.read(&mut buffer).at("read", &path)?;
            if n == 0 {
                break;
            }
            checksum.update(&buffer[..n]);
        }
        let trailer = checksum.finish();
        file.write_all(trailer.as_bytes()).at("write", &path)?;
        let index = pack_index::encode(self.format, state.slots, &trailer);
        let (mut index_file, index_path) = temporary(&dir, TEMP_INDEX)?;
        index_file.write_all(&index).at("write", &index_path)?;
        Ok(Some(StagedPack {
            dir,
            name: format!("pack-{trailer}"),
            pack: (file, path),
            index: (index_file, index_path),
        }))
    }
}

/// A complete pack that git does not see yet. Dropped, it leaves nothing behind.
pub struct StagedPack {
    dir: PathBuf,
    name: String,
    pack: (File, tempfile::TempPath),
    index: (File, tempfile::TempPath),
}

impl StagedPack {
    /// A pack that `copy` writes, whose objects are at known places.
    pub(super) fn copy(
        dir: &Path,
        format: ObjectFormat,
        slots: Vec<Slot>,
        trailer: &ObjectId,
        copy: &dyn Fn(&mut File, &Path) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        fs::create_dir_all(dir).at("create directory", dir)?;
        let (mut file, path) = temporary(dir, TEMP_PACK)?;
        copy(&mut file, &path)?;
        let index = pack_index::encode(format, slots, trailer);
        let (mut index_file, index_path) = temporary(dir, TEMP_INDEX)?;
        index_file.write_all(&index).at("write", &index_path)?;
        Ok(Self {
            dir: dir.to_owned(),
            name: format!("pack-{trailer}"),
            pack: (file, path),
            index: (index_file, index_path),
        })
    }

    /// Makes the content durable; nobody sees it yet.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&self) -> Result<(), Error> {
        for (file, path) in self.files() {
            file.sync_all().at("sync", path)?;
        }
        Ok(())
    }

    /// `pack-<checksum>`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The files whose content must reach the disk before [`publish`](Self::publish).
    #[must_use]
    pub fn files(&self) -> [(&File, &Path); 2] {
        [(&self.pack.0, &self.pack.1), (&self.index.0, &self.index.1)]
    }

    /// Makes the pack visible, under a `.keep` file that holds a running `git gc` off until [`Published::release`].
    /// The directory is not synced here.
    ///
    /// # Errors
    /// When the files cannot be put in place.
    pub fn publish(self, permissions: u32) -> Result<Published, Error> {
        let keep = self.dir.join(format!("{}.keep", self.name));
        fs::write(&keep, KEEP).at("write", &keep)?;
        self.place(permissions)
    }

    /// Makes the pack visible. The directory is not synced here.
    pub(super) fn place(self, permissions: u32) -> Result<Published, Error> {
        let place = |suffix: &str| self.dir.join(format!("{}.{suffix}", self.name));
        for ((file, from), to) in [(self.pack, place("pack")), (self.index, place("idx"))] {
            set_permissions(&file, permissions, &from)?;
            fs::rename(&from, &to).at("rename", &to)?;
            drop(file);
            // The temporary name is gone; its guard must not remove what a later writer may put there.
            let _ = from.keep();
        }
        Ok(Published {
            dir: self.dir,
            name: self.name,
        })
    }
}

/// A pack that git sees and keeps.
pub struct Published {
    dir: PathBuf,
    name: String,
}

impl Published {
    /// `pack-<checksum>`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Hands the pack to git's ordinary housekeeping: a ref holds its objects now.
    ///
    /// # Errors
    /// When the `.keep` file cannot be removed.
    pub fn release(self) -> Result<(), Error> {
        release(&self.dir, &self.name)
    }
}

/// A pack with an empty header.
fn open(dir: &Path) -> Result<Open, Error> {
    fs::create_dir_all(dir).at("create directory", dir)?;
    let (file, path) = temporary(dir, TEMP_PACK)?;
    let mut file = BufWriter::with_capacity(64 * 1024, file);
    file.write_all(&header(0)).at("write", &path)?;
    Ok(Open {
        file,
        path,
        offset: HEADER,
    })
}

fn temporary(dir: &Path, prefix: &str) -> Result<(File, tempfile::TempPath), Error> {
    let file = tempfile::Builder::new()
        .prefix(prefix)
        .tempfile_in(dir)
        .at("create temporary file in", dir)?;
    Ok(file.into_parts())
}

fn set_permissions(file: &File, permissions: u32, path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(permissions))
        .at("set permissions of", path)
}

fn header(count: u32) -> [u8; 12] {
    let mut bytes = *b"PACK\0\0\0\x02\0\0\0\0";
    bytes[8..].copy_from_slice(&count.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_reads_what_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let repo = git2::Repository::init(dir.path()).unwrap();
        let packs = dir.path().join(".git/objects/pack");
        let writer = PackWriter::new(&packs, ObjectFormat::Sha1);
        let small = writer.add(Kind::Blob, b"hello\n").unwrap();
        assert_eq!(writer.add(Kind::Blob, b"hello\n").unwrap(), small);
        let content = vec![b'x'; 300_000];
        let id = hash_object(ObjectFormat::Sha1, Kind::Blob, &content).unwrap();
        let mut spill = Spill::new(&packs, Kind::Blob, content.len() as u64).unwrap();
        spill.write(&content, &packs).unwrap();
        writer.add_spilled(id, spill).unwrap();
        assert_eq!(writer.totals().0, 2);
        let staged = writer.finish().unwrap().unwrap();
        let published = staged.publish(0o444).unwrap();
        let keep = packs.join(format!("{}.keep", published.name()));
        assert!(keep.exists());
        published.release().unwrap();
        assert!(!keep.exists());
        let odb = repo.odb().unwrap();
        for (id, size) in [(small, 6), (id, 300_000)] {
            assert_eq!(
                odb.read(git2::Oid::from_bytes(id.as_bytes()).unwrap())
                    .unwrap()
                    .len(),
                size
            );
        }
    }

    #[test]
    fn a_dropped_pack_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let writer = PackWriter::new(dir.path(), ObjectFormat::Sha1);
        writer.add(Kind::Blob, b"x").unwrap();
        drop(writer.finish().unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
