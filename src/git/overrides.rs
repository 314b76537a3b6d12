//! `capture.include` and `capture.exclude`: go-team's own patterns on top of git's.

use super::ignore::{Patterns, Verdict};

/// The patterns of a setting; none when it is empty.
pub(super) fn overrides(patterns: &[String]) -> Option<Patterns> {
    (!patterns.is_empty()).then(|| Patterns::of_lines(patterns.iter().map(String::as_str)))
}

/// Ignored paths that are captured all the same.
pub(super) struct Include {
    patterns: Patterns,
    /// Where the patterns lead.
    ways: Vec<Way>,
}

/// The literal start of a pattern that holds a slash: ignored directories on the way there are entered, and those
/// below it when a wildcard follows.
struct Way {
    start: Vec<u8>,
    goes_on: bool,
}

impl Include {
    pub fn new(patterns: &[String]) -> Option<Self> {
        let ways = patterns.iter().filter_map(|pattern| Way::of(pattern));
        Some(Self {
            ways: ways.collect(),
            patterns: overrides(patterns)?,
        })
    }

    /// Whether the path is captured: it or a directory above it matches, or it is a directory on the way.
    pub fn takes(&self, path: &[u8], is_dir: bool, fold: bool) -> bool {
        let is_on_the_way = is_dir && self.ways.iter().any(|way| way.leads_through(path));
        is_on_the_way
            || self.patterns.find_at_any_level(path, is_dir, fold) == Some(Verdict::Matched)
    }
}

impl Way {
    fn of(pattern: &str) -> Option<Self> {
        let pattern = pattern.trim_start_matches(['!', '/']);
        if !pattern.trim_end_matches('/').contains('/') {
            return None;
        }
        let wildcard = pattern.find(['*', '?', '[', '\\']);
        Some(Self {
            start: pattern.as_bytes()[..wildcard.unwrap_or(pattern.len())].to_vec(),
            goes_on: wildcard.is_some(),
        })
    }

    fn leads_through(&self, dir: &[u8]) -> bool {
        let is_above = |above: &[u8], path: &[u8]| {
            path.len() > above.len() && path.starts_with(above) && path[above.len()] == b'/'
        };
        let last = self.start.iter().rposition(|byte| *byte == b'/');
        let top = &self.start[..last.unwrap_or(0)];
        is_above(dir, &self.start) || (self.goes_on && !top.is_empty() && is_above(top, dir))
    }
}
