//! Runs a command call by call: each call of the system's that can change a file below a directory is a point, at
//! which the command can be killed, sent a signal, made to fail, or kept waiting while something else happens.
//!
//! All processes and threads of the command count together, so the points of two runs are nearly the same.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::libc::{self, c_long};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// A call that is about to change something.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its number, from 1.
    pub nth: usize,
    pub call: &'static str,
    /// What it changes: for a renaming the new name.
    pub path: PathBuf,
}

/// What is to become of the call.
pub enum Verdict {
    Go,
    /// Everything is killed before the call takes effect.
    Kill,
    /// The call fails.
    Fail(Errno),
    /// The command gets a signal, and goes on.
    Send(Signal),
}

/// How the command came out.
#[derive(Debug)]
pub struct Traced {
    /// Absent when it was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub points: Vec<Point>,
}

impl Traced {
    pub fn is_killed(&self) -> bool {
        self.code.is_none()
    }
}

/// Runs a command, and asks at each call that can change something below `dir`.
pub fn run(command: &Command, dir: &Path, mut ask: impl FnMut(&Point) -> Verdict) -> Traced {
    let dir = dir.canonicalize().unwrap();
    let mut outputs = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
    let root = start(command, &outputs);
    let mut tracer = Tracer {
        dir,
        threads: BTreeMap::new(),
        points: Vec::new(),
    };
    let mut code = None;
    loop {
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        // Only the command's own group: other children of this thread are for others to wait for.
        match waitpid(Pid::from_raw(-root.as_raw()), Some(flags)) {
            Ok(WaitStatus::Exited(pid, status)) if pid == root => code = Some(status),
            Ok(WaitStatus::PtraceSyscall(pid)) => tracer.at_call(root, pid, &mut ask),
            Ok(WaitStatus::PtraceEvent(pid, ..)) => go_on(pid, None),
            Ok(WaitStatus::Stopped(pid, signal)) => go_on(pid, Some(signal)),
            Ok(_) => {}
            Err(Errno::ECHILD) => break,
            Err(error) => panic!("waiting for {command:?}: {error}"),
        }
    }
    let [stdout, stderr] = outputs.each_mut().map(|file| {
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    });
    Traced {
        code,
        stdout,
        stderr,
        points: tracer.points,
    }
}

/// Starts a command and holds it, ready to be traced.
fn start(command: &Command, outputs: &[File; 2]) -> Pid {
    // The shell waits until somebody looks, and becomes the command.
    let mut held = Command::new("sh");
    held.args(["-c", "read _ && exec \"$@\"", "sh"]);
    held.arg(command.get_program()).args(command.get_args());
    held.env_clear();
    held.envs(
        command
            .get_envs()
            .filter_map(|(key, value)| Some((key, value?))),
    );
    held.current_dir(command.get_current_dir().unwrap());
    let [stdout, stderr] = outputs.each_ref().map(|file| file.try_clone().unwrap());
    #[allow(clippy::zombie_processes, reason = "whoever traces it waits for it")]
    let mut child = held
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .unwrap();
    let root = Pid::from_raw(child.id().try_into().unwrap());
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(root, options).expect("a process may trace its child");
    ptrace::interrupt(root).unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    root
}

/// Lets a thread run to its next call. One that was killed meanwhile is gone, which the next wait tells.
fn go_on(pid: Pid, signal: Option<Signal>) {
    match ptrace::syscall(pid, signal) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => panic!("going on with {pid}: {error}"),
    }
}

struct Tracer {
    dir: PathBuf,
    /// The threads that are in a call that is to fail, and how.
    threads: BTreeMap<Pid, Errno>,
    points: Vec<Point>,
}

