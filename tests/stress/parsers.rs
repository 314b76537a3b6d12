//! Any bytes in any file that is read: an answer or an error, never a crash, and never more time or memory than is sane.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use go_team::model::archive::{Contents, ImportJournal, RollbackHistory};
use go_team::model::current::CurrentPointer;
use go_team::model::state::parse_assignment;
use go_team::model::{
    CheckpointId, Journal, Manifest, ObjectId, Record, Selector, SessionId, Sha256Digest, State,
    json, timestamp,
};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use super::support::TestRepo;

/// How many cases: `GO_TEAM_CASES` of them, or a few.
fn runner(few: u32) -> TestRunner {
    let asked = std::env::var("GO_TEAM_CASES").ok();
    let cases = asked.map_or(few, |text| text.parse().expect("a number of cases"));
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    })
}

/// What is done to bytes.
#[derive(Debug, Clone)]
enum Change {
    Flip(Index, u8),
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Cut(Index),
    Replace(Vec<u8>),
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
            Self::Repeat(at, count, times) => {
                let at = at.index(length);
                let piece = bytes[at..length.min(at + count)].repeat(*times);
                _ = bytes.splice(at..at, piece);
            }
            Self::Cut(at) => bytes.truncate(at.index(length)),
            Self::Replace(all) => bytes.clone_from(all),
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    // Bytes that mean something to one format or another.
    let meaningful = prop::sample::select(b"{}[]\",:\\0\n\xff/.~-9 \x80\x7f".to_vec());
    let byte = || prop_oneof![any::<u8>(), meaningful.clone()];
    let bytes = || prop::collection::vec(byte(), 1..24);
    let one = prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, bit)| Change::Flip(at, bit)),
        4 => (any::<Index>(), byte()).prop_map(|(at, byte)| Change::Set(at, byte)),
        2 => (any::<Index>(), bytes()).prop_map(|(at, more)| Change::Insert(at, more)),
        2 => (any::<Index>(), 1..64usize).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (any::<Index>(), 1..40usize, 1..40usize)
            .prop_map(|(at, count, times)| Change::Repeat(at, count, times)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => prop::collection::vec(byte(), 0..300).prop_map(Change::Replace),
    ];
    prop::collection::vec(one, 1..4)
}

fn changed(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes {
        change.apply(&mut bytes);
    }
    bytes
}

/// Gives bytes to everything that reads any.
fn read_all(bytes: &[u8]) {
    let commit = ObjectId::from_bytes(&[7; 20]).unwrap();
    let _ = Record::from_file_bytes(bytes);
    let _ = Record::from_sidecar(bytes, commit);
    let _ = Manifest::from_file_bytes(bytes);
    let _ = Journal::from_file_bytes(bytes);
    let _ = State::from_file_bytes(bytes);
    let _ = State::parse(bytes);
    let _ = CurrentPointer::from_file_bytes(bytes);
    let _ = Contents::from_file_bytes(bytes);
    let _ = RollbackHistory::from_file_bytes(bytes);
    let _ = ImportJournal::from_file_bytes(bytes);
    let _ = json::parse_limited(bytes, json::Limits::INPUT);
    let text = String::from_utf8_lossy(bytes);
    let _ = Selector::parse(&text);
    let _ = SessionId::parse(&text);
    let _ = CheckpointId::parse(&text);
    let _ = Sha256Digest::parse(&text);
    let _ = ObjectId::parse(&text);
    let _ = parse_assignment(&text);
    let _ = timestamp::parse(&text);
}

/// A session in which everything that is ever read is there.
fn eventful() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    repo.write(
        "go-team.toml",
        "[capture]\nmax_file_mb = 3\n[workflow.own]\nsteps = [\"a\", \"b\"]\n",
    );
    repo.ok(&["rollback", "1", "--yes"]);
    repo.ok(&["undo", "--yes"]);
    repo.git(&["pack-refs", "--all"]);
    repo.git(&["add", "."]);
    repo.ok(&["cp-create", "--trigger", "auto"]);
    repo
}

