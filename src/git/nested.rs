//! Repositories inside the work tree: submodules and others. They are recorded as a commit and left alone.
//!
//! Only the few files that say what is checked out are read, by git's own rules of what a repository is.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::node::{Disk, Entry, File};
use super::rules::as_path;
use super::skip::SkipReason;
use super::stamp::Stamp;
use super::tree::Mode;
use super::walk::{Above, InIndex, Walk};
use super::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// Longer `.git` files than this are not git's.
const MAX_LINK: u64 = 1 << 20;
/// How often a ref may name another ref.
const MAX_HOPS: usize = 5;

/// What a directory with a `.git` inside is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nested {
    /// A repository whose HEAD is this commit.
    At(ObjectId),
    /// A repository that cannot be recorded: it has no commit, or it cannot be read.
    Unrecordable,
    /// No repository.
    No,
}

/// Looks into a directory.
pub(super) fn inspect(dir: &Path) -> Nested {
    let git = dir.join(".git");
    let git_dir = match fs::metadata(&git) {
        Ok(meta) if meta.is_dir() => git,
        Ok(meta) if meta.is_file() && meta.len() <= MAX_LINK => match fs::read(&git) {
            Ok(text) => match linked(dir, &text) {
                Some(target) => target,
                None => return Nested::No,
            },
            Err(_) => return Nested::Unrecordable,
        },
        _ => return Nested::No,
    };
    let common = common_dir(&git_dir);
    let is_repository =
        head_is_valid(&git_dir) && common.join("objects").is_dir() && common.join("refs").is_dir();
    if !is_repository {
        return Nested::No;
    }
    resolve(&git_dir, &common).map_or(Nested::Unrecordable, Nested::At)
}

/// The directory that a `.git` file names.
fn linked(dir: &Path, text: &[u8]) -> Option<PathBuf> {
    let target = text.strip_prefix(b"gitdir: ")?;
    let end = target
        .iter()
        .rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    Some(dir.join(as_path(&target[..=end])))
}

/// What linked work trees share.
fn common_dir(git_dir: &Path) -> PathBuf {
    let Ok(text) = fs::read(git_dir.join("commondir")) else {
        return git_dir.to_owned();
    };
    git_dir.join(as_path(text.trim_ascii_end()))
}

fn head_is_valid(git_dir: &Path) -> bool {
    let head = git_dir.join("HEAD");
    if let Ok(target) = fs::read_link(&head) {
        return target.starts_with("refs");
    }
    let Ok(text) = fs::read(&head) else {
        return false;
    };
    match text.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
        None => id_in(&text).is_some(),
    }
}

/// The commit of HEAD.
fn resolve(git_dir: &Path, common: &Path) -> Option<ObjectId> {
    let mut name = "HEAD".to_owned();
    for _ in 0..MAX_HOPS {
        let own = git_dir.join(&name);
        let text = fs::read(&own).or_else(|_| fs::read(common.join(&name)));
        let Ok(text) = text else {
            return packed(common, &name);
        };
        match text.strip_prefix(b"ref:") {
            Some(target) => name = String::from_utf8(target.trim_ascii().to_vec()).ok()?,
            None => return id_in(&text),
        }
        if !name.starts_with("refs/") || name.split('/').any(|part| part == "..") {
            return None;
        }
    }
    None
}

fn packed(common: &Path, name: &str) -> Option<ObjectId> {
    let text = fs::read(common.join("packed-refs")).ok()?;
    let line = text.split(|byte| *byte == b'\n').find(|line| {
        line.split(|byte| *byte == b' ')
            .nth(1)
            .is_some_and(|found| found.trim_ascii_end() == name.as_bytes())
    })?;
    id_in(line)
}

/// The id at the start of a line.
fn id_in(text: &[u8]) -> Option<ObjectId> {
    let word = text
        .split(u8::is_ascii_whitespace)
        .next()
        .filter(|word| word.len() == 40)?;
    ObjectId::parse(std::str::from_utf8(word).ok()?).ok()
}

impl Walk<'_> {
    /// A submodule or nested repository. None when an untracked directory is no repository.
    pub(super) fn nested(
        &self,
        path: &[u8],
        name: &[u8],
        in_index: InIndex<'_>,
    ) -> Result<Option<File>, Error> {
        let facts = in_index.facts();
        let stamp = match rustix::fs::statat(self.root(), as_path(path), AtFlags::SYMLINK_NOFOLLOW)
        {
            Ok(stat) => Stamp::of(&stat),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                return Ok(facts.map(|facts| self.deleted(path, name, facts)));
            }
            Err(error) => return Err(error).at("stat", as_path(path)),
        };
        if stamp.file_type() != FileType::Directory {
            let above = Above {
                reread: false,
                reconvert: false,
                attributes: true,
            };
            return self.file(path, name, None, in_index, above);
        }
        let mut file = File {
            name: name.into(),
            stamp,
            trusted: false,
            tree: None,
            index: facts,
            disk: Disk::AsTree,
        };
        let outside = !self.rules.in_sparse_checkout(path);
        let kept = facts
            .filter(|facts| self.is_fixed(facts, outside))
            .filter(|facts| facts.entry.mode == Mode::Gitlink)
            .map(|facts| facts.entry);
        match (inspect(&self.work_dir.join(as_path(path))), facts) {
            _ if kept.is_some() => file.tree = kept,
            (Nested::At(id), _) => {
                file.tree = Some(Entry {
                    mode: Mode::Gitlink,
                    id,
                });
            }
            (_, Some(facts)) if facts.entry.mode == Mode::Gitlink => file.tree = facts.staged(),
            (Nested::Unrecordable, Some(facts)) => {
                file.tree = facts.staged();
                file.disk = Disk::Skipped(SkipReason::NestedWithoutCommit);
            }
            (Nested::Unrecordable, None) => {
                file.disk = Disk::Skipped(SkipReason::NestedWithoutCommit);
            }
            (Nested::No, _) => return Ok(None),
        }
        Ok(Some(file))
    }
}
