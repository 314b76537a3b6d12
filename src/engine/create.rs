//! Making a checkpoint: objects, ref, record, manifest, each durable before the next.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::inputs::{Inputs, Parent};
use super::publish::Publication;
use super::recover::Recovered;
use super::session::{Opened, is_open};
use super::{Error, Workspace};
use crate::git::sidecar::{NestedPath, SkippedPath};
use crate::git::snapshot::{Committed, Snapshot, reference_of};
use crate::git::timings::Timings;
use crate::git::walk::Progress;
use crate::model::journal::CreateJournal;
use crate::model::path_text::quote_path;
use crate::model::{
    self, CheckpointId, Entry, GitSnapshot, Journal, Manifest, ObjectId, Record, RecordDraft,
    SessionId, State, Trigger,
};

/// Whether files are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Files {
    /// Files, index and HEAD go into a commit.
    #[default]
    Capture,
    /// The record alone is made.
    RecordOnly,
}

/// What a checkpoint is made with.
#[derive(Debug, Clone)]
pub struct CreateOptions {
    /// The session; the work tree's own when absent, a new one when that has none.
    pub session: Option<SessionId>,
    /// What the maker says about it.
    pub description: String,
    /// The step; the workflow's or the next number when absent.
    pub step: Option<u32>,
    /// The step's name.
    pub name: Option<String>,
    /// Where the workflow is.
    pub phase: Option<String>,
    /// Why it is made.
    pub trigger: Trigger,
    /// The workflow's state; the live state when absent.
    pub state: Option<State>,
    /// What was produced; what the current checkpoint has when absent.
    pub outputs: Option<Map<String, Value>>,
    /// Metrics to set in the state.
    pub metrics: Vec<(String, Value)>,
    /// Whether files are captured.
    pub files: Files,
}

/// What came of it.
#[derive(Debug)]
pub struct CreateReport {
    /// The checkpoint's record.
    pub record: Record,
    /// The session as it is now.
    pub manifest: Manifest,
    /// Whether the session began with this checkpoint.
    pub session_started: bool,
    /// Whether files, index and HEAD are as in the parent.
    pub unchanged: bool,
    /// Paths that were left out.
    pub skipped: Vec<SkippedPath>,
    /// Nested repositories, recorded as commits.
    pub nested: Vec<NestedPath>,
    /// Troubles that did not stop the checkpoint.
    pub warnings: Vec<String>,
    /// Checkpoints that the retention policy removed.
    pub pruned: Vec<CheckpointId>,
    /// What an earlier command had left unfinished.
    pub recovered: Vec<Recovered>,
    /// Objects and bytes that the repository grew by.
    pub growth: (usize, u64),
    /// Where the time went.
    pub timings: Vec<(&'static str, Duration)>,
}

/// Makes a checkpoint.
///
/// # Errors
/// When checkpoints of its kind are switched off ([`Workspace::wants`]), or it could not be made; nothing of it is left
/// then, or the next command removes it.
pub fn create(
    workspace: &Workspace,
    options: &CreateOptions,
    progress: &Progress,
) -> Result<CreateReport, Error> {
    let timings = Timings::start();
    if !workspace.wants(options.trigger) {
        let trigger = options.trigger;
        return Err(Error::SwitchedOff { trigger });
    }
    let _lock = workspace.lock("cp-create")?;
    let Opened {
        session,
        manifest,
        is_new: session_started,
    } = workspace.open_session(options.session.as_ref())?;
    let recovered = workspace.recover_journal(&session)?;
    // What was read is still so, unless something had to be recovered: the lock is held.
    let manifest = match manifest.filter(|_| recovered.is_empty()) {
        Some(manifest) => manifest,
        None => workspace.store.load_manifest(&session)?,
    };
    if !is_open(manifest.status) {
        return Err(Error::SessionEnded {
            session,
            status: manifest.status,
        });
    }
    let making = Making {
        workspace,
        options,
        snapshot: None,
        holds: &[],
        retention: Retention::Apply,
    };
    let mut report = making.make(manifest, progress, timings)?;
    workspace.keep_within_size(&mut report);
    report.session_started = session_started;
    report.recovered = recovered;
    Ok(report)
}

/// Whether old checkpoints go when a new one comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retention {
    /// By the policy.
    Apply,
    /// Not now.
    Suspend,
}