impl Tracer {
    fn at_call(&mut self, root: Pid, pid: Pid, ask: &mut impl FnMut(&Point) -> Verdict) {
        let Ok(info) = ptrace::syscall_info(pid) else {
            return;
        };
        if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
            if let Some(point) = self.point(pid) {
                let verdict = ask(&point);
                self.points.push(point);
                self.act(root, pid, &verdict);
            }
        } else if let Some(errno) = self.threads.remove(&pid) {
            let mut registers = ptrace::getregs(pid).unwrap();
            registers.rax = (-c_long::from(errno as i32)).cast_unsigned();
            ptrace::setregs(pid, registers).unwrap();
        }
        go_on(pid, None);
    }

    fn act(&mut self, root: Pid, pid: Pid, verdict: &Verdict) {
        match *verdict {
            Verdict::Go => {}
            Verdict::Kill => {
                for victim in descendants(root) {
                    let _ = kill(victim, Signal::SIGKILL);
                }
            }
            Verdict::Fail(errno) => {
                let mut registers = ptrace::getregs(pid).unwrap();
                registers.orig_rax = u64::MAX;
                ptrace::setregs(pid, registers).unwrap();
                self.threads.insert(pid, errno);
            }
            Verdict::Send(signal) => kill(root, signal).unwrap(),
        }
    }

    /// The call that a thread is about to make, if it is one that counts.
    fn point(&self, pid: Pid) -> Option<Point> {
        let registers = ptrace::getregs(pid).ok()?;
        let r = &registers;
        let at = |nr: c_long| r.orig_rax == nr.cast_unsigned();
        let named = |dir: u64, name: u64| path_of(pid, dir, name);
        let here = u64::MAX - 99; // AT_FDCWD, -100
        let writes = |flags: u64| {
            let writing = libc::O_CREAT | libc::O_TRUNC | libc::O_WRONLY | libc::O_RDWR;
            flags & u64::from(writing.cast_unsigned()) != 0
        };
        let (call, path) = match () {
            () if at(libc::SYS_open) && writes(r.rsi) => ("open", named(here, r.rdi)),
            () if at(libc::SYS_openat) && writes(r.rdx) => ("open", named(r.rdi, r.rsi)),
            () if at(libc::SYS_creat) => ("open", named(here, r.rdi)),
            () if at(libc::SYS_write) || at(libc::SYS_pwrite64) || at(libc::SYS_writev) => {
                ("write", descriptor(pid, r.rdi))
            }
            () if at(libc::SYS_ftruncate) || at(libc::SYS_fallocate) => {
                ("resize", descriptor(pid, r.rdi))
            }
            () if at(libc::SYS_copy_file_range) => ("write", descriptor(pid, r.rdx)),
            () if at(libc::SYS_sendfile) => ("write", descriptor(pid, r.rdi)),
            () if at(libc::SYS_fsync) || at(libc::SYS_fdatasync) || at(libc::SYS_syncfs) => {
                ("sync", descriptor(pid, r.rdi))
            }
            () if at(libc::SYS_fchmod) => ("chmod", descriptor(pid, r.rdi)),
            () if at(libc::SYS_chmod) => ("chmod", named(here, r.rdi)),
            () if at(libc::SYS_fchmodat) || at(libc::SYS_fchmodat2) => {
                ("chmod", named(r.rdi, r.rsi))
            }
            () if at(libc::SYS_rename) => ("rename", named(here, r.rsi)),
            () if at(libc::SYS_renameat) || at(libc::SYS_renameat2) => {
                ("rename", named(r.rdx, r.r10))
            }
            () if at(libc::SYS_link) => ("link", named(here, r.rsi)),
            () if at(libc::SYS_linkat) => ("link", named(r.rdx, r.r10)),
            () if at(libc::SYS_symlink) => ("symlink", named(here, r.rsi)),
            () if at(libc::SYS_symlinkat) => ("symlink", named(r.rsi, r.rdx)),
            () if at(libc::SYS_unlink) => ("unlink", named(here, r.rdi)),
            () if at(libc::SYS_unlinkat) => ("unlink", named(r.rdi, r.rsi)),
            () if at(libc::SYS_rmdir) => ("unlink", named(here, r.rdi)),
            () if at(libc::SYS_mkdir) => ("mkdir", named(here, r.rdi)),
            () if at(libc::SYS_mkdirat) => ("mkdir", named(r.rdi, r.rsi)),
            () => return None,
        };
        let path = path.filter(|path| path.starts_with(&self.dir))?;
        Some(Point {
            nth: self.points.len() + 1,
            call,
            path,
        })
    }
}

/// The file that is open under this number.
fn descriptor(pid: Pid, number: u64) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/fd/{number}")).ok()
}

/// The path that a call names, relative to an open directory or to where the process is.
fn path_of(pid: Pid, dir: u64, name: u64) -> Option<PathBuf> {
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut bytes = vec![0; 4096];
    // The string may end close to the end of what can be read.
    let room = 4096 - usize::try_from(name % 4096).unwrap();
    let mut read = memory.read_at(&mut bytes[..room], name).ok()?;
    read += memory
        .read_at(&mut bytes[read..], name + read as u64)
        .unwrap_or(0);
    let end = bytes[..read].iter().position(|byte| *byte == 0)?;
    bytes.truncate(end);
    let name = PathBuf::from(std::ffi::OsString::from_vec(bytes));
    if name.is_absolute() {
        return Some(name);
    }
    let dir = u32::try_from(dir & 0xffff_ffff).unwrap().cast_signed();
    let above = if dir == libc::AT_FDCWD {
        fs::read_link(format!("/proc/{pid}/cwd")).ok()?
    } else {
        fs::read_link(format!("/proc/{pid}/fd/{dir}")).ok()?
    };
    Some(above.join(name))
}

/// A process and all that it started, as far as they are still its own.
fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let pid = found[next];
        let tasks = fs::read_dir(format!("/proc/{pid}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace();
            found.extend(children.map(|child| Pid::from_raw(child.parse().unwrap())));
        }
        next += 1;
    }
    found
}
