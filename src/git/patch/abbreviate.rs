//! Object ids as short as git makes them: by the number of packed objects, and longer where that is ambiguous.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::diff::Item;
use crate::git::open::Repo;
use crate::git::{Error, IoContext as _};

/// git never makes them shorter.
const SHORTEST: usize = 7;
/// How many stores may stand behind one another.
const DEEPEST: usize = 5;

/// How short ids are in one repository.
pub struct Abbreviations {
    length: usize,
    backend: std::sync::Arc<dyn crate::git::backend::Backend>,
}

impl Abbreviations {
    /// Counts what is packed.
    ///
    /// # Errors
    /// When the directory of packs cannot be read.
    pub fn of(repo: &Repo) -> Result<Self, Error> {
        let mut stores = Vec::new();
        alternates(&repo.common_dir.join("objects"), 0, &mut stores);
        let mut packed = 0;
        for store in stores {
            packed += count(&store.join("pack"))?;
        }
        Ok(Self {
            length: length_for(packed),
            backend: repo.backend.clone(),
        })
    }

    /// The id of one side of a path; zeros where there is nothing.
    #[must_use]
    pub fn of_item(&self, item: Option<&Item>) -> String {
        let Some(item) = item else {
            return "0".repeat(self.length);
        };
        let full = item.id.to_string();
        let mut length = self.length.min(full.len());
        while length < full.len() && self.backend.is_ambiguous(&item.id, length) {
            length += 1;
        }
        full[..length].to_owned()
    }
}

/// So many objects collide at half as many digits as their number has bits; a digit is four bits.
fn length_for(objects: u64) -> usize {
    let bits = match objects {
        0 => 1,
        objects => objects.ilog2() as usize + 1,
    };
    bits.div_ceil(2).max(SHORTEST)
}

fn alternates(objects: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth > DEEPEST || found.iter().any(|known| known == objects) {
        return;
    }
    found.push(objects.to_owned());
    let Ok(text) = fs::read_to_string(objects.join("info/alternates")) else {
        return;
    };
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        alternates(&objects.join(line), depth + 1, found);
    }
}

/// How many objects the packs of a directory hold; a damaged index counts as empty.
fn count(dir: &Path) -> Result<u64, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error).at("read directory", dir),
    };
    let (mut total, joined) = read_multi(&dir.join("multi-pack-index")).unwrap_or_default();
    for entry in entries {
        let name = entry.at("read directory", dir)?.file_name();
        let is_index = Path::new(&name).extension().is_some_and(|end| end == "idx");
        if is_index && !joined.contains(name.as_encoded_bytes()) {
            total += read_index(&dir.join(name)).unwrap_or_default();
        }
    }
    Ok(total)
}

fn read_index(path: &Path) -> Option<u64> {
    use std::os::unix::fs::FileExt as _;
    let file = fs::File::open(path).ok()?;
    let mut head = [0; 4];
    file.read_exact_at(&mut head, 0).ok()?;
    let fanout: u64 = if head == *b"\xfftOc" { 8 } else { 0 };
    let mut last = [0; 4];
    file.read_exact_at(&mut last, fanout + 255 * 4).ok()?;
    Some(u64::from(u32::from_be_bytes(last)))
}

/// How many objects an index over several packs holds, and which packs' indexes it replaces.
fn read_multi(path: &Path) -> Option<(u64, HashSet<Vec<u8>>)> {
    let bytes = fs::read(path).ok()?;
    let number = |at: usize| -> Option<usize> {
        let bytes = bytes.get(at..at + 8)?;
        usize::try_from(u64::from_be_bytes(bytes.try_into().ok()?)).ok()
    };
    if bytes.get(..4)? != b"MIDX" {
        return None;
    }
    let chunks = usize::from(*bytes.get(6)?);
    let (mut objects, mut names) = (None, HashSet::new());
    for nth in 0..chunks {
        let at = 12 + nth * 12;
        let (start, end) = (number(at + 4)?, number(at + 16)?);
        match bytes.get(at..at + 4)? {
            b"OIDF" => {
                let last = bytes.get(start + 255 * 4..start + 256 * 4)?;
                objects = Some(u64::from(u32::from_be_bytes(last.try_into().ok()?)));
            }
            b"PNAM" => {
                let listed = bytes.get(start..end)?.split(|byte| *byte == 0);
                names.extend(listed.filter(|name| !name.is_empty()).map(<[u8]>::to_vec));
            }
            _ => {}
        }
    }
    Some((objects?, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_objects_need_more_digits() {
        for (objects, length) in [
            (0, 7),
            (1 << 13, 7),
            (1 << 14, 8),
            ((1 << 16) - 1, 8),
            (1 << 16, 9),
            (1 << 30, 16),
        ] {
            assert_eq!(length_for(objects), length, "{objects}");
        }
    }
}