/// The making of a checkpoint in a session that is open. The lock is held.
pub(super) struct Making<'a> {
    pub workspace: &'a Workspace,
    pub options: &'a CreateOptions,
    /// Files, index and HEAD, where they have been looked at already.
    pub snapshot: Option<Snapshot>,
    /// Commits that the checkpoint keeps from being collected, beside its own.
    pub holds: &'a [ObjectId],
    pub retention: Retention,
}

impl Making<'_> {
    /// Makes it.
    pub fn make(
        self,
        mut manifest: Manifest,
        progress: &Progress,
        mut timings: Timings,
    ) -> Result<CreateReport, Error> {
        let Self {
            workspace,
            options,
            snapshot,
            holds,
            retention,
        } = self;
        let session = manifest.session_id.clone();
        let mut warnings = Vec::new();
        let parent = Parent::of(workspace, &manifest, &mut warnings);
        let inputs = Inputs::gather(workspace, options, &manifest, &parent)?;
        let now = workspace.clock.now();
        let id = fresh_id(workspace, &manifest, &inputs, now)?;
        if let Some(change) = manifest.status_with(options.trigger, &id, now) {
            manifest.settle(change);
        }
        timings.lap("open session");

        let beginning = manifest.beginning(&id, options.trigger, now);
        let mut draft = inputs.draft(&manifest, &parent, id, now);
        // A long list takes its time to reach the disk, and nearly all of it is known already.
        let (made, begun) = std::thread::scope(|scope| {
            let write = |beginning| workspace.store.begin_manifest(&manifest, beginning);
            let begun = beginning.map(|beginning| scope.spawn(move || write(beginning)));
            let made = match options.files {
                Files::RecordOnly => None,
                Files::Capture => Some(Captured::take(
                    workspace,
                    &mut draft,
                    &parent,
                    (snapshot, holds),
                    progress,
                    &mut timings,
                )?),
            };
            let begun = begun.and_then(|begun| begun.join().ok().flatten());
            Ok::<_, Error>((made, begun))
        })?;
        let unchanged = made.as_ref().is_some_and(|made| made.unchanged);
        let (skipped, nested) = made.as_ref().map_or_else(Default::default, |made| {
            (made.skipped.clone(), made.nested.clone())
        });
        let growth = made.as_ref().map_or((0, 0), |made| made.committed.totals);
        let record = draft.seal();

        manifest.append(&record)?;
        let dropped = match retention {
            Retention::Apply => workspace.retention(&manifest, now),
            Retention::Suspend => std::collections::BTreeSet::new(),
        };
        let pruned: Vec<Entry> = manifest.prune(&dropped);
        let mut state = record.state.clone();
        state.maintain_checkpoint(
            manifest.current_checkpoint.as_ref(),
            manifest.checkpoints().len(),
            record.created_at,
        );
        state.maintain_rollbacks(&manifest.rollback_history);
        let journal = Journal::Create(CreateJournal {
            session: session.clone(),
            checkpoint: record.id.clone(),
            keep: made
                .as_ref()
                .map(|made| made.committed.pack_name().to_owned()),
            prune: dropped.into_iter().collect(),
            started_at: now,
        });
        let publication = Publication {
            record: &record,
            manifest: &manifest,
            state: &state,
            journal: &journal,
        };
        let committed = made.map(|made| made.committed);
        let published =
            match publication.run(workspace, committed, begun, &mut warnings, &mut timings) {
                Ok(published) => published,
                Err(error) => {
                    // Whatever this cannot clean up, the journal lets the next command clean up.
                    let _ = workspace.recover(&session);
                    return Err(error);
                }
            };
        // The checkpoint is complete and durable: nothing below can take it back.
        workspace.finish(&session, &pruned, published, &mut warnings, &mut timings);
        let pruned = pruned.into_iter().map(|entry| entry.id).collect();
        Ok(CreateReport {
            record,
            manifest,
            session_started: false,
            unchanged,
            skipped,
            nested,
            warnings,
            pruned,
            recovered: Vec::new(),
            growth,
            timings: timings.laps().to_vec(),
        })
    }
}

