//! One session of another program's, made into one of go-team's.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use super::files::{Copied, Taking};
use super::recognise::STATE;
use super::source::Dir;
use super::{ImportedCheckpoint, ImportedSession, Remark};
use crate::engine::create::message;
use crate::engine::inputs::next_step;
use crate::engine::{Error, Workspace};
use crate::git::assemble::{Assembly, CommitParts};
use crate::git::backend::Head;
use crate::git::snapshot::tree_of;
use crate::git::tree::Mode;
use crate::model::archive::MemberKind;
use crate::model::ids::slug;
use crate::model::path_text::quote_path;
use crate::model::{
    CheckpointId, Files, GitSnapshot, Manifest, ObjectId, Record, RecordDraft, Recovery, SessionId,
    SessionStatus, State, StatusChange, Trigger, timestamp,
};
use crate::plan::import_from::{ForeignCheckpoint, ForeignSession};
use crate::store::archive::StagedSession;

/// What a rollback to copied files means.
const PARTIAL: &str = "imported: only the files that were copied are in it; rollback removes others, rollback --path restores some";

/// Why an imported session has the status that it has.
const IMPORTED: &str = "imported";

/// How many files that were left out a record names.
const MOST_WARNINGS: usize = 100;

/// A session on its way.
pub(super) struct Making<'a> {
    pub workspace: &'a Workspace,
    pub session: SessionId,
    pub foreign: ForeignSession,
    /// The directories of copied files.
    pub dirs: &'a [Dir],
}

/// Where HEAD is, for checkpoints that say nothing of it.
struct Ground {
    head: Head,
    index_tree: ObjectId,
}

type Tree = BTreeMap<Vec<u8>, (Mode, ObjectId)>;

