//! A throw-away repository, driven by git itself, with checkpoints made through the library.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
        repo.shield(&repo.root());
        repo
    }

    /// Local settings win over those of whoever runs the tests.
    pub fn shield(&self, dir: &Path) {
        let ignore = self.home().join("ignore");
        let attributes = self.home().join("attributes");
        let mut text = fs::read_to_string(dir.join(".git/config")).unwrap();
        text.push_str("[core]\n\tautocrlf = false\n\teol = native\n\tsafecrlf = false\n");
        text.push_str("\tprotectNTFS = true\n\tprotectHFS = false\n\tfsmonitor = false\n");
        text.push_str("\tignoreCase = false\n\tuntrackedCache = false\n");
        text.push_str("[advice]\n\taddEmbeddedRepo = false\n");
        let (ignore, attributes) = (ignore.display(), attributes.display());
        writeln!(
            text,
            "[core]\n\texcludesFile = {ignore}\n\tattributesFile = {attributes}"
        )
        .unwrap();
        fs::write(dir.join(".git/config"), text).unwrap();
    }

    /// Sets a local setting of git's.
    pub fn config(&self, key: &str, value: &str) -> &Self {
        self.git(["config", key, value]);
        self
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn cache(&self) -> PathBuf {
        self.path(".git/go-team/worktrees/main/stat-cache")
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

    /// Dates every file back, so that an index written now is clearly younger.
    pub fn age(&self, seconds: u64) -> &Self {
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
        age_below(&self.root(), time);
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

    /// Objects by name, from one process; none for those that are not there.
    pub fn objects(&self, names: &[String]) -> Vec<Option<Vec<u8>>> {
        let mut child = self
            .command(&self.root())
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let lines = names.join("\n") + "\n";
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap().stdout;
        writer.join().unwrap();
        let mut rest = &*output;
        let mut next = || {
            let line = rest.iter().position(|byte| *byte == b'\n').unwrap();
            let header = String::from_utf8_lossy(&rest[..line]).into_owned();
            rest = &rest[line + 1..];
            if header.ends_with(" missing") {
                return None;
            }
            let size: usize = header.rsplit(' ').next().unwrap().parse().unwrap();
            let bytes = rest[..size].to_vec();
            rest = &rest[size + 1..];
            Some(bytes)
        };
        names.iter().map(|_| next()).collect()
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
        self.try_git_tree_in(dir).unwrap()
    }

    /// What git says when it cannot record the work tree.
    pub fn try_git_tree_in(&self, dir: &Path) -> Result<ObjectId, String> {
        let index = self.index_of(dir);
        // Beside the index, so that a split index finds its other half.
        let copy = index.with_file_name("index-copy");
        if index.exists() {
            fs::copy(&index, &copy).unwrap();
            // git compares the files' times with the index's own.
            let time = index.metadata().unwrap().modified().unwrap();
            let file = fs::File::options().write(true).open(&copy).unwrap();
            file.set_modified(time).unwrap();
        }
        let run = |args: &[&str]| {
            let mut command = self.command(dir);
            command.env("GIT_INDEX_FILE", &copy).args(args);
            let output = command.output().unwrap();
            if output.status.success() {
                Ok(String::from_utf8(output.stdout)
                    .unwrap()
                    .trim_end()
                    .to_owned())
            } else {
                Err(String::from_utf8_lossy(&output.stderr).into_owned())
            }
        };
        let added = run(&["add", "-A"]);
        // Files outside a sparse checkout are a failure to git, though it adds all others.
        let outside = "outside of your sparse-checkout definition";
        let added = added.or_else(|error| {
            if error.contains(outside) {
                Ok(error)
            } else {
                Err(error)
            }
        });
        let tree = added.and_then(|_| run(&["write-tree"]));
        let _ = fs::remove_file(copy);
        Ok(ObjectId::parse(&tree?).unwrap())
    }

    fn index_of(&self, dir: &Path) -> PathBuf {
        if dir.join(".git").is_dir() {
            return dir.join(".git/index");
        }
        let ask = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
        self.git_in(dir, ask).into()
    }

    /// The tree of the index, where git can write one.
    pub fn git_index_tree_in(&self, dir: &Path) -> Option<ObjectId> {
        let output = self.command(dir).arg("write-tree").output().unwrap();
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
        // What the file system does with a sync is not what is compared here.
        let quick = ("GO_TEAM_DURABILITY_SYNC", "false");
        let env = settings
            .iter()
            .chain([&quick])
            .map(|(key, value)| ((*key).into(), (*value).into()));
        let config = config::load(sources, env, &[]).unwrap();
        Workspace::new(repo, config, Clock::System)
    }

    /// Makes a checkpoint and checks it against git.
    pub fn check(&self) -> CreateReport {
        let report = self.check_tree();
        super::restore::assert_exact(self, &report);
        report
    }

    /// [`check`](Self::check) where git succeeds; where it fails, a checkpoint alone.
    pub fn check_against_git(&self) {
        let report = match self.try_git_tree_in(&self.root()) {
            Ok(expected) => {
                let report = checkpoint(&self.workspace());
                self.assert_tree(&self.root(), &report, expected);
                report
            }
            Err(_) => checkpoint(&self.workspace()),
        };
        super::restore::assert_exact(self, &report);
    }

    /// Makes a checkpoint and checks its trees, but not whether it gives everything back.
    pub fn check_tree(&self) -> CreateReport {
        self.check_tree_in(&self.root())
    }

    pub fn check_tree_in(&self, dir: &Path) -> CreateReport {
        let expected = self.git_tree_in(dir);
        let report = checkpoint(&self.workspace_in(dir, &[]));
        self.assert_tree(dir, &report, expected);
        report
    }

    /// Checks the trees of a checkpoint.
    pub fn assert_tree(&self, dir: &Path, report: &CreateReport, expected: ObjectId) {
        let git = &report.record.git;
        let differ = |what: &str, expected: ObjectId, ours: Option<ObjectId>| {
            if ours == Some(expected) {
                return;
            }
            let ours = ours.unwrap().to_string();
            let trees = [expected.to_string(), ours.clone()];
            let args = ["diff-tree", "-r", "--no-renames", &trees[0], &trees[1]];
            let diff = self.git_in(dir, args);
            panic!("{what}: git records {expected}, go-team {ours}:\n{diff}");
        };
        differ("work tree", expected, git.tree);
        if let Some(index_tree) = self.git_index_tree_in(dir) {
            differ("index", index_tree, git.index_tree);
        }
    }

    /// [`check`](Self::check) without a cache, with a fresh one, and with one that an unchanged tree made.
    pub fn check_thrice(&self) -> CreateReport {
        let _ = fs::remove_file(self.cache());
        let first = self.check();
        let second = self.check_tree();
        assert_eq!(first.record.git.tree, second.record.git.tree);
        self.check()
    }
}

fn age_below(dir: &Path, time: std::time::SystemTime) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        if path.file_name().unwrap() == ".git" || meta.is_symlink() {
            continue;
        }
        if meta.is_dir() {
            age_below(&path, time);
        } else {
            let file = fs::File::options().read(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
        }
    }
}

/// Waits until files written before are older than the clock of the next scan.
pub fn let_time_pass() {
    std::thread::sleep(std::time::Duration::from_millis(12));
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
