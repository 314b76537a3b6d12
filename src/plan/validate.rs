//! What the facts about a session's checkpoints add up to.
//!
//! Gathering facts is the engine's; here they are compared: record with manifest, record with commit, each record with
//! its neighbours. Everything that is wrong is found, each thing once.

pub mod state;

use crate::model::chain::{ChainBreak, Link, check_chain};
use crate::model::finding::{BrokenObject, Defect, Finding};
use crate::model::{CheckpointId, Entry, GitSnapshot, Manifest, ObjectId, Record, Sha256Digest};

pub use state::Misfit;

/// What is known of one listed checkpoint.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Its record's file.
    pub file: FileFact,
    /// What its commit holds.
    pub committed: CommitFact,
    /// Its ref.
    pub reference: RefFact,
    /// How many objects are broken, and the first of them.
    pub broken: (usize, Vec<BrokenObject>),
    /// Where the state does not fit.
    pub misfits: Vec<Misfit>,
}

/// What became of reading a record's file.
#[derive(Debug, Clone)]
pub enum FileFact {
    /// It is whole.
    Whole(Box<Said>),
    /// It is not there.
    Missing,
    /// It is not as it was written.
    Damaged(String),
    /// A newer go-team wrote it.
    Newer(String),
}

/// What a record says, as far as it is compared with anything.
#[derive(Debug, Clone)]
pub struct Said {
    /// What its line in the manifest should say.
    pub entry: Entry,
    /// The checksum of the record before it.
    pub prev_checksum: Option<Sha256Digest>,
    /// What the repository looked like.
    pub git: GitSnapshot,
}

impl Said {
    /// What a record says.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        Self {
            entry: Entry::of(record),
            prev_checksum: record.prev_checksum,
            git: record.git.clone(),
        }
    }
}

/// What a checkpoint's commit holds.
#[derive(Debug, Clone)]
pub enum CommitFact {
    /// No files were captured: there is none.
    None,
    /// It cannot be read; why is among the broken objects.
    Unreadable,
    /// It was read.
    Holds {
        /// The checksum that its record gives; none when it holds no record that can be read.
        checksum: Option<Sha256Digest>,
        /// The files.
        tree: ObjectId,
        /// The index.
        staged: Option<ObjectId>,
        /// HEAD's commit.
        head: Option<ObjectId>,
    },
}

/// What a checkpoint's ref is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefFact {
    /// As it should be, or not needed.
    Fine,
    /// Not there.
    Missing(String),
    /// It points at something else.
    Elsewhere(String, ObjectId),
    /// It cannot be read.
    Unreadable(String, String),
}

/// Everything that is wrong with the listed checkpoints; `facts` are in the manifest's order, none for those that were
/// not looked at.
#[must_use]
pub fn findings(manifest: &Manifest, facts: &[Option<Facts>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut differs = vec![false; facts.len()];
    for (nth, (entry, facts)) in manifest.checkpoints().iter().zip(facts).enumerate() {
        let Some(facts) = facts else { continue };
        let defects = of_checkpoint(entry, facts);
        differs[nth] = defects.iter().any(|defect| {
            matches!(
                defect,
                Defect::RecordReplaced { .. } | Defect::RecordEdited { .. }
            )
        });
        let has_commit = entry.commit_hash.is_some();
        let defects = defects.into_iter();
        found.extend(defects.map(|defect| Finding::of_checkpoint(&entry.id, has_commit, defect)));
    }
    let gaps = gaps(manifest);
    found.extend(chain(manifest, facts, &differs, &gaps));
    let gaps = gaps.into_iter();
    found.extend(
        gaps.map(|(from_seq, to_seq)| Finding::of_session(Defect::SeqGap { from_seq, to_seq })),
    );
    if let Some(current) = &manifest.current_checkpoint
        && manifest.current().is_none()
    {
        let checkpoint = current.clone();
        found.push(Finding::of_session(Defect::CurrentUnlisted { checkpoint }));
    }
    found
}

fn of_checkpoint(entry: &Entry, facts: &Facts) -> Vec<Defect> {
    let mut defects = Vec::new();
    match &facts.file {
        FileFact::Missing => defects.push(Defect::RecordMissing),
        FileFact::Damaged(reason) => defects.push(Defect::RecordDamaged {
            reason: reason.clone(),
        }),
        FileFact::Newer(found) => defects.push(Defect::RecordNewer {
            found: found.clone(),
        }),
        FileFact::Whole(said) => compare(entry, said, &facts.committed, &mut defects),
    }
    match facts.reference.clone() {
        RefFact::Fine => {}
        RefFact::Missing(reference) => defects.push(Defect::RefMissing { reference }),
        RefFact::Elsewhere(reference, found) => {
            defects.push(Defect::RefElsewhere { reference, found });
        }
        RefFact::Unreadable(reference, reason) => {
            defects.push(Defect::RefUnreadable { reference, reason });
        }
    }
    if facts.broken.0 > 0 {
        let (count, objects) = facts.broken.clone();
        defects.push(Defect::Objects { count, objects });
    }
    let misfits = facts.misfits.iter().cloned();
    defects.extend(misfits.map(|Misfit { path, reason }| Defect::StateMisfit { path, reason }));
    if defects.is_empty() && entry.corrupted_at.is_some() {
        defects.push(Defect::MarkedCorrupt {
            corrupted_at: entry.corrupted_at,
        });
    }
    defects
}

/// Holds a whole record against the manifest's line and the commit.
fn compare(entry: &Entry, said: &Said, committed: &CommitFact, defects: &mut Vec<Defect>) {
    let found = said.entry.checksum;
    let checksum = match committed {
        CommitFact::Holds { checksum, .. } => *checksum,
        _ => None,
    };
    if found != entry.checksum {
        let listed = entry.checksum;
        defects.push(Defect::RecordReplaced { listed, found });
        return;
    }
    if let Some(committed) = checksum.filter(|committed| *committed != found) {
        defects.push(Defect::RecordEdited { committed, found });
        return;
    }
    let fields = differing_fields(entry, &said.entry);
    if !fields.is_empty() {
        defects.push(Defect::EntryDiffers { fields });
    }
    if let CommitFact::Holds {
        checksum,
        tree,
        staged,
        head,
    } = committed
    {
        let git = &said.git;
        let pairs = [
            ("record", checksum.is_none()),
            ("tree", git.tree != Some(*tree)),
            ("index_tree", git.index_tree != *staged),
            ("head", git.head != *head),
        ];
        let fields: Vec<_> = pairs
            .iter()
            .filter(|(_, differs)| *differs)
            .map(|(name, _)| *name)
            .collect();
        if !fields.is_empty() {
            defects.push(Defect::CommitDiffers { fields });
        }
    }
}

fn differing_fields(listed: &Entry, said: &Entry) -> Vec<&'static str> {
    let pairs = [
        ("commit_hash", listed.commit_hash != said.commit_hash),
        ("name", listed.name != said.name),
        ("ordinal", listed.ordinal != said.ordinal),
        ("parent", listed.parent != said.parent),
        ("phase", listed.phase != said.phase),
        ("seq", listed.seq != said.seq),
        ("step", listed.step != said.step),
        ("timestamp", listed.timestamp != said.timestamp),
        ("trigger", listed.trigger != said.trigger),
    ];
    let differing = pairs.into_iter().filter(|(_, differs)| *differs);
    differing.map(|(name, _)| name).collect()
}

