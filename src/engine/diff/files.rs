//! What changed in the files.

use rayon::prelude::*;
use serde::Serialize;

use super::super::failure::error_chain;
use super::super::{Error, Workspace};
use super::side::{Side, SideReport};
use crate::git::diff::attributes::{Attributes, Driver};
use crate::git::diff::measure::{Contents, Measure};
use crate::git::diff::pathspec::Pathspec;
use crate::git::diff::rename::{Detect, Pair, Place, Status, pairs};
use crate::git::diff::source::Source;
use crate::git::diff::{self, Threads};
use crate::git::patch::quote::quoted;
use crate::git::patch::{PatchWriter, drivers_of};
use crate::git::tree::Mode;
use crate::git::{self, pool};
use crate::model::path_text::quote_path;
use crate::model::{CheckpointId, ObjectId};

/// What changed in the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileChanges {
    /// Each path, in git's order.
    pub files: Vec<FileChange>,
    /// How many there are of each kind.
    pub totals: Totals,
}

/// How many paths and lines changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// New paths, copies included.
    pub created: u64,
    /// Paths with other content, another mode or another type.
    pub modified: u64,
    /// Paths that are gone.
    pub deleted: u64,
    /// Paths that were moved.
    pub renamed: u64,
    /// Of the new paths, those that are copies.
    pub copied: u64,
    /// Paths that have no lines.
    pub binary: u64,
    /// Lines that came.
    pub added_lines: u64,
    /// Lines that went.
    pub removed_lines: u64,
}

impl Totals {
    /// How many paths changed.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.created + self.modified + self.deleted + self.renamed
    }
}

/// A path that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// The path.
    pub path: String,
    /// The path it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// What happened.
    pub status: FileStatus,
    /// How similar a moved or copied file is to what it came from, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<u32>,
    /// What was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<FileItem>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<FileItem>,
    /// How much changed, when it was measured.
    #[serde(flatten)]
    pub measure: Option<Measure>,
    /// The path as git prints it.
    #[serde(skip)]
    pub git_path: String,
    /// The path it came from as git prints it.
    #[serde(skip)]
    pub git_old_path: Option<String>,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FileItem {
    /// In a word.
    pub kind: FileKind,
    /// The octal mode.
    pub mode: &'static str,
    /// The object.
    pub id: ObjectId,
}

/// What a path can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A file.
    File,
    /// A file that may be run.
    Executable,
    /// A symbolic link.
    Symlink,
    /// A commit of another repository.
    Submodule,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It has other content or another mode.
    Modified,
    /// It became something else.
    TypeChanged,
    /// It was moved here.
    Renamed,
    /// It was copied from another.
    Copied,
}

impl FileStatus {
    /// git's letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Modified => 'M',
            Self::TypeChanged => 'T',
            Self::Renamed => 'R',
            Self::Copied => 'C',
        }
    }
}

impl From<Status> for FileStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Added => Self::Added,
            Status::Deleted => Self::Deleted,
            Status::Modified => Self::Modified,
            Status::TypeChanged => Self::TypeChanged,
            Status::Renamed => Self::Renamed,
            Status::Copied => Self::Copied,
        }
    }
}

impl FileItem {
    pub(in crate::engine) fn new(mode: Mode, id: ObjectId) -> Self {
        let kind = match mode {
            Mode::Executable => FileKind::Executable,
            Mode::Symlink => FileKind::Symlink,
            Mode::Gitlink => FileKind::Submodule,
            Mode::File | Mode::Tree => FileKind::File,
        };
        let mode = mode.as_octal();
        Self { kind, mode, id }
    }
}

/// Two trees that were compared.
pub(super) struct Comparison<'a> {
    source: Source<'a>,
    pairs: Vec<Pair>,
    attributes: Attributes,
}

