//! A repository of a test's own, and go-team run in it: nothing of the machine's or the user's shows through.
//!
//! The environment is cleared, HOME is private, git's global and system settings are empty, and the clock is fixed and
//! goes on by a minute with each command. Files get the same permissions whatever the umask, so that the same commands
//! give the same ids everywhere.

#![allow(dead_code, reason = "no test uses everything")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A repository in a directory of its own.
pub struct TestRepo {
    temp: tempfile::TempDir,
    minutes: Cell<u32>,
}

/// What a command answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or("killed".to_owned(), |code| code.to_string());
        write!(
            f,
            "exit: {code}\n--- stdout\n{}--- stderr\n{}---",
            self.stdout, self.stderr
        )
    }
}

impl Output {
    /// The JSON answer.
    pub fn json(&self) -> Value {
        assert_eq!(self.stderr, "");
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line");
        let value: Value = serde_json::from_str(&self.stdout).unwrap();
        assert_eq!(value["schema_version"], 1);
        assert_eq!(value["ok"], self.code == Some(0));
        value
    }

    /// The JSON answer, for people.
    pub fn pretty(&self) -> String {
        serde_json::to_string_pretty(&self.json()).unwrap()
    }
}

impl TestRepo {
    /// An empty repository on branch `main`, without a commit.
    pub fn new() -> Self {
        Self::init(&["init", "-q", "-b", "main"])
    }

    /// A repository made by this git command.
    pub fn init(command: &[&str]) -> Self {
        let repo = Self::without_git();
        repo.git(command);
        repo
    }

    /// A directory that is no repository.
    pub fn without_git() -> Self {
        let repo = Self {
            temp: tempfile::tempdir().unwrap(),
            minutes: Cell::new(0),
        };
        for dir in [repo.root(), repo.home()] {
            make_dir(&dir);
        }
        repo
    }

    /// The same repository at the same time, in another directory: what happens to one does not happen to the other.
    pub fn copy(&self) -> Self {
        let copy = Self::without_git();
        copy.minutes.set(self.minutes.get());
        // Files with more than one name stay so: locks are told by that.
        let mut names: HashMap<u64, PathBuf> = HashMap::new();
        for path in below(self.temp.path()) {
            let inside = path.strip_prefix(self.temp.path()).unwrap();
            let to = copy.temp.path().join(inside);
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_file() && metadata.nlink() > 1 {
                if let Some(first) = names.get(&metadata.ino()) {
                    fs::hard_link(first, &to).unwrap();
                    continue;
                }
                names.insert(metadata.ino(), to.clone());
            }
            copy_one(&path, &to);
        }
        copy
    }

    /// A repository with one commit.
    pub fn with_commit() -> Self {
        let repo = Self::new();
        repo.write("README.md", "hello\n");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "first"]);
        repo
    }

    /// A session of the go-team workflow with two checkpoints.
    pub fn with_checkpoints() -> Self {
        let repo = Self::with_commit();
        repo.ok(&["start", "auth system", "--workflow", "go-team"]);
        repo.write("main.go", "package main\n");
        repo.ok(&["cp-create", "--step", "1", "scaffold"]);
        repo.write("docs/spec.md", "# Spec\n");
        repo.write("main.go", "package main\n\nfunc main() {}\n");
        repo.ok(&["cp-create", "--step", "2", "spec agreed"]);
        repo
    }

    pub fn root(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    pub fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root().join(path)
    }

    /// Where go-team keeps its files.
    pub fn store(&self) -> PathBuf {
        self.path(".git/go-team")
    }

    /// The directory of the only session.
    pub fn session_dir(&self) -> PathBuf {
        let mut sessions = fs::read_dir(self.store().join("sessions")).unwrap();
        sessions.next().unwrap().unwrap().path()
    }

    /// The id of the session with this topic.
    pub fn session_of(&self, topic: &str) -> String {
        let listed = self.ok(&["sessions", "--json"]).json();
        let sessions = listed["data"]["sessions"].as_array().unwrap();
        let found = sessions.iter().find(|session| session["topic"] == topic);
        found.unwrap()["session_id"].as_str().unwrap().to_owned()
    }

    /// Writes a file of the work tree.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        let parent = path.parent().unwrap();
        if !parent.is_dir() {
            make_dir(parent);
        }
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    }

    /// Runs git, which must go well.
    pub fn git(&self, args: &[&str]) -> String {
        let mut command = self.command("git", &self.root());
        let date = self.now();
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Somebody");
            command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
            command.env(format!("GIT_{role}_DATE"), &date);
        }
        let output = command.args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs go-team.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.run_with(args, |_| (), "")
    }

    /// Runs go-team, which must go well.
    pub fn ok<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        let output = self.run(args);
        assert_eq!(output.code, Some(0), "{output}");
        output
    }

    /// Runs go-team with something on stdin.
    pub fn run_with_input<S: AsRef<OsStr>>(&self, args: &[S], input: &str) -> Output {
        self.run_with(args, |_| (), input)
    }

    /// Runs go-team with more variables in its environment.
    pub fn run_env<S: AsRef<OsStr>>(&self, variables: &[(&str, &str)], args: &[S]) -> Output {
        let set = |command: &mut Command| {
            command.envs(variables.iter().copied());
        };
        self.run_with(args, set, "")
    }

    /// Runs go-team with its command prepared.
    pub fn run_with<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        prepare: impl FnOnce(&mut Command),
        input: &str,
    ) -> Output {
        let mut command = self.go_team();
        command.args(args);
        prepare(&mut command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that does not read its input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Output {
            stdout: self.redact(&output.stdout),
            stderr: self.redact(&output.stderr),
            code: output.status.code(),
        }
    }

    /// The command for go-team in the work tree, at the next minute.
    pub fn go_team(&self) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_go-team"), &self.root());
        self.minutes.set(self.minutes.get() + 1);
        command.env("GO_TEAM_TEST_NOW", self.now());
        command
    }

    /// The time of the last command.
    fn now(&self) -> String {
        let minutes = self.minutes.get();
        let hours = 21 + minutes / 60;
        format!(
            "2025-12-{}T{:02}:{:02}:00Z",
            28 + hours / 24,
            hours % 24,
            minutes % 60
        )
    }

    fn command(&self, program: &str, dir: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(dir).env_clear();
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", path).env("HOME", self.home());
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("TZ", "UTC");
        command
    }

    /// Text without what differs from run to run.
    fn redact(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8(bytes.to_vec()).expect("answers are UTF-8");
        let real = self.temp.path().canonicalize().unwrap();
        text.replace(real.to_str().unwrap(), "$TMP")
            .replace(self.temp.path().to_str().unwrap(), "$TMP")
    }
}

