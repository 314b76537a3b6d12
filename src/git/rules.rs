//! git's own rules for paths: what is ignored, what attributes say, what a sparse checkout holds.
//!
//! A [`Lane`] is one thread's view; lanes are lent from a pool, because a lane remembers the directory it is in and is
//! quick for the next path of the same directory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gix_worktree::object as gix_object;

use super::attributes::{self, Attributes};
use super::backend::Backend;
use super::convert::{self, Conversion, Converter};
use super::ignore::{Levels, Patterns, Verdict};
use super::index::Control;
use super::open::Repo;
use super::overrides::{Include, overrides};
use super::{Error, IoContext as _};
use crate::model::digest::Sha256Digest;
use crate::model::object_id::ObjectId;

/// What go-team's own configuration adds to git's rules.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    /// Patterns of ignored paths that are captured all the same.
    pub include: Vec<String>,
    /// Patterns of paths that are left out and never touched.
    pub exclude: Vec<String>,
    /// Files above this size are skipped and reported.
    pub max_file_bytes: u64,
}

/// All rules of one work tree.
pub struct Rules {
    backend: std::sync::Arc<dyn Backend>,
    lanes: Mutex<Lanes>,
    include: Option<Include>,
    exclude: Option<Patterns>,
    sparse: Option<Patterns>,
    fold: bool,
    /// Ignore and attribute files that count though they are not on disk.
    controls: HashMap<Vec<u8>, ObjectId>,
    validate: Guard,
    /// Whether attributes or settings outside the work tree could make git convert content.
    pub(super) converts_everywhere: bool,
    /// Changes when ignore rules outside the work tree change.
    pub(super) ignore_print: Sha256Digest,
    /// Changes when conversion rules outside the work tree change.
    pub(super) convert_print: Sha256Digest,
}

/// The lanes that nobody uses, and one to copy.
struct Lanes {
    fresh: Lane,
    idle: Vec<Lane>,
}

/// One thread's state.
#[derive(Clone)]
pub struct Lane {
    levels: Levels,
    attributes: Attributes,
    /// Conversion of content.
    pub(super) converter: Converter,
}

impl Rules {
    /// The rules of the work tree as it is; `controls` count where they are not on disk.
    pub(super) fn new(
        repo: &Repo,
        capture: &Capture,
        controls: Vec<Control>,
    ) -> Result<Self, Error> {
        let attributes = Attributes::new(repo)?;
        Self::from(
            repo,
            capture,
            controls,
            attributes,
            Some(repo.work_dir.clone()),
        )
    }

    /// The rules of a tree; `controls` are its ignore and attribute files, as far as they are needed.
    pub(super) fn of_tree(
        repo: &Repo,
        capture: &Capture,
        controls: Vec<Control>,
    ) -> Result<Self, Error> {
        let attributes = Attributes::of_tree(repo)?;
        Self::from(repo, capture, controls, attributes, None)
    }

    fn from(
        repo: &Repo,
        capture: &Capture,
        controls: Vec<Control>,
        attributes: Attributes,
        disk: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let settings = &repo.settings;
        // A relative name is meant from the top of the work tree; what is no file holds no patterns.
        let excludes_file = settings.excludes_file.as_ref();
        let excludes_file = excludes_file.map(|file| repo.work_dir.join(file));
        let excludes_file = excludes_file.filter(|file| file.is_file());
        let excludes = repo.common_dir.join("info/exclude");
        let levels = levels(repo, disk, excludes_file.iter().chain([&excludes]))?;
        let outside = attributes::outside_files(repo);
        let converts_everywhere = settings.converts_by_default()
            || settings.attribute_tree.is_some()
            || outside.iter().any(Option::is_some);
        let convert_print = fingerprint(
            outside.iter().flatten(),
            &format!(
                "{:?}{:?}{}{}{:?}{:?}",
                settings.eol,
                settings.filters,
                settings.file_mode,
                settings.symlinks,
                settings.attribute_tree,
                outside.each_ref().map(Option::is_some)
            ),
        )?;
        let sparse_file = repo.git_dir.join("info/sparse-checkout");
        let sparse = if settings.sparse_checkout {
            patterns_of(&sparse_file)?
        } else {
            None
        };
        let ignore_print = fingerprint(
            excludes_file.iter().chain([&excludes, &sparse_file]),
            &format!(
                "{:?}{:?}{}{}{}{}",
                capture.include,
                capture.exclude,
                settings.ignore_case,
                settings.sparse_checkout,
                settings.expect_outside,
                capture.max_file_bytes
            ),
        )?;
        Ok(Self {
            backend: repo.backend.clone(),
            lanes: Mutex::new(Lanes {
                fresh: Lane {
                    levels,
                    attributes,
                    converter: Converter::new(repo),
                },
                idle: Vec::new(),
            }),
            include: Include::new(&capture.include),
            exclude: overrides(&capture.exclude),
            sparse,
            fold: settings.ignore_case,
            controls: controls
                .into_iter()
                .map(|control| (control.path, control.id))
                .collect(),
            validate: name_guard(settings),
            converts_everywhere,
            ignore_print,
            convert_print,
        })
    }

