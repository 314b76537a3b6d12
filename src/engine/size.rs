//! How much a session takes on the disk, and keeping it within the limit of the settings.
//!
//! Measuring reads every tree that only checkpoints hold, so it is done when it may matter: by `cp-prune`, and after a
//! checkpoint when the session may have outgrown its limit and has grown by a hundredth of it since the last look.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::create::CreateReport;
use super::failure::error_chain;
use super::{Error, Workspace};
use crate::git::holdings::weigh;
use crate::model::size::MeasuredSize;
use crate::model::{CheckpointId, Entry, Manifest, ObjectId};
use crate::plan::retention::{Caps, Reason, Verdict};

/// What each checkpoint adds to those that outlive it, in bytes.
#[derive(Debug, Default)]
pub(super) struct Sizes(HashMap<CheckpointId, u64>);

impl Sizes {
    pub fn of(&self, id: &CheckpointId) -> Option<u64> {
        self.0.get(id).copied()
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl Workspace {
    /// Measures what each checkpoint takes, if there is a limit. What several share counts for the one that the policy
    /// would take last: first come those that must stay, then the others from the newest to the oldest, then those that
    /// go in any case.
    pub(super) fn measure(&self, manifest: &Manifest, now: DateTime<Utc>) -> Result<Sizes, Error> {
        let caps = self.caps();
        if caps.max_size_bytes.is_none() {
            return Ok(Sizes::default());
        }
        let caps = Caps {
            max_size_bytes: None,
            ..caps
        };
        let decisions = self.decide(manifest, caps, &|_| None, now);
        let entries = manifest.checkpoints().iter().zip(&decisions);
        let mut order: Vec<(u8, &Entry)> = entries
            .map(|(entry, decision)| {
                let must_stay = |reason: &Reason<'_, _>| {
                    matches!(reason, Reason::Protected(_) | Reason::NewestValid)
                };
                let rank = match decision.verdict {
                    Verdict::Remove => 2,
                    Verdict::Keep if decision.reasons.iter().any(must_stay) => 0,
                    Verdict::Keep => 1,
                };
                (rank, entry)
            })
            .collect();
        order.sort_by_key(|(rank, entry)| (*rank, std::cmp::Reverse(entry.seq)));
        let with_files = |(_, entry): &(u8, &Entry)| Some((entry.id.clone(), entry.commit_hash?));
        let (ids, commits): (Vec<CheckpointId>, Vec<ObjectId>) =
            order.iter().filter_map(with_files).unzip();
        let mut oldest = manifest.checkpoints().iter();
        let oldest = oldest.find_map(|entry| entry.commit_hash);
        let sizes = weigh(&self.repo, &commits, oldest)?;
        Ok(Sizes(ids.into_iter().zip(sizes).collect()))
    }

    /// Lets the oldest checkpoints go if the session has outgrown its limit. The checkpoint is made already: what fails
    /// here is a warning. The caller holds the lock.
    pub(super) fn keep_within_size(&self, made: &mut CreateReport) {
        let Some(limit) = self.caps().max_size_bytes else {
            return;
        };
        if !self.config.settings.retention.enabled {
            return;
        }
        if let Err(error) = self.shrink(limit, made) {
            let text = format!(
                "the size of the session is not known: {}",
                error_chain(&error)
            );
            made.warnings.push(text);
        }
    }

    fn shrink(&self, limit: u64, made: &mut CreateReport) -> Result<(), Error> {
        let session = made.manifest.session_id.clone();
        let (_, written) = made.growth;
        if let Some(before) = self.store.load_size(&session) {
            let size = MeasuredSize {
                grown: before.grown.saturating_add(written),
                ..before
            };
            if !size.is_due(limit) {
                return Ok(self.store.write_size(&session, &size)?);
            }
        }
        let now = self.clock.now();
        let sizes = self.measure(&made.manifest, now)?;
        let decisions = self.decide(&made.manifest, self.caps(), &|id| sizes.of(id), now);
        let decided = made.manifest.checkpoints().iter().zip(&decisions);
        let (goes, stays): (Vec<_>, Vec<_>) =
            decided.partition(|(_, decision)| decision.verdict == Verdict::Remove);
        let size = MeasuredSize {
            measured: stays
                .iter()
                .filter_map(|(entry, _)| sizes.of(&entry.id))
                .sum(),
            grown: 0,
        };
        let goes: Vec<Entry> = goes.into_iter().map(|(entry, _)| entry.clone()).collect();
        made.manifest = self.take_from_list(&made.manifest, &goes, &mut made.warnings)?;
        made.pruned.extend(goes.into_iter().map(|entry| entry.id));
        Ok(self.store.write_size(&session, &size)?)
    }
}
