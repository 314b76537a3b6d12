//! What a tree and a commit may say, and which objects they need.

use super::BundleError;
use crate::git::hash::Kind;
use crate::git::tree::{self, Mode, TreeEntry, entry_order};
use crate::model::object_id::{ObjectFormat, ObjectId};
use crate::model::path_text::quote_path;

/// The largest tree or commit that is read.
pub(super) const MAX_STRUCTURED: u64 = 128 << 20;

/// The parts of a commit that name other objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommitLinks {
    pub tree: ObjectId,
    pub parents: Vec<ObjectId>,
}

/// Reads which tree and parents a commit has.
pub(super) fn links(format: ObjectFormat, commit: &[u8]) -> Option<CommitLinks> {
    let id = |line: &[u8]| {
        let id = ObjectId::parse(std::str::from_utf8(line).ok()?).ok()?;
        (id.as_bytes().len() == format.len()).then_some(id)
    };
    let mut lines = commit.split(|byte| *byte == b'\n');
    let tree = id(lines.next()?.strip_prefix(b"tree ")?)?;
    let mut parents = Vec::new();
    for line in lines {
        let Some(parent) = line.strip_prefix(b"parent ") else {
            line.strip_prefix(b"author ")?;
            return Some(CommitLinks { tree, parents });
        };
        parents.push(id(parent)?);
    }
    None
}

/// Why a name must never be written to a work tree; `None` when it may.
#[must_use]
pub fn name_defect(name: &[u8]) -> Option<String> {
    let options = gix_validate::path::component::Options {
        protect_windows: false,
        protect_hfs: true,
        protect_ntfs: true,
    };
    let verdict = gix_validate::path::component(name.into(), None, options);
    verdict.is_err().then(|| quote_path(name))
}

/// The first entry of a tree that must never be in a work tree.
pub(super) fn odd_name(entries: &[TreeEntry<'_>]) -> Option<String> {
    entries.iter().find_map(|entry| name_defect(entry.name))
}

/// What is wrong with the order of a tree's entries: git's programs look names up by it.
pub(super) fn order_defect(entries: &[TreeEntry<'_>]) -> Option<&'static str> {
    let key = |entry: &TreeEntry<'_>| entry.mode == Mode::Tree;
    let rises = entries.windows(2).all(|pair| {
        let [a, b] = pair else { return true };
        entry_order((a.name, key(a)), (b.name, key(b))).is_lt()
    });
    if !rises {
        return Some("its entries are not in order");
    }
    let is_file_too = |entry: &TreeEntry<'_>| {
        let found = entries
            .binary_search_by(|other| entry_order((other.name, key(other)), (entry.name, false)));
        key(entry) && found.is_ok()
    };
    let twin = entries.iter().any(is_file_too);
    twin.then_some("it has two entries of one name")
}

/// Checks a tree or commit, and tells which objects it needs.
pub(super) fn check(
    format: ObjectFormat,
    kind: Kind,
    id: ObjectId,
    bytes: &[u8],
    needs: &mut dyn FnMut(ObjectId, Kind) -> Result<(), BundleError>,
) -> Result<(), BundleError> {
    let damaged = |what| BundleError::Object {
        kind: kind.as_str(),
        id,
        what,
    };
    match kind {
        Kind::Commit => {
            let links = links(format, bytes).ok_or_else(|| damaged("its header cannot be read"))?;
            needs(links.tree, Kind::Tree)?;
            for parent in links.parents {
                needs(parent, Kind::Commit)?;
            }
        }
        Kind::Tree => {
            let entries = tree::decode(format, bytes);
            let entries = entries.map_err(|_| damaged("its entries cannot be read"))?;
            if let Some(name) = odd_name(&entries) {
                return Err(BundleError::Name { tree: id, name });
            }
            if let Some(what) = order_defect(&entries) {
                return Err(damaged(what));
            }
            for entry in entries {
                match entry.mode {
                    Mode::Tree => needs(entry.id, Kind::Tree)?,
                    // A commit of another repository.
                    Mode::Gitlink => {}
                    _ => needs(entry.id, Kind::Blob)?,
                }
            }
        }
        Kind::Blob | Kind::Tag => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_into_git_or_out_of_the_tree_are_odd() {
        for name in [
            &b".git"[..],
            b".GIT",
            b".Git",
            b"git~1",
            b"GIT~1",
            b".git ",
            b".git.",
            b".git::$INDEX_ALLOCATION",
            ".g\u{200c}it".as_bytes(),
            ".\u{feff}git".as_bytes(),
            b".",
            b"..",
            b"",
            b"a/b",
            b"/etc",
        ] {
            assert!(name_defect(name).is_some(), "{name:?}");
        }
        for name in [
            &b".gitignore"[..],
            b".github",
            b"git",
            b"...",
            b"a\\b",
            b"\xff",
        ] {
            assert!(name_defect(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn order_and_twins() {
        let id = ObjectId::from_bytes(&[7; 20]).unwrap();
        let entry = |mode, name: &'static str| TreeEntry {
            mode,
            name: name.as_bytes(),
            id,
        };
        let file = |name| entry(Mode::File, name);
        let dir = |name| entry(Mode::Tree, name);
        assert_eq!(order_defect(&[file("a"), file("a.b"), dir("b")]), None);
        assert!(order_defect(&[file("b"), file("a")]).is_some());
        assert!(order_defect(&[file("a"), file("a")]).is_some());
        assert!(order_defect(&[file("a"), file("a.b"), dir("a")]).is_some());
        assert_eq!(order_defect(&[file("a.b"), dir("a")]), None);
    }

    #[test]
    fn commits_say_what_they_need() {
        let id = |digit: &str| ObjectId::parse(&digit.repeat(40)).unwrap();
        let text = format!("tree {}\nparent {}\nauthor x\n", id("1"), id("2"));
        let read = |text: &str| links(ObjectFormat::Sha1, text.as_bytes());
        let found = read(&text).unwrap();
        assert_eq!((found.tree, found.parents), (id("1"), vec![id("2")]));
        for text in ["", "tree 12\n", &text[..60], &text.replace("author", "x")] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
