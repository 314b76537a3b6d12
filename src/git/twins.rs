//! Names that are a file for the index and a directory on disk, or the reverse.

use super::node::{Dir, Disk};

/// A name is a file or a directory, never both: where the index has one and the disk the other, the disk's wins, even
/// over entries that git takes as unchanged.
pub(super) fn part_twins(node: &mut Dir) {
    let Dir {
        files, dirs, dirty, ..
    } = node;
    for dir in dirs {
        let Ok(at) = files.binary_search_by(|file| (*file.name).cmp(&dir.name)) else {
            continue;
        };
        let file = &mut files[at];
        if file.tree.is_none() {
            continue;
        }
        if file.disk != Disk::Absent {
            forget_trees(dir);
            *dirty = true;
        } else if has_trees(dir) {
            file.tree = None;
            *dirty = true;
        }
    }
}

fn forget_trees(dir: &mut Dir) {
    dir.dirty = true;
    for file in &mut dir.files {
        file.tree = None;
    }
    dir.dirs.iter_mut().for_each(forget_trees);
}

fn has_trees(dir: &Dir) -> bool {
    dir.files.iter().any(|file| file.tree.is_some()) || dir.dirs.iter().any(has_trees)
}
