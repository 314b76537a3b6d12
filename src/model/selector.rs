//! How a user names a checkpoint: one grammar for every command.
//!
//! | text | meaning |
//! |---|---|
//! | `latest`, `latest~2` | the newest valid checkpoint, the second before it |
//! | `current` | the one that the work tree descends from |
//! | `4` | the newest valid one of step 4, or the newest one if none is valid |
//! | `6.2` | the second one made in step 6, whatever it is |
//! | `requirements` | as a number, by the step's name |
//! | `cp-04-impl…` | by id, or by an unambiguous beginning of it |
//!
//! Safety checkpoints are only meant by `6.2` and by id.

use std::collections::HashMap;
use std::fmt;

use super::ids::{CheckpointId, slug};
use super::manifest::{Entry, Manifest};

/// How a user named a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The newest valid checkpoint, or as many before it.
    Latest {
        /// How many before.
        back: usize,
    },
    /// The current checkpoint.
    Current,
    /// A step.
    Step(u32),
    /// One checkpoint of a step.
    Ordinal {
        /// The step.
        step: u32,
        /// The how-manieth, from 1.
        ordinal: u32,
    },
    /// A step's name, an id, or the beginning of one.
    Name(String),
}

/// A checkpoint that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What selects it.
    pub number: String,
    /// Its id.
    pub id: CheckpointId,
}

/// The checkpoints that may have been meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The newest of them, newest first.
    pub listed: Vec<Candidate>,
    /// How many more there are.
    pub more: usize,
}

/// Why a name means no checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// The text follows no rule of the grammar.
    #[error("not a name of a checkpoint: {text:?}")]
    Malformed {
        /// The beginning of the text.
        text: String,
    },
    /// There is no such checkpoint.
    #[error("no checkpoint is meant by {what}")]
    NotFound {
        /// What was asked for.
        what: String,
        /// What there is.
        candidates: Candidates,
    },
    /// Several checkpoints have that name.
    #[error("more than one checkpoint is meant by {what}")]
    Ambiguous {
        /// What was asked for.
        what: String,
        /// Those that have it.
        candidates: Candidates,
    },
}

