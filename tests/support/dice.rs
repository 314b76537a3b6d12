//! Chance that can be repeated, and how long a sweep may take.

use std::hash::{BuildHasher as _, Hasher as _};

/// Numbers that differ from run to run, and come again when the seed that was printed is given.
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Self {
        let asked = std::env::var("GO_TEAM_SEED").ok();
        let asked = asked.map(|seed| seed.parse().expect("GO_TEAM_SEED is a number"));
        let seed = asked.unwrap_or_else(|| {
            let hasher = std::collections::hash_map::RandomState::new().build_hasher();
            hasher.finish() | 1
        });
        println!("GO_TEAM_SEED={seed}");
        Self(seed)
    }

    /// Less than `limit`.
    pub fn roll(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("less than a limit of that type")
    }
}

/// How much of what can be swept is swept: `GO_TEAM_FAULTS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A few points, others each time.
    Few,
    /// `most`: every point of every command, and many of those at which an interruption is dealt with.
    Most,
    /// `all`: every one of these too, which takes hours.
    All,
}

pub fn extent() -> Extent {
    match std::env::var("GO_TEAM_FAULTS").as_deref() {
        Ok("all") => Extent::All,
        Ok("most") => Extent::Most,
        _ => Extent::Few,
    }
}

/// Whether every point of a sweep is to be tried.
pub fn is_complete() -> bool {
    extent() != Extent::Few
}

/// Numbers from 1 to `total`: all of them in a complete sweep, else about `few`, spread evenly from a random start.
pub fn thinned(total: usize, few: usize) -> Vec<usize> {
    let stride = if is_complete() {
        1
    } else {
        (total / few).max(1)
    };
    let first = 1 + Dice::new().roll(stride);
    (first..=total).step_by(stride).collect()
}
