//! The plan of a rollback, with all that carrying it out needs.

use std::collections::{BTreeSet, HashMap};

use super::goal::Goal;
use super::{Error, RollbackError, Workspace};
use crate::git::backend::Head;
use crate::git::restore::{Change, Differences, Filters, Item, Kept, View, Why, head};
use crate::git::snapshot::Snapshot;
use crate::git::stamp::Stamp;
use crate::model::journal::JournalHead;
use crate::model::manifest::MovedBranch;
use crate::model::path_text::quote_path;
use crate::model::selector::Numbers;
use crate::model::{Entry, Manifest, ObjectId};
use crate::plan::rollback::{
    FileStep, KeptFile, Named, Plan, PlannedCommit, PlannedFile, PlannedHead, ValidityChange,
    validity_after,
};

/// How many of the commits that leave a branch are listed.
const LISTED_COMMITS: usize = 50;

/// A plan, and what it was made from.
pub(super) struct Layout {
    pub plan: Plan,
    pub from: View,
    pub to: View,
    pub differences: Differences,
    pub filters: [Filters; 2],
    pub kept: BTreeSet<Vec<u8>>,
    pub stamps: HashMap<Vec<u8>, Stamp>,
    pub head_from: Head,
    pub head_to: Head,
    /// Ignored paths that would be overwritten: they must be captured first.
    pub uncaptured: Vec<Vec<u8>>,
}

impl Layout {
    pub fn of(
        workspace: &Workspace,
        manifest: &Manifest,
        goal: &Goal,
        snapshot: &Snapshot,
    ) -> Result<Self, Error> {
        let repo = &workspace.repo;
        let read = |id: &ObjectId| snapshot.read_tree(repo, id);
        let format = repo.backend.format();
        let from = View::of(repo, snapshot)?;
        let unusable = |error: &crate::git::Error| RollbackError::Unusable {
            checkpoint: goal.source.id.clone(),
            reason: error.to_string(),
        };
        let to = View::load(repo, goal.source_commit).map_err(|error| unusable(&error))?;
        let differences = Differences::between(format, &read, &from, &to);
        let mut differences = differences.map_err(|error| unusable(&error))?;
        if !goal.paths.is_empty() {
            differences = differences.within(&goal.paths);
        }
        let capture = workspace.capture();
        let filters = [
            Filters::of(repo, &capture, &read, &from, &differences)?,
            Filters::of(repo, &capture, &read, &to, &differences)?,
        ];
        let kept = differences
            .keep_what_must_stay(&from, &to, &filters[1], &|path| snapshot.is_tracked(path));
        for change in &differences.files {
            let is_link = matches!(change.to, Some(Item::Link { .. }));
            if change.to.is_some() && !filters[1].allows(&change.path, is_link) {
                return Err(RollbackError::UnsafeName {
                    path: quote_path(&change.path),
                }
                .into());
            }
        }
        let root = std::fs::File::open(&repo.work_dir).map_err(|source| crate::git::Error::Io {
            op: "open",
            path: repo.work_dir.clone(),
            source,
        })?;
        let obstacles =
            differences.obstacles(std::os::fd::AsFd::as_fd(&root), &*repo.backend, &filters[1])?;
        let stamps = differences.files.iter().filter(|c| c.from.is_some());
        let stamps = stamps
            .filter_map(|change| Some((change.path.clone(), snapshot.stamp(&change.path)?)))
            .collect();
        let head_from = snapshot.head.clone();
        let head_to = if goal.paths.is_empty() {
            goal.head()?
        } else {
            head_from.clone()
        };
        let mut layout = Self {
            plan: empty_plan(manifest, goal, &head_from, &head_to)?,
            kept: kept.iter().map(|kept| kept.path.clone()).collect(),
            uncaptured: obstacles.into_iter().map(|found| found.path).collect(),
            from,
            to,
            differences,
            filters,
            stamps,
            head_from,
            head_to,
        };
        layout.plan_files(workspace, goal, &kept)?;
        if goal.paths.is_empty() {
            layout.plan_branches(workspace, goal)?;
            layout.plan.index =
                layout.from.staged != layout.to.staged || layout.from.index != layout.to.index;
            let ValidityChange {
                invalidates,
                revalidates,
            } = validity_after(manifest, &goal.to.id);
            layout.plan.invalidates = invalidates;
            layout.plan.revalidates = revalidates;
        }
        layout.plan.bytes_free = free_bytes(&repo.work_dir);
        Ok(layout)
    }

