//! Is this repository safe to use: what was found about it, and what to do about each thing.
//!
//! Nothing is changed, and every look is made whatever the others came to.

mod places;
mod sessions;

use serde::Serialize;

use super::failure::error_chain;
use super::summary::path_text;
use super::{Error, Workspace};
use crate::config::Origin;
use crate::git::open::Note;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorReport {
    /// Everything that was looked at.
    pub items: Vec<Item>,
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What it is about.
    pub area: Area,
    /// How it is.
    pub level: Health,
    /// What was found.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// What is looked at, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// The repository and what is special about it.
    Repository,
    /// go-team's own files: where they are, who may read and write them.
    Storage,
    /// Room on the disk.
    Disk,
    /// Locks of go-team's and of git's.
    Locks,
    /// What killed processes left.
    Leftovers,
    /// Sessions that cannot be read, interrupted operations, refs without a session.
    Sessions,
    /// Settings and where they come from.
    Config,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Good to know.
    Note,
    /// Should be seen to.
    Warning,
    /// Stands in the way.
    Bad,
}

impl DoctorReport {
    /// Whether nothing stands in the way.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.items.iter().all(|item| item.level < Health::Bad)
    }

    pub(super) fn add(&mut self, area: Area, level: Health, text: impl Into<String>) {
        self.items.push(Item {
            area,
            level,
            text: text.into(),
            remedy: None,
        });
    }

    pub(super) fn advise(
        &mut self,
        area: Area,
        level: Health,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.items.push(Item {
            area,
            level,
            text: text.into(),
            remedy: Some(remedy.into()),
        });
    }
}

/// Looks at everything. What cannot be looked at is an item of the report.
#[must_use]
pub fn doctor(workspace: &Workspace) -> DoctorReport {
    let mut report = DoctorReport { items: Vec::new() };
    look_at_repository(workspace, &mut report);
    places::look(workspace, &mut report);
    sessions::look(workspace, &mut report);
    look_at_config(workspace, &mut report);
    report.items.sort_by_key(|item| item.area);
    report
}

/// Says that something could not be looked at.
fn cannot_look(report: &mut DoctorReport, area: Area, error: impl Into<Error>) {
    report.add(area, Health::Bad, error_chain(&error.into()));
}

fn look_at_repository(workspace: &Workspace, report: &mut DoctorReport) {
    let repo = &workspace.repo;
    let area = Area::Repository;
    let work_tree: std::path::PathBuf = repo.work_dir.components().collect();
    let text = format!("work tree {}", path_text(&work_tree));
    report.add(area, Health::Ok, text);
    let notes = match repo.notes() {
        Ok(notes) => notes,
        Err(error) => return cannot_look(report, area, error),
    };
    for note in notes {
        let text = note.to_string();
        let advice = match &note {
            Note::InProgress { what } => Some(format!(
                "checkpoints work; a rollback needs it finished or given up: git {what} --abort"
            )),
            Note::Filters { .. } => Some(
                "their clean programs run for files that have the attribute, as git add would run them"
                    .to_owned(),
            ),
            Note::PartialClone => Some(
                "objects that are elsewhere are not in a checkpoint: git fetch --refetch brings them"
                    .to_owned(),
            ),
            _ => None,
        };
        match advice {
            Some(advice) => report.advise(area, Health::Note, text, advice),
            None => report.add(area, Health::Note, text),
        }
    }
}

fn look_at_config(workspace: &Workspace, report: &mut DoctorReport) {
    let area = Area::Config;
    let mut is_built_in = true;
    for entry in workspace.config.entries() {
        if *entry.origin == Origin::BuiltIn {
            continue;
        }
        is_built_in = false;
        let text = format!("{} = {} from {}", entry.key, entry.value, entry.origin);
        report.add(area, Health::Note, text);
    }
    if is_built_in {
        report.add(area, Health::Ok, "every setting is as built in");
    }
    if !workspace.config.settings.durability.sync {
        report.advise(
            area,
            Health::Warning,
            "a power cut may take checkpoints that were acknowledged",
            "durability.sync = true makes them survive it",
        );
    }
    for workflow in &workspace.config.settings.workflows {
        let Some(schema) = workflow.schema().filter(|schema| !schema.is_file()) else {
            continue;
        };
        let text = format!(
            "the schema of workflow {} is not there: {}",
            workflow.name(),
            path_text(schema)
        );
        let remedy = "put it there, or take the line out of the configuration";
        report.advise(area, Health::Bad, text, remedy);
    }
}
