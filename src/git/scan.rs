//! One scan from start to end: what is remembered, what is looked at, and the trees that come out of it.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use rustix::fs::{Mode as OpenMode, OFlags, Timespec, Timestamps, UTIME_NOW};

use super::cache::{Anchor, Cache};
use super::content::Reader;
use super::index::{self, IndexView, Stage};
use super::node::{Dir, join};
use super::open::Repo;
use super::pack::PackWriter;
use super::pool;
use super::rules::{Capture, Rules};
use super::stamp::Stamp;
use super::timings::Timings;
use super::trees::TreeBag;
use super::walk::{Above, Progress, Walk};
use super::{Error, IoContext as _};

/// What becomes of content that the repository does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objects {
    /// It goes into a pack, to be published with a checkpoint.
    Keep,
    /// It is only named, but what was seen may be remembered.
    Check,
    /// It is only named: nothing at all is written, so that a repository that may not be written can be looked at.
    Name,
    /// As [`Objects::Name`], and as much of it as there is room for stays in memory, to be compared.
    Hold,
}

/// How many bytes of new content a scan holds in memory at most.
const ROOM: usize = 64 << 20;

/// A work tree is small whose index and cache are no larger than this: some thousand files.
const SMALL: u64 = 128 << 10;

/// What a scan is given.
pub struct ScanOptions<'a> {
    /// go-team's own rules.
    pub capture: &'a Capture,
    /// Where the stat cache is.
    pub cache: &'a Path,
    /// A directory of go-team's on the repository's file system, for a probe of its clock.
    pub scratch: &'a Path,
    /// What becomes of new content.
    pub objects: Objects,
    /// Counts what has been looked at.
    pub progress: &'a Progress,
}

/// The work tree at one instant, with the objects that are not in the repository yet.
pub struct Scan {
    pub(super) root: Dir,
    pub(super) conflicts: Vec<Stage>,
    pub(super) pack: PackWriter,
    pub(super) trees: TreeBag,
    /// Whether the cache on disk is out of date.
    stale: bool,
    memory: Memory,
    /// Where the time went.
    pub timings: Timings,
}

/// What goes into the cache beside the nodes.
struct Memory {
    path: PathBuf,
    index: Option<Stamp>,
    ignore_print: crate::model::digest::Sha256Digest,
    convert_print: crate::model::digest::Sha256Digest,
}

impl Scan {
    /// Looks at the whole work tree.
    ///
    /// # Errors
    /// When something cannot be read that is neither skipped nor gone.
    pub fn run(repo: &Repo, options: &ScanOptions<'_>) -> Result<Self, Error> {
        if was_small(repo, options) {
            return pool::alone(|| Self::here(repo, options));
        }
        pool::run(|| Self::here(repo, options))
    }

    fn here(repo: &Repo, options: &ScanOptions<'_>) -> Result<Self, Error> {
        let mut timings = Timings::start();
        let clock = match options.objects {
            Objects::Keep | Objects::Check => file_system_clock(options.scratch)?,
            // Nothing is remembered of such a scan, so nothing has to be older than it.
            Objects::Name | Objects::Hold => i64::MAX,
        };
        let format = repo.backend.format();
        let index_stamp = index::stamp(&repo.git_dir)?;
        let (cached, anchored) = recall(repo, options.cache)?;
        timings.lap("load cache");
        let facts_are_current = cached
            .as_ref()
            .is_some_and(|cache| cache.index.is_some() && cache.index == index_stamp);
        let lazy = OnceLock::new();
        let read_index = || -> Result<&IndexView, Error> {
            if let Some(view) = lazy.get() {
                return Ok(view);
            }
            let view = IndexView::read(repo)?;
            Ok(lazy.get_or_init(|| view))
        };
        let controls = match &cached {
            Some(cache) if facts_are_current => controls_of_nodes(&cache.root),
            _ => read_index()?.controls(),
        };
        let rules = Rules::new(repo, options.capture, controls)?;
        timings.lap("read index and rules");
        let open = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root =
            rustix::fs::open(&repo.work_dir, open, OpenMode::empty()).at("open", &repo.work_dir)?;
        let pack = match options.objects {
            Objects::Keep => PackWriter::new(&repo.pack_dir(), format),
            Objects::Check | Objects::Name => PackWriter::nowhere(format),
            Objects::Hold => PackWriter::in_memory(format, ROOM),
        };
        let above = Above {
            reread: cached
                .as_ref()
                .is_some_and(|cache| cache.ignore_print != rules.ignore_print),
            reconvert: cached
                .as_ref()
                .is_some_and(|cache| cache.convert_print != rules.convert_print),
            attributes: rules.converts_everywhere,
        };
        let (old, old_conflicts) = cached.map_or((None, Vec::new()), |cache| {
            (Some(cache.root), cache.conflicts)
        });
        let had_cache = old.is_some();
        let walk = Walk {
            root: &root,
            work_dir: &repo.work_dir,
            rules: &rules,
            reader: Reader {
                root: root.as_fd(),
                rules: &rules,
                pack: &pack,
                max_bytes: options.capture.max_file_bytes,
            },
            backend: &*repo.backend,
            settings: &repo.settings,
            index: &read_index,
            facts_are_current,
            old_objects_are_held: anchored,
            conversions_are_known: had_cache && !above.reconvert,
            clock,
            progress: options.progress,
            moved: AtomicBool::new(false),
        };
        let mut root = walk.run(old, above)?;
        let moved = walk.moved.into_inner();
        timings.lap("look at files");
        let trees = TreeBag::seal(&mut root, format)?;
        timings.lap("build trees");
        let conflicts = match lazy.get() {
            Some(view) => view.conflicts(),
            None => old_conflicts,
        };
        let memory = Memory {
            path: options.cache.to_owned(),
            index: index_stamp.filter(|stamp| stamp.is_older_than(clock)),
            ignore_print: rules.ignore_print,
            convert_print: rules.convert_print,
        };
        let stale = moved
            || !had_cache
            || !anchored
            || !facts_are_current
            || above.reread
            || above.reconvert;
        Ok(Self {
            root,
            conflicts,
            pack,
            trees,
            stale,
            memory,
            timings,
        })
    }

