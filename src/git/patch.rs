//! Patches in git's format: for two trees, byte for byte what `git diff` prints when nothing is configured.
//!
//! The lines come from libgit2's copy of git's own algorithm; headers, names, headings and abbreviations are written
//! here, because libgit2's differ from git's.

mod abbreviate;
mod heading;
pub mod quote;

use std::io::Write as _;

pub use abbreviate::Abbreviations;

use super::Error;
use super::diff::Item;
use super::diff::attributes::{Attributes, Driver};
use super::diff::lines;
use super::diff::rename::{Pair, Place, Status};
use super::diff::source::Source;
use quote::{quoted, quoted_with};

/// Writes patches.
pub struct PatchWriter<'a> {
    source: &'a Source<'a>,
    abbreviations: Abbreviations,
}

/// What becomes of one path in one piece of a patch.
struct Piece<'p> {
    old: Option<&'p Place>,
    new: Option<&'p Place>,
    /// The name at each side, which is the same where only one exists.
    names: [&'p [u8]; 2],
    moved: Option<(Status, u32)>,
}

impl<'a> PatchWriter<'a> {
    /// Prepares to write patches of these contents.
    ///
    /// # Errors
    /// When the repository's packs cannot be looked at.
    pub fn new(source: &'a Source<'a>) -> Result<Self, Error> {
        let abbreviations = Abbreviations::of(source.repo())?;
        Ok(Self {
            source,
            abbreviations,
        })
    }

    /// Appends the patch of one path.
    ///
    /// # Errors
    /// When a content cannot be read.
    pub fn write(
        &self,
        pair: &Pair,
        drivers: [&Driver; 2],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let (old, new) = (pair.old.as_ref(), pair.new.as_ref());
        if pair.status == Status::TypeChanged {
            // Two pieces: what was is removed, what is is new.
            let name = pair.path();
            for (old, new) in [(old, None), (None, new)] {
                let piece = Piece {
                    old,
                    new,
                    names: [name, name],
                    moved: None,
                };
                self.piece(&piece, drivers, out)?;
            }
            return Ok(());
        }
        let name = |place: Option<&'_ Place>| place.map(|place| place.path.clone());
        let names = [
            name(old).unwrap_or_else(|| pair.path().to_vec()),
            name(new).unwrap_or_else(|| pair.path().to_vec()),
        ];
        let piece = Piece {
            old,
            new,
            names: [&names[0], &names[1]],
            moved: pair.similarity.map(|percent| (pair.status, percent)),
        };
        self.piece(&piece, drivers, out)
    }

    fn piece(
        &self,
        piece: &Piece<'_>,
        [old_driver, new_driver]: [&Driver; 2],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let content = |place: Option<&Place>| match place {
            Some(place) => self.source.content(&place.path, &place.item),
            None => Ok(Vec::new()),
        };
        let (a, b) = (
            quoted_with(b"a/", piece.names[0]),
            quoted_with(b"b/", piece.names[1]),
        );
        let none = b"/dev/null".to_vec();
        let labels = [
            if piece.old.is_some() { &a } else { &none },
            if piece.new.is_some() { &b } else { &none },
        ];
        let mut header = Vec::new();
        put(&mut header, &[b"diff --git ", &a, b" ", &b, b"\n"]);
        self.extended_header(piece, &mut header);
        let id = |place: Option<&Place>| place.map(|place| place.item.id);
        if id(piece.old) == id(piece.new) {
            out.extend_from_slice(&header);
            return Ok(());
        }
        let (old, new) = (content(piece.old)?, content(piece.new)?);
        let is_binary = (piece.old.is_some() && old_driver.is_binary(&old))
            || (piece.new.is_some() && new_driver.is_binary(&new));
        if is_binary {
            out.extend_from_slice(&header);
            if old != new {
                put(
                    out,
                    &[
                        b"Binary files ",
                        labels[0],
                        b" and ",
                        labels[1],
                        b" differ\n",
                    ],
                );
            }
            return Ok(());
        }
        out.extend_from_slice(&header);
        let hunks = lines::hunks(&old, &new)?;
        if hunks.is_empty() {
            return Ok(());
        }
        for (sign, label) in [(b"--- ", labels[0]), (b"+++ ", labels[1])] {
            let end: &[u8] = if label.contains(&b' ') {
                b"\t\n"
            } else {
                b"\n"
            };
            put(out, &[sign, label, end]);
        }
        let mut headings = heading::Headings::new(&old);
        for hunk in hunks {
            headings.write(&hunk, out);
            out.extend_from_slice(&hunk.body);
        }
        Ok(())
    }

    fn extended_header(&self, piece: &Piece<'_>, out: &mut Vec<u8>) {
        let octal = |place: &Place| format!("{:0>6}", place.item.mode.as_octal());
        match (piece.old, piece.new) {
            (None, Some(new)) => line(out, "new file mode ", octal(new).as_bytes()),
            (Some(old), None) => line(out, "deleted file mode ", octal(old).as_bytes()),
            (Some(old), Some(new)) if old.item.mode != new.item.mode => {
                line(out, "old mode ", octal(old).as_bytes());
                line(out, "new mode ", octal(new).as_bytes());
            }
            _ => {}
        }
        if let Some((status, percent)) = piece.moved {
            let word = if status == Status::Copied {
                "copy"
            } else {
                "rename"
            };
            line(out, "similarity index ", format!("{percent}%").as_bytes());
            line(out, &format!("{word} from "), &quoted(piece.names[0]));
            line(out, &format!("{word} to "), &quoted(piece.names[1]));
        }
        let id = |place: Option<&Place>| place.map(|place| place.item.id);
        if id(piece.old) != id(piece.new) {
            let short = |place: Option<&Place>| self.abbreviations.of_item(item(place));
            let mode = match (piece.old, piece.new) {
                (Some(old), Some(new)) if old.item.mode == new.item.mode => {
                    format!(" {}", octal(old))
                }
                _ => String::new(),
            };
            // Writing to memory does not fail.
            let _ = writeln!(
                out,
                "index {}..{}{mode}",
                short(piece.old),
                short(piece.new)
            );
        }
    }
}

/// The drivers of both sides of a pair.
pub fn drivers_of(attributes: &mut Attributes, pair: &Pair) -> [Driver; 2] {
    let mut of = |place: Option<&Place>| {
        place.map_or(Driver::Auto, |place| {
            attributes.of(&place.path, place.item.mode)
        })
    };
    [of(pair.old.as_ref()), of(pair.new.as_ref())]
}

fn item(place: Option<&Place>) -> Option<&Item> {
    place.map(|place| &place.item)
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

fn line(out: &mut Vec<u8>, word: &str, rest: &[u8]) {
    put(out, &[word.as_bytes(), rest, b"\n"]);
}
