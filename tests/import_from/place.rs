//! Where the samples are, and a repository to bring them into.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::TestRepo;

/// A sample of a scheme, copied so that its times are known and nobody can change it for others.
pub fn sample(repo: &TestRepo, name: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/schemes")
        .join(name);
    let to = repo.home().join(name);
    copy(&from, &to);
    to
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            let file = fs::File::options().append(true).open(&target).unwrap();
            let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
            file.set_modified(noon).unwrap();
        }
    }
}

/// A repository with work in it: something staged, something not, something new.
pub fn busy_repo() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.write("README.md", "hello, again\n");
    repo.write("new.txt", "new\n");
    repo
}

/// Everything of the user's that an import must not touch. git itself must not refresh the index while it is asked: a file
/// whose owner has changed and changed back has another time.
pub fn untouched(repo: &TestRepo) -> (String, String, String, Vec<u8>, String) {
    (
        repo.git(&[
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "--branch",
            "--untracked-files=all",
        ]),
        repo.git(&["for-each-ref", "refs/heads", "refs/tags", "refs/stash"]),
        repo.git(&["reflog"]),
        fs::read(repo.path(".git/index")).unwrap(),
        repo.git(&["--no-optional-locks", "diff"]),
    )
}

/// What a directory holds: paths, kinds, contents, times.
pub fn photo(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>, Option<SystemTime>)> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let bytes = metadata.is_file().then(|| fs::read(&path).unwrap());
            let time = metadata.is_file().then(|| metadata.modified().unwrap());
            if metadata.is_dir() {
                dirs.push(path.clone());
            }
            found.push((path, bytes, time));
        }
    }
    found.sort();
    found
}

/// The ids of the sessions that an answer tells of.
pub fn sessions(answer: &Value) -> Vec<String> {
    let sessions = answer["data"]["sessions"].as_array().unwrap();
    let ids = sessions
        .iter()
        .map(|one| one["session_id"].as_str().unwrap().to_owned());
    ids.collect()
}

/// The paths and reasons of what an answer complains about.
pub fn remarks(answer: &Value, field: &str) -> Vec<String> {
    let remarks = answer["data"][field].as_array().unwrap();
    let text = |one: &Value| {
        format!(
            "{}: {}",
            one["path"].as_str().unwrap(),
            one["reason"].as_str().unwrap()
        )
    };
    remarks.iter().map(text).collect()
}
