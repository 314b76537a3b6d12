//! What validation finds: a typed defect for each way of being broken, what it is about, and what to do about it.

mod about;

use std::fmt;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::digest::Sha256Digest;
use super::ids::CheckpointId;
use super::object_id::ObjectId;
use super::timestamp;

/// The checks that are made on each checkpoint, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The record is there, can be read, and has the checksum that it says it has.
    File,
    /// It is the record that the manifest lists and that the commit holds.
    Hash,
    /// It links to the record before it, and the one after it links to it.
    Chain,
    /// The ref points at the commit, and everything below the commit exists.
    Git,
    /// The state fits its workflow.
    State,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 5] = [Self::File, Self::Hash, Self::Chain, Self::Git, Self::State];
}

/// What is wrong with an object of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "flaw", rename_all = "snake_case")]
pub enum Flaw {
    /// It is not there.
    Missing,
    /// It is there and cannot be read.
    Unreadable {
        /// Why not.
        reason: String,
    },
    /// It is something else.
    WrongKind {
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Its content is that of another object.
    WrongContent {
        /// The id of the content.
        found: ObjectId,
    },
    /// A tree with a name that would lead into `.git` or out of the work tree, or with a name given twice.
    HostileName {
        /// The name.
        name: String,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Unreadable { reason } => write!(f, "cannot be read: {reason}"),
            Self::WrongKind { expected, found } => write!(f, "is a {found}, not a {expected}"),
            Self::WrongContent { found } => write!(f, "has the content of {}", found.short()),
            Self::HostileName { name } => write!(f, "holds a name that is refused: {name}"),
        }
    }
}

/// A broken object, where a checkpoint needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenObject {
    /// The object.
    pub id: ObjectId,
    /// What it is: `commit`, `tree`, `blob`.
    pub object: &'static str,
    /// Where it is needed; empty for the commit itself.
    pub path: String,
    /// What is wrong with it.
    #[serde(flatten)]
    pub flaw: Flaw,
}

/// One way of being broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Defect {
    /// There is no manifest.
    ManifestMissing,
    /// The manifest is not as it was written.
    ManifestDamaged {
        /// In what way.
        reason: String,
    },
    /// The manifest was written by a newer go-team.
    ManifestNewer {
        /// Its version, as JSON text.
        found: String,
    },
    /// What the manifest says of pruned checkpoints does not fit the record after them.
    PrunedRange {
        /// The record's checkpoint.
        checkpoint: CheckpointId,
    },
    /// Checkpoints are neither listed nor pruned.
    SeqGap {
        /// The first seq that is missing.
        from_seq: u64,
        /// The last.
        to_seq: u64,
    },
    /// The checkpoint that the work tree descends from is not listed.
    CurrentUnlisted {
        /// What the manifest names.
        checkpoint: CheckpointId,
    },
    /// An operation did not come to its end.
    Interrupted {
        /// Which.
        operation: String,
    },
    /// The journal of an operation is damaged.
    JournalDamaged {
        /// In what way.
        reason: String,
    },
    /// The live state is not as it was written.
    LiveStateDamaged {
        /// In what way.
        reason: String,
    },
    /// The link to the newest record points elsewhere.
    LatestElsewhere {
        /// Where it should point.
        expected: CheckpointId,
    },
    /// A ref of a checkpoint that is not listed.
    OrphanRef {
        /// The ref.
        reference: String,
    },
    /// A ref that is of no checkpoint of the session.
    ForeignRef {
        /// The ref.
        reference: String,
    },
    /// A record that the manifest does not list.
    OrphanRecord {
        /// Its checkpoint.
        checkpoint: CheckpointId,
    },
    /// A file in the session's directory that go-team did not put there, or did not get to remove.
    StrayFile {
        /// Its name.
        name: String,
    },
    /// A file of the repository is damaged, though the objects could be read.
    RepositoryFile {
        /// The file.
        path: String,
        /// In what way.
        reason: String,
    },
    /// The workflow's JSON Schema cannot be used, so states were not held to it.
    SchemaUnusable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// There is no record.
    RecordMissing,
    /// The record is not as it was written.
    RecordDamaged {
        /// In what way.
        reason: String,
    },
    /// The record was written by a newer go-team.
    RecordNewer {
        /// Its version, as JSON text.
        found: String,
    },
    /// The record is whole, but not the one that the manifest lists.
    RecordReplaced {
        /// The manifest's checksum.
        listed: Sha256Digest,
        /// The record's.
        found: Sha256Digest,
    },
    /// The record is whole, but not the one that the commit holds.
    RecordEdited {
        /// The checksum of what the commit holds.
        committed: Sha256Digest,
        /// The record's.
        found: Sha256Digest,
    },
    /// The manifest's line says something else than the record.
    EntryDiffers {
        /// The fields.
        fields: Vec<&'static str>,
    },
    /// The records before and after do not fit together.
    ChainBroken {
        /// The record that links to it, or that it links to.
        neighbour: Option<CheckpointId>,
    },
    /// There is no ref.
    RefMissing {
        /// The ref.
        reference: String,
    },
    /// The ref points at something else.
    RefElsewhere {
        /// The ref.
        reference: String,
        /// What it points at.
        found: ObjectId,
    },
    /// The ref cannot be read.
    RefUnreadable {
        /// The ref.
        reference: String,
        /// Why not.
        reason: String,
    },
    /// The commit is there but holds something else than the record says.
    CommitDiffers {
        /// The fields of `git`.
        fields: Vec<&'static str>,
    },
    /// Objects are missing or damaged.
    Objects {
        /// How many.
        count: usize,
        /// The first of them.
        objects: Vec<BrokenObject>,
    },
    /// The state does not fit its workflow.
    StateMisfit {
        /// Where, as a dotted path.
        path: String,
        /// What is wrong there.
        reason: String,
    },
    /// It was found to be corrupt before, and nothing is wrong with it now.
    MarkedCorrupt {
        /// When.
        #[serde(with = "timestamp::option")]
        corrupted_at: Option<DateTime<Utc>>,
    },
}

/// How much a defect matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is lost by it: a leftover.
    Notice,
    /// Something cannot be relied on.
    Invalid,
    /// What was recorded is not what is there: the checkpoint cannot be rolled back to.
    Corrupt,
}

/// What to do about a defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Remedy {
    /// Rebuild the record, or the ref, of one checkpoint.
    Rebuild {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// Rebuild the manifest and whatever else is damaged.
    RebuildAll,
    /// Bring the objects back from a clone or a backup, then look again; else delete the checkpoint.
    RestoreObjects {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// Nothing holds a copy: delete the checkpoint.
    Delete {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// Use the version that wrote it.
    NewerGoTeam,
    /// Let a command that writes finish or undo it.
    Finish,
    /// Finish the rollback, or put everything back.
    EndRollback,
    /// Look at the file, and remove it.
    RemoveFile {
        /// Its name in the session's directory.
        name: String,
    },
    /// Take away a ref that is of no checkpoint of the session.
    DeleteRef {
        /// The ref.
        reference: String,
    },
    /// Have git make the index of a pack anew.
    Reindex {
        /// The pack.
        pack: String,
    },
    /// Have git write its objects anew.
    Repack,
    /// Correct the schema or the configuration.
    CorrectSchema,
    /// Make a checkpoint with a corrected state, and let go of this one.
    CorrectState {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The checkpoint it is about; the session as a whole when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// The check that it makes fail; none for the session as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// How much it matters.
    pub severity: Severity,
    /// What it is.
    pub defect: Defect,
    /// What to do about it.
    pub remedy: Remedy,
}