/// A repository that may not be written, by whoever runs go-team; writable again when dropped.
pub struct ReadOnly<'a> {
    repo: &'a TestRepo,
    user: Option<u32>,
}

impl<'a> ReadOnly<'a> {
    /// Takes the right to write away. Root may always write, so then somebody else runs go-team; `None` when that
    /// cannot be arranged.
    pub fn new(repo: &'a TestRepo) -> Option<Self> {
        let probe = repo.path(".git/go-team");
        let this = Self {
            repo,
            user: fs::metadata(probe).unwrap().uid().eq(&0).then_some(65534),
        };
        let temp = repo.temp.path();
        for path in std::iter::once(temp.to_owned()).chain(below(temp)) {
            if let Some(user) = this.user {
                std::os::unix::fs::lchown(&path, Some(user), None).unwrap();
            }
            set_writable(&path, false);
        }
        let mut command = this.repo.go_team();
        this.become_user(&mut command);
        let can_run = command
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success());
        can_run.then_some(this)
    }

    /// Runs go-team.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.repo
            .run_with(args, |command| self.become_user(command), "")
    }

    fn become_user(&self, command: &mut Command) {
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
    }
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        let temp = self.repo.temp.path();
        set_writable(temp, true);
        for path in below(temp) {
            set_writable(&path, true);
        }
    }
}

/// Go-team run by somebody whom permissions bind.
pub struct AsSomebody;

impl AsSomebody {
    /// Runs go-team. Permissions do not bind root, so then the repository is given to somebody else for the time; `None`
    /// when that cannot be arranged.
    pub fn run<S: AsRef<OsStr>>(repo: &TestRepo, args: &[S]) -> Option<Output> {
        let owner = fs::metadata(repo.temp.path()).unwrap().uid();
        if owner != 0 {
            return Some(repo.run(args));
        }
        let somebody = 65534;
        let become_somebody = |command: &mut Command| {
            command.uid(somebody).gid(somebody);
        };
        give(repo, somebody);
        let mut probe = repo.go_team();
        become_somebody(&mut probe);
        let can_run = probe
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success());
        let output = can_run.then(|| repo.run_with(args, become_somebody, ""));
        give(repo, owner);
        output
    }
}

/// Makes somebody the owner of everything.
fn give(repo: &TestRepo, owner: u32) {
    let temp = repo.temp.path();
    for path in std::iter::once(temp.to_owned()).chain(below(temp)) {
        std::os::unix::fs::lchown(&path, Some(owner), None).unwrap();
    }
}

/// Copies a directory without what is in it, a link, or a file with its mode and time.
fn copy_one(from: &Path, to: &Path) {
    let metadata = from.symlink_metadata().unwrap();
    if metadata.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from).unwrap(), to).unwrap();
        return;
    }
    if metadata.is_dir() {
        fs::create_dir_all(to).unwrap();
    } else {
        fs::copy(from, to).unwrap();
        let file = fs::File::options().read(true).open(to).unwrap();
        file.set_modified(metadata.modified().unwrap()).unwrap();
    }
    fs::set_permissions(to, metadata.permissions()).unwrap();
}

fn set_writable(path: &Path, writable: bool) {
    let metadata = path.symlink_metadata().unwrap();
    if !metadata.is_symlink() {
        let bits = metadata.permissions().mode();
        let bits = if writable {
            bits | 0o200
        } else {
            bits & !0o222
        };
        fs::set_permissions(path, Permissions::from_mode(bits)).unwrap();
    }
}

/// Everything below a directory, each directory before what is in it.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.clone());
        if path.is_dir() && !path.is_symlink() {
            found.extend(below(&path));
        }
    }
    found
}

fn make_dir(path: &Path) {
    fs::create_dir_all(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}
