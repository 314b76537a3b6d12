//! How much changed in a path: lines, or bytes of what has no lines.

use serde::Serialize;

use super::attributes::Driver;
use super::lines::{self, LineCounts};
use super::rename::{Pair, Place};
use super::source::Source;
use crate::git::Error;

/// How much changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Measure {
    /// Lines.
    Lines(LineCounts),
    /// Content without lines, by its size.
    Binary {
        /// Before.
        old_bytes: u64,
        /// After.
        new_bytes: u64,
    },
}

/// The contents of both sides of a path, as far as there are two.
pub struct Contents([Option<Vec<u8>>; 2]);

impl Contents {
    /// Reads them.
    ///
    /// # Errors
    /// When a content cannot be read.
    pub fn read(source: &Source<'_>, pair: &Pair) -> Result<Self, Error> {
        let content = |place: Option<&Place>| match place {
            Some(place) => source.content(&place.path, &place.item).map(Some),
            None => Ok(None),
        };
        Ok(Self([
            content(pair.old.as_ref())?,
            content(pair.new.as_ref())?,
        ]))
    }

    /// Measures as `git diff --numstat` does.
    ///
    /// # Errors
    /// When a content is too large to be compared by lines.
    pub fn measure(&self, [old_driver, new_driver]: [&Driver; 2]) -> Result<Measure, Error> {
        let Self([old, new]) = self;
        let is_binary = |content: &Option<Vec<u8>>, driver: &Driver| {
            let content = content.as_ref();
            content.is_some_and(|content| driver.is_binary(content))
        };
        if is_binary(old, old_driver) || is_binary(new, new_driver) {
            let size = |content: &Option<Vec<u8>>| {
                let content = content.as_ref();
                content.map_or(0, |content| content.len() as u64)
            };
            return Ok(Measure::Binary {
                old_bytes: size(old),
                new_bytes: size(new),
            });
        }
        let old = old.as_deref().unwrap_or_default();
        let new = new.as_deref().unwrap_or_default();
        if old == new {
            return Ok(Measure::Lines(LineCounts::default()));
        }
        lines::count(old, new).map(Measure::Lines)
    }
}