    fn plan_files(
        &mut self,
        workspace: &Workspace,
        goal: &Goal,
        kept: &[Kept],
    ) -> Result<(), Error> {
        let backend = &workspace.repo.backend;
        let size = |item: &Item| {
            let missing = || RollbackError::Unusable {
                checkpoint: goal.source.id.clone(),
                reason: format!("its object {} is missing", item.id()),
            };
            backend.size(&item.id()).ok_or_else(missing)
        };
        for Change { path, from, to } in &self.differences.files {
            let file = |step, bytes| PlannedFile {
                path: quote_path(path),
                step,
                bytes,
            };
            match (from, to.filter(|item| !item.is_nested())) {
                (_, Some(item)) => {
                    let step = match from {
                        None => FileStep::Create,
                        Some(Item::File { id, .. }) if matches!(item, Item::File { id: other, .. } if other == *id) => {
                            FileStep::Permissions
                        }
                        Some(_) => FileStep::Replace,
                    };
                    let bytes = size(&item)?;
                    if step != FileStep::Permissions {
                        self.plan.bytes_needed += bytes;
                    }
                    self.plan.write.push(file(step, bytes));
                }
                (Some(item), None) => {
                    // What goes is in the safety checkpoint, and may not be in the repository yet.
                    let bytes = self.stamps.get(path).map(|stamp| stamp.size);
                    let bytes = bytes.or_else(|| backend.size(&item.id())).unwrap_or(0);
                    self.plan.delete.push(file(FileStep::Delete, bytes));
                }
                (None, None) => {}
            }
        }
        let holds = |dir: &[u8]| {
            let below = [dir, b"/"].concat();
            let files = &self.differences.files;
            let first = files.partition_point(|change| change.path < below);
            let inside = files[first..].iter();
            let mut inside = inside.take_while(|change| change.path.starts_with(&below));
            inside.any(|change| change.to.is_some())
        };
        for dir in &self.differences.dirs {
            match (dir.from, dir.to) {
                (None, Some(_)) if !holds(&dir.path) => {
                    self.plan.make_directories.push(quote_path(&dir.path));
                }
                (Some(_), None) => self.plan.remove_directories.push(quote_path(&dir.path)),
                _ => {}
            }
        }
        self.plan.keep = kept
            .iter()
            .map(|kept| KeptFile {
                path: quote_path(&kept.path),
                reason: in_words(kept.why),
            })
            .collect();
        Ok(())
    }

    fn plan_branches(&mut self, workspace: &Workspace, goal: &Goal) -> Result<(), Error> {
        let repo = &workspace.repo;
        let mut moves: Vec<MovedBranch> = Vec::new();
        if let Head::Branch { name, commit } = &self.head_to {
            let name = text_of(name, goal.source_commit)?;
            let now = repo.backend.reference(&name)?;
            if now != *commit {
                moves.push(MovedBranch {
                    from: now,
                    name: name.clone(),
                    to: *commit,
                });
            }
            let is_new_place = !head::same_place(&self.head_from, &self.head_to);
            if is_new_place && let Some(path) = head::checked_out_elsewhere(repo, &name) {
                return Err(RollbackError::BranchElsewhere { branch: name, path }.into());
            }
            if now.is_none() && commit.is_some() {
                let short = name.trim_start_matches("refs/heads/");
                if let Some(other) = head::name_conflict(repo, &name)? {
                    return Err(RollbackError::BranchName {
                        branch: name,
                        other,
                    }
                    .into());
                }
                self.plan.warnings.push(format!(
                    "the branch {short} does not exist any more and is made again"
                ));
            }
        }
        for reversed in goal.reverses.iter().flat_map(|record| &record.branches) {
            if moves.iter().any(|moved| moved.name == reversed.name) {
                continue;
            }
            let now = repo.backend.reference(&reversed.name)?;
            if now == reversed.from {
                continue;
            }
            let is_head = matches!(&self.head_to, Head::Branch { name, .. } if name == reversed.name.as_bytes());
            if now == reversed.to && !is_head {
                moves.push(MovedBranch {
                    from: now,
                    name: reversed.name.clone(),
                    to: reversed.from,
                });
            } else if !is_head {
                self.plan.warnings.push(format!(
                    "the branch {} was moved since and is left where it is",
                    reversed.name.trim_start_matches("refs/heads/")
                ));
            }
        }
        for branch in moves {
            let (listed, total) = match branch.from {
                Some(tip) => repo.backend.commits(tip, branch.to, LISTED_COMMITS)?,
                None => (Vec::new(), 0),
            };
            let listed = listed.into_iter().map(|line| PlannedCommit {
                branch: branch.name.clone(),
                commit: line.id,
                summary: line.summary,
            });
            self.plan.commits_leaving.extend(listed);
            self.plan.commits_leaving_total += total;
            self.plan.branches.push(branch);
        }
        Ok(())
    }

