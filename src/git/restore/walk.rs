//! The way from one side of the differences to the other, in steps that can be repeated.
//!
//! Files go first, then directories that nothing is in any more; new directories come, then files, then the permission
//! bits of directories. A file is replaced by a rename, so each path holds what one of the two sides has there at every
//! instant.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::compare::{Change, Differences};
use super::disk::{Filters, Seen, stat_beneath};
use super::place::{Content, Flush, Place, split};
use super::view::Item;
use crate::git::backend::Sync;
use crate::git::open::Repo;
use crate::git::rules::as_path;
use crate::git::stamp::Stamp;
use crate::git::{Error, pool};

/// With more files or directories than this, one sync of the whole file system is quicker than one for each of them. With
/// fewer it is not: it waits for what all others have written.
const SYNC_EACH: usize = 32;

/// Which way to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the target.
    Forward,
    /// Back to where it began.
    Back,
}

/// What becomes of a path that holds what neither side has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// It is left alone, and the walk ends there.
    Refuse,
    /// It is left alone, and the walk goes on.
    Leave,
    /// It is overwritten: something else holds it.
    Overwrite,
}

/// How far a walk has come, and whether it should stop.
#[derive(Debug, Default)]
pub struct Marks {
    /// Steps done.
    pub done: AtomicU64,
    /// Steps in all.
    pub total: AtomicU64,
    /// Set from outside to stop before the next step; a walk back is not stopped.
    pub stop: AtomicBool,
    /// Whether the steps lead back to where it began.
    pub back: AtomicBool,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Arrived,
    /// It was told to stop on the way.
    Stopped,
}

/// A walk between two states of the disk.
pub struct Restore<'a> {
    repo: &'a Repo,
    differences: &'a Differences,
    /// The rules of either side.
    filters: [&'a Filters; 2],
    /// What the disk looked like when the one side was captured.
    stamps: &'a HashMap<Vec<u8>, Stamp>,
    place: Place,
    sync: Sync,
}

impl<'a> Restore<'a> {
    /// Prepares a walk. `token` names its temporary files.
    ///
    /// # Errors
    /// When the work tree cannot be opened.
    pub fn new(
        repo: &'a Repo,
        differences: &'a Differences,
        filters: [&'a Filters; 2],
        stamps: &'a HashMap<Vec<u8>, Stamp>,
        token: &str,
        sync: Sync,
    ) -> Result<Self, Error> {
        Ok(Self {
            repo,
            differences,
            filters,
            stamps,
            place: Place::new(&repo.work_dir, token)?,
            sync,
        })
    }

    /// Removes the temporary files of a walk that was killed.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn clean(&self) -> Result<(), Error> {
        self.place.clean(&[])?;
        for dir in &self.differences.dirs {
            self.place.clean(&dir.path)?;
        }
        Ok(())
    }

    /// The changed paths that hold something that neither side has: somebody else's work.
    ///
    /// # Errors
    /// When the disk cannot be read.
    pub fn foreign(&self) -> Result<Vec<Vec<u8>>, Error> {
        let [from, to] = self.filters;
        let backend = &*self.repo.backend;
        let mut found = Vec::new();
        for change in &self.differences.files {
            if from.is_foreign(self.place.root(), backend, change, to)? {
                found.push(change.path.clone());
            }
        }
        Ok(found)
    }

    /// The changed paths that do not hold what the target has there.
    ///
    /// # Errors
    /// When the disk cannot be read.
    pub fn unreached(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut found = Vec::new();
        for change in &self.differences.files {
            let wanted = change.to.as_ref().filter(|item| !item.is_nested());
            let seen = self.filters[1].see(
                self.place.root(),
                &*self.repo.backend,
                &change.path,
                wanted,
            )?;
            let arrived = match wanted {
                None => seen == Seen::Nothing,
                Some(_) => seen == Seen::Same,
            };
            if !arrived {
                found.push(change.path.clone());
            }
        }
        Ok(found)
    }

    /// Walks.
    ///
    /// # Errors
    /// When a step fails, or a path holds what neither side has there.
    pub fn walk(
        &self,
        direction: Direction,
        foreign: Foreign,
        marks: &Marks,
    ) -> Result<Outcome, Error> {
        marks
            .total
            .store(self.differences.files.len() as u64, Ordering::Relaxed);
        marks.done.store(0, Ordering::Relaxed);
        let is_back = direction == Direction::Back;
        marks.back.store(is_back, Ordering::Relaxed);
        pool::run(|| self.steps(direction, foreign, marks))
    }