    /// Remembers the scan for the next one, now that a ref holds its objects. A failure costs time later, nothing else.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub(super) fn remember(
        root: Dir,
        conflicts: Vec<Stage>,
        memory: ScanMemory,
        anchor: Anchor,
        format: crate::model::ObjectFormat,
    ) -> Result<(), Error> {
        let Some(Memory {
            path,
            index,
            ignore_print,
            convert_print,
        }) = memory.0
        else {
            free(root);
            return Ok(());
        };
        let cache = Cache {
            anchor,
            index,
            ignore_print,
            convert_print,
            conflicts,
            root,
        };
        let stored = cache.store(&path, format);
        free(cache.root);
        stored
    }

    pub(super) fn into_parts(self) -> (Dir, Vec<Stage>, PackWriter, ScanMemory) {
        let memory = ScanMemory(self.stale.then_some(self.memory));
        (self.root, self.conflicts, self.pack, memory)
    }
}

/// Whether neither the index nor the last scan knows of many files.
fn was_small(repo: &Repo, options: &ScanOptions<'_>) -> bool {
    let is_small = |path: &Path| {
        let file = path.metadata();
        file.map_or(true, |file| file.len() <= SMALL)
    };
    is_small(options.cache) && is_small(&repo.git_dir.join("index"))
}

/// Freeing many nodes takes time that nobody has to wait for; a thread for a few takes longer than they do.
fn free(root: Dir) {
    if is_large(&root) {
        std::thread::spawn(|| drop(root));
    }
}

/// Whether whatever is done with all nodes is worth a thread.
pub(super) fn is_large(root: &Dir) -> bool {
    let below = |dir: &Dir| dir.files.len() / 10 + dir.dirs.len();
    below(root) + root.dirs.iter().map(below).sum::<usize>() > 100
}

/// What must be written to the cache, when it is out of date.
pub(super) struct ScanMemory(Option<Memory>);

/// What the last scan remembered, and whether a ref still holds the objects it names.
fn recall(repo: &Repo, path: &Path) -> Result<(Option<Cache>, bool), Error> {
    let Some(mut cache) = Cache::load(path, repo.backend.format()) else {
        return Ok((None, false));
    };
    let held = repo.backend.reference(&cache.anchor.reference)? == Some(cache.anchor.commit);
    if !held {
        distrust(&mut cache.root);
    }
    Ok((Some(cache), held))
}

/// Nothing holds the cached objects any more: stamps stand for content only where the index holds the same object, and
/// every tree is built anew.
fn distrust(dir: &mut Dir) {
    dir.dirty = true;
    for file in &mut dir.files {
        let staged = file.index.and_then(|facts| facts.staged());
        file.trusted &=
            file.tree.is_some() && file.tree == staged && file.disk == super::node::Disk::AsTree;
    }
    for dir in &mut dir.dirs {
        distrust(dir);
    }
}

/// The tracked ignore and attribute files, which count even when they are not on disk.
fn controls_of_nodes(root: &Dir) -> Vec<index::Control> {
    let mut controls = Vec::new();
    root.walk(&mut Vec::new(), &mut |path, dir| {
        let tracked = dir.files.iter().filter(|file| file.index.is_some());
        for file in tracked.filter(|file| file.name.starts_with(b".git")) {
            if let Some(facts) = &file.index {
                controls.extend(index::Control::of(&join(path, &file.name), facts));
            }
        }
    });
    controls.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    controls
}

/// The time the file system would stamp a file with now.
fn file_system_clock(scratch: &Path) -> Result<i64, Error> {
    // Making a file takes longer than touching one. What is in its place must not stop anybody.
    if let Ok(now) = touched(&scratch.join("clock")) {
        return Ok(now);
    }
    let probe = tempfile::Builder::new()
        .prefix(".tmp-clock-")
        .tempfile_in(scratch)
        .at("create temporary file in", scratch)?;
    let stat = rustix::fs::fstat(probe.as_file()).at("stat", probe.path())?;
    Ok(Stamp::of(&stat).mtime)
}

/// The time that a file has once it is touched.
fn touched(path: &Path) -> rustix::io::Result<i64> {
    const NOW: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let flags =
        OFlags::CREATE | OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, OpenMode::RUSR | OpenMode::WUSR)?;
    let times = Timestamps {
        last_access: NOW,
        last_modification: NOW,
    };
    rustix::fs::futimens(&file, &times)?;
    Ok(Stamp::of(&rustix::fs::fstat(&file)?).mtime)
}
