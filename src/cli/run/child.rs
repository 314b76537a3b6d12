//! A command of the user's: started in the foreground with the user's own streams and environment, and waited for.
//!
//! The one file that starts a program by its name. (Filters of git and the pager are shell text, which `gix-command`
//! prepares.)

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, waitid};

use crate::cli::signals;
use crate::engine::run::{End, Heard};

/// How long a signal may take to be heard after it has ended the command.
const GRACE: Duration = Duration::from_millis(50);
/// How long a command must have been stopped before go-team stops too.
const STOPPED: Duration = Duration::from_millis(50);
/// What the system says of a file that is neither a program nor begins with `#!`.
const ENOEXEC: i32 = 8;

/// Where the command's stdout goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Stdout {
    /// Where go-team's own goes.
    Stdout,
    /// To stderr, so that stdout has nothing but go-team's answer.
    Stderr,
}

/// A command, ready to be started.
#[derive(Debug)]
pub(in crate::cli) struct Launch<'a> {
    pub program: &'a OsStr,
    pub arguments: &'a [OsString],
    pub directory: &'a Path,
    /// Variables beside those of go-team's own environment.
    pub variables: Vec<(&'static str, String)>,
    pub stdout: Stdout,
}

/// How a command ended, what was heard meanwhile, and why it did not begin.
#[derive(Debug)]
pub(in crate::cli) struct Ended {
    pub end: End,
    pub heard: Heard,
    pub error: Option<io::Error>,
}

impl Launch<'_> {
    /// Runs the command until it ends.
    pub(in crate::cli) fn run(self) -> Ended {
        match self.start().and_then(wait) {
            Ok((status, heard)) => {
                let end = end_of(status);
                signals::finish_with(end.code());
                Ended {
                    end,
                    heard,
                    error: None,
                }
            }
            Err(error) => Ended {
                end: match error.kind() {
                    io::ErrorKind::NotFound => End::NotFound,
                    _ => End::NotExecutable,
                },
                heard: Heard::NOTHING,
                error: Some(error),
            },
        }
    }

    fn start(self) -> io::Result<Child> {
        let mut command = Command::new(self.program);
        command
            .args(self.arguments)
            .current_dir(self.directory)
            .envs(self.variables);
        if self.stdout == Stdout::Stderr {
            let stderr = io::stderr().as_fd().try_clone_to_owned()?;
            command.stdout(Stdio::from(stderr));
        }
        // It stays in go-team's process group: the terminal is its own, and Ctrl-C and Ctrl-Z reach both.
        signals::pass_on(|| command.spawn(), pid)
    }
}

/// Whether a program was refused because it does not say what to run it with.
pub(super) fn is_script_without_interpreter(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ENOEXEC)
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Waits until the command has ended, and stops and goes on with it meanwhile.
fn wait(mut child: Child) -> io::Result<(ExitStatus, Heard)> {
    let process = pid(&child);
    let look = |options: WaitIdOptions| {
        // Nothing is taken away: a command that has ended keeps its number, and a stopped one stays seen as stopped.
        let options = options | WaitIdOptions::NOWAIT;
        rustix::io::retry_on_intr(|| waitid(WaitId::Pid(process), options))
    };
    let changed = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
    while let Some(status) = look(changed)? {
        if !status.stopped() {
            break;
        }
        // Ctrl-Z stops both of them, and both go on together. One that was stopped alone would leave the shell waiting.
        thread::sleep(STOPPED);
        let still = look(changed | WaitIdOptions::NOHANG)?;
        if still.is_some_and(|status| status.stopped()) {
            kill_process(getpid(), Signal::STOP)?;
            thread::sleep(STOPPED);
            // Whoever woke go-team meant the command; what has ended meanwhile needs no waking.
            let _ = kill_process(process, Signal::CONT);
        }
    }
    // The command keeps its number until it is waited for below, so nobody else can be sent its signals.
    if signals::heard() == Heard::NOTHING {
        let status = look(WaitIdOptions::EXITED | WaitIdOptions::NOHANG)?;
        if status.is_some_and(|status| status.exit_status() != Some(0)) {
            thread::sleep(GRACE);
        }
    }
    let heard = signals::passed_on();
    Ok((child.wait()?, heard))
}

fn end_of(status: ExitStatus) -> End {
    let small = |number: i32| u8::try_from(number & 0xff).unwrap_or(u8::MAX);
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited { code: small(code) },
        (None, signal) => End::Killed {
            signal: small(signal.unwrap_or(0)),
        },
    }
}
