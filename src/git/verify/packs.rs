//! Packs and their indexes, checked as files: each ends in a checksum of all that comes before it.

use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::deep::DamagedFile;
use crate::git::hash::Checksum;
use crate::git::open::Repo;
use crate::git::reachable::Census;
use crate::git::repack::list_index;
use crate::git::{Error, IoContext as _};
use crate::model::object_id::ObjectFormat;

/// The indexes of packs that are damaged. They are checked before anything is read through them: libgit2 believes what
/// they say about places in a pack, and a wrong one can take the whole process down.
///
/// # Errors
/// When the packs cannot be listed.
pub fn damaged_indexes(repo: &Repo) -> Result<Vec<DamagedFile>, Error> {
    let checked = indexes(repo)?.into_par_iter().filter_map(|index| {
        let bytes = fs::read(&index).ok()?;
        let is_whole = ends_in_checksum(&bytes, repo.backend.format());
        (!is_whole && index.exists()).then(|| DamagedFile {
            path: index,
            reason: "its content does not have its checksum".to_owned(),
        })
    });
    Ok(checked.collect())
}

fn ends_in_checksum(bytes: &[u8], format: ObjectFormat) -> bool {
    let body = bytes.len().saturating_sub(format.len());
    let mut checksum = Checksum::new(format);
    checksum.update(&bytes[..body]);
    checksum.finish().as_bytes() == &bytes[body..]
}

/// The indexes of all packs, and the one of many packs where there is one.
fn indexes(repo: &Repo) -> Result<Vec<PathBuf>, Error> {
    let dir = repo.pack_dir();
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.at("read", &dir)?,
    };
    let mut indexes: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.at("read", &dir)?.path();
        let is_index = path.extension().is_some_and(|extension| extension == "idx");
        if is_index
            || path
                .file_name()
                .is_some_and(|name| name == "multi-pack-index")
        {
            indexes.push(path);
        }
    }
    indexes.sort();
    Ok(indexes)
}

/// Checks every pack that holds an object of the census. One whose index cannot be read might hold any.
pub(super) fn check(repo: &Repo, census: &Census) -> Result<Vec<DamagedFile>, Error> {
    let mut indexes = indexes(repo)?;
    indexes.retain(|path| path.extension().is_some());
    let checked = indexes.par_iter().map(|index| {
        let damaged = check_pack(repo, index, census);
        // `git gc` may have removed it meanwhile; its objects are in another pack then.
        damaged.filter(|damaged| index.exists() && damaged.path.exists())
    });
    Ok(checked.flatten().collect())
}

fn check_pack(repo: &Repo, index: &Path, census: &Census) -> Option<DamagedFile> {
    let format = repo.backend.format();
    let damaged = |path: &Path, reason: String| {
        Some(DamagedFile {
            path: path.to_owned(),
            reason,
        })
    };
    let bytes = match fs::read(index) {
        Ok(bytes) => bytes,
        Err(error) => return damaged(index, error.to_string()),
    };
    let Some(ids) = list_index(format, &bytes) else {
        return damaged(index, "it is no index of a pack".to_owned());
    };
    let body = bytes.len().saturating_sub(format.len());
    let mut checksum = Checksum::new(format);
    checksum.update(&bytes[..body]);
    if checksum.finish().as_bytes() != &bytes[body..] {
        return damaged(index, "its content does not have its checksum".to_owned());
    }
    if !ids.iter().any(|id| census.objects.contains_key(id)) {
        return None;
    }
    let pack = index.with_extension("pack");
    let listed = &bytes[body.saturating_sub(format.len())..body];
    match trailer(&pack, format) {
        Ok(Some(trailer)) if trailer == listed => None,
        Ok(Some(_)) => damaged(&pack, "it is not the pack that its index is of".to_owned()),
        Ok(None) => damaged(&pack, "its content does not have its checksum".to_owned()),
        Err(error) => damaged(&pack, error.to_string()),
    }
}

/// The checksum that a pack ends in; none when its content has another.
fn trailer(pack: &Path, format: ObjectFormat) -> std::io::Result<Option<Vec<u8>>> {
    let file = File::open(pack)?;
    let length = file.metadata()?.len();
    let body = length.saturating_sub(format.len() as u64);
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut checksum = Checksum::new(format);
    let mut rest = body;
    let mut buffer = vec![0; 1 << 16];
    while rest > 0 {
        let want = usize::try_from(rest).map_or(buffer.len(), |rest| rest.min(buffer.len()));
        file.read_exact(&mut buffer[..want])?;
        checksum.update(&buffer[..want]);
        rest -= want as u64;
    }
    let mut trailer = Vec::new();
    file.read_to_end(&mut trailer)?;
    Ok((checksum.finish().as_bytes() == trailer).then_some(trailer))
}
