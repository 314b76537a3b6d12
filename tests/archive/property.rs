//! Any bytes at all: an import takes them or refuses them; it never falls over, and never leaves a trace of what it
//! refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use go_team::engine::import::{ImportOptions, Mode, import};
use go_team::engine::open::{OpenOptions, WideWorkTree, open};
use go_team::engine::{Clock, Workspace};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use crate::check;
use crate::forge::{Archive, gzip};
use crate::hostile::limited;
use crate::support::TestRepo;

/// What is done to an archive's bytes.
#[derive(Debug, Clone)]
enum Change {
    Flip(Index, u8),
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Cut(Index),
    Swap(Index, Index, usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        if length == 0 {
            return;
        }
        match self {
            Self::Flip(at, bit) => bytes[at.index(length)] ^= 1 << (bit % 8),
            Self::Set(at, byte) => bytes[at.index(length)] = *byte,
            Self::Insert(at, more) => {
                let at = at.index(length);
                _ = bytes.splice(at..at, more.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = at.index(length);
                bytes.drain(at..length.min(at + count));
            }
            Self::Cut(at) => bytes.truncate(at.index(length)),
            Self::Swap(a, b, count) => {
                let (a, b) = (a.index(length), b.index(length));
                let (a, b) = (a.min(b), a.max(b));
                let count = (*count).min(b - a).min(length - b);
                for nth in 0..count {
                    bytes.swap(a + nth, b + nth);
                }
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, bit)| Change::Flip(at, bit)),
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => (any::<Index>(), any::<Vec<u8>>()).prop_map(|(at, more)| Change::Insert(at, more)),
        1 => (any::<Index>(), 1..600_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => (any::<Index>(), any::<Index>(), 1..600_usize).prop_map(|(a, b, count)| Change::Swap(a, b, count)),
    ]
}

/// Where the change is made; what is around it is made to fit.
#[derive(Debug, Clone)]
enum Layer {
    /// The compressed file.
    File,
    /// The tar in it.
    Tar,
    /// One member, unlisted or listed anew.
    Member(Index, bool),
    /// The pack in the bundle, with a right checksum.
    Pack,
}

fn layer() -> impl Strategy<Value = Layer> {
    prop_oneof![
        2 => Just(Layer::File),
        2 => Just(Layer::Tar),
        3 => (any::<Index>(), any::<bool>()).prop_map(|(at, relist)| Layer::Member(at, relist)),
        4 => Just(Layer::Pack),
    ]
}

fn forged(archive: &Archive, layer: &Layer, changes: &[Change]) -> Vec<u8> {
    let mut archive = archive.clone();
    let apply = |bytes: &mut Vec<u8>| changes.iter().for_each(|change| change.apply(bytes));
    match layer {
        Layer::File => {
            let mut bytes = archive.gzip();
            apply(&mut bytes);
            return bytes;
        }
        Layer::Tar => {
            let mut bytes = archive.tar();
            apply(&mut bytes);
            return gzip(&bytes);
        }
        Layer::Member(at, relist) => {
            let at = at.index(archive.members.len());
            apply(&mut archive.members[at].bytes);
            if *relist {
                archive.relist();
            }
        }
        Layer::Pack => {
            use sha1::Digest as _;
            let bundle = &mut archive.member(".bundle").bytes;
            let start = bundle.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
            let mut pack = bundle.split_off(start);
            pack.truncate(pack.len() - 20);
            apply(&mut pack);
            pack.extend(sha1::Sha1::digest(&pack));
            bundle.extend(pack);
            archive.relist();
        }
    }
    archive.gzip()
}

/// A repository that is given archives, and is put back when one of them came in.
struct Target {
    repo: TestRepo,
    workspace: Workspace,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = check::below(dir).into_iter();
    let files = paths.map(|path| (path.clone(), fs::read(path).unwrap_or_default()));
    files.collect()
}

impl Target {
    fn new() -> Self {
        let repo = TestRepo::with_commit();
        repo.ok(&["cp-create", "own"]);
        let workspace = open(OpenOptions {
            start: repo.root(),
            home: Some(repo.home().into_os_string()),
            xdg_config_home: None,
            environment: Vec::new(),
            wide: WideWorkTree::Refuse,
            clock: Clock::System,
        });
        Self {
            before: contents(&repo.root()),
            workspace: workspace.unwrap_or_else(|error| panic!("{error}")),
            repo,
        }
    }

    /// Imports bytes; says whether they came in.
    fn import(&self, bytes: &[u8]) -> Result<bool, TestCaseError> {
        let file = self.repo.home().join("archive");
        fs::write(&file, bytes).unwrap();
        let options = ImportOptions {
            file,
            rename: None,
            sha256: None,
            mode: Mode::Import,
        };
        let Ok(report) = import(&self.workspace, &options) else {
            let after = contents(&self.repo.root());
            prop_assert!(after == self.before, "something was left or changed");
            return Ok(false);
        };
        // What came in is whole.
        let store = &self.workspace.store;
        let manifest = store.load_manifest(&report.session_id);
        let manifest = manifest.map_err(|error| TestCaseError::fail(error.to_string()))?;
        for entry in manifest.checkpoints() {
            let loaded = store.load_listed(&report.session_id, entry);
            prop_assert!(loaded.is_ok());
        }
        self.repo.git(&["fsck", "--strict", "--no-dangling"]);
        for path in contents(&self.repo.root()).into_keys().rev() {
            match self.before.get(&path) {
                Some(was) if path.is_file() => fs::write(&path, was).unwrap(),
                Some(_) => {}
                None if path.is_dir() => fs::remove_dir(&path).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
        }
        Ok(true)
    }
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    }
}

#[test]
fn a_changed_archive_comes_in_whole_or_leaves_no_trace() {
    let archive = Archive::of(&TestRepo::with_checkpoints());
    let target = Target::new();
    assert!(target.import(&archive.gzip()).unwrap());
    let strategy = (layer(), prop::collection::vec(change(), 1..4));
    let refused = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(config(600));
    let result = runner.run(&strategy, |(layer, changes)| {
        if !target.import(&forged(&archive, &layer, &changes))? {
            refused.set(refused.get() + 1);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(refused.get() > 300, "most changes are found: {refused:?}");
}

#[test]
fn any_bytes_are_refused() {
    let target = Target::new();
    let strategy = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4096),
        prop::collection::vec(any::<u8>(), 0..4096).prop_map(|bytes| gzip(&bytes)),
        prop::collection::vec(any::<u8>(), 512..4096).prop_map(|bytes| {
            // A header that is right, before anything.
            let mut archive = Archive {
                members: vec![crate::forge::Member::new("a/contents.json", &bytes)],
            };
            archive
                .members
                .push(crate::forge::Member::new("a/manifest.json", &bytes));
            gzip(&archive.tar())
        }),
    ];
    let mut runner = TestRunner::new(config(300));
    let result = runner.run(&strategy, |bytes| {
        prop_assert!(!target.import(&bytes)?);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_changed_archive_needs_no_more_memory_than_a_right_one() {
    let archive = Archive::of(&TestRepo::with_checkpoints());
    let target = Target::new();
    let strategy = (layer(), prop::collection::vec(change(), 1..4));
    let file = target.repo.home().join("archive");
    let mut runner = TestRunner::new(config(60));
    let result = runner.run(&strategy, |(layer, changes)| {
        fs::write(&file, forged(&archive, &layer, &changes)).unwrap();
        let output = limited(&target.repo, &file);
        prop_assert!(matches!(output.code, Some(0 | 1 | 3)), "{}", output);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
