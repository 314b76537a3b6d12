//! Paths that a comparison is narrowed to.

use crate::git::wildmatch::{self, How};

/// Why a path cannot narrow anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathspecError {
    /// It leads out of the work tree.
    #[error("{path:?} is outside of the work tree")]
    Outside {
        /// What was typed.
        path: String,
    },
    /// It begins with a colon, which git gives a meaning.
    #[error("{path:?} uses a pathspec with a colon, which is not understood")]
    Magic {
        /// What was typed.
        path: String,
    },
}

/// Paths and shell patterns, as `git diff -- PATH…` takes them: a directory stands for all that is in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pathspec {
    patterns: Vec<Vec<u8>>,
}

impl Pathspec {
    /// Reads what was typed in a directory of the work tree, which is given from its root.
    ///
    /// # Errors
    /// When a path leads out of the work tree, or asks for what is not there.
    pub fn parse(typed: &[Vec<u8>], within: &[u8]) -> Result<Self, PathspecError> {
        let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let mut patterns = Vec::new();
        for path in typed {
            if path.starts_with(b":") {
                return Err(PathspecError::Magic { path: shown(path) });
            }
            let mut parts: Vec<&[u8]> = Vec::new();
            let all = within.split(|byte| *byte == b'/');
            for part in all.chain(path.split(|byte| *byte == b'/')) {
                match part {
                    b"" | b"." => {}
                    b".." => {
                        if parts.pop().is_none() {
                            return Err(PathspecError::Outside { path: shown(path) });
                        }
                    }
                    part => parts.push(part),
                }
            }
            if path.starts_with(b"/") {
                return Err(PathspecError::Outside { path: shown(path) });
            }
            patterns.push(parts.join(&b'/'));
        }
        Ok(Self { patterns })
    }

    /// Whether nothing is narrowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a path is meant.
    #[must_use]
    pub fn takes(&self, path: &[u8]) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| is_meant(pattern, path))
    }
}

fn is_meant(pattern: &[u8], path: &[u8]) -> bool {
    let is_below = path.starts_with(pattern)
        && (pattern.is_empty() || matches!(path.get(pattern.len()), None | Some(b'/')));
    let has_wildcard = pattern.iter().any(|byte| b"*?[\\".contains(byte));
    let how = How {
        path: false,
        fold: false,
    };
    is_below || (has_wildcard && wildmatch::matches(pattern, path, how))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_patterns_and_places_within() {
        let of = |typed: &[&str], within: &str| {
            let typed: Vec<_> = typed.iter().map(|path| path.as_bytes().to_vec()).collect();
            Pathspec::parse(&typed, within.as_bytes())
        };
        let takes = |typed: &[&str], within: &str, path: &str| {
            of(typed, within).unwrap().takes(path.as_bytes())
        };
        assert!(takes(&[], "", "a/b"));
        assert!(takes(&["a"], "", "a/b"));
        assert!(takes(&["a/"], "", "a/b"));
        assert!(!takes(&["a"], "", "ab"));
        assert!(takes(&["."], "", "x"));
        assert!(takes(&["*.rs"], "", "src/deep/x.rs"));
        assert!(!takes(&["*.rs"], "lib", "src/x.rs"));
        assert!(takes(&["../src"], "lib", "src/x.rs"));
        assert!(takes(&["x", "y"], "", "y"));
        assert!(of(&["../x"], "").is_err());
        assert!(of(&["/x"], "").is_err());
        assert!(of(&[":!x"], "").is_err());
    }
}
