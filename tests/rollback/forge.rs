//! Checkpoints that go-team would never make: whole by every checksum, and hostile.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use go_team::model::{Manifest, ObjectId, Record};

use super::process;
use super::support::TestRepo;

/// An entry of a tree: mode, name, object.
pub type Entry = (&'static str, Vec<u8>, String);

/// Writes a tree with any names whatsoever.
pub fn tree(repo: &TestRepo, mut entries: Vec<Entry>) -> String {
    entries.sort_by_key(|(mode, name, _)| {
        let mut key = name.clone();
        key.extend((*mode == "40000").then_some(b'/'));
        key
    });
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend(format!("{mode} ").into_bytes());
        bytes.extend(name);
        bytes.push(0);
        bytes.extend(hex::decode(id).unwrap());
    }
    object(repo, "tree", &bytes)
}

/// Writes a blob.
pub fn blob(repo: &TestRepo, bytes: &[u8]) -> String {
    object(repo, "blob", bytes)
}

fn object(repo: &TestRepo, kind: &str, bytes: &[u8]) -> String {
    let mut command = process::git(repo, &repo.root());
    command.args(["hash-object", "-w", "--literally", "-t", kind, "--stdin"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let id = child.wait_with_output().unwrap().stdout;
    String::from_utf8(id).unwrap().trim_end().to_owned()
}

/// The entries of a tree, to be changed.
pub fn entries(repo: &TestRepo, name: &str) -> Vec<Entry> {
    let listed = repo.git(&["ls-tree", name]);
    let entry = |line: &str| {
        let (meta, name) = line.split_once('\t').unwrap();
        let fields: Vec<&str> = meta.split(' ').collect();
        let mode = match fields[0] {
            "040000" => "40000",
            "100755" => "100755",
            "120000" => "120000",
            _ => "100644",
        };
        (mode, name.as_bytes().to_vec(), fields[2].to_owned())
    };
    listed.lines().map(entry).collect()
}

/// Makes a checkpoint, and puts another tree, and other files beside it, in the place of its own.
///
/// `change` gets the entries of the work tree's tree and those of the sidecar's, which must not be its record.
pub fn checkpoint(
    repo: &TestRepo,
    change: impl FnOnce(&mut Vec<Entry>, &mut Vec<Entry>),
) -> String {
    let session = repo.session_dir();
    let path = session.join("manifest.json");
    let mut manifest = Manifest::from_file_bytes(&fs::read(&path).unwrap()).unwrap();
    let id = repo.ok(&["cp-create", "--quiet"]).stdout;
    let id = id.trim_end();
    let record_path = session.join(format!("{id}.json"));
    let record = Record::from_file_bytes(&fs::read(&record_path).unwrap()).unwrap();
    let mut draft = record.into_draft();
    let commit = draft.git.commit_hash.take().unwrap().to_string();
    let head = draft.git.head.unwrap().to_string();
    let mut work = entries(repo, &format!("{commit}^{{tree}}"));
    let mut beside = entries(repo, &format!("{commit}^2^{{tree}}"));
    change(&mut work, &mut beside);
    let work = tree(repo, work);
    draft.git.tree = Some(ObjectId::parse(&work).unwrap());
    beside.retain(|(_, name, _)| name != b"record.json");
    let told = blob(repo, &draft.sidecar_json());
    beside.push(("100644", b"record.json".to_vec(), told));
    let beside = tree(repo, beside);
    let sidecar = repo.git(&["commit-tree", &beside, "-m", "sidecar"]);
    let parents = ["-p", &head, "-p", sidecar.trim_end()];
    let mut args = vec!["commit-tree", &work, "-m", "checkpoint"];
    args.extend(parents);
    let commit = repo.git(&args);
    let commit = commit.trim_end();
    let name = session.file_name().unwrap().to_str().unwrap();
    repo.git(&["update-ref", &format!("refs/go-team/{name}/{id}"), commit]);
    draft.git.commit_hash = Some(ObjectId::parse(commit).unwrap());
    let record = draft.seal();
    fs::write(record_path, record.to_file_bytes()).unwrap();
    manifest.append(&record).unwrap();
    manifest.current_checkpoint = Some(record.id.clone());
    fs::write(path, manifest.to_file_bytes()).unwrap();
    id.to_owned()
}