impl Making<'_> {
    /// Says what would come.
    pub fn look(self) -> Result<(ImportedSession, Vec<Remark>), Error> {
        let mut remarks = Vec::new();
        let mut taken = BTreeSet::new();
        let mut checkpoints = Vec::new();
        for foreign in &self.foreign.checkpoints {
            let copied = self.copied(foreign, None)?;
            remarks.extend(remarks_of(copied.as_ref()));
            let id = fresh_id(foreign, |id| taken.contains(id));
            taken.insert(id.clone());
            checkpoints.push(ImportedCheckpoint {
                id,
                source: foreign.source.clone(),
                files: copied.map(|copied| copied.files.len()),
            });
        }
        Ok((self.report(checkpoints), remarks))
    }

    /// Makes it. The caller holds the lock and knows that there is no such session.
    pub fn make(self) -> Result<(ImportedSession, Vec<Remark>), Error> {
        let workspace = self.workspace;
        let objects = Assembly::new(&workspace.repo);
        let ground = self.ground(&objects)?;
        let mut staged = workspace.store.stage_session(&self.session)?;
        let mut manifest = Manifest::new(
            self.session.clone(),
            &self.foreign.topic,
            self.foreign.workflow,
            self.foreign.created_at,
        );
        manifest.status = self.foreign.status;
        let mut before: Option<Tree> = None;
        let mut state = State::default();
        let mut checkpoints = Vec::new();
        let mut remarks = Vec::new();
        for foreign in &self.foreign.checkpoints {
            let copied = self.copied(foreign, Some(&objects))?;
            remarks.extend(remarks_of(copied.as_ref()));
            let mut draft = self.draft(foreign, &manifest)?;
            let files = copied.as_ref().map(|copied| copied.files.len());
            if let Some(copied) = copied {
                self.commit(&mut draft, &ground, &objects, &copied, before.as_ref())?;
                before = Some(copied.files);
            }
            let record = draft.seal();
            manifest.append(&record)?;
            write(&mut staged, &record)?;
            state = record.state.clone();
            checkpoints.push(ImportedCheckpoint {
                id: record.id.clone(),
                source: foreign.source.clone(),
                files,
            });
        }
        let newest = manifest
            .newest()
            .map(|entry| (entry.id.clone(), entry.timestamp));
        if let Some((id, at)) = newest {
            state.maintain_checkpoint(Some(&id), manifest.checkpoints().len(), at);
            staged.point_latest(&id)?;
        }
        let is_over = [SessionStatus::Completed, SessionStatus::Abandoned];
        if is_over.contains(&self.foreign.status) {
            // How long a session that has ended is kept counts from here, not from when it ended elsewhere.
            manifest.settle(StatusChange {
                reason: IMPORTED.to_owned(),
                status: self.foreign.status,
                timestamp: timestamp::to_millis(workspace.clock.now()),
            });
        }
        staged.write(&MemberKind::State.name(), &state.to_file_bytes())?;
        staged.write(&MemberKind::Manifest.name(), &manifest.to_file_bytes())?;
        let mut refs = BTreeMap::new();
        for entry in manifest.checkpoints() {
            refs.extend(entry.commit_hash.map(|commit| (entry.id.clone(), commit)));
        }
        // What was prepared for files that nobody had is of no use.
        let packs = if refs.is_empty() {
            Vec::new()
        } else {
            objects.finish()?.into_iter().collect()
        };
        workspace.publish_session(&self.session, staged, packs, refs)?;
        if self.foreign.status == SessionStatus::Failed {
            // It is complete; what is left is to put it where sessions are kept that failed.
            workspace.settle(&self.session, SessionStatus::Failed, IMPORTED)?;
        }
        Ok((self.report(checkpoints), remarks))
    }

    fn report(self, checkpoints: Vec<ImportedCheckpoint>) -> ImportedSession {
        ImportedSession {
            session_id: self.session,
            topic: self.foreign.topic,
            workflow: self.foreign.workflow.to_owned(),
            status: self.foreign.status,
            checkpoints,
        }
    }

    fn ground(&self, objects: &Assembly) -> Result<Ground, Error> {
        let repo = &self.workspace.repo;
        let head = repo.backend.head()?;
        let index_tree = match head.commit() {
            Some(commit) => tree_of(repo, &commit)?,
            None => objects.tree([])?,
        };
        Ok(Ground { head, index_tree })
    }

    /// The files of a checkpoint; none when its scheme has none.
    fn copied(
        &self,
        foreign: &ForeignCheckpoint,
        objects: Option<&Assembly>,
    ) -> Result<Option<Copied>, Error> {
        let Some(dir) = foreign.files.and_then(|nth| self.dirs.get(nth)) else {
            return Ok(None);
        };
        let taking = Taking {
            objects,
            most_bytes: self.workspace.config.settings.capture.max_file_bytes(),
            except: OsStr::new(STATE),
        };
        let copied = taking.take(dir)?;
        let is_any = !copied.files.is_empty() || !copied.left_out.is_empty();
        Ok(is_any.then_some(copied))
    }

    fn draft(
        &self,
        foreign: &ForeignCheckpoint,
        manifest: &Manifest,
    ) -> Result<RecordDraft, Error> {
        let id = fresh_id(foreign, |id| manifest.entry(id).is_some());
        let workflow = self.workspace.workflow(&manifest.workflow)?;
        let state = serde_json::Value::Object(foreign.state.clone());
        let state: State = serde_json::from_value(state).expect("a state is any object");
        // These schemes tell of the step that is being worked on, unless they say what had been done.
        let trigger = match foreign.trigger {
            Trigger::Manual if !workflow.steps().is_empty() || workflow.name() == "phases" => {
                Trigger::Auto
            }
            trigger => trigger,
        };
        let next = next_step(workflow, foreign.step, trigger, &state);
        let next = next.filter(|_| !workflow.is_terminal(foreign.step));
        Ok(RecordDraft {
            id,
            session_id: self.session.clone(),
            seq: manifest.next_seq(),
            step_number: foreign.step,
            ordinal: manifest.ordinal_for(foreign.step),
            step_name: foreign.name.clone(),
            phase: foreign.phase.clone(),
            trigger: foreign.trigger,
            description: foreign.description.clone(),
            created_at: foreign.created_at,
            parent: manifest.current_checkpoint.clone(),
            prev_checksum: manifest.last_checksum(),
            turn_count: foreign.turn_count,
            state,
            outputs: foreign.outputs.clone(),
            files: Files::default(),
            git: GitSnapshot::default(),
            recovery: Recovery {
                can_resume: true,
                resume_from: next,
                prerequisites_met: true,
                warnings: Vec::new(),
            },
        })
    }

    /// Puts the files into a commit of the checkpoint's own.
    fn commit(
        &self,
        draft: &mut RecordDraft,
        ground: &Ground,
        objects: &Assembly,
        copied: &Copied,
        before: Option<&Tree>,
    ) -> Result<(), Error> {
        let tree = objects.tree(&copied.files)?;
        draft.files = changes(before, &copied.files);
        draft.git = GitSnapshot {
            enabled: true,
            commit_hash: None,
            tree: Some(tree),
            index_tree: Some(ground.index_tree),
            branch: ground.head.branch().map(quote_path),
            head: ground.head.commit(),
        };
        let warnings = &mut draft.recovery.warnings;
        warnings.push(PARTIAL.to_owned());
        let left_out = copied.left_out.iter().take(MOST_WARNINGS);
        warnings.extend(left_out.map(|(path, why)| format!("not imported: {path} ({why})")));
        let signature = self.workspace.signature();
        let commit = objects.commit(CommitParts {
            tree,
            index_tree: ground.index_tree,
            head: ground.head.commit(),
            empty_directories: copied.empty.clone(),
            skipped: copied.skipped.clone(),
            record_json: &draft.sidecar_json(),
            message: &message(draft),
            signature: &signature,
            at: draft.created_at,
        })?;
        draft.git.commit_hash = Some(commit);
        Ok(())
    }
}

fn write(staged: &mut StagedSession, record: &Record) -> Result<(), Error> {
    let name = MemberKind::Record(record.id.clone()).name();
    Ok(staged.write(&name, &record.to_file_bytes())?)
}

fn fresh_id(foreign: &ForeignCheckpoint, is_taken: impl Fn(&CheckpointId) -> bool) -> CheckpointId {
    let name = Some(slug(&foreign.name)).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "checkpoint".to_owned());
    let mut nth = 1;
    loop {
        let id = CheckpointId::compose(foreign.step, &name, foreign.created_at, nth);
        if !is_taken(&id) {
            return id;
        }
        nth += 1;
    }
}

fn remarks_of(copied: Option<&Copied>) -> Vec<Remark> {
    let left_out = copied.iter().flat_map(|copied| &copied.left_out);
    let remarks = left_out.map(|(path, why)| Remark {
        path: path.clone(),
        reason: format!("was left out: {why}"),
    });
    remarks.collect()
}

/// What changed from one set of files to the next.
fn changes(before: Option<&Tree>, after: &Tree) -> Files {
    let nothing = Tree::new();
    let before = before.unwrap_or(&nothing);
    let created: Vec<&Vec<u8>> = after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .collect();
    let deleted: Vec<&Vec<u8>> = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .collect();
    let modified = after.iter().filter(|(path, entry)| {
        let old = before.get(*path);
        old.is_some_and(|old| old != *entry)
    });
    let modified: Vec<&Vec<u8>> = modified.map(|(path, _)| path).collect();
    Files::new(&created, &modified, &deleted)
}
