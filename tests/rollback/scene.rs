//! Scenes that many tests begin with, and the few moves that they share.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::ledger::Ledger;
use super::photo::Photo;
use super::support::{Output, TestRepo};

/// A repository with checkpoints, and what there was when each one was made.
pub struct Scene {
    pub repo: TestRepo,
    /// The id and the photograph of each checkpoint.
    pub taken: Vec<(String, Photo)>,
}

impl Scene {
    /// A session that begins with one commit.
    pub fn new() -> Self {
        Self::of(TestRepo::with_commit())
    }

    /// A session in this repository.
    pub fn of(repo: TestRepo) -> Self {
        repo.ok(&["start", "work"]);
        Self {
            repo,
            taken: Vec::new(),
        }
    }

    /// Three checkpoints that differ in files, index, commits and state, and work that no checkpoint holds.
    pub fn lived_in() -> Self {
        let mut scene = Self::new();
        let repo = &scene.repo;
        repo.write(".gitignore", "*.log\nbuild/\n");
        repo.write("src/lib.rs", "one\n");
        repo.write("run.sh", "#!/bin/sh\n");
        repo.chmod("run.sh", 0o755);
        std::os::unix::fs::symlink("src/lib.rs", repo.path("link")).unwrap();
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "second"]);
        repo.write("src/lib.rs", "staged\n");
        repo.git(&["add", "src/lib.rs"]);
        repo.write("src/lib.rs", "on disk\n");
        repo.write("notes/untracked.txt", "untracked at one\n");
        fs::create_dir(repo.path("empty")).unwrap();
        repo.write("ignored.log", "ignored at one\n");
        repo.ok(&["state", "set", "phase=one", "n=1"]);
        scene.take();
        let repo = &scene.repo;
        repo.git(&["commit", "-q", "-a", "-m", "third"]);
        repo.write("src/new.rs", "new at two\n");
        repo.write("notes/untracked.txt", "untracked at two\n");
        fs::remove_file(repo.path("run.sh")).unwrap();
        repo.ok(&["state", "set", "phase=two", "n=2"]);
        scene.take();
        let repo = &scene.repo;
        repo.git(&["add", "src/new.rs"]);
        repo.git(&["commit", "-q", "-m", "fourth"]);
        fs::remove_file(repo.path("link")).unwrap();
        repo.write("link/now/a/directory.txt", "swapped\n");
        fs::remove_dir(repo.path("empty")).unwrap();
        repo.write("empty", "a file now\n");
        repo.ok(&["state", "set", "phase=three", "n=3"]);
        scene.take();
        let repo = &scene.repo;
        repo.write("src/lib.rs", "not in any checkpoint\n");
        repo.write("staged.txt", "staged alone\n");
        repo.git(&["add", "staged.txt"]);
        fs::remove_file(repo.path("staged.txt")).unwrap();
        repo.write("fresh/work.txt", "fresh work\n");
        repo.write("build/out.o", "ignored\n");
        repo.write("ignored.log", "ignored at the end\n");
        repo.ok(&["state", "set", "n=4"]);
        scene
    }

    /// Makes a checkpoint and keeps what there is; its id.
    pub fn take(&mut self) -> String {
        self.take_with(&[])
    }

    /// The same, with more arguments.
    pub fn take_with(&mut self, args: &[&str]) -> String {
        let photo = Photo::of(&self.repo);
        let mut all = vec!["cp-create", "--quiet"];
        all.extend(args);
        let id = self.repo.ok(&all).stdout.trim_end().to_owned();
        self.taken.push((id.clone(), photo));
        id
    }

    /// The id of the nth checkpoint, from 1.
    pub fn id(&self, nth: usize) -> &str {
        &self.taken[nth - 1].0
    }

    /// What there was at the nth checkpoint, from 1.
    pub fn at(&self, nth: usize) -> &Photo {
        &self.taken[nth - 1].1
    }

    pub fn now(&self) -> Photo {
        Photo::of(&self.repo)
    }

    pub fn ledger(&self) -> Ledger {
        Ledger::of(&self.repo)
    }

    /// Rolls back, which must go well; the data of the answer.
    pub fn roll_back(&self, target: &str) -> Value {
        data(&self.repo.run(&["rollback", target, "--yes", "--json"]))
    }

    /// Undoes, which must go well.
    pub fn undo(&self) -> Value {
        data(&self.repo.run(&["undo", "--yes", "--json"]))
    }

    /// Redoes, which must go well.
    pub fn redo(&self) -> Value {
        data(&self.repo.run(&["redo", "--yes", "--json"]))
    }
}

/// The data of an answer that must be good.
#[track_caller]
pub fn data(output: &Output) -> Value {
    assert_eq!(output.code, Some(0), "{output}");
    output.json()["data"].clone()
}

/// Fails unless a command that was understood has refused, by itself.
#[track_caller]
pub fn assert_refusal(output: &Output) {
    let is_refusal = output
        .code
        .is_some_and(|code| [1, 3, 4, 5, 6, 7].contains(&code));
    assert!(is_refusal, "{output}");
}

/// Runs a command that must refuse: it says why and what to do, and nothing has changed.
#[track_caller]
pub fn assert_refused(repo: &TestRepo, args: &[&str]) -> Output {
    let before = Photo::of(repo);
    let mut sessions = fs::read_dir(repo.store().join("sessions")).into_iter();
    let has_session = sessions.any(|mut listed| listed.next().is_some());
    let ledger = has_session.then(|| Ledger::of(repo));
    let output = repo.run(args);
    assert_refusal(&output);
    assert!(output.stderr.starts_with("error: "), "{output}");
    assert!(output.stderr.contains("\nhint: "), "{output}");
    before.assert_same(&Photo::of(repo), &output);
    if let Some(before) = ledger {
        let after = Ledger::of(repo);
        assert_eq!(before.validity(), after.validity(), "{output}");
        assert_eq!(before.current, after.current, "{output}");
        assert_eq!(before.rollbacks, after.rollbacks, "{output}");
    }
    output
}

impl TestRepo {
    /// Sets the permissions of a file or directory.
    pub fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), Permissions::from_mode(mode)).unwrap();
    }

    /// Removes a file or a directory with what is in it.
    pub fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// Makes a symbolic link.
    pub fn link(&self, target: &str, path: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }
}
