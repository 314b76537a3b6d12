//! What follows from a defect: which check it fails, how much it matters, in words.

use std::fmt;

use super::{Check, Defect, Finding, Remedy, Severity};
use crate::model::ids::CheckpointId;

impl Defect {
    /// The check that it makes fail.
    #[must_use]
    pub const fn check(&self) -> Option<Check> {
        Some(match self {
            Self::RecordMissing | Self::RecordDamaged { .. } | Self::RecordNewer { .. } => {
                Check::File
            }
            Self::RecordReplaced { .. }
            | Self::RecordEdited { .. }
            | Self::EntryDiffers { .. }
            | Self::MarkedCorrupt { .. } => Check::Hash,
            Self::ChainBroken { .. } => Check::Chain,
            Self::RefMissing { .. }
            | Self::RefElsewhere { .. }
            | Self::RefUnreadable { .. }
            | Self::CommitDiffers { .. }
            | Self::Objects { .. } => Check::Git,
            Self::StateMisfit { .. } => Check::State,
            _ => return None,
        })
    }

    /// How much it matters.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self {
            Self::StrayFile { .. } | Self::LatestElsewhere { .. } => Severity::Notice,
            Self::RecordMissing
            | Self::RecordDamaged { .. }
            | Self::RecordReplaced { .. }
            | Self::RecordEdited { .. }
            | Self::EntryDiffers { .. }
            | Self::ChainBroken { .. }
            | Self::RefMissing { .. }
            | Self::RefElsewhere { .. }
            | Self::RefUnreadable { .. }
            | Self::CommitDiffers { .. }
            | Self::Objects { .. } => Severity::Corrupt,
            _ => Severity::Invalid,
        }
    }
}

impl Finding {
    /// About a session.
    #[must_use]
    pub fn of_session(defect: Defect) -> Self {
        let remedy = match &defect {
            Defect::ManifestNewer { .. } => Remedy::NewerGoTeam,
            Defect::Interrupted { operation } if operation == "rollback" => Remedy::EndRollback,
            Defect::Interrupted { .. } => Remedy::Finish,
            Defect::StrayFile { name } => Remedy::RemoveFile { name: name.clone() },
            Defect::RepositoryFile { path, .. } => match path.strip_suffix(".idx") {
                Some(stem) => Remedy::Reindex {
                    pack: format!("{stem}.pack"),
                },
                None => Remedy::Repack,
            },
            Defect::ForeignRef { reference } => Remedy::DeleteRef {
                reference: reference.clone(),
            },
            Defect::SchemaUnusable { .. } => Remedy::CorrectSchema,
            _ => Remedy::RebuildAll,
        };
        Self {
            checkpoint: None,
            check: defect.check(),
            severity: defect.severity(),
            defect,
            remedy,
        }
    }

    /// About a checkpoint; `has_commit` says whether the repository holds a copy of its record.
    #[must_use]
    pub fn of_checkpoint(checkpoint: &CheckpointId, has_commit: bool, defect: Defect) -> Self {
        let checkpoint = checkpoint.clone();
        let remedy = match &defect {
            Defect::RecordNewer { .. } => Remedy::NewerGoTeam,
            Defect::StateMisfit { .. } => Remedy::CorrectState {
                checkpoint: checkpoint.clone(),
            },
            Defect::Objects { .. } | Defect::CommitDiffers { .. } => Remedy::RestoreObjects {
                checkpoint: checkpoint.clone(),
            },
            Defect::EntryDiffers { .. } | Defect::ChainBroken { .. } if has_commit => {
                Remedy::RebuildAll
            }
            Defect::MarkedCorrupt { .. } => Remedy::Rebuild {
                checkpoint: checkpoint.clone(),
            },
            _ if has_commit => Remedy::Rebuild {
                checkpoint: checkpoint.clone(),
            },
            _ => Remedy::Delete {
                checkpoint: checkpoint.clone(),
            },
        };
        Self {
            checkpoint: Some(checkpoint),
            check: defect.check(),
            severity: defect.severity(),
            defect,
            remedy,
        }
    }
}

