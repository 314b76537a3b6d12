//! Storage, room, locks and leftovers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Area, DoctorReport, Health};
use crate::engine::Workspace;
use crate::engine::summary::path_text;
use crate::model::timestamp;
use crate::store::{Holder, LockError, Wait};

/// Below this a checkpoint may fail.
const TIGHT: u64 = 1 << 30;
/// Below this it will.
const FULL: u64 = 32 << 20;

/// Looks at all of them.
pub(super) fn look(workspace: &Workspace, report: &mut DoctorReport) {
    look_at_storage(workspace, report);
    look_at_disk(workspace, report);
    look_at_locks(workspace, report);
    look_for_leftovers(workspace, report);
}

fn look_at_storage(workspace: &Workspace, report: &mut DoctorReport) {
    let area = Area::Storage;
    let root = workspace.store.layout().root();
    if !root.exists() {
        let text = format!(
            "{} does not exist yet; the first checkpoint makes it",
            path_text(root)
        );
        report.add(area, Health::Ok, text);
        return;
    }
    report.add(
        area,
        Health::Ok,
        format!("go-team's files are in {}", path_text(root)),
    );
    let places = [
        root.to_owned(),
        workspace.store.layout().sessions(),
        workspace.repo.pack_dir(),
        workspace.repo.common_dir.join("refs"),
    ];
    for place in places.iter().filter(|place| place.exists()) {
        if rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_err() {
            report.advise(
                area,
                Health::Bad,
                format!("{} cannot be written", path_text(place)),
                "commands that only read still work; to make checkpoints, make it writable",
            );
        }
    }
    for place in exposed(root) {
        report.advise(
            area,
            Health::Warning,
            format!("{} can be read by others than its owner", path_text(&place)),
            format!("chmod go= {}", path_text(&place)),
        );
    }
}

/// The root and the sessions that others may enter.
fn exposed(root: &Path) -> Vec<PathBuf> {
    let is_open = |path: &Path| {
        let mode = path
            .symlink_metadata()
            .map(|meta| meta.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o077 != 0)
    };
    if !is_open(root) {
        return Vec::new();
    }
    vec![root.to_owned()]
}

fn look_at_disk(workspace: &Workspace, report: &mut DoctorReport) {
    let area = Area::Disk;
    let root = workspace.store.layout().root();
    let storage = root.ancestors().find(|path| path.exists()).unwrap_or(root);
    for (name, place) in [
        ("objects", workspace.repo.common_dir.as_path()),
        ("go-team's files", storage),
    ] {
        let Ok(stat) = rustix::fs::statvfs(place) else {
            report.add(
                area,
                Health::Warning,
                format!("how much room there is for {name} is not known"),
            );
            continue;
        };
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let text = format!("{} MiB are free for {name}", free >> 20);
        // File systems without a fixed number of inodes say that there are none.
        let inodes_gone = stat.f_files > 0 && stat.f_favail < 1000;
        let level = if free < FULL {
            Health::Bad
        } else if free < TIGHT || inodes_gone {
            Health::Warning
        } else {
            Health::Ok
        };
        if level == Health::Ok {
            report.add(area, level, text);
        } else if inodes_gone {
            let text = format!("{} inodes are free for {name}", stat.f_favail);
            report.advise(area, level, text, "remove files that are not needed");
        } else {
            report.advise(
                area,
                level,
                text,
                "free some room; go-team cp-delete N removes checkpoints",
            );
        }
    }
}

fn look_at_locks(workspace: &Workspace, report: &mut DoctorReport) {
    let area = Area::Locks;
    let lock = workspace.store.layout().lock();
    if lock.exists() {
        let holder = Holder::this_process("doctor", workspace.clock.now());
        match workspace.store.lock(Wait::Fail, &holder) {
            Ok(_) => report.add(area, Health::Ok, "no go-team command is at work"),
            Err(LockError::Locked { holder, .. }) => {
                let who = holder.map_or("another process".to_owned(), |holder| {
                    let since = timestamp::format(holder.started_at);
                    format!("process {} ({}) since {since}", holder.pid, holder.command)
                });
                report.advise(
                    area,
                    Health::Note,
                    format!("a go-team command is at work: {who}"),
                    "wait for it; the lock is freed when the process ends, however it ends",
                );
            }
            // That the lock cannot be written is said with the storage.
            Err(LockError::Io(_)) => {}
        }
    }
    let repo = &workspace.repo;
    let mut found = false;
    for (dir, name) in [
        (&repo.git_dir, "index.lock"),
        (&repo.git_dir, "HEAD.lock"),
        (&repo.common_dir, "config.lock"),
        (&repo.common_dir, "packed-refs.lock"),
        (&repo.common_dir, "shallow.lock"),
    ] {
        let path = dir.join(name);
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        found = true;
        let now: SystemTime = workspace.clock.now().into();
        let age = metadata
            .modified()
            .ok()
            .and_then(|at| now.duration_since(at).ok());
        let age = age.map_or(String::new(), |age| {
            format!(", {} minutes old", age.as_secs() / 60)
        });
        report.advise(
            area,
            Health::Warning,
            format!("git's lock {} is there{age}", path_text(&path)),
            format!("if no git command is running: rm {}", path_text(&path)),
        );
    }
    if !found {
        report.add(area, Health::Ok, "git holds no lock");
    }
}

fn look_for_leftovers(workspace: &Workspace, report: &mut DoctorReport) {
    let area = Area::Leftovers;
    let layout = workspace.store.layout();
    let mut dirs = vec![
        layout.root().to_owned(),
        layout.sessions(),
        layout.worktrees(),
    ];
    dirs.extend(children(&layout.sessions()));
    dirs.extend(children(&layout.worktrees()));
    let mut count = 0;
    for dir in dirs {
        let is_temp = |path: &PathBuf| name_starts_with(path, &[".tmp-"]);
        count += children(&dir).iter().filter(|path| is_temp(path)).count();
    }
    let packs = children(&workspace.repo.pack_dir());
    let is_temp = |path: &&PathBuf| name_starts_with(path, &["go-team-tmp-"]);
    count += packs.iter().filter(is_temp).count();
    if count == 0 {
        report.add(area, Health::Ok, "nothing was left by killed commands");
    } else {
        report.advise(
            area,
            Health::Note,
            format!("{count} temporary files were left by killed commands"),
            "the next command that writes removes them, if no other one is using them",
        );
    }
}

fn name_starts_with(path: &Path, starts: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    starts
        .iter()
        .any(|start| name.starts_with(start.as_bytes()))
}

/// What is in a directory; nothing when it cannot be read.
fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}
