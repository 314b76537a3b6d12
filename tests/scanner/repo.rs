//! A throw-away repository, driven by git itself, with checkpoints made through the library.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use go_team::config;
use go_team::engine::create::{CreateOptions, CreateReport, Files, create};
use go_team::engine::{Clock, Workspace};
use go_team::git::open::{OpenOptions, Repo};
use go_team::git::walk::Progress;
use go_team::model::{ObjectId, Trigger};

/// A repository in a directory of its own.
pub struct TestRepo {
    dir: tempfile::TempDir,
}

impl TestRepo {
    /// An empty repository on branch `main`.
    pub fn new() -> Self {
        let repo = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(repo.root()).unwrap();
        fs::create_dir(repo.home()).unwrap();
        repo.git(["init", "-q", "-b", "main"]);
        repo
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub fn write_bytes(&self, path: &[u8], content: impl AsRef<[u8]>) -> &Self {
        self.write(OsStr::from_bytes(path), content)
    }

    pub fn remove(&self, path: impl AsRef<Path>) -> &Self {
        let path = self.path(path);
        if path.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
        self
    }

    pub fn link(&self, target: &str, path: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    pub fn chmod(&self, path: &str, mode: u32) -> &Self {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// A git command in the work tree, in an environment of its own.
    pub fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", self.home().join(".gitconfig"))
            .env("LC_ALL", "C");
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "t")
                .env(format!("GIT_{role}_EMAIL"), "t@example.com");
            command.env(format!("GIT_{role}_DATE"), "2020-01-01T00:00:00Z");
        }
        command.args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "gc.auto=0",
            "-c",
            "maintenance.auto=false",
        ]);
        command
    }

    /// Runs git and expects success; its output without the last newline.
    pub fn git<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> String {
        self.git_in(&self.root(), args)
    }

    pub fn git_in<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(
        &self,
        dir: &Path,
        args: I,
    ) -> String {
        let output = self.command(dir).args(args).output().unwrap();
        assert!(
            output.status.success(),
            "git failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub fn try_git<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Output {
        self.command(&self.root()).args(args).output().unwrap()
    }

    pub fn commit_all(&self) -> &Self {
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "--allow-empty", "-m", "c"]);
        self
    }

    /// The tree that git records for the work tree, on a copy of the index.
    pub fn git_tree(&self) -> ObjectId {
        self.git_tree_in(&self.root())
    }

    pub fn git_tree_in(&self, dir: &Path) -> ObjectId {
        let index = PathBuf::from(self.git_in(
            dir,
            ["rev-parse", "--path-format=absolute", "--git-path", "index"],
        ));
        // Beside the index, so that a split index finds its other half.
        let copy = index.with_file_name("index-copy");
        if index.exists() {
            fs::copy(&index, &copy).unwrap();
        }
        let run = |args: &[&str]| {
            let output = self
                .command(dir)
                .env("GIT_INDEX_FILE", &copy)
                .args(args)
                .output()
                .unwrap();
            String::from_utf8(output.stdout)
                .unwrap()
                .trim_end()
                .to_owned()
        };
        run(&["add", "-A"]);
        let tree = run(&["write-tree"]);
        let _ = fs::remove_file(copy);
        ObjectId::parse(&tree).unwrap()
    }

    /// The tree of the index, where git can write one.
    pub fn git_index_tree(&self) -> Option<ObjectId> {
        let output = self.try_git(["write-tree"]);
        output
            .status
            .success()
            .then(|| ObjectId::parse(String::from_utf8(output.stdout).unwrap().trim_end()).unwrap())
    }

    pub fn workspace(&self) -> Workspace {
        self.workspace_in(&self.root(), &[])
    }

    pub fn workspace_in(&self, dir: &Path, settings: &[(&str, &str)]) -> Workspace {
        let options = OpenOptions {
            start: dir.to_owned(),
            home: Some(self.home()),
            ..OpenOptions::default()
        };
        let repo = Repo::open(&options).unwrap();
        let sources = config::Sources {
            work_tree: Some(&repo.work_dir),
            user_file: None,
            current_dir: dir,
        };
        let env = settings
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()));
        let config = config::load(sources, env, &[]).unwrap();
        Workspace::new(repo, config, Clock::System)
    }

    /// Makes a checkpoint and checks it against git.
    pub fn check(&self) -> CreateReport {
        let expected = self.git_tree();
        let index_tree = self.git_index_tree();
        let report = checkpoint(&self.workspace());
        let git = &report.record.git;
        if git.tree != Some(expected) {
            let ours = git.tree.unwrap().to_string();
            let diff = self.git([
                "diff-tree",
                "-r",
                "--no-renames",
                &expected.to_string(),
                &ours,
            ]);
            panic!("git records {expected}, go-team {ours}:\n{diff}");
        }
        if let Some(index_tree) = index_tree {
            assert_eq!(git.index_tree, Some(index_tree), "the staged tree");
        }
        super::restore::assert_exact(self, &report);
        report
    }

    /// [`check`](Self::check) without a cache, with a fresh one, and with one that an unchanged tree made.
    pub fn check_thrice(&self) -> CreateReport {
        let cache = self.path(".git/go-team/worktrees/main/stat-cache");
        let _ = fs::remove_file(&cache);
        let first = self.check();
        let second = self.check();
        assert_eq!(first.record.git.tree, second.record.git.tree);
        self.check()
    }
}

/// Makes a checkpoint.
pub fn checkpoint(workspace: &Workspace) -> CreateReport {
    let options = CreateOptions {
        session: None,
        description: String::new(),
        step: None,
        name: None,
        phase: None,
        trigger: Trigger::Manual,
        state: None,
        outputs: None,
        metrics: Vec::new(),
        files: Files::Capture,
    };
    create(workspace, &options, &Progress::default()).unwrap()
}
