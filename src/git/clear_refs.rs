//! Taking away all refs of one directory: as files, and in `packed-refs`.
//!
//! By their names and not by what they point at, so that a damaged ref goes as well. The files go first: `git pack-refs`,
//! if it runs meanwhile, takes them over under the lock of `packed-refs`, which is changed after it.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::packed_refs::PackedRefs;
use super::{Error, IoContext as _};

/// Deletes every ref below `dir`; says how many there were.
pub(super) fn clear(common_dir: &Path, scratch: &Path, dir: &str) -> Result<usize, Error> {
    let mut names = BTreeSet::new();
    remove_files(&common_dir.join(dir), dir, &mut names)?;
    let packed = PackedRefs::new(common_dir, scratch);
    let listed = packed.below(dir)?;
    packed.remove_all(&listed.iter().map(String::as_str).collect())?;
    names.extend(listed);
    Ok(names.len())
}

/// Makes it durable that they are gone.
pub(super) fn sync(common_dir: &Path, dir: &str) -> Result<(), Error> {
    super::sync_dir(common_dir)?;
    let parent = common_dir.join(dir);
    match parent.parent().filter(|parent| parent.is_dir()) {
        Some(parent) => super::sync_dir(parent),
        None => Ok(()),
    }
}

fn remove_files(dir: &Path, name: &str, names: &mut BTreeSet<String>) -> Result<(), Error> {
    let entries = match fs::read_dir(dir) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        entries => entries.at("read", dir)?,
    };
    for entry in entries {
        let entry = entry.at("read", dir)?;
        let path = entry.path();
        let below = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().at("stat", &path)?.is_dir() {
            remove_files(&path, &below, names)?;
            continue;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).at("remove", &path);
            }
            _ => {}
        }
        names.insert(below);
    }
    match fs::remove_dir(dir) {
        // Somebody made a ref there meanwhile, or was quicker.
        Err(error)
            if !matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty
            ) =>
        {
            Err(error).at("remove", dir)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_packed_and_damaged_refs_go_and_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let common = dir.path();
        let scratch = common.join("scratch");
        let id = "1".repeat(40);
        for name in ["s/a", "s/b", "s/deep/c", "s2/a"] {
            let path = common.join("refs/go-team").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if name == "s/b" { "garbage" } else { &id }).unwrap();
        }
        let packed = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{id} refs/go-team/s/a\n\
             {id} refs/go-team/s/z\n^{id}\n{id} refs/go-team/s2/z\n{id} refs/heads/main\n"
        );
        fs::write(common.join("packed-refs"), packed).unwrap();
        assert_eq!(clear(common, &scratch, "refs/go-team/s").unwrap(), 4);
        sync(common, "refs/go-team/s").unwrap();
        assert!(!common.join("refs/go-team/s").exists());
        assert!(common.join("refs/go-team/s2/a").is_file());
        let left = fs::read_to_string(common.join("packed-refs")).unwrap();
        assert_eq!(
            left.lines().skip(1).collect::<Vec<_>>(),
            [
                format!("{id} refs/go-team/s2/z"),
                format!("{id} refs/heads/main")
            ]
        );
        assert_eq!(clear(common, &scratch, "refs/go-team/s").unwrap(), 0);
    }
}
