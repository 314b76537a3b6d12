//! Repositories beside the one that exports, and everything that is in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::check;
use crate::support::{Output, TestRepo};

/// A session with what checkpoints can hold: staged and unstaged work, untracked and ignored files, odd line endings,
/// permissions, an empty directory, a link, a record without files, a new commit on the branch.
pub fn rich() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    repo.write(".gitattributes", "*.txt text eol=lf\n");
    repo.write(".gitignore", "ignored\n");
    repo.write("ignored", "not captured\n");
    repo.write("crlf.txt", "a\r\nb\r\n");
    repo.write("staged.go", "package staged\n");
    repo.git(&["add", "staged.go"]);
    repo.write("staged.go", "package changed\n");
    fs::create_dir(repo.path("empty")).unwrap();
    std::os::unix::fs::symlink("main.go", repo.path("link")).unwrap();
    fs::set_permissions(repo.path("main.go"), fs::Permissions::from_mode(0o640)).unwrap();
    repo.ok(&[
        "cp-create",
        "--step",
        "3",
        "--metric",
        "test_coverage=81.5",
        "rich",
    ]);
    repo.git(&["commit", "-q", "-m", "second"]);
    repo.ok(&["cp-create", "--step", "4", "--no-git", "state alone"]);
    repo.write("docs/deep/er/file.md", "# Deep\n");
    repo.ok(&["cp-create", "--step", "5", "after a commit"]);
    repo
}

/// Exports the session of a repository; gives the file.
pub fn export(repo: &TestRepo, more: &[&str]) -> PathBuf {
    let file = unused(repo, "export");
    let mut args = vec!["cp-export", "-o", file.to_str().unwrap()];
    args.extend(more);
    repo.ok(&args);
    file
}

/// A path in the home of a repository that nothing has yet.
pub fn unused(repo: &TestRepo, stem: &str) -> PathBuf {
    let free = |nth: u32| repo.home().join(format!("{stem}-{nth}.tar.gz"));
    (1..10_000).map(free).find(|path| !path.exists()).unwrap()
}

/// A clone in a surrounding of its own.
pub fn clone_of(repo: &TestRepo) -> TestRepo {
    let clone = TestRepo::without_git();
    let from = repo.root();
    clone.git(&["clone", "-q", from.to_str().unwrap(), "."]);
    clone
}

pub fn import(repo: &TestRepo, file: &Path, more: &[&str]) -> Output {
    let mut args = vec!["cp-import", file.to_str().unwrap()];
    args.extend(more);
    repo.run(&args)
}

pub fn import_ok(repo: &TestRepo, file: &Path, more: &[&str]) -> Output {
    let output = import(repo, file, more);
    assert_eq!(output.code, Some(0), "{output}");
    output
}

/// The refs of checkpoints and what they point at.
pub fn refs(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref", "refs/go-team/"])
}

/// The records of the only session, by file name.
pub fn records(repo: &TestRepo) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(repo.session_dir()).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let records = files.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("cp-")
    });
    records
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect()
}

/// Everything below a repository's root, with permissions and content.
pub fn listing(repo: &TestRepo) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut listed = BTreeMap::new();
    for path in check::below(&repo.root()) {
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_symlink() {
            fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes()
        } else if metadata.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        listed.insert(path, (metadata.permissions().mode(), content));
    }
    listed
}

/// Runs something that must leave no trace.
pub fn untouched<T>(repo: &TestRepo, run: impl FnOnce() -> T) -> T {
    let before = listing(repo);
    let result = run();
    let after = listing(repo);
    let names = |listed: &BTreeMap<PathBuf, _>| listed.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    for (path, was) in &before {
        assert!(after[path] == *was, "{} changed", path.display());
    }
    result
}
