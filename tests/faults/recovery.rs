//! What deals with an interruption, disturbed in its turn.
//!
//! An operation is killed at every point, and the calls that dealing with it takes are noted. Where these are the same ones,
//! the kills are the same to whoever deals with them, so one of each group is enough: there the dealing is swept.

use std::collections::BTreeMap;

use super::judge::Remedy;
use super::stage::{Fault, Goal, Stage, trace};
use super::tracer::{Point, Verdict};

/// Sets a value of the state: the shortest command that deals with whatever it finds.
const SHORT: [&str; 3] = ["state", "set", "recovered=1"];

impl Stage {
    /// The operation killed at some points, one for each way to deal with it.
    pub fn interrupted(&self, nths: &[usize]) -> Vec<Self> {
        let mut groups: BTreeMap<Vec<String>, Self> = BTreeMap::new();
        for nth in nths {
            let repo = self.repo.copy();
            let traced = trace(&repo, &self.args, |point| {
                if point.nth == *nth {
                    Verdict::Kill
                } else {
                    Verdict::Go
                }
            });
            if !traced.is_killed() {
                continue;
            }
            let mut args = SHORT.to_vec();
            let mut dealt = trace(&repo.copy(), &args, |_| Verdict::Go);
            if dealt.code != Some(0) {
                // There is no session yet, or none that is open.
                args = self.next.to_vec();
                dealt = trace(&repo.copy(), &args, |_| Verdict::Go);
            }
            let calls = dealt.points.iter().map(shape).collect();
            groups.entry(calls).or_insert_with(|| Self {
                name: format!("{} killed at {nth}, then {}", self.name, args.join(" ")),
                repo,
                args,
                reach: self.reach,
                next: self.next,
                is_damaged: self.is_damaged,
                goes_on: false,
                goal: Goal::Settled,
                before: self.before.clone(),
                after: self.after.clone(),
                code: 0,
                once_more: Some(0),
                halfway: None,
                points: dealt.points,
            });
        }
        groups.into_values().collect()
    }
}

/// A call, without what is different each time.
fn shape(point: &Point) -> String {
    let name = point.path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_hexdigit() { '0' } else { c })
        .collect();
    format!("{} {name}", point.call)
}

/// The faults that dealing with an interruption is put to, and what follows each.
pub fn faults() -> impl Iterator<Item = (Fault, &'static [Remedy])> {
    Fault::ALL
        .into_iter()
        .map(|fault| (fault, &[Remedy::Next][..]))
}
