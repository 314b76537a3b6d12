//! A command on a terminal, with somebody who reads and types.

#![allow(dead_code, reason = "no test uses everything")]

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::blocking::{Command, Pty};

use super::support::TestRepo;

/// A terminal on which go-team, or a shell, runs.
pub struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    bytes: Receiver<Vec<u8>>,
    /// All that was shown so far.
    pub shown: String,
}

impl Terminal {
    pub fn run(repo: &TestRepo, args: &[&str]) -> Self {
        Self::run_in(repo, args, 120)
    }

    /// On a terminal of so many columns.
    pub fn run_in(repo: &TestRepo, args: &[&str], columns: u16) -> Self {
        let go_team = repo.go_team();
        Self::start_in(repo, go_team.get_program(), args, ("dumb", columns))
    }

    /// Runs a program on a terminal of this kind, in the surroundings that go-team would have.
    pub fn start(repo: &TestRepo, program: &OsStr, args: &[&str], kind: &str) -> Self {
        Self::start_in(repo, program, args, (kind, 120))
    }

    fn start_in(
        repo: &TestRepo,
        program: &OsStr,
        args: &[&str],
        (kind, columns): (&str, u16),
    ) -> Self {
        let prepared = repo.go_team();
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(50, columns)).unwrap();
        let mut command = Command::new(program).env_clear();
        for (key, value) in prepared.get_envs() {
            if let Some(value) = value {
                command = command.env(key, value);
            }
        }
        let command = command
            .args(args)
            .env("TERM", kind)
            .current_dir(repo.root());
        let child = command.spawn(pts).unwrap();
        let pty = Arc::new(pty);
        let (sender, bytes) = channel();
        let reader = Arc::clone(&pty);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The other end is gone: that is how a terminal ends.
            while let Ok(count) = (&*reader).read(&mut buffer) {
                if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            pty,
            child,
            bytes,
            shown: String::new(),
        }
    }

    /// Reads until this is shown and nothing more comes for a moment.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        let limit = Instant::now() + Duration::from_secs(30);
        let pause = Duration::from_millis(150);
        while Instant::now() < limit {
            match self.bytes.recv_timeout(pause) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout) if self.shown.contains(text) => return,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        panic!("{text:?} does not come:\n{}", self.shown);
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn type_in(&mut self, text: &str) {
        (&*self.pty).write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the command has ended.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        let limit = Instant::now() + Duration::from_secs(30);
        loop {
            while let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(10)) {
                self.shown.push_str(&String::from_utf8_lossy(&bytes));
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                // Its last words may still be on their way.
                while let Ok(bytes) = self.bytes.recv_timeout(Duration::from_secs(1)) {
                    self.shown.push_str(&String::from_utf8_lossy(&bytes));
                }
                return status;
            }
            assert!(Instant::now() < limit, "it does not end:\n{}", self.shown);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