/// The seqs that are neither listed nor pruned, as ranges.
#[must_use]
pub fn gaps(manifest: &Manifest) -> Vec<(u64, u64)> {
    let listed = manifest.checkpoints().iter().map(|e| (e.seq, e.seq));
    let pruned = manifest.pruned().iter().map(|r| (r.from_seq, r.to_seq));
    let mut known: Vec<(u64, u64)> = listed.chain(pruned).collect();
    known.sort_unstable();
    let mut gaps = Vec::new();
    let mut next = 1;
    for (from, to) in known {
        if from > next {
            gaps.push((next, from - 1));
        }
        next = next.max(to.saturating_add(1));
    }
    if manifest.next_seq() > next {
        gaps.push((next, manifest.next_seq() - 1));
    }
    gaps
}

/// Where records do not link. Of two that do not fit, the one that the other's seal speaks against is at fault.
fn chain(
    manifest: &Manifest,
    facts: &[Option<Facts>],
    differs: &[bool],
    gaps: &[(u64, u64)],
) -> Vec<Finding> {
    let entries = manifest.checkpoints();
    let said = |nth: usize| match &facts.get(nth)?.as_ref()?.file {
        FileFact::Whole(said) => Some(said),
        _ => None,
    };
    let mut places = 0..;
    let breaks = check_chain(entries, manifest.pruned(), |_| {
        let said = said(places.next()?)?;
        Some(Link {
            checksum: said.entry.checksum,
            prev_checksum: said.prev_checksum,
        })
    });
    let mut found = Vec::new();
    let unlinked = breaks.into_iter().filter_map(|broken| match broken {
        ChainBreak::Unlinked { id, .. } => Some(id),
        ChainBreak::Replaced { .. } => None,
    });
    for id in unlinked {
        let Some(nth) = place_of(entries, &id) else {
            continue;
        };
        let entry = &entries[nth];
        let before = nth.checked_sub(1).map(|nth| &entries[nth]);
        let start = before.map_or(0, |before| before.seq);
        let between = manifest.pruned().iter();
        let is_pruned = between
            .clone()
            .any(|range| range.from_seq > start && range.to_seq < entry.seq);
        let blame = |entry: &Entry, neighbour: Option<&Entry>| {
            let neighbour = neighbour.map(|entry| entry.id.clone());
            let has_commit = entry.commit_hash.is_some();
            let defect = Defect::ChainBroken { neighbour };
            Finding::of_checkpoint(&entry.id, has_commit, defect)
        };
        if differs[nth] {
            found.push(blame(entry, before));
        } else if gaps.iter().any(|(_, to)| to + 1 == entry.seq) {
            // What is missing before it is reported as such.
        } else if let Some(before) = before.filter(|_| !is_pruned) {
            found.push(blame(before, Some(entry)));
        } else {
            found.push(Finding::of_session(Defect::PrunedRange { checkpoint: id }));
        }
    }
    found
}

fn place_of(entries: &[Entry], id: &CheckpointId) -> Option<usize> {
    entries.iter().position(|entry| entry.id == *id)
}
