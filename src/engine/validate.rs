//! Whether a session can be believed: every record, ref and object is looked at, and everything that is wrong is said.
//!
//! The first look takes no lock. Only what looks wrong is looked at again under the lock, because a command that is at
//! work looks like damage; and only then is what is corrupt marked in the manifest.

mod facts;
mod report;
mod schema;
mod surroundings;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::failure::error_chain;
use super::rebuild::evidence;
use super::show::Relative;
use super::{Error, Tally, Workspace};
use crate::git::reachable::Census;
use crate::git::verify::deep::{self, DamagedFile};
use crate::git::verify::packs;
use crate::model::finding::{Check, Defect, Finding, Severity};
use crate::model::selector::Numbers;
use crate::model::{CheckpointId, Entry, Manifest, Selector, SessionId};
use crate::plan::validate::{Facts, findings};
use crate::store;

use report::verdict;
pub use report::{Outcome, ValidateReport, Verdict};

/// How far objects are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Every object exists.
    #[default]
    Plain,
    /// Every object is read and hashed again.
    Deep,
}

/// What happens to a checkpoint that is corrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marking {
    /// It is marked in the manifest, if that can be written.
    #[default]
    Mark,
    /// Nothing is written.
    Never,
}

/// What is validated, and how.
#[derive(Debug, Clone, Default)]
pub struct ValidateOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
    /// The checkpoints; all of them when empty.
    pub checkpoints: Vec<Selector>,
    /// How far objects are looked at.
    pub depth: Depth,
    /// What happens to what is corrupt.
    pub marking: Marking,
}

/// Validates checkpoints.
///
/// # Errors
/// When the check cannot be made: there is no such session or checkpoint, or something cannot be read that says nothing
/// about the session. What is wrong with the session is no error, but a finding.
pub fn validate(
    workspace: &Workspace,
    options: &ValidateOptions,
    tally: &Tally,
) -> Result<ValidateReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let first = Look::take(workspace, &session, options, tally)?;
    let report = first.report(workspace, options);
    if report.is_valid() || options.marking == Marking::Never {
        return Ok(report);
    }
    let _lock = match workspace.lock("cp-validate") {
        Ok(lock) => lock,
        Err(error) => {
            let not_marked = first.has_corrupt().then(|| error_chain(&error));
            return Ok(ValidateReport {
                not_marked,
                ..report
            });
        }
    };
    workspace.find_session(Some(&session))?;
    let mut second = Look::take(workspace, &session, options, tally)?;
    let marked = second.mark(workspace);
    let report = second.report(workspace, options);
    Ok(match marked {
        Ok(marked) => ValidateReport { marked, ..report },
        Err(error) => ValidateReport {
            not_marked: Some(error_chain(&error)),
            ..report
        },
    })
}

/// Whether objects are read. They are not when the index of a pack is damaged: libgit2 would believe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Objects {
    Read,
    LeaveAlone,
}

/// One look at a session.
pub(super) struct Look {
    session: SessionId,
    /// The manifest; put together from what is left when it is damaged, absent when it is of a newer version.
    pub(super) manifest: Option<Manifest>,
    is_provisional: bool,
    /// What is known of each listed checkpoint that was asked for.
    facts: Vec<Option<Facts>>,
    chosen: HashSet<CheckpointId>,
    pub(super) findings: Vec<Finding>,
    objects: usize,
    promised: usize,
}

impl Look {
    pub(super) fn take(
        workspace: &Workspace,
        session: &SessionId,
        options: &ValidateOptions,
        tally: &Tally,
    ) -> Result<Self, Error> {
        let mut look = Self {
            session: session.clone(),
            manifest: None,
            is_provisional: false,
            facts: Vec::new(),
            chosen: HashSet::new(),
            findings: Vec::new(),
            objects: 0,
            promised: 0,
        };
        look.note_files(packs::damaged_indexes(&workspace.repo)?);
        let is_readable = look.findings.is_empty();
        match workspace.store.load_manifest(session) {
            Ok(manifest) => look.manifest = Some(manifest),
            Err(store::Error::Io(error)) => return Err(store::Error::Io(error).into()),
            Err(store::Error::NewerVersion { found, .. }) => {
                let defect = Defect::ManifestNewer { found };
                look.findings.push(Finding::of_session(defect));
                return Ok(look);
            }
            Err(error) => {
                let defect = match &error {
                    store::Error::Missing { .. } => Defect::ManifestMissing,
                    error => Defect::ManifestDamaged {
                        reason: facts::reason(error),
                    },
                };
                look.findings.push(Finding::of_session(defect));
                look.is_provisional = true;
                if !is_readable {
                    return Ok(look);
                }
                let rebuilt = evidence::rebuilt(workspace, session)?;
                look.manifest = Some(rebuilt.manifest);
            }
        }
        let objects = if is_readable {
            Objects::Read
        } else {
            Objects::LeaveAlone
        };
        look.check(workspace, options, objects, tally)?;
        Ok(look)
    }

    fn note_files(&mut self, files: Vec<DamagedFile>) {
        self.findings.extend(files.into_iter().map(|file| {
            Finding::of_session(Defect::RepositoryFile {
                path: super::summary::path_text(&file.path),
                reason: file.reason,
            })
        }));
    }

