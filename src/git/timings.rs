//! Where the time of an operation went.

use std::time::{Duration, Instant};

/// Named laps since a start.
#[derive(Debug, Clone)]
pub struct Timings {
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Timings {
    /// Starts the watch.
    #[must_use]
    pub fn start() -> Self {
        Self {
            last: Instant::now(),
            laps: Vec::new(),
        }
    }

    /// Ends a lap.
    pub fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        self.laps.push((name, now - self.last));
        self.last = now;
    }

    /// Takes over the laps of a part of the work, which replace the time since the last lap.
    pub fn include(&mut self, part: Self) {
        self.last = part.last;
        self.laps.extend(part.laps);
    }

    /// The laps in order.
    #[must_use]
    pub fn laps(&self) -> &[(&'static str, Duration)] {
        &self.laps
    }
}