    fn steps(
        &self,
        direction: Direction,
        foreign: Foreign,
        marks: &Marks,
    ) -> Result<Outcome, Error> {
        let goal = |change: &Change| match direction {
            Direction::Forward => change.to.filter(|item| !item.is_nested()),
            Direction::Back => change.from.filter(|item| !item.is_nested()),
        };
        let (come, go): (Vec<&Change>, Vec<&Change>) = self
            .differences
            .files
            .iter()
            .partition(|change| goal(change).is_some());
        let stopped = AtomicBool::new(false);
        let go_on = || {
            let stop = direction == Direction::Forward && marks.stop.load(Ordering::Relaxed);
            stopped.fetch_or(stop, Ordering::Relaxed);
            !stop
        };
        go.par_iter().filter(|_| go_on()).try_for_each(|change| {
            self.take_away(change, direction, foreign)?;
            marks.done.fetch_add(1, Ordering::Relaxed);
            Ok::<(), Error>(())
        })?;
        if stopped.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped);
        }
        let bits = |dir: &super::DirChange| match direction {
            Direction::Forward => dir.to,
            Direction::Back => dir.from,
        };
        for dir in self.differences.dirs.iter().rev() {
            if bits(dir).is_none() {
                // What is left in it is ignored or was skipped, and stays.
                self.place.remove_dir(&dir.path)?;
            }
        }
        for dir in &self.differences.dirs {
            if let Some(bits) = bits(dir) {
                self.place.make_dir(&dir.path, bits)?;
            }
        }
        let flush = match self.sync {
            Sync::Durable if self.differences.count() <= SYNC_EACH => Flush::Each,
            _ => Flush::Later,
        };
        come.par_iter().filter(|_| go_on()).try_for_each(|change| {
            let item = goal(change).expect("only those that have one");
            self.bring(change, &item, (direction, foreign), flush)?;
            marks.done.fetch_add(1, Ordering::Relaxed);
            Ok::<(), Error>(())
        })?;
        if stopped.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped);
        }
        for dir in self.differences.dirs.iter().rev() {
            if let Some(bits) = bits(dir) {
                self.place.settle_dir(&dir.path, bits)?;
            }
        }
        if flush == Flush::Each {
            let Differences { files, dirs } = self.differences;
            let paths = files.iter().map(|change| &change.path);
            let above = paths.chain(dirs.iter().map(|dir| &dir.path));
            let above = above.map(|path| split(path).0);
            let all: BTreeSet<&[u8]> = above.chain(dirs.iter().map(|dir| &*dir.path)).collect();
            all.iter().try_for_each(|dir| self.place.sync_dir(dir))?;
        } else if self.sync == Sync::Durable {
            self.place.sync_all()?;
        }
        Ok(Outcome::Arrived)
    }

    fn take_away(
        &self,
        change: &Change,
        direction: Direction,
        foreign: Foreign,
    ) -> Result<(), Error> {
        match self.start(change, direction, foreign)? {
            Start::Empty | Start::Foreign => Ok(()),
            Start::Ours => self.place.remove(&change.path),
        }
    }

    fn bring(
        &self,
        change: &Change,
        item: &Item,
        (direction, foreign): (Direction, Foreign),
        flush: Flush,
    ) -> Result<(), Error> {
        if direction == Direction::Back && self.is_as_captured(change) {
            return Ok(());
        }
        let backend = &*self.repo.backend;
        let goal = self.filters[usize::from(direction == Direction::Forward)];
        let is_same_content = match (change.from, change.to) {
            (Some(Item::File { id, .. }), Some(Item::File { id: other, .. })) => id == other,
            _ => false,
        };
        let seen = if is_same_content || !self.is_as_captured(change) {
            goal.see(self.place.root(), backend, &change.path, Some(item))?
        } else {
            Seen::Other
        };
        match (seen, item) {
            (Seen::Same, _) => return Ok(()),
            (Seen::OtherBits, Item::File { bits, .. }) => {
                return self.place.settle_file(&change.path, *bits, flush);
            }
            _ => {}
        }
        if self.start(change, direction, foreign)? == Start::Foreign {
            return Ok(());
        }
        let bytes = goal.bytes(backend, &change.path, item)?;
        let content = match item {
            Item::File { bits, .. } => Content::File {
                bytes: &bytes,
                bits: *bits,
            },
            _ => Content::Link { target: &bytes },
        };
        self.place.put(&change.path, &content, flush)
    }

    /// Whether the disk still is as it was when the one side was captured.
    fn is_as_captured(&self, change: &Change) -> bool {
        let stamp = self.stamps.get(&change.path);
        stamp.is_some_and(|stamp| {
            stat_beneath(self.place.root(), &change.path).as_ref() == Ok(stamp)
        })
    }

    /// What is at the path, which must be nothing or what the walk starts from; anything else is somebody's work.
    fn start(
        &self,
        change: &Change,
        direction: Direction,
        foreign: Foreign,
    ) -> Result<Start, Error> {
        if self.is_as_captured(change) {
            return Ok(Start::Ours);
        }
        let (filters, item) = match direction {
            Direction::Forward => (self.filters[0], change.from),
            Direction::Back => (self.filters[1], change.to),
        };
        let seen = filters.see(
            self.place.root(),
            &*self.repo.backend,
            &change.path,
            item.as_ref(),
        )?;
        match (seen, foreign) {
            (Seen::Nothing, _) => Ok(Start::Empty),
            (Seen::Same | Seen::OtherBits, _) | (Seen::Other, Foreign::Overwrite) => {
                Ok(Start::Ours)
            }
            (Seen::Other, Foreign::Leave) => Ok(Start::Foreign),
            (Seen::Other, Foreign::Refuse) => Err(Error::Touched {
                path: as_path(&change.path).to_owned(),
            }),
        }
    }
}

/// What a step finds where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Nothing is there.
    Empty,
    /// What may be replaced.
    Ours,
    /// Somebody's work, to be left alone.
    Foreign,
}