impl fmt::Display for Defect {
    #[allow(clippy::too_many_lines, reason = "a sentence for each defect")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManifestMissing => f.write_str("there is no manifest"),
            Self::ManifestDamaged { reason } => write!(f, "the manifest is damaged: {reason}"),
            Self::ManifestNewer { found } => {
                write!(
                    f,
                    "the manifest has format version {found}, which is not known"
                )
            }
            Self::PrunedRange { checkpoint } => write!(
                f,
                "what the manifest says of pruned checkpoints does not fit the record of {checkpoint}"
            ),
            Self::SeqGap { from_seq, to_seq } if from_seq == to_seq => {
                write!(
                    f,
                    "the checkpoint with seq {from_seq} is neither listed nor pruned"
                )
            }
            Self::SeqGap { from_seq, to_seq } => write!(
                f,
                "the checkpoints with seq {from_seq} to {to_seq} are neither listed nor pruned"
            ),
            Self::CurrentUnlisted { checkpoint } => {
                write!(f, "the current checkpoint {checkpoint} is not listed")
            }
            Self::Interrupted { operation } => {
                write!(f, "an operation ({operation}) was interrupted")
            }
            Self::JournalDamaged { reason } => write!(f, "the journal is damaged: {reason}"),
            Self::LiveStateDamaged { reason } => write!(f, "the live state is damaged: {reason}"),
            Self::LatestElsewhere { expected } => {
                write!(f, "the link `latest` does not point at {expected}")
            }
            Self::OrphanRef { reference } => {
                write!(f, "{reference} belongs to no listed checkpoint")
            }
            Self::ForeignRef { reference } => {
                write!(f, "{reference} is of no checkpoint of the session")
            }
            Self::OrphanRecord { checkpoint } => {
                write!(f, "there is a record of {checkpoint}, which is not listed")
            }
            Self::StrayFile { name } => write!(f, "{name} is no file of go-team's"),
            Self::RepositoryFile { path, reason } => write!(f, "{path} is damaged: {reason}"),
            Self::SchemaUnusable { path, reason } => {
                write!(f, "the JSON Schema {path} cannot be used: {reason}")
            }
            Self::RecordMissing => f.write_str("there is no record"),
            Self::RecordDamaged { reason } => write!(f, "the record is damaged: {reason}"),
            Self::RecordNewer { found } => {
                write!(
                    f,
                    "the record has format version {found}, which is not known"
                )
            }
            Self::RecordReplaced { listed, found } => write!(
                f,
                "the record is another one than listed: its checksum is {found}, not {listed}"
            ),
            Self::RecordEdited { committed, found } => write!(
                f,
                "the record is another one than its commit holds: its checksum is {found}, not {committed}"
            ),
            Self::EntryDiffers { fields } => write!(
                f,
                "the manifest says something else than the record: {}",
                fields.join(", ")
            ),
            Self::ChainBroken {
                neighbour: Some(id),
            } => {
                write!(f, "the record and that of {id} do not link")
            }
            Self::ChainBroken { neighbour: None } => {
                f.write_str("the record does not link to the one before it")
            }
            Self::RefMissing { reference } => write!(f, "{reference} does not exist"),
            Self::RefElsewhere { reference, found } => {
                write!(
                    f,
                    "{reference} points at {found}, not at the recorded commit"
                )
            }
            Self::RefUnreadable { reference, reason } => {
                write!(f, "{reference} cannot be read: {reason}")
            }
            Self::CommitDiffers { fields } => write!(
                f,
                "the commit holds something else than the record says: {}",
                fields.join(", ")
            ),
            Self::Objects { count, objects } => {
                let plural = if *count == 1 { "" } else { "s" };
                write!(f, "{count} object{plural} missing or damaged")?;
                if let Some(first) = objects.first() {
                    let place = if first.path.is_empty() {
                        String::new()
                    } else {
                        format!(" ({})", first.path)
                    };
                    write!(
                        f,
                        ": {} {}{place} {}",
                        first.object,
                        first.id.short(),
                        first.flaw
                    )?;
                }
                Ok(())
            }
            Self::StateMisfit { path, reason } if path.is_empty() => {
                write!(f, "the state does not fit: {reason}")
            }
            Self::StateMisfit { path, reason } => {
                write!(f, "the state does not fit: {path} {reason}")
            }
            Self::MarkedCorrupt { .. } => f.write_str(
                "it was marked as corrupt, and nothing is found to be wrong with it now",
            ),
        }
    }
}
