//! Signs of life while a scan takes long, and a bar while objects are read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::output::Output;
use crate::engine::{Marks, Progress, Tally};

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the numbers change.
const TICK: Duration = Duration::from_millis(100);

/// Does the work; shows how far it has come if it takes long and somebody watches.
pub(super) fn watch<T>(output: &Output, work: impl FnOnce(&Progress) -> T) -> T {
    watch_walk(output, None, work)
}

/// The same for work that looks at files and then changes them.
pub(super) fn watch_walk<T>(
    output: &Output,
    marks: Option<&Marks>,
    work: impl FnOnce(&Progress) -> T,
) -> T {
    let progress = Progress::default();
    if !output.shows_progress() {
        return work(&progress);
    }
    thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        let progress = &progress;
        scope.spawn(move || show(progress, marks, &ended));
        let result = work(progress);
        drop(done);
        result
    })
}

fn show(progress: &Progress, marks: Option<&Marks>, ended: &mpsc::Receiver<()>) {
    if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        spinner.set_style(style);
    }
    loop {
        let looked_at = progress.files.load(Ordering::Relaxed);
        let read = progress.read.load(Ordering::Relaxed);
        let walked = marks.and_then(in_words);
        spinner.set_message(
            walked.unwrap_or_else(|| format!("{looked_at} files looked at, {read} read")),
        );
        spinner.tick();
        if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    spinner.finish_and_clear();
}

/// Does the work; shows how many objects of how many are read if it takes long and somebody watches.
pub(super) fn watch_objects<T>(output: &Output, work: impl FnOnce(&Tally) -> T) -> T {
    let tally = Tally::default();
    if !output.shows_progress() {
        return work(&tally);
    }
    thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        let tally = &tally;
        scope.spawn(move || show_bar(tally, &ended));
        let result = work(tally);
        drop(done);
        result
    })
}

fn show_bar(tally: &Tally, ended: &mpsc::Receiver<()>) {
    if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} objects read") {
        bar.set_style(style);
    }
    loop {
        let total = tally.total.load(Ordering::Relaxed);
        if total > 0 {
            bar.set_length(total);
            bar.set_position(tally.done.load(Ordering::Relaxed).min(total));
        }
        if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// How far files have been changed; nothing before that has begun.
fn in_words(marks: &Marks) -> Option<String> {
    let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let is = |mark: &AtomicBool| mark.load(Ordering::Relaxed);
    let (done, total) = (count(&marks.done), count(&marks.total));
    if total == 0 {
        return is(&marks.stop).then(|| "stopping".to_owned());
    }
    Some(if is(&marks.back) {
        format!("{done} of {total} files put back")
    } else if is(&marks.stop) {
        format!("stopping after {done} of {total} files")
    } else {
        format!("{done} of {total} files restored")
    })
}