impl<'a> Comparison<'a> {
    /// Compares the trees of two sides; none when one of them has no files.
    pub fn of(
        workspace: &'a Workspace,
        old: &Side,
        new: &'a Side,
        paths: &Pathspec,
        detect: Detect,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, Error> {
        let without_files: Vec<&CheckpointId> = [old, new]
            .into_iter()
            .filter(|side| side.tree.is_none())
            .filter_map(|side| match &side.report {
                SideReport::Checkpoint { id, .. } => Some(id),
                SideReport::WorkTree { .. } => None,
            })
            .collect();
        for id in without_files {
            warnings.push(format!("{id} has no files to compare"));
        }
        let (Some(old), Some(tree)) = (old.tree, new.tree) else {
            return Ok(None);
        };
        let source = Source::new(&workspace.repo, new.snapshot.as_ref());
        let format = workspace.repo.backend.format();
        let mut deltas = diff::deltas(format, &|id| source.tree(id), Threads::All, old, tree)?;
        deltas.retain(|delta| paths.takes(&delta.path));
        let mut attributes = Attributes::new(&workspace.repo)?;
        let pairs = pairs(&deltas, detect, &source, &mut attributes)?;
        Ok(Some(Self {
            source,
            pairs,
            attributes,
        }))
    }

    /// The paths, with how much changed in each if that is asked for. What cannot be measured is a warning.
    pub fn report(&mut self, with_amounts: bool, warnings: &mut Vec<String>) -> FileChanges {
        let measured = if with_amounts {
            self.measure()
        } else {
            self.pairs.iter().map(|_| None).collect()
        };
        let mut report = FileChanges::default();
        for (pair, measured) in self.pairs.iter().zip(measured) {
            let measure = match measured {
                Some(Err(error)) => {
                    warnings.push(error_chain(&error));
                    None
                }
                Some(Ok(measure)) => Some(measure),
                None => None,
            };
            report.totals.add(pair.status, measure);
            report.files.push(file_change(pair, measure));
        }
        report
    }

    /// How much changed in each path.
    fn measure(&mut self) -> Vec<Option<Result<Measure, git::Error>>> {
        let Self {
            source,
            pairs,
            attributes,
        } = self;
        let drivers: Vec<[Driver; 2]> = pairs
            .iter()
            .map(|pair| drivers_of(attributes, pair))
            .collect();
        let measure = |(pair, [old, new]): (&Pair, &[Driver; 2])| {
            Contents::read(source, pair)?.measure([old, new])
        };
        pool::run(|| {
            let all = pairs.par_iter().zip(&drivers);
            all.map(|each| Some(measure(each))).collect()
        })
    }

    /// The patch.
    pub fn patch(&mut self) -> Result<Vec<u8>, Error> {
        let writer = PatchWriter::new(&self.source)?;
        let mut drivers = Vec::with_capacity(self.pairs.len());
        for pair in &self.pairs {
            drivers.push(drivers_of(&mut self.attributes, pair));
        }
        let pieces: Result<Vec<Vec<u8>>, git::Error> = self
            .pairs
            .par_iter()
            .zip(&drivers)
            .map(|(pair, [old, new])| {
                let mut out = Vec::new();
                writer.write(pair, [old, new], &mut out)?;
                Ok(out)
            })
            .collect();
        Ok(pieces?.concat())
    }
}

fn file_change(pair: &Pair, measure: Option<Measure>) -> FileChange {
    let item = |place: &Option<Place>| {
        let place = place.as_ref()?;
        Some(FileItem::new(place.item.mode, place.item.id))
    };
    let came_from = pair.old.as_ref().filter(|_| pair.similarity.is_some());
    FileChange {
        path: quote_path(pair.path()),
        old_path: came_from.map(|place| quote_path(&place.path)),
        status: pair.status.into(),
        similarity: pair.similarity,
        old: item(&pair.old),
        new: item(&pair.new),
        measure,
        git_path: printed(pair.path()),
        git_old_path: came_from.map(|place| printed(&place.path)),
    }
}

/// git quotes all but plain letters.
fn printed(path: &[u8]) -> String {
    String::from_utf8_lossy(&quoted(path)).into_owned()
}

impl Totals {
    fn add(&mut self, status: Status, measure: Option<Measure>) {
        match status {
            Status::Added => self.created += 1,
            Status::Copied => {
                self.created += 1;
                self.copied += 1;
            }
            Status::Deleted => self.deleted += 1,
            Status::Modified | Status::TypeChanged => self.modified += 1,
            Status::Renamed => self.renamed += 1,
        }
        match measure {
            Some(Measure::Lines(counts)) => {
                self.added_lines += counts.added;
                self.removed_lines += counts.removed;
            }
            Some(Measure::Binary { .. }) => self.binary += 1,
            None => {}
        }
    }
}
