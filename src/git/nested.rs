//! Repositories inside the work tree: submodules and others. They are recorded as a commit and left alone.
//!
//! Only the few files that say what is checked out are read, by git's own rules of what a repository is.

use std::fs;
use std::path::{Path, PathBuf};

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
    Some(dir.join(super::rules::as_path(&target[..=end])))
}

/// What linked work trees share.
fn common_dir(git_dir: &Path) -> PathBuf {
    let Ok(text) = fs::read(git_dir.join("commondir")) else {
        return git_dir.to_owned();
    };
    git_dir.join(super::rules::as_path(text.trim_ascii_end()))
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
        .split(|byte| byte.is_ascii_whitespace())
        .next()
        .filter(|word| word.len() == 40)?;
    ObjectId::parse(std::str::from_utf8(word).ok()?).ok()
}
