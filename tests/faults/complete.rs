//! All points of all commands, and the table.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use nix::errno::Errno;

use super::dice::{Extent, extent, is_complete};
use super::git;
use super::judge::Remedy;
use super::operations::{ALL, Operation, Reach};
use super::recovery;
use super::stage::{Fault, Stage};
use super::table::{Row, Table};

/// Sweeps one operation, and what deals with its interruption.
fn sweep(operation: &Operation) -> Vec<Row> {
    let stage = Stage::new(operation);
    let mut rows: Vec<Row> = Fault::ALL
        .into_iter()
        .map(|fault| {
            let mut row = Row::new(operation.name, fault);
            for nth in in_turn(fault, stage.points_for(fault)) {
                strike(&stage, fault, nth, remedies(stage.reach, nth), &mut row);
            }
            row
        })
        .collect();
    let name = format!("{}, dealing with it", operation.name);
    let mut again: Vec<Row> = Fault::ALL
        .iter()
        .map(|fault| Row::new(&name, fault))
        .collect();
    let interrupted = stage.interrupted(&stage.points_for(Fault::Kill));
    for interrupted in some(interrupted, KINDS) {
        for (row, (fault, remedies)) in again.iter_mut().zip(recovery::faults()) {
            for nth in some(interrupted.points_for(fault), POINTS) {
                strike(&interrupted, fault, nth, remedies, row);
            }
        }
    }
    rows.extend(again);
    rows
}

fn strike(stage: &Stage, fault: Fault, nth: usize, remedies: &[Remedy], row: &mut Row) {
    let struck = stage.strike(fault, nth);
    if struck.hit.is_some() {
        row.add(struck.judge(remedies));
    }
}

/// All ways to deal with an interruption, or one of them in turn.
fn remedies(reach: Reach, nth: usize) -> &'static [Remedy] {
    let all = Remedy::of(reach);
    match extent() {
        Extent::All => all,
        _ => &all[nth % all.len()..][..1],
    }
}

/// A disk that is full and a quota that is used up are the same to whoever meets them: each at every other point.
fn in_turn(fault: Fault, points: Vec<usize>) -> Vec<usize> {
    let odd = match fault {
        Fault::Fail(Errno::ENOSPC) => 1,
        Fault::Fail(Errno::EDQUOT) => 0,
        _ => return points,
    };
    let is_its = |nth: &usize| extent() == Extent::All || nth % 2 == odd;
    points.into_iter().filter(is_its).collect()
}

/// How many kinds of interruption of an operation are dealt with when it is not all of them.
const KINDS: usize = 4;

/// At how many points that is disturbed, each time.
const POINTS: usize = 8;

/// All of them, or some, spread evenly.
fn some<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let stride = match extent() {
        Extent::All => 1,
        _ => all.len().div_ceil(most).max(1),
    };
    all.into_iter().step_by(stride).collect()
}

#[test]
fn complete() {
    if !is_complete() {
        return;
    }
    let only = std::env::var("GO_TEAM_FAULTS_ONLY").unwrap_or_default();
    let mut wanted: Vec<&Operation> = ALL.iter().filter(|one| one.name.contains(&only)).collect();
    // The long ones first, so that all cores have work to the end.
    wanted.sort_by_key(|one| one.reach != Reach::Everything);
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<(usize, Vec<Row>)>> = Mutex::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let nth = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(operation) = wanted.get(nth)
                {
                    let started = Instant::now();
                    let swept = sweep(operation);
                    let failed = swept.iter().filter(|row| !row.is_clean()).count();
                    let points: usize = swept.iter().map(|row| row.points).sum();
                    let seconds = started.elapsed().as_secs();
                    let name = operation.name;
                    println!("{name}: {points} points, {failed} rows with findings, {seconds} s");
                    for text in swept.iter().flat_map(|row| &row.texts) {
                        println!("{text}\n");
                    }
                    rows.lock().unwrap().push((nth, swept));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(nth, _)| *nth);
    let table = Table(rows.into_iter().flat_map(|(_, rows)| rows).collect());
    println!("{table}");
    if only.is_empty() {
        println!("{}", git::table());
    }
    assert!(table.0.iter().all(Row::is_clean), "promises were broken");
}
