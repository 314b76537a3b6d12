//! Whether a session can be believed: every record, ref and object is looked at, and everything that is wrong is said.
//!
//! The first look takes no lock. Only what looks wrong is looked at again under the lock, because a command that is at
//! work looks like damage; and only then is what is corrupt marked in the manifest.

mod facts;
mod schema;
mod surroundings;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::failure::error_chain;
use super::rebuild::evidence;
use super::show::Relative;
use super::summary::SessionSummary;
use super::{Error, Tally, Workspace};
use crate::git::reachable::Census;
use crate::git::verify::deep::{self, DamagedFile};
use crate::git::verify::packs;
use crate::model::finding::{Check, Defect, Finding, Severity};
use crate::model::selector::Numbers;
use crate::model::{CheckpointId, Entry, Manifest, Selector, SessionId};
use crate::plan::validate::{CommitFact, Facts, FileFact, findings};
use crate::store;

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

/// What validation came to.
#[derive(Debug, Clone, Serialize)]
pub struct ValidateReport {
    /// The session.
    pub session_id: SessionId,
    /// The session in short; absent when its manifest is of a newer version.
    pub session: Option<SessionSummary>,
    /// How far objects were looked at.
    pub depth: Depth,
    /// What came of each checkpoint, oldest first.
    pub checkpoints: Vec<Verdict>,
    /// Everything that is not as it should be.
    pub findings: Vec<Finding>,
    /// The newest checkpoint that nothing is wrong with.
    pub last_valid: Option<Relative>,
    /// The checkpoints that were marked as corrupt now.
    pub marked: Vec<CheckpointId>,
    /// Why what is corrupt could not be marked.
    pub not_marked: Option<String>,
    /// How many objects the checkpoints need.
    pub objects: usize,
    /// How many of them a partial clone has elsewhere.
    pub promised: usize,
}

/// What came of one checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// What selects it.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// Its place in the session's history.
    pub seq: u64,
    /// Its record.
    pub file: Outcome,
    /// Its checksum.
    pub hash: Outcome,
    /// Its links.
    pub chain: Outcome,
    /// Its ref and objects.
    pub git: Outcome,
    /// Its state.
    pub state: Outcome,
    /// All of that.
    pub overall: Outcome,
    /// Whether the manifest says that it can be rolled back to.
    pub valid: bool,
    /// Whether it is the current one.
    pub current: bool,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Ok,
    /// Not as it should be.
    Failed,
    /// There is nothing to check, or no way to.
    Skipped,
}

impl ValidateReport {
    /// The last valid checkpoint, unless the work tree descends from it anyway.
    #[must_use]
    pub fn way_back(&self) -> Option<&Relative> {
        let session = self.session.as_ref()?;
        let current = session.current_checkpoint.as_ref();
        self.last_valid
            .as_ref()
            .filter(|last| Some(&last.id) != current)
    }

    /// Whether nothing is wrong; leftovers that cost nothing do not count.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity == Severity::Notice)
    }
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

fn verdict(
    numbers: &Numbers,
    entry: &Entry,
    facts: &Facts,
    failed: Option<&HashSet<Option<Check>>>,
    current: bool,
) -> Verdict {
    let has_record = matches!(facts.file, FileFact::Whole(_));
    let outcome = |check: Check, can_be_checked: bool| {
        if failed.is_some_and(|failed| failed.contains(&Some(check))) {
            Outcome::Failed
        } else if can_be_checked {
            Outcome::Ok
        } else {
            Outcome::Skipped
        }
    };
    let has_commit = entry.commit_hash.is_some() && !matches!(facts.committed, CommitFact::None);
    Verdict {
        number: numbers.number(entry),
        id: entry.id.clone(),
        seq: entry.seq,
        file: outcome(Check::File, true),
        hash: outcome(Check::Hash, has_record),
        chain: outcome(Check::Chain, has_record),
        git: outcome(Check::Git, has_commit),
        state: outcome(Check::State, has_record),
        overall: if failed.is_some() {
            Outcome::Failed
        } else {
            Outcome::Ok
        },
        valid: entry.valid,
        current,
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