#[test]
fn models_take_any_bytes() {
    let repo = eventful();
    let mut seeds: Vec<Vec<u8>> = fs::read_dir(repo.session_dir())
        .unwrap()
        .filter_map(|entry| fs::read(entry.unwrap().path()).ok())
        .collect();
    let text = "cp-02-requirements~3 metrics.test_coverage=81.5 2025-12-28T21:15:00.123Z";
    seeds.extend(text.split(' ').map(|word| word.as_bytes().to_vec()));
    runner(400)
        .run(&(any::<Index>(), changes()), |(seed, changes)| {
            let bytes = changed(&seeds[seed.index(seeds.len())], &changes);
            read_all(&bytes);
            Ok(())
        })
        .unwrap();
}

/// Every file that a command reads, by what it is.
fn files(repo: &TestRepo) -> Vec<PathBuf> {
    let mut files = vec![
        repo.path(".git/index"),
        repo.path(".git/packed-refs"),
        repo.path(".git/HEAD"),
        repo.path(".git/config"),
        repo.path("go-team.toml"),
        repo.store().join("packs"),
        repo.store().join("worktrees/main/stat-cache"),
        repo.store().join("worktrees/main/current"),
    ];
    let session = repo.session_dir();
    files.extend(["manifest.json", "state.json"].map(|name| session.join(name)));
    let of_session = fs::read_dir(&session).unwrap();
    let records = of_session.map(|entry| entry.unwrap().path());
    files.extend(records.filter(|path| path.to_string_lossy().contains("/cp-02")));
    let packs = fs::read_dir(repo.path(".git/objects/pack")).unwrap();
    files.extend(packs.map(|entry| entry.unwrap().path()));
    for file in &files {
        assert!(file.is_file(), "{} is not there", file.display());
    }
    // These are there only while something is under way.
    let begun = [
        (session.join("journal.json"), JOURNAL),
        (session.join("rollback.json"), JOURNAL),
        (repo.store().join("import.json"), IMPORT),
    ];
    for (path, text) in begun {
        let text = text.replace("SESSION", session.file_name().unwrap().to_str().unwrap());
        fs::write(repo.home().join(path.file_name().unwrap()), text).unwrap();
        files.push(path);
    }
    files
}

const JOURNAL: &str = "{\"version\": 1, \"op\": \"create\", \"session\": \"SESSION\", \
    \"checkpoint\": \"cp-09-gone-20251228-210000\", \"started_at\": \"2025-12-28T21:00:00.000Z\"}\n";
const IMPORT: &str = "{\"version\": 1, \"session\": \"gone\", \"started_at\": \"2025-12-28T21:00:00.000Z\", \
    \"keep\": [], \"refs\": {}}\n";

/// Runs go-team with little memory, and gives its exit code and how long it took.
fn limited(repo: &TestRepo, args: &[&str]) -> (Option<i32>, String, Duration) {
    let limit = |command: &mut Command| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -v 1500000; exec \"$0\" \"$@\""]);
        shell.arg(command.get_program()).args(command.get_args());
        shell.current_dir(command.get_current_dir().unwrap());
        shell.env_clear().process_group(0);
        let variables = command.get_envs();
        shell.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        *command = shell;
    };
    let started = Instant::now();
    let output = repo.run_with(args, limit, "");
    (output.code, output.to_string(), started.elapsed())
}

#[test]
fn commands_take_any_bytes_in_any_file() {
    let whole = eventful();
    let count = files(&whole).len();
    let commands: [&[&str]; 9] = [
        &["cp-create", "next"],
        &["cp-list"],
        &["status"],
        &["cp-show", "2"],
        &["cp-diff", "1"],
        &["cp-validate", "--deep"],
        &["rollback", "1", "--yes"],
        &["cp-rebuild", "--all"],
        &["doctor"],
    ];
    let strategy = (0..count, 0..commands.len(), changes());
    runner(60)
        .run(&strategy, |(file, command, changes)| {
            let repo = whole.copy();
            let path = &files(&repo)[file];
            let left = repo.home().join(path.file_name().unwrap());
            let bytes = fs::read(path).or_else(|_| fs::read(left)).unwrap();
            // What git has made read-only is read-only no more.
            let _ = fs::remove_file(path);
            fs::write(path, changed(&bytes, &changes)).unwrap();
            let args = commands[command];
            let (code, text, took) = limited(&repo, args);
            let is_answer = code.is_some_and(|code| (0..=7).contains(&code));
            prop_assert!(is_answer, "{args:?} with {}: {text}", path.display());
            prop_assert!(took < Duration::from_secs(20), "{args:?} took {took:?}");
            Ok(())
        })
        .unwrap();
}
