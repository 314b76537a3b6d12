//! Merging go-team's own packs when they pile up.
//!
//! Each checkpoint adds one small pack. Eight packs of about the same size become one, in which similar objects are
//! stored as deltas; so there are never many, and each object is rewritten only a few times however long a session gets.
//! Only packs that go-team wrote are touched. A pack is removed when another one that holds all of its objects is on the
//! disk, so that no object is ever without a home; git, too, looks again when a pack it knew is gone.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::open::Repo;
use super::{Error, IoContext as _, merge};
use crate::model::object_id::{ObjectFormat, ObjectId};

/// How many packs of one size make a pile.
const PILE: usize = 8;
/// Larger packs are left to git's own housekeeping.
const MAX_BYTES: u64 = 256 << 20;
/// A `gc.pid` older than this is a leftover, by git's own rule.
const GC_HOURS: u64 = 12;

/// The packs go-team wrote, by name, in one text file.
pub struct OwnPacks {
    list: PathBuf,
    names: Vec<String>,
}

impl OwnPacks {
    /// Reads the list. A missing or odd one only means that some packs are left to git.
    #[must_use]
    pub fn load(list: &Path) -> Self {
        let text = fs::read_to_string(list).unwrap_or_default();
        let names = text
            .lines()
            .filter(|name| is_pack_name(name))
            .map(str::to_owned)
            .collect();
        Self {
            list: list.to_owned(),
            names,
        }
    }

    /// Adds a pack that was just written.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn add(&mut self, name: &str) -> Result<(), Error> {
        self.names.push(name.to_owned());
        // A line that a power cut tears is no name: that pack is left to git.
        let mut options = fs::OpenOptions::new();
        let line = format!("{name}\n");
        options
            .append(true)
            .create(true)
            .open(&self.list)
            .and_then(|mut list| list.write_all(line.as_bytes()))
            .at("write", &self.list)
    }

    fn store(&self) -> Result<(), Error> {
        let dir = self.list.parent().expect("the list lies in a directory");
        let file = tempfile::Builder::new()
            .prefix(".tmp-packs-")
            .tempfile_in(dir)
            .at("create temporary file in", dir)?;
        let text: String = self
            .names
            .iter()
            .flat_map(|name| [name.as_str(), "\n"])
            .collect();
        fs::write(file.path(), text).at("write", file.path())?;
        file.persist(&self.list)
            .map_err(|error| error.error)
            .at("replace", &self.list)?;
        Ok(())
    }

    /// Merges piles until there are none. Nothing happens while `git gc` runs.
    ///
    /// # Errors
    /// When a merged pack cannot be written; all objects are where they were then.
    pub fn tidy(&mut self, repo: &Repo) -> Result<usize, Error> {
        let mut merged = 0;
        while self.names.len() >= PILE {
            let dir = repo.pack_dir();
            let sizes = self.sizes(&dir);
            let listed = self.names.len();
            self.names.retain(|name| sizes.contains_key(name));
            if self.names.len() < listed {
                self.store()?;
            }
            let Some(pile) = pile(&self.names, &sizes) else {
                break;
            };
            if gc_is_running(&repo.common_dir) {
                break;
            }
            let new = merge(repo, &dir, &pile)?;
            self.names.retain(|name| !pile.contains(name));
            self.names.push(new);
            self.store()?;
            merged += 1;
        }
        Ok(merged)
    }

    fn sizes(&self, dir: &Path) -> HashMap<String, u64> {
        let size = |name: &String| {
            dir.join(format!("{name}.pack"))
                .metadata()
                .ok()
                .map(|meta| (name.clone(), meta.len()))
        };
        self.names.iter().filter_map(size).collect()
    }
}

/// The packs of the smallest size class that has too many.
fn pile(names: &[String], sizes: &HashMap<String, u64>) -> Option<Vec<String>> {
    let mut classes: Vec<Vec<String>> = vec![Vec::new(); 24];
    for name in names {
        let size = sizes[name];
        if size <= MAX_BYTES {
            classes[(size.max(4096) / 4096).ilog(PILE as u64) as usize].push(name.clone());
        }
    }
    classes.into_iter().find(|class| class.len() >= PILE)
}

/// Whether a name is one that packs have; it is about to be part of a path.
pub(super) fn is_pack_name(name: &str) -> bool {
    let digits = name.strip_prefix("pack-");
    digits.is_some_and(|digits| {
        matches!(digits.len(), 40 | 64) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn gc_is_running(common_dir: &Path) -> bool {
    let age = common_dir
        .join("gc.pid")
        .metadata()
        .and_then(|meta| meta.modified())
        .ok()
        .map(|time| time.elapsed());
    age.is_some_and(|age| age.map_or(true, |age| age.as_secs() < GC_HOURS * 3600))
}

/// Writes one pack with all objects of several, makes it durable, and removes those.
fn merge(repo: &Repo, dir: &Path, names: &[String]) -> Result<String, Error> {
    let staged = merge::merge(repo, dir, names)?;
    let new = staged.name().to_owned();
    for (file, path) in staged.files() {
        file.sync_all().at("sync", path)?;
    }
    staged.place(0o444 | (repo.settings.shared_bits & 0o444))?;
    super::sync_dir(dir)?;
    for name in names.iter().filter(|name| **name != new) {
        merge::remove(dir, name)?;
    }
    Ok(new)
}

/// The ids in a pack index of version 2.
pub(super) fn list_index(format: ObjectFormat, index: &[u8]) -> Option<Vec<ObjectId>> {
    let body = index.strip_prefix(b"\xfftOc\0\0\0\x02")?;
    let count = u32::from_be_bytes(body.get(255 * 4..256 * 4)?.try_into().ok()?) as usize;
    let length = format.len();
    let ids = body.get(1024..1024 + count.checked_mul(length)?)?;
    ids.chunks_exact(length)
        .map(|raw| ObjectId::from_bytes(raw).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pack_names_are_names() {
        assert!(is_pack_name(&format!("pack-{}", "a1".repeat(20))));
        for name in [
            "",
            "pack-",
            "pack-../../x",
            "../pack-a",
            &format!("pack-{}/", "a".repeat(39)),
        ] {
            assert!(!is_pack_name(name), "{name}");
        }
    }

    #[test]
    fn the_smallest_pile_goes_first() {
        let names: Vec<String> = (0..20).map(|nth| format!("p{nth}")).collect();
        let sizes = |small: usize| {
            names
                .iter()
                .enumerate()
                .map(|(nth, name)| (name.clone(), if nth < small { 3000 } else { 40_000 }))
                .collect()
        };
        assert_eq!(pile(&names, &sizes(8)), Some(names[..8].to_vec()));
        assert_eq!(pile(&names, &sizes(7)), Some(names[7..].to_vec()));
        assert_eq!(pile(&names[..7], &sizes(20)), None);
    }
}
