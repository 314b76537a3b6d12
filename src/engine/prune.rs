//! Applying the retention policy by hand.

use serde::Serialize;

use super::recover::Recovered;
use super::{Error, Workspace};
use crate::model::selector::Numbers;
use crate::model::{CheckpointId, Entry, Manifest, SessionId, Trigger};
use crate::plan::retention::{Decision, Verdict};

/// Which session is pruned.
#[derive(Debug, Clone, Default)]
pub struct PruneOptions {
    /// The session; the work tree's own when absent.
    pub session: Option<SessionId>,
}

/// What pruning would do, or did.
#[derive(Debug, Clone, Serialize)]
pub struct PruneReport {
    /// The session.
    pub session_id: SessionId,
    /// The checkpoints that go, by rising seq.
    pub pruned: Vec<Judged>,
    /// The checkpoints that stay, by rising seq.
    pub kept: Vec<Judged>,
    /// How much the objects take that only these checkpoints hold, where a limit asks for it.
    pub size: Option<Size>,
    /// Whether it was only planned.
    pub dry_run: bool,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Troubles that the next command will see to.
    pub warnings: Vec<String>,
}

/// A checkpoint, and why it goes or stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// What selects it.
    pub number: String,
    /// The checkpoint.
    pub id: CheckpointId,
    /// The step's name.
    pub name: String,
    /// Why it was made.
    pub trigger: Trigger,
    /// Whether it can be rolled back to.
    pub valid: bool,
    /// Why; never empty.
    pub reasons: Vec<String>,
    /// What goes with it, in bytes, where sizes were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// How much a session takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    /// In bytes, before.
    pub before: u64,
    /// In bytes, without what goes.
    pub after: u64,
    /// The limit.
    pub limit: u64,
}

/// Says what pruning would do. Nothing is changed.
///
/// # Errors
/// When there is no such session, its manifest cannot be read, or sizes are asked for and cannot be measured.
pub fn plan_prune(workspace: &Workspace, options: &PruneOptions) -> Result<PruneReport, Error> {
    let session = workspace.find_session(options.session.as_ref())?;
    let manifest = workspace.store.load_manifest(&session)?;
    workspace.judge_all(&manifest)
}

/// Prunes the checkpoints of a plan. One that should stay by now stays.
///
/// # Errors
/// When the manifest cannot be written, or sizes are asked for and cannot be measured; nothing has been pruned then.
pub fn prune(workspace: &Workspace, planned: &PruneReport) -> Result<PruneReport, Error> {
    let session = &planned.session_id;
    if planned.pruned.is_empty() && matches!(workspace.unfinished(session), Ok(None)) {
        let dry_run = false;
        return Ok(PruneReport {
            dry_run,
            ..planned.clone()
        });
    }
    let _lock = workspace.lock("cp-prune")?;
    workspace.find_session(Some(session))?;
    let recovered = workspace.recover(session)?;
    let manifest = workspace.store.load_manifest(session)?;
    let mut report = workspace.judge_all(&manifest)?;
    // Nobody has agreed to more than was shown.
    let is_agreed = |judged: &Judged| planned.pruned.iter().any(|shown| shown.id == judged.id);
    let late: Vec<Judged> = report
        .pruned
        .extract_if(.., |judged| !is_agreed(judged))
        .collect();
    report.kept.extend(late);
    let goes: Vec<Entry> = report
        .pruned
        .iter()
        .filter_map(|judged| manifest.entry(&judged.id).cloned())
        .collect();
    workspace.take_from_list(&manifest, &goes, &mut report.warnings)?;
    report.dry_run = false;
    report.recovered = recovered;
    Ok(report)
}

impl Workspace {
    /// What the policy says about every checkpoint of a session.
    fn judge_all(&self, manifest: &Manifest) -> Result<PruneReport, Error> {
        let now = self.clock.now();
        let sizes = self.measure(manifest, now)?;
        let decisions = self.decide(manifest, self.caps(), &|id| sizes.of(id), now);
        let numbers = Numbers::of(manifest);
        let judge = |(decision, entry): (&Decision<'_, _, Trigger>, &Entry)| Judged {
            number: numbers.number(entry),
            id: entry.id.clone(),
            name: entry.name.clone(),
            trigger: entry.trigger,
            valid: entry.valid,
            reasons: decision.reasons.iter().map(ToString::to_string).collect(),
            bytes: sizes.of(&entry.id),
        };
        let all = decisions.iter().zip(manifest.checkpoints());
        let (pruned, kept): (Vec<_>, Vec<_>) =
            all.partition(|(decision, _)| decision.verdict == Verdict::Remove);
        let size = self.caps().max_size_bytes.map(|limit| Size {
            before: sizes.total(),
            after: kept
                .iter()
                .filter_map(|(_, entry)| sizes.of(&entry.id))
                .sum(),
            limit,
        });
        Ok(PruneReport {
            session_id: manifest.session_id.clone(),
            pruned: pruned.into_iter().map(judge).collect(),
            kept: kept.into_iter().map(judge).collect(),
            size,
            dry_run: true,
            recovered: Vec::new(),
            warnings: Vec::new(),
        })
    }
}