/// An id that neither the manifest nor a leftover of a killed process has.
fn fresh_id(
    workspace: &Workspace,
    manifest: &Manifest,
    inputs: &Inputs,
    now: DateTime<Utc>,
) -> Result<CheckpointId, Error> {
    let session = &manifest.session_id;
    for nth in 1.. {
        let id = CheckpointId::compose(inputs.step, &inputs.slug, now, nth);
        let taken = manifest.entry(&id).is_some()
            || workspace
                .store
                .layout()
                .record(session, &id)
                .symlink_metadata()
                .is_ok()
            || workspace
                .repo
                .backend
                .reference(&reference_of(session, &id))?
                .is_some();
        if !taken {
            return Ok(id);
        }
    }
    unreachable!("the numbers do not end")
}

/// Files, index and HEAD, committed but not yet visible.
struct Captured {
    committed: Committed,
    unchanged: bool,
    skipped: Vec<SkippedPath>,
    nested: Vec<NestedPath>,
}

impl Captured {
    fn take(
        workspace: &Workspace,
        draft: &mut RecordDraft,
        parent: &Parent,
        (taken, holds): (Option<Snapshot>, &[ObjectId]),
        progress: &Progress,
        timings: &mut Timings,
    ) -> Result<Self, Error> {
        let repo = &workspace.repo;
        let snapshot = match taken {
            Some(snapshot) => snapshot,
            None => workspace.snapshot(progress)?,
        };
        timings.include(snapshot.timings().clone());
        let base = parent.tree.or(snapshot.head_tree);
        let changes = snapshot.changes_since(repo, base)?;
        draft.files = model::Files::new(&changes.created, &changes.modified, &changes.deleted);
        draft.git = GitSnapshot {
            enabled: true,
            commit_hash: None,
            tree: Some(snapshot.tree),
            index_tree: Some(snapshot.index_tree),
            branch: snapshot.head.branch().map(quote_path),
            head: snapshot.head.commit(),
        };
        let unchanged = parent.git.as_ref() == Some(&draft.git);
        let extras = snapshot.extras();
        let (skipped, nested) = (extras.skipped.clone(), extras.nested.clone());
        draft.recovery.warnings.extend(
            skipped
                .iter()
                .take(100)
                .map(|skip| format!("not captured: {} ({})", skip.path, skip.reason.as_str())),
        );
        timings.lap("compare with parent");
        let committed = snapshot.commit(
            &draft.sidecar_json(),
            &message(draft),
            &workspace.signature(),
            draft.created_at,
            holds,
        )?;
        timings.lap("write pack");
        draft.git.commit_hash = Some(committed.id);
        Ok(Self {
            committed,
            unchanged,
            skipped,
            nested,
        })
    }
}

/// The commit's message: a subject, what the maker said, and trailers.
pub(super) fn message(draft: &RecordDraft) -> String {
    let plain = |text: &str| {
        text.split(|c: char| c.is_control())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut text = format!(
        "checkpoint: step-{} - {}\n\n",
        draft.step_number,
        plain(&draft.step_name)
    );
    let description = plain(&draft.description);
    if !description.trim().is_empty() {
        text.push_str(description.trim());
        text.push_str("\n\n");
    }
    let RecordDraft {
        session_id,
        id,
        trigger,
        ..
    } = draft;
    text + &format!("Session: {session_id}\nCheckpoint: {id}\nTrigger: {trigger}\n")
}
