//! The files that another program had copied, taken into git objects.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::FileType;

use super::source::{Dir, Unusable};
use crate::engine::Error;
use crate::git::assemble::{Assembly, accepts};
use crate::git::sidecar::SkippedPath;
use crate::git::skip::SkipReason;
use crate::git::tree::Mode;
use crate::model::ObjectId;
use crate::model::path_text::quote_path;

/// How much is taken from one checkpoint at most.
const MOST_FILES: usize = 200_000;
const DEEPEST: usize = 128;

/// The files of one checkpoint.
#[derive(Default)]
pub(super) struct Copied {
    /// By path; git's objects hold their content.
    pub files: BTreeMap<Vec<u8>, (Mode, ObjectId)>,
    /// Directories without files.
    pub empty: Vec<String>,
    /// What rollback must leave alone, because it was left out.
    pub skipped: Vec<SkippedPath>,
    /// What was left out, in words, with its path below what is imported.
    pub left_out: Vec<(String, String)>,
}

/// Takes files in.
pub(super) struct Taking<'a> {
    /// Where their content goes; nowhere when they are only counted.
    pub objects: Option<&'a Assembly>,
    /// Larger ones are left out.
    pub most_bytes: u64,
    /// The one file at the top that is none of the copied ones.
    pub except: &'a OsStr,
}

impl Taking<'_> {
    /// Takes everything below a directory.
    pub fn take(&self, dir: &Dir) -> Result<Copied, Error> {
        let mut copied = Copied::default();
        self.below(dir, &[], 0, &mut copied)?;
        Ok(copied)
    }

    /// Says whether there was anything.
    fn below(
        &self,
        dir: &Dir,
        path: &[u8],
        depth: usize,
        copied: &mut Copied,
    ) -> Result<bool, Error> {
        let items = match dir.items() {
            Ok(items) => items,
            Err(error) => {
                copied.leave_out(dir.path.clone(), path, &error);
                return Ok(true);
            }
        };
        let mut is_any = false;
        for item in items {
            if depth == 0 && item.name == self.except {
                continue;
            }
            is_any = true;
            let name = item.name.as_bytes();
            let mut inner = path.to_vec();
            if !inner.is_empty() {
                inner.push(b'/');
            }
            inner.extend_from_slice(name);
            let shown = dir.path_of(&item.name);
            if !accepts(name) {
                copied.skip(shown, &inner, SkipReason::InvalidName);
                continue;
            }
            if copied.files.len() >= MOST_FILES || depth >= DEEPEST {
                let why = if depth >= DEEPEST {
                    "too deep"
                } else {
                    "too many files"
                };
                copied.left_out.push((shown, why.to_owned()));
                continue;
            }
            match item.kind {
                FileType::Directory => match dir.enter(&item.name) {
                    Ok(sub) => {
                        if !self.below(&sub, &inner, depth + 1, copied)? {
                            copied.empty.push(quote_path(&inner));
                        }
                    }
                    Err(error) => copied.leave_out(shown, &inner, &error),
                },
                FileType::RegularFile => self.file(dir, &item, inner, copied)?,
                FileType::Symlink => self.link(dir, &item.name, inner, copied)?,
                FileType::Fifo => copied.skip(shown, &inner, SkipReason::Fifo),
                FileType::Socket => copied.skip(shown, &inner, SkipReason::Socket),
                _ => copied.skip(shown, &inner, SkipReason::Device),
            }
        }
        Ok(is_any)
    }

    fn file(
        &self,
        dir: &Dir,
        item: &super::source::Item,
        path: Vec<u8>,
        copied: &mut Copied,
    ) -> Result<(), Error> {
        let shown = dir.path_of(&item.name);
        let mode = if item.is_executable {
            Mode::Executable
        } else {
            Mode::File
        };
        if item.size > self.most_bytes {
            copied.skip(shown, &path, SkipReason::TooLarge);
            return Ok(());
        }
        let Some(objects) = self.objects else {
            copied.files.insert(path, (mode, nothing()));
            return Ok(());
        };
        match dir.read(&item.name, self.most_bytes) {
            Ok(Some(bytes)) => {
                let id = objects.blob(&bytes)?;
                copied.files.insert(path, (mode, id));
            }
            Ok(None) => copied.skip(shown, &path, SkipReason::TooLarge),
            Err(error) => copied.leave_out(shown, &path, &error),
        }
        Ok(())
    }

    /// A link is kept as one where it stays among the files; one that leads out is left out.
    fn link(
        &self,
        dir: &Dir,
        name: &OsStr,
        path: Vec<u8>,
        copied: &mut Copied,
    ) -> Result<(), Error> {
        let shown = dir.path_of(name);
        let target = match dir.link(name) {
            Ok(target) => target,
            Err(error) => {
                copied.leave_out(shown, &path, &error);
                return Ok(());
            }
        };
        if !stays_inside(&path, &target) {
            let why = format!(
                "is a link that leads out of the copied files, to {}",
                quote_path(&target)
            );
            copied.left_out.push((shown, why));
            return Ok(());
        }
        let id = match self.objects {
            Some(objects) => objects.blob(&target)?,
            None => nothing(),
        };
        copied.files.insert(path, (Mode::Symlink, id));
        Ok(())
    }
}

/// The id of what is only counted.
fn nothing() -> ObjectId {
    ObjectId::from_bytes(&[0; 20]).expect("an id has twenty bytes")
}

/// Whether a relative link, by its words alone, never climbs above the top.
fn stays_inside(path: &[u8], target: &[u8]) -> bool {
    if target.starts_with(b"/") || target.is_empty() {
        return false;
    }
    let mut depth = path.split(|byte| *byte == b'/').count() - 1;
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if depth == 0 => return false,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    true
}

impl Copied {
    fn skip(&mut self, shown: String, path: &[u8], reason: SkipReason) {
        self.skipped.push(SkippedPath {
            path: quote_path(path),
            reason,
        });
        self.left_out.push((shown, reason.as_str().to_owned()));
    }

    fn leave_out(&mut self, shown: String, path: &[u8], error: &Unusable) {
        self.skipped.push(SkippedPath {
            path: quote_path(path),
            reason: SkipReason::Unreadable,
        });
        self.left_out.push((shown, error.to_string()));
    }
}
