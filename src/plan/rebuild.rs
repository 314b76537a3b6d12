//! Putting a session's manifest together again from what its commits, its records and a damaged manifest say.
//!
//! Of two records for one checkpoint, the one wins that the next record links to, then the one that the commit holds.
//! Order is by `seq`, lineage by `parent`. What nothing tells is assumed, and said.

mod rollbacks;

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::model::manifest::{Salvage, Validity};
use crate::model::workflow::{Flow, Workflow, built_in};
use crate::model::{CheckpointId, Manifest, Record, SessionId, SessionStatus, Sha256Digest, State};

/// What is left of one checkpoint.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// The record that its commit holds.
    pub from_commit: Option<Record>,
    /// The record that its file holds.
    pub from_file: Option<Record>,
}

/// How far a manifest can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It is whole.
    Proven,
    /// It is damaged: what can be read of it may be wrong.
    Unproven,
    /// There is none.
    Nothing,
}

/// What a session is rebuilt from.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// What is left of each checkpoint, in no particular order.
    pub candidates: Vec<Candidate>,
    /// What can be read of the manifest.
    pub salvage: &'a Salvage,
    /// How far that can be believed.
    pub trust: Trust,
    /// The live state.
    pub live: Option<&'a State>,
    /// The workflows that users defined.
    pub workflows: &'a [Workflow],
    /// When there is nothing to tell when the session began.
    pub now: chrono::DateTime<chrono::Utc>,
}

/// What shows that a record is the one that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The next record names its checksum.
    Linked,
    /// The manifest lists its checksum.
    Listed,
    /// Its file and its commit agree.
    Agreed,
    /// Nothing is left to hold it against.
    None,
}

/// Something that could not be recovered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Loss {
    /// A field that nothing tells.
    Assumed {
        /// The field.
        field: &'static str,
        /// What it is now.
        used: String,
    },
    /// Fields that only a damaged manifest tells.
    Unproven {
        /// The fields.
        fields: Vec<&'static str>,
    },
    /// Checkpoints of which nothing is left.
    Gone {
        /// The first seq.
        from_seq: u64,
        /// The last.
        to_seq: u64,
    },
    /// A checkpoint that does not fit beside the others.
    Conflict {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// Why not.
        reason: String,
    },
    /// A rollback whose target nothing tells.
    Rollback {
        /// The safety checkpoint that was taken for it.
        safety_checkpoint: CheckpointId,
    },
    /// A ref whose commit is not that of a checkpoint.
    NotACheckpoint {
        /// The ref.
        reference: String,
        /// Why not.
        reason: String,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assumed { field, used } => {
                write!(f, "nothing tells the session's {field}; it is {used:?} now")
            }
            Self::Unproven { fields } => write!(
                f,
                "only the damaged manifest tells {}; nothing proves it",
                fields.join(", ")
            ),
            Self::Gone { from_seq, to_seq } if from_seq == to_seq => write!(
                f,
                "of the checkpoint with seq {from_seq} nothing is left; it counts as pruned"
            ),
            Self::Gone { from_seq, to_seq } => write!(
                f,
                "of the checkpoints with seq {from_seq} to {to_seq} nothing is left; they count as pruned"
            ),
            Self::Conflict { checkpoint, reason } => {
                write!(f, "{checkpoint} was left as it is: {reason}")
            }
            Self::Rollback { safety_checkpoint } => write!(
                f,
                "{safety_checkpoint} was taken for a rollback or an undo of which nothing else is known"
            ),
            Self::NotACheckpoint { reference, reason } => {
                write!(f, "{reference} was left as it is: {reason}")
            }
        }
    }
}

/// A session, put together again.
#[derive(Debug)]
pub struct Rebuilt {
    /// Its manifest.
    pub manifest: Manifest,
    /// The records that it lists, with what shows that they are right.
    pub records: Vec<(Record, Proof)>,
    /// What could not be recovered.
    pub losses: Vec<Loss>,
}

/// Puts a session together again.
#[must_use]
pub fn rebuild(evidence: Evidence<'_>) -> Rebuilt {
    let Evidence {
        session,
        candidates,
        salvage,
        trust,
        live,
        workflows,
        now,
    } = evidence;
    let mut losses = Vec::new();
    let records = choose(candidates, salvage, &mut losses);
    let newest = records.last().map(|(record, _)| record);
    let topic = salvage.topic.clone();
    let topic = topic.or_else(|| live.and_then(State::topic).map(str::to_owned));
    let topic = topic.or_else(|| newest.and_then(|r| r.state.topic()).map(str::to_owned));
    let topic = topic.unwrap_or_else(|| assume(&mut losses, "topic", session.as_str()));
    let workflow = salvage.workflow.clone();
    let workflow = workflow.or_else(|| infer_workflow(&records, workflows));
    let workflow = workflow.unwrap_or_else(|| assume(&mut losses, "workflow", "free"));
    let began = records.first().map_or(now, |(record, _)| record.created_at);
    let mut manifest = Manifest::new(
        session.clone(),
        &topic,
        &workflow,
        salvage.created_at.unwrap_or(began),
    );
    let mut kept = Vec::new();
    for (record, proof) in records {
        let next = manifest.next_seq();
        match manifest.adopt(&record) {
            Ok(_) => {
                if record.seq > next {
                    losses.extend(gone(next, record.seq - 1, salvage));
                }
                kept.push((record, proof));
            }
            Err(error) => losses.push(Loss::Conflict {
                checkpoint: record.id.clone(),
                reason: error.to_string(),
            }),
        }
    }
    manifest.adopt_past(salvage);
    manifest.status = salvage.status.unwrap_or_else(|| {
        assume(&mut losses, "status", SessionStatus::Active.as_str());
        SessionStatus::Active
    });
    manifest.status_history.clone_from(&salvage.status_history);
    if trust == Trust::Unproven && *salvage != Salvage::default() {
        losses.push(Loss::Unproven {
            fields: salvaged_fields(salvage),
        });
    }
    let updated = salvage.updated_at.unwrap_or(manifest.updated_at);
    manifest.updated_at = manifest.updated_at.max(updated);
    rollbacks::restore(&mut manifest, &kept, salvage, trust, live, &mut losses);
    Rebuilt {
        manifest,
        records: kept,
        losses,
    }
}