    /// Lends a lane for the time of one call.
    pub(super) fn with_lane<T>(&self, work: impl FnOnce(&mut Lane) -> T) -> T {
        let lanes = || self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lane = {
            let mut lanes = lanes();
            lanes.idle.pop().unwrap_or_else(|| lanes.fresh.clone())
        };
        let result = work(&mut lane);
        lanes().idle.push(lane);
        result
    }

    /// Whether git ignores the path, or the configuration says to take it all the same.
    pub(super) fn is_ignored(&self, lane: &mut Lane, path: &[u8], is_dir: bool) -> bool {
        let levels = &mut lane.levels;
        levels.is_ignored(path, is_dir, &|file| self.control(file))
            && !self.is_included(path, is_dir)
    }

    /// The content of an ignore or attribute file that is not on disk.
    fn control(&self, file: &[u8]) -> Option<Vec<u8>> {
        let object = self.backend.read(self.controls.get(file)?).ok()??;
        Some(object.bytes)
    }

    /// Whether an ignored path is captured by configuration: it, or a directory above it, matches an include pattern.
    fn is_included(&self, path: &[u8], is_dir: bool) -> bool {
        let include = self.include.as_ref();
        include.is_some_and(|include| include.takes(path, is_dir, self.fold))
    }

    /// Whether the configuration leaves the path out.
    pub(super) fn is_excluded(&self, path: &[u8], is_dir: bool) -> bool {
        let found = self
            .exclude
            .as_ref()
            .and_then(|search| search.find_at_any_level(path, is_dir, self.fold));
        found == Some(Verdict::Matched)
    }

    /// Whether a sparse checkout holds the path; without one, it does.
    pub(super) fn in_sparse_checkout(&self, path: &[u8]) -> bool {
        let Some(search) = &self.sparse else {
            return true;
        };
        search.find_at_any_level(path, false, self.fold) == Some(Verdict::Matched)
    }

    /// Whether git would take the name into a tree: `.git` and its look-alikes are refused.
    pub(super) fn is_valid_name(&self, name: &[u8], is_symlink: bool) -> bool {
        is_valid_name(self.validate, name, is_symlink)
    }

    /// Which conversions git applies to the content of a path.
    pub(super) fn conversion(&self, lane: &mut Lane, path: &[u8]) -> Conversion {
        let Lane {
            attributes,
            converter,
            ..
        } = lane;
        let states = attributes.of(path, convert::NAMES, &|file| self.control(file));
        converter.conversion(states)
    }

    /// What git would store for a file's bytes.
    pub(super) fn to_git(
        &self,
        lane: &mut Lane,
        conversion: &Conversion,
        path: &[u8],
        bytes: &[u8],
        index_blob: Option<ObjectId>,
    ) -> Result<Vec<u8>, Error> {
        let read_index = &mut |buffer: &mut Vec<u8>| {
            let found = index_blob.and_then(|id| self.backend.read(&id).ok().flatten());
            found.map(|object| *buffer = object.bytes)
        };
        lane.converter.clean(conversion, path, bytes, read_index)
    }
}

/// The ignore rules, over those of the given files.
fn levels<'f>(
    repo: &Repo,
    disk: Option<PathBuf>,
    files: impl Iterator<Item = &'f PathBuf>,
) -> Result<Levels, Error> {
    let mut globals = Vec::new();
    for file in files {
        globals.extend(patterns_of(file)?);
    }
    let fold = repo.settings.ignore_case;
    Ok(Levels::new(disk, globals, fold))
}

/// The patterns of a file; none when there is none.
fn patterns_of(file: &Path) -> Result<Option<Patterns>, Error> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(Patterns::parse(&[], &bytes))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error).at("read", file),
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

fn fingerprint<'a>(
    files: impl Iterator<Item = &'a PathBuf>,
    settings: &str,
) -> Result<Sha256Digest, Error> {
    let mut bytes = settings.as_bytes().to_vec();
    for file in files {
        match fs::read(file) {
            Ok(content) => {
                bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
                bytes.extend_from_slice(&content);
            }
            Err(error) if is_absent(&error) => bytes.push(0xff),
            Err(error) => return Err(error).at("read", file),
        }
    }
    Ok(Sha256Digest::of(&bytes))
}

pub(super) fn bstr(bytes: &[u8]) -> &gix_object::bstr::BStr {
    bytes.into()
}

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// Against which look-alikes of `.git` names are checked.
pub(super) type Guard = gix_validate::path::component::Options;

/// What git's settings protect from.
pub(super) fn name_guard(settings: &super::settings::Settings) -> Guard {
    Guard {
        protect_windows: false,
        protect_hfs: settings.protect_hfs,
        protect_ntfs: settings.protect_ntfs,
    }
}

/// Whether git would take a name into a tree.
pub(super) fn is_valid_name(guard: Guard, name: &[u8], is_symlink: bool) -> bool {
    let mode = is_symlink.then_some(gix_validate::path::component::Mode::Symlink);
    let is_valid = |name: &[u8]| gix_validate::path::component(bstr(name), mode, guard).is_ok();
    // To Windows a backslash parts names: git looks at each part.
    let has_bad_part = || {
        guard.protect_ntfs
            && name.contains(&b'\\')
            && name
                .split(|byte| *byte == b'\\')
                .any(|part| !matches!(part, b"" | b"." | b"..") && !is_valid(part))
    };
    is_valid(name) && !has_bad_part()
}