    /// The commits that the safety checkpoint must hold beside HEAD's: tips that branches leave.
    pub fn tips(&self) -> Vec<ObjectId> {
        let tips = self.plan.branches.iter().filter_map(|branch| branch.from);
        let head = self.head_from.commit();
        let tips: BTreeSet<ObjectId> = tips.filter(|tip| Some(*tip) != head).collect();
        tips.into_iter().collect()
    }
}

fn empty_plan(
    manifest: &Manifest,
    goal: &Goal,
    head_from: &Head,
    head_to: &Head,
) -> Result<Plan, Error> {
    let numbers = Numbers::of(manifest);
    let named = |entry: &Entry| Named {
        number: numbers.number(entry),
        id: entry.id.clone(),
        step: entry.step,
        name: entry.name.clone(),
        timestamp: entry.timestamp,
    };
    let source = manifest.entry(&goal.source.id);
    let source = source.filter(|source| source.id != goal.to.id);
    Ok(Plan {
        kind: goal.kind,
        target: named(&goal.to),
        source: source.map(named),
        current: manifest.current().map(named),
        paths: goal.paths.iter().map(|path| quote_path(path)).collect(),
        head: PlannedHead {
            from: journal_head(head_from, goal.source_commit)?,
            to: journal_head(head_to, goal.source_commit)?,
        },
        branches: Vec::new(),
        commits_leaving: Vec::new(),
        commits_leaving_total: 0,
        index: false,
        write: Vec::new(),
        delete: Vec::new(),
        keep: Vec::new(),
        make_directories: Vec::new(),
        remove_directories: Vec::new(),
        invalidates: Vec::new(),
        revalidates: Vec::new(),
        bytes_needed: 0,
        bytes_free: 0,
        warnings: Vec::new(),
    })
}

/// HEAD as the journal says it.
fn journal_head(head: &Head, commit: ObjectId) -> Result<JournalHead, Error> {
    Ok(match head {
        Head::Branch { name, commit: at } => JournalHead {
            branch: Some(text_of(name, commit)?),
            commit: *at,
        },
        Head::Detached { commit } => JournalHead {
            branch: None,
            commit: Some(*commit),
        },
    })
}

fn text_of(name: &[u8], commit: ObjectId) -> Result<String, Error> {
    let text = String::from_utf8(name.to_vec());
    Ok(text.map_err(|_| RollbackError::BranchText { commit })?)
}

fn in_words(why: Why) -> String {
    match why {
        Why::SkippedNow(reason) => format!("it cannot be captured: {}", reason.as_str()),
        Why::SkippedThen(reason) => {
            format!("it was not captured then: {}", reason.as_str())
        }
        Why::Nested => "another repository".to_owned(),
        Why::Excluded => "capture.exclude leaves it out".to_owned(),
        Why::IgnoredThen => "git ignored it then".to_owned(),
    }
}

fn free_bytes(dir: &std::path::Path) -> u64 {
    rustix::fs::statvfs(dir).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}