    fn check(
        &mut self,
        workspace: &Workspace,
        options: &ValidateOptions,
        objects: Objects,
        tally: &Tally,
    ) -> Result<(), Error> {
        let Some(manifest) = &self.manifest else {
            return Ok(());
        };
        self.chosen = choose(manifest, &options.checkpoints)?;
        let schema = schema::Schema::of(workspace, &manifest.workflow);
        let gathered = facts::gather(workspace, manifest, &self.chosen, &schema, objects)?;
        let mut facts = gathered.facts;
        let mut census = Census::default();
        let mut damaged = Vec::new();
        if objects == Objects::Read {
            census = facts::census(workspace, manifest, &facts)?;
            if options.depth == Depth::Deep {
                damaged = deep::read_all(&workspace.repo, &mut census, tally)?;
            }
            facts::attribute(workspace, manifest, &census, &gathered.flaws, &mut facts)?;
        }
        self.objects = census.objects.len();
        self.promised = census.promised;
        let found = findings(manifest, &facts).into_iter();
        let is_asked_for = |finding: &Finding| match (&finding.checkpoint, &finding.defect) {
            (Some(id), _) => self.chosen.contains(id),
            (None, _) => options.checkpoints.is_empty(),
        };
        self.findings.extend(found.filter(is_asked_for));
        self.findings.extend(schema.finding());
        let surroundings =
            surroundings::findings(workspace, manifest, &gathered.references, objects)?;
        self.findings
            .extend(surroundings.into_iter().filter(|finding| {
                let is_about_now = matches!(
                    finding.defect,
                    Defect::Interrupted { .. } | Defect::JournalDamaged { .. }
                );
                is_about_now || options.checkpoints.is_empty()
            }));
        self.facts = facts;
        self.note_files(damaged);
        Ok(())
    }

    fn has_corrupt(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.severity == Severity::Corrupt)
    }

    /// Marks what is corrupt; says which checkpoints were not marked before. The caller holds the lock.
    pub(super) fn mark(&mut self, workspace: &Workspace) -> Result<Vec<CheckpointId>, Error> {
        let Some(manifest) = self.manifest.as_mut().filter(|_| !self.is_provisional) else {
            return Ok(Vec::new());
        };
        let corrupt = self.findings.iter();
        let corrupt: HashSet<&CheckpointId> = corrupt
            .filter(|finding| finding.severity == Severity::Corrupt)
            .filter_map(|finding| finding.checkpoint.as_ref())
            .collect();
        let now = workspace.clock.now();
        let mut marked = Vec::new();
        let mut changed = manifest.clone();
        changed.mark(|id, validity| {
            if corrupt.contains(id) && (validity.valid || validity.corrupted_at.is_none()) {
                validity.valid = false;
                validity.corrupted_at = validity.corrupted_at.or(Some(now));
                marked.push(id.clone());
            }
        });
        if !marked.is_empty() {
            workspace.replace_manifest(&changed)?;
            *manifest = changed;
        }
        Ok(marked)
    }

    /// The checkpoints, asked for, that were marked as corrupt and with which nothing is wrong now.
    pub(super) fn sound_again(&self) -> HashSet<CheckpointId> {
        let found = self.findings.iter();
        let marked = found.filter(|f| matches!(f.defect, Defect::MarkedCorrupt { .. }));
        marked
            .filter_map(|finding| finding.checkpoint.clone())
            .collect()
    }

    fn report(&self, workspace: &Workspace, options: &ValidateOptions) -> ValidateReport {
        let mut report = ValidateReport {
            session_id: self.session.clone(),
            session: None,
            depth: options.depth,
            checkpoints: Vec::new(),
            findings: self.findings.clone(),
            last_valid: None,
            marked: Vec::new(),
            not_marked: None,
            objects: self.objects,
            promised: self.promised,
        };
        let Some(manifest) = &self.manifest else {
            return report;
        };
        if self.is_provisional && self.has_corrupt() {
            let reason = "the manifest has to be rebuilt first";
            report.not_marked = Some(reason.to_owned());
        }
        let numbers = Numbers::of(manifest);
        let mut failed: HashMap<&CheckpointId, HashSet<Option<Check>>> = HashMap::new();
        for finding in &self.findings {
            if let Some(id) = &finding.checkpoint {
                failed.entry(id).or_default().insert(finding.check);
            }
        }
        let entries = manifest.checkpoints().iter();
        for (entry, facts) in entries.zip(&self.facts) {
            if let Some(facts) = facts.as_ref().filter(|_| self.chosen.contains(&entry.id)) {
                let failed = failed.get(&entry.id);
                let current = manifest.current_checkpoint.as_ref() == Some(&entry.id);
                report
                    .checkpoints
                    .push(verdict(&numbers, entry, facts, failed, current));
            }
        }
        let sound =
            |entry: &&Entry| entry.valid && !entry.is_safety() && !failed.contains_key(&entry.id);
        let last = manifest.checkpoints().iter().rev().find(sound);
        report.last_valid = last.map(|entry| Relative {
            number: numbers.number(entry),
            id: entry.id.clone(),
        });
        report.session = Some(workspace.summarize(manifest));
        report
    }
}

/// The checkpoints asked for, or all.
fn choose(manifest: &Manifest, wanted: &[Selector]) -> Result<HashSet<CheckpointId>, Error> {
    if wanted.is_empty() {
        let all = manifest.checkpoints().iter();
        return Ok(all.map(|entry| entry.id.clone()).collect());
    }
    let resolved = wanted.iter().map(|selector| {
        let entry = selector.resolve(manifest)?;
        Ok(entry.id.clone())
    });
    resolved.collect()
}

impl Workspace {
    /// Puts a manifest in the place of the old one, for good. The caller holds the lock.
    pub(super) fn replace_manifest(&self, manifest: &Manifest) -> Result<(), Error> {
        let staged = self.store.stage_manifest(manifest)?;
        staged.publish().map_err(store::Error::from)?;
        Ok(self.store.sync_session(&manifest.session_id)?)
    }
}
