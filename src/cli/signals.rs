//! Signals: one thread hears them, and knows what they mean at the moment.
//!
//! While files are being changed, a request to end is a request to stop at the next safe place. While a command of the
//! user's runs, a request is that command's to answer: it is passed on, unless the terminal has sent it to both. Once
//! that command has ended, what is left to do is done first.

use std::fs;
use std::io;
use std::process;
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;
use signal_hook::low_level::emulate_default_handler;

use super::output::complain;
use crate::engine::Marks;
use crate::engine::run::Heard;

/// The signals that ask a program to end.
const REQUESTS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

static MARKS: LazyLock<Marks> = LazyLock::new(Marks::default);
static NOW: Mutex<Now> = Mutex::new(Now {
    meaning: Meaning::Usual,
    heard: Heard::NOTHING,
});

/// What signals mean now, and what was heard while a command ran.
struct Now {
    meaning: Meaning,
    heard: Heard,
}

enum Meaning {
    /// What they mean to any program.
    Usual,
    /// To stop at the next safe place.
    Stop,
    /// Whatever this process makes of them.
    PassOn(Pid),
    /// To be patient once; at the second time, to end with this exit code.
    Finish { code: u8, is_asked: bool },
}

fn now() -> MutexGuard<'static, Now> {
    NOW.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks whose `stop` is set when the user or the system asks to stop. From here on, until [`unwatched`], such a
/// request does not kill the process.
pub(super) fn watched() -> &'static Marks {
    let mut now = now();
    MARKS.done.store(0, Ordering::Relaxed);
    MARKS.total.store(0, Ordering::Relaxed);
    MARKS.stop.store(false, Ordering::Relaxed);
    MARKS.back.store(false, Ordering::Relaxed);
    now.meaning = Meaning::Stop;
    listen();
    &MARKS
}

/// From here on a request to end means what it usually means.
pub(super) fn unwatched() {
    now().meaning = Meaning::Usual;
}

/// Starts a process and passes on to it what is heard from then on. The process gets the signals as they were found:
/// those that somebody had this program ignore are ignored by it, too.
pub(super) fn pass_on<T>(
    start: impl FnOnce() -> io::Result<T>,
    pid: impl FnOnce(&T) -> Pid,
) -> io::Result<T> {
    // Nothing is heard before it is known where to pass it on to.
    let mut now = now();
    if ignored().is_some() {
        listen();
    }
    let started = start()?;
    now.heard = Heard::NOTHING;
    now.meaning = Meaning::PassOn(pid(&started));
    // Where it is not known what is ignored, listening before would have changed what the process begins with.
    listen();
    Ok(started)
}

/// The process has ended, and is about to be forgotten by the system: nothing more is passed on. Says what was heard
/// while it ran.
pub(super) fn passed_on() -> Heard {
    let mut now = now();
    now.meaning = Meaning::Finish {
        code: 1,
        is_asked: false,
    };
    now.heard
}

/// From here on somebody who asks twice is let go, with this exit code.
pub(super) fn finish_with(code: u8) {
    now().meaning = Meaning::Finish {
        code,
        is_asked: false,
    };
}

/// What was heard since the process was started.
pub(super) fn heard() -> Heard {
    now().heard
}

/// Begins to listen, once. Where that cannot be arranged, a signal kills as it always did, and what was interrupted is
/// finished or undone by the next command.
fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        let ignored = ignored().unwrap_or(0);
        let wanted = REQUESTS.iter();
        let wanted = wanted.filter(|signal| ignored & (1 << (*signal - 1)) == 0);
        if let Ok(mut signals) = SignalsInfo::<WithOrigin>::new(wanted) {
            thread::spawn(move || signals.forever().for_each(|origin| hear(&origin)));
        }
    });
}

fn hear(origin: &Origin) {
    let signal = origin.signal;
    let mut now = now();
    match &mut now.meaning {
        Meaning::Stop if signal != SIGQUIT => MARKS.stop.store(true, Ordering::Relaxed),
        Meaning::Usual | Meaning::Stop => {
            drop(now);
            // Does not come back.
            let _ = emulate_default_handler(signal);
        }
        Meaning::PassOn(process) => {
            let process = *process;
            match signal {
                SIGTERM => now.heard.terminate = true,
                _ => now.heard.interrupt = true,
            }
            // The terminal's own signals go to everybody in the foreground; a hang-up goes to the session's leader alone.
            let is_sent = origin.process.is_some();
            if let Some(signal) = Signal::from_named_raw(signal)
                && (is_sent || signal == Signal::HUP)
            {
                // A process that has ended meanwhile needs no signal.
                let _ = kill_process(process, signal);
            }
        }
        Meaning::Finish { code, is_asked } if *is_asked => {
            let code = *code;
            process::exit(i32::from(code));
        }
        Meaning::Finish { is_asked, .. } => {
            *is_asked = true;
            complain("go-team is about to finish; once more, and it leaves at once\n");
        }
    }
}

/// The signals that somebody had this program ignore, a bit each; `None` where the system does not tell.
fn ignored() -> Option<u64> {
    static IGNORED: LazyLock<Option<u64>> = LazyLock::new(|| {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    *IGNORED
}
