//! Commands that run beside others: a `TestRepo` belongs to one thread, a `Command` may go to any.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::support::TestRepo;

/// Git in a directory, in the surroundings that `TestRepo` gives it, with an identity.
pub fn git(repo: &TestRepo, dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", repo.home()).env("TZ", "UTC");
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(variable, "/dev/null");
    }
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    command
}

/// Go-team in a directory, by the real clock, with patience: how long a slow disk takes is not what is tested.
pub fn go_team(repo: &TestRepo, dir: &Path) -> Command {
    let mut command = repo.go_team();
    command.current_dir(dir).env_remove("GO_TEAM_TEST_NOW");
    command.env("GO_TEAM_LOCK_TIMEOUT_SECONDS", "300");
    command
}

/// Runs a command that must go well, and gives what it printed.
pub fn succeed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Gives a command something to read, and gives what it printed.
pub fn answer(mut command: Command, input: &[u8]) -> Vec<u8> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{command:?}\n{}", text(&output));
    output.stdout
}

/// What a command printed, for a message.
pub fn text(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    format!("{}\n{stdout}\n{stderr}", output.status)
}