impl Selector {
    /// Parses what a user typed.
    ///
    /// # Errors
    /// For empty text and for `latest~` without a number after it.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let malformed = || SelectorError::Malformed {
            text: text.chars().take(80).collect(),
        };
        if let Some(back) = text.strip_prefix("latest~") {
            let back = digits(back).ok_or_else(malformed)?;
            return Ok(Self::Latest {
                back: back as usize,
            });
        }
        let numbers = text
            .split_once('.')
            .map(|(step, ordinal)| (digits(step), digits(ordinal)));
        match (text, digits(text), numbers) {
            ("", _, _) => Err(malformed()),
            ("latest", _, _) => Ok(Self::Latest { back: 0 }),
            ("current", _, _) => Ok(Self::Current),
            (_, Some(step), _) => Ok(Self::Step(step)),
            (_, _, Some((Some(step), Some(ordinal)))) => Ok(Self::Ordinal { step, ordinal }),
            _ => Ok(Self::Name(text.to_owned())),
        }
    }

    /// Finds the one checkpoint that is meant.
    ///
    /// # Errors
    /// When there is none, or more than one; both list candidates.
    pub fn resolve<'m>(&self, manifest: &'m Manifest) -> Result<&'m Entry, SelectorError> {
        let entries = manifest.checkpoints();
        let found = match self {
            Self::Latest { back } => {
                let usable = entries
                    .iter()
                    .rev()
                    .filter(|entry| entry.valid && !entry.is_safety());
                usable.into_iter().nth(*back)
            }
            Self::Current => manifest.current(),
            Self::Step(step) => preferred(entries, |entry| entry.step == *step),
            Self::Ordinal { step, ordinal } => {
                let mut newest_first = entries.iter().rev();
                newest_first.find(|entry| entry.step == *step && entry.ordinal == *ordinal)
            }
            Self::Name(name) => return self.resolve_name(name, manifest),
        };
        found.ok_or_else(|| self.not_found(manifest))
    }

    fn resolve_name<'m>(
        &self,
        name: &str,
        manifest: &'m Manifest,
    ) -> Result<&'m Entry, SelectorError> {
        let entries = manifest.checkpoints();
        if let Some(entry) = entries.iter().find(|entry| entry.id.as_str() == name) {
            return Ok(entry);
        }
        for is_named in [
            &(|entry: &Entry| entry.name == name) as &dyn Fn(&Entry) -> bool,
            &|entry: &Entry| slug(&entry.name) == name,
        ] {
            if let Some(entry) = preferred(entries, is_named) {
                let named = entries
                    .iter()
                    .filter(|other| !other.is_safety() && is_named(other));
                if named.clone().any(|other| other.step != entry.step) {
                    return Err(self.ambiguous(manifest, named));
                }
                return Ok(entry);
            }
        }
        let mut begun = entries
            .iter()
            .filter(|entry| entry.id.as_str().starts_with(name));
        match (begun.next(), begun.next()) {
            (Some(entry), None) => Ok(entry),
            (None, _) => Err(self.not_found(manifest)),
            _ => {
                let begun = entries
                    .iter()
                    .filter(|entry| entry.id.as_str().starts_with(name));
                Err(self.ambiguous(manifest, begun))
            }
        }
    }

    fn not_found(&self, manifest: &Manifest) -> SelectorError {
        SelectorError::NotFound {
            what: self.to_string(),
            candidates: candidates(manifest, manifest.checkpoints().iter()),
        }
    }

    fn ambiguous<'m>(
        &self,
        manifest: &Manifest,
        meant: impl Iterator<Item = &'m Entry>,
    ) -> SelectorError {
        SelectorError::Ambiguous {
            what: self.to_string(),
            candidates: candidates(manifest, meant),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest { back: 0 } => f.write_str("latest"),
            Self::Latest { back } => write!(f, "latest~{back}"),
            Self::Current => f.write_str("current"),
            Self::Step(step) => write!(f, "{step}"),
            Self::Ordinal { step, ordinal } => write!(f, "{step}.{ordinal}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// What a number or a name means: the newest valid one; if there is none, the newest one.
fn preferred(entries: &[Entry], is_meant: impl Fn(&Entry) -> bool) -> Option<&Entry> {
    let mut meant = entries
        .iter()
        .rev()
        .filter(|entry| !entry.is_safety() && is_meant(entry));
    let newest = meant.next()?;
    if newest.valid {
        return Some(newest);
    }
    Some(meant.find(|entry| entry.valid).unwrap_or(newest))
}

fn digits(text: &str) -> Option<u32> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn candidates<'m>(manifest: &Manifest, entries: impl Iterator<Item = &'m Entry>) -> Candidates {
    const LISTED: usize = 20;
    let mut all: Vec<&Entry> = entries.collect();
    all.reverse();
    let more = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    let numbers = Numbers::of(manifest);
    let listed = all.into_iter().map(|entry| Candidate {
        number: numbers.number(entry),
        id: entry.id.clone(),
    });
    Candidates {
        listed: listed.collect(),
        more,
    }
}

/// What to type for each checkpoint of a manifest: what is shown selects exactly that one.
#[derive(Debug)]
pub struct Numbers {
    /// The seq of what a step's bare number means.
    bare: HashMap<u32, u64>,
}

impl Numbers {
    /// Looks through a manifest once.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        let mut bare: HashMap<u32, (bool, u64)> = HashMap::new();
        for entry in manifest
            .checkpoints()
            .iter()
            .filter(|entry| !entry.is_safety())
        {
            let this = (entry.valid, entry.seq);
            let best = bare.entry(entry.step).or_insert(this);
            *best = this.max(*best);
        }
        let bare = bare.into_iter().map(|(step, (_, seq))| (step, seq));
        Self {
            bare: bare.collect(),
        }
    }

    /// What selects this checkpoint: `6` if the bare number means it, else `6.2`.
    #[must_use]
    pub fn number(&self, entry: &Entry) -> String {
        if self.bare.get(&entry.step) == Some(&entry.seq) {
            entry.step.to_string()
        } else {
            format!("{}.{}", entry.step, entry.ordinal)
        }
    }
}

/// What selects one checkpoint; for a whole list, [`Numbers`] looks through the manifest only once.
#[must_use]
pub fn number_of(manifest: &Manifest, entry: &Entry) -> String {
    Numbers::of(manifest).number(entry)
}

#[cfg(test)]
mod tests;
