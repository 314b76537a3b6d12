//! Whether everything that go-team acknowledged is there and whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use go_team::model::chain::{Link, check_chain};
use go_team::model::{CheckpointId, Manifest, Record, SessionId};
use go_team::store::{Durability, Store};

use super::process;
use super::support::TestRepo;

/// A session as it is on the disk.
pub struct Session {
    pub manifest: Manifest,
    pub records: Vec<Record>,
}

/// Checks every session of the repository at `dir`, and gives them.
///
/// Refs, records and manifest entries are the same set; each record is whole and linked to the one before it; each
/// commit has its parents, and its sidecar tells the same as the record; every object of every checkpoint is there.
pub fn complete(repo: &TestRepo, dir: &Path) -> Vec<Session> {
    complete_in(repo, dir, &common_dir(repo, dir).join("go-team"))
}

/// The same, where go-team keeps its files elsewhere.
pub fn complete_in(repo: &TestRepo, dir: &Path, storage: &Path) -> Vec<Session> {
    let store = Store::new(storage.to_owned(), Durability::None);
    let mut items = store.list_sessions().unwrap();
    items.extend(store.list_failed().unwrap());
    let sessions: Vec<Session> = items
        .into_iter()
        .map(|item| session(&store, item.manifest.unwrap()))
        .collect();
    let mut expected = BTreeMap::new();
    for session in &sessions {
        for record in &session.records {
            // One that was made without files has none.
            if let Some(commit) = record.git.commit_hash {
                expected.insert(reference(record), commit.to_string());
            }
        }
    }
    assert_eq!(refs(repo, dir), expected, "refs, and what the records say");
    let records = sessions.iter().flat_map(|session| &session.records);
    let with_files: Vec<&Record> = records.filter(|record| record.git.enabled).collect();
    commits(repo, dir, &with_files);
    if !expected.is_empty() {
        git(repo, dir, &["rev-list", "--objects", "--glob=refs/go-team"]);
    }
    git(repo, dir, &["fsck", "--strict", "--no-dangling"]);
    sessions
}

/// The only session there is.
pub fn complete_one(repo: &TestRepo, dir: &Path) -> Session {
    let mut sessions = complete(repo, dir);
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

/// What `cp-show` says of each checkpoint of the work tree's session.
pub fn shown_as_valid(repo: &TestRepo, session: &Session) {
    for record in &session.records {
        let shown = repo.ok(&["cp-show", record.id.as_str(), "--json"]).json();
        let checks = shown["data"]["validation"].as_array().unwrap();
        assert!(checks.len() >= 4, "{shown}");
        for check in checks {
            assert_eq!(check["result"], "ok", "{}: {check}", record.id);
        }
    }
}

/// No lock, no pack withheld from git's housekeeping, nothing half done.
pub fn no_residue(git_dir: &Path) {
    let found: Vec<PathBuf> = below(git_dir)
        .into_iter()
        .filter(|path| {
            let ends_with = |extension| path.extension().is_some_and(|found| found == extension);
            ends_with("lock") || ends_with("keep") || path.ends_with("journal.json")
        })
        .collect();
    assert!(found.is_empty(), "left behind: {found:#?}");
}

/// Every path below a directory.
pub fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

pub fn git(repo: &TestRepo, dir: &Path, args: &[&str]) -> String {
    let mut command = process::git(repo, dir);
    command.args(args);
    process::succeed(command)
}

fn common_dir(repo: &TestRepo, dir: &Path) -> PathBuf {
    dir.join(git(repo, dir, &["rev-parse", "--git-common-dir"]).trim_end())
}

fn session(store: &Store, manifest: Manifest) -> Session {
    let session: &SessionId = &manifest.session_id;
    let entries = manifest.checkpoints();
    let records: Vec<Record> = entries
        .iter()
        .map(|entry| store.load_listed(session, entry).unwrap())
        .collect();
    let listed: BTreeSet<CheckpointId> = entries.iter().map(|entry| entry.id.clone()).collect();
    assert_eq!(listed.len(), entries.len(), "ids are unique");
    assert_eq!(store.record_ids(session).unwrap(), listed);
    assert!(
        entries.windows(2).all(|pair| pair[0].seq < pair[1].seq),
        "seq rises"
    );
    let links: BTreeMap<&CheckpointId, Link> = records
        .iter()
        .map(|record| {
            let link = Link {
                checksum: record.checksum(),
                prev_checksum: record.prev_checksum,
            };
            (&record.id, link)
        })
        .collect();
    let breaks = check_chain(entries, manifest.pruned(), |entry| {
        links.get(&entry.id).copied()
    });
    assert!(breaks.is_empty(), "{breaks:#?}");
    let newest = records.last().map(|record| record.id.clone());
    assert_eq!(store.latest(session), newest, "the link to the newest");
    Session { manifest, records }
}

fn reference(record: &Record) -> String {
    format!("refs/go-team/{}/{}", record.session_id, record.id)
}

fn refs(repo: &TestRepo, dir: &Path) -> BTreeMap<String, String> {
    let format = "--format=%(refname) %(objectname)";
    let listed = git(repo, dir, &["for-each-ref", format, "refs/go-team/"]);
    let pairs = listed.lines().map(|line| line.split_once(' ').unwrap());
    pairs
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect()
}

/// Each commit has HEAD, where there was one, and the sidecar as its parents; the sidecar tells what the record tells.
fn commits(repo: &TestRepo, dir: &Path, records: &[&Record]) {
    if records.is_empty() {
        return;
    }
    let ids: Vec<String> = records
        .iter()
        .map(|record| record.git.commit_hash.unwrap().to_string())
        .collect();
    let mut args = vec!["rev-list", "--parents", "--no-walk=unsorted"];
    args.extend(ids.iter().map(String::as_str));
    let listed = git(repo, dir, &args);
    let parents: BTreeMap<&str, Vec<&str>> = listed
        .lines()
        .map(|line| {
            let mut ids = line.split(' ');
            (ids.next().unwrap(), ids.collect())
        })
        .collect();
    let mut asked = String::new();
    for (record, id) in records.iter().zip(&ids) {
        let parents = &parents[id.as_str()];
        let head = record.git.head.map(|head| head.to_string());
        assert_eq!(parents.len(), 1 + usize::from(head.is_some()), "{listed}");
        if let Some(head) = head {
            assert_eq!(parents[0], head);
        }
        let _ = writeln!(asked, "{}:record.json", parents.last().unwrap());
    }
    let mut command = process::git(repo, dir);
    command.args(["cat-file", "--batch"]);
    let told = process::answer(command, asked.as_bytes());
    let mut told = &told[..];
    for record in records {
        let end = told.iter().position(|byte| *byte == b'\n').unwrap();
        let header = std::str::from_utf8(&told[..end]).unwrap();
        let size: usize = header.rsplit(' ').next().unwrap().parse().expect(header);
        let (blob, rest) = told[end + 1..].split_at(size);
        told = &rest[1..];
        let sidecar = Record::from_sidecar(blob, record.git.commit_hash.unwrap()).unwrap();
        assert_eq!(sidecar.checksum(), record.checksum(), "{}", record.id);
    }
}
