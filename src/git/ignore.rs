//! Ignore patterns by git's rules: how a line is read, what it matches, and which of several lists decides.

use std::path::PathBuf;
use std::sync::Arc;

use super::controls::{self, ControlFile};
use super::pattern::{Pattern, Target};

/// The lines of one file, in order.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    list: Vec<Pattern>,
    /// The directory the file is in, from the top of the work tree.
    base: Vec<u8>,
}

/// What the last matching line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Matched,
    /// Matched by a line that begins with `!`.
    Negated,
}

impl Patterns {
    /// Reads the lines of a file in the directory `base`.
    pub fn parse(base: &[u8], bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self {
            list: bytes
                .split(|byte| *byte == b'\n')
                .filter_map(of_line)
                .collect(),
            base: base.to_vec(),
        }
    }

    /// Reads separate lines.
    pub fn of_lines<'l>(lines: impl IntoIterator<Item = &'l str>) -> Self {
        let lines = lines.into_iter();
        Self {
            list: lines.filter_map(|line| of_line(line.as_bytes())).collect(),
            base: Vec::new(),
        }
    }

    /// The last line that matches decides.
    pub fn find(&self, path: &[u8], is_dir: bool, fold: bool) -> Option<Verdict> {
        let target = Target::new(path, fold);
        let found = self.list.iter().rev().find(|pattern| {
            (is_dir || !pattern.dirs_only) && pattern.matches(&self.base, target)
        })?;
        Some(if found.negative {
            Verdict::Negated
        } else {
            Verdict::Matched
        })
    }

    /// The path, or else the nearest directory above it that any line matches.
    pub fn find_at_any_level(&self, path: &[u8], is_dir: bool, fold: bool) -> Option<Verdict> {
        let mut path = path;
        let mut is_dir = is_dir;
        loop {
            if let Some(found) = self.find(path, is_dir, fold) {
                return Some(found);
            }
            let slash = path.iter().rposition(|byte| *byte == b'/')?;
            path = &path[..slash];
            is_dir = true;
        }
    }
}

/// The pattern of a line; none when it holds none.
fn of_line(line: &[u8]) -> Option<Pattern> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.first() == Some(&b'#') {
        return None;
    }
    let end = line.iter().position(|byte| *byte == 0);
    Pattern::new(without_trailing_spaces(&line[..end.unwrap_or(line.len())]))
}

/// Spaces at the end do not count unless a backslash stands before them.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = line.len();
    let mut spaces_from = None;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b' ' => {
                spaces_from.get_or_insert(at);
            }
            b'\\' => {
                at += 1;
                spaces_from = None;
                if at == line.len() {
                    break;
                }
            }
            _ => spaces_from = None,
        }
        at += 1;
    }
    if let Some(from) = spaces_from {
        end = from;
    }
    &line[..end]
}

/// The ignore files that hold for one directory, kept while paths of the same directory are asked for.
#[derive(Clone)]
pub(super) struct Levels {
    /// Where ignore files are read from; none when they come from a tree alone.
    work_dir: Option<Arc<PathBuf>>,
    /// The lists outside the work tree, the weaker one first.
    globals: Arc<Vec<Patterns>>,
    fold: bool,
    stack: Vec<Level>,
}

#[derive(Clone)]
struct Level {
    dir: Vec<u8>,
    patterns: Option<Arc<Patterns>>,
    /// It is ignored, and so is all below it.
    ignored: bool,
}

/// Finds an ignore file that the index has and the disk has not.
type FromIndex<'f> = dyn Fn(&[u8]) -> Option<Vec<u8>> + 'f;

impl Levels {
    pub fn new(work_dir: Option<PathBuf>, globals: Vec<Patterns>, fold: bool) -> Self {
        Self {
            work_dir: work_dir.map(Arc::new),
            globals: Arc::new(globals),
            fold,
            stack: Vec::new(),
        }
    }

    /// Whether git ignores the path.
    pub fn is_ignored(&mut self, path: &[u8], is_dir: bool, from_index: &FromIndex<'_>) -> bool {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        self.enter(&path[..slash.unwrap_or(0)], from_index);
        self.stack.last().is_some_and(|level| level.ignored) || self.decides(path, is_dir)
    }

    /// The nearest list with a matching line decides.
    fn decides(&self, path: &[u8], is_dir: bool) -> bool {
        let nearest = self.stack.iter().rev();
        let own = nearest.filter_map(|level| level.patterns.as_deref());
        let found = own
            .chain(self.globals.iter().rev())
            .find_map(|patterns| patterns.find(path, is_dir, self.fold));
        found == Some(Verdict::Matched)
    }

    fn enter(&mut self, dir: &[u8], from_index: &FromIndex<'_>) {
        let holds = |level: &Level| {
            level.dir.is_empty()
                || (dir.starts_with(&level.dir)
                    && matches!(dir.get(level.dir.len()), None | Some(b'/')))
        };
        while self.stack.last().is_some_and(|level| !holds(level)) {
            self.stack.pop();
        }
        if self.stack.is_empty() {
            let patterns = self.read(&[], from_index);
            self.stack.push(Level {
                dir: Vec::new(),
                patterns,
                ignored: false,
            });
        }
        while let Some(last) = self
            .stack
            .last()
            .filter(|level| level.dir.len() < dir.len())
        {
            let from = last.dir.len() + usize::from(!last.dir.is_empty());
            let next = dir[from..].iter().position(|byte| *byte == b'/');
            let below = &dir[..next.map_or(dir.len(), |next| from + next)];
            let ignored = last.ignored || self.decides(below, true);
            let patterns = if ignored {
                None
            } else {
                self.read(below, from_index)
            };
            self.stack.push(Level {
                dir: below.to_vec(),
                patterns,
                ignored,
            });
        }
    }

    /// The ignore file of a directory. A link is not followed; what cannot be read holds no patterns, as for git.
    fn read(&self, dir: &[u8], from_index: &FromIndex<'_>) -> Option<Arc<Patterns>> {
        let path = super::node::join(dir, b".gitignore");
        let on_disk = self.work_dir.as_ref();
        let bytes = match on_disk.map(|work_dir| controls::read(work_dir, &path)) {
            Some(ControlFile::Text(bytes)) => bytes,
            Some(ControlFile::Unusable | ControlFile::TooLarge) => return None,
            Some(ControlFile::Closed) | None => from_index(&path)?,
        };
        Some(Arc::new(Patterns::parse(dir, &bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(lines: &str, path: &str, is_dir: bool) -> Option<Verdict> {
        Patterns::parse(b"", lines.as_bytes()).find(path.as_bytes(), is_dir, false)
    }

    #[test]
    fn lines() {
        let matched = Some(Verdict::Matched);
        assert_eq!(verdict("/\n//\n\n \n#a\n!\n", "a", true), None);
        assert_eq!(verdict("a\r", "a", false), matched);
        assert_eq!(verdict("a  ", "a", false), matched);
        assert_eq!(verdict("a\\ ", "a ", false), matched);
        assert_eq!(verdict("a\\  ", "a ", false), matched);
        assert_eq!(verdict("a\t", "a", false), None);
        assert_eq!(verdict("\\#a", "#a", false), matched);
        assert_eq!(verdict("a/", "a", false), None);
        assert_eq!(verdict("a\n!a", "a", false), Some(Verdict::Negated));
        assert_eq!(verdict("/a", "b/a", false), None);
        assert_eq!(verdict("b/a", "b/a", false), matched);
    }
}