fn assume(losses: &mut Vec<Loss>, field: &'static str, used: &str) -> String {
    losses.push(Loss::Assumed {
        field,
        used: used.to_owned(),
    });
    used.to_owned()
}

fn salvaged_fields(salvage: &Salvage) -> Vec<&'static str> {
    let fields = [
        ("the topic", salvage.topic.is_some()),
        ("the workflow", salvage.workflow.is_some()),
        ("the status", salvage.status.is_some()),
        ("when it began", salvage.created_at.is_some()),
        ("which checkpoints are valid", !salvage.entries.is_empty()),
        ("the rollbacks", !salvage.rollback_history.is_empty()),
    ];
    let told = fields.into_iter().filter(|(_, told)| *told);
    told.map(|(name, _)| name).collect()
}

/// The seqs that nobody pruned.
fn gone(from_seq: u64, to_seq: u64, salvage: &Salvage) -> Option<Loss> {
    let pruned = |seq: u64| {
        let mut ranges = salvage.pruned.iter();
        ranges.any(|range| (range.from_seq..=range.to_seq).contains(&seq))
    };
    (!(pruned(from_seq) && pruned(to_seq))).then_some(Loss::Gone { from_seq, to_seq })
}

/// One record for each checkpoint, by seq.
fn choose(
    candidates: Vec<Candidate>,
    salvage: &Salvage,
    losses: &mut Vec<Loss>,
) -> Vec<(Record, Proof)> {
    let linked: HashSet<Sha256Digest> = candidates
        .iter()
        .flat_map(|candidate| [&candidate.from_commit, &candidate.from_file])
        .filter_map(|record| record.as_ref()?.prev_checksum)
        .chain(salvage.pruned.iter().map(|range| range.last_checksum))
        .collect();
    let listed: HashMap<&CheckpointId, Sha256Digest> = salvage
        .entries
        .iter()
        .map(|entry| (&entry.id, entry.checksum))
        .collect();
    let mut chosen: Vec<(Record, Proof)> = Vec::new();
    for Candidate {
        from_commit,
        from_file,
    } in candidates
    {
        let agreed = match (&from_commit, &from_file) {
            (Some(commit), Some(file)) => commit.checksum() == file.checksum(),
            _ => false,
        };
        let variants = from_commit.into_iter().chain(from_file);
        let proof = |record: &Record| {
            if linked.contains(&record.checksum()) {
                Proof::Linked
            } else if listed.get(&record.id) == Some(&record.checksum()) {
                Proof::Listed
            } else if agreed {
                Proof::Agreed
            } else {
                Proof::None
            }
        };
        // The first that is linked; else the first, which is the commit's where there is one.
        let mut variants: Vec<_> = variants.map(|record| (proof(&record), record)).collect();
        variants.sort_by_key(|(proof, _)| *proof != Proof::Linked);
        if let Some((proof, record)) = variants.into_iter().next() {
            chosen.push((record, proof));
        }
    }
    let rank = |proof: Proof| match proof {
        Proof::Linked => 0,
        Proof::Listed => 1,
        Proof::Agreed => 2,
        Proof::None => 3,
    };
    chosen.sort_by(|(a, proof_a), (b, proof_b)| {
        let by_seq = a.seq.cmp(&b.seq);
        by_seq
            .then_with(|| rank(*proof_a).cmp(&rank(*proof_b)))
            .then_with(|| a.id.cmp(&b.id))
    });
    let mut last = None;
    chosen.retain(|(record, _)| {
        let is_taken = last == Some(record.seq);
        if is_taken {
            losses.push(Loss::Conflict {
                checkpoint: record.id.clone(),
                reason: format!("seq {} belongs to another one", record.seq),
            });
        }
        last = Some(record.seq);
        !is_taken
    });
    chosen
}

/// The one workflow whose steps have these names.
fn infer_workflow(records: &[(Record, Proof)], own: &[Workflow]) -> Option<String> {
    let fits = |workflow: &&Workflow| {
        !matches!(workflow.flow(), Flow::Open)
            && records.iter().all(|(record, _)| {
                workflow.step_name(record.step_number) == Some(&record.step_name)
            })
    };
    let mut fitting = built_in().iter().chain(own).filter(fits);
    let first = fitting.next().filter(|_| !records.is_empty())?;
    fitting.next().is_none().then(|| first.name().to_owned())
}

/// Takes over, from lines of the old manifest, which checkpoints are valid.
fn keep_marks(manifest: &mut Manifest, salvage: &Salvage) -> HashSet<CheckpointId> {
    let marks: HashMap<&CheckpointId, Validity> = salvage
        .entries
        .iter()
        .map(|entry| (&entry.id, entry.validity()))
        .collect();
    manifest.mark(|id, validity| {
        if let Some(mark) = marks.get(id) {
            *validity = mark.clone();
        }
    });
    marks.into_keys().cloned().collect()
}

/// The value at `checkpoint.NAME` of a state.
fn noted<'s>(state: &'s State, name: &str) -> Option<&'s Value> {
    state.as_map().get("checkpoint")?.get(name)
}

#[cfg(test)]
mod tests;
