//! Shell patterns as git matches them.
//!
//! gitoxide's matcher differs from git's in corners that people do write, so this is one of its own, compared with git
//! over random patterns.

/// How to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct How {
    /// `*`, `?` and sets do not match a slash.
    pub path: bool,
    /// Upper and lower case are the same.
    pub fold: bool,
}

/// What came of a part of the pattern; the last two spare the stars before it attempts that cannot succeed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Match,
    No,
    /// No longer start can match.
    NoneAtAll,
    /// Only a `**` can still match.
    NoneBeforeSlash,
}

/// Whether the pattern matches the whole text.
pub(super) fn matches(pattern: &[u8], text: &[u8], how: How) -> bool {
    Matcher { pattern, text, how }.from(0, 0) == Found::Match
}

struct Matcher<'m> {
    pattern: &'m [u8],
    text: &'m [u8],
    how: How,
}

impl Matcher<'_> {
    /// The pattern's byte, or 0 behind its end: a pattern holds no NUL.
    fn at(&self, p: usize) -> u8 {
        self.pattern.get(p).copied().unwrap_or(0)
    }

    fn folded(&self, byte: u8) -> u8 {
        if self.how.fold {
            byte.to_ascii_lowercase()
        } else {
            byte
        }
    }

    fn from(&self, mut p: usize, mut t: usize) -> Found {
        while p < self.pattern.len() {
            let wanted = self.at(p);
            if wanted == b'*' {
                match self.star(p, t) {
                    Ok((after_p, after_t)) => (p, t) = (after_p, after_t),
                    Err(found) => return found,
                }
                continue;
            }
            let Some(byte) = self.text.get(t).map(|byte| self.folded(*byte)) else {
                return Found::NoneAtAll;
            };
            match wanted {
                b'?' => {
                    if self.how.path && byte == b'/' {
                        return Found::No;
                    }
                }
                b'[' => match self.set(p, byte) {
                    Ok(after) => p = after,
                    Err(found) => return found,
                },
                // What is escaped is taken as it is, in its own case.
                b'\\' => {
                    p += 1;
                    if self.at(p) != byte {
                        return Found::No;
                    }
                }
                literal => {
                    if self.folded(literal) != byte {
                        return Found::No;
                    }
                }
            }
            p += 1;
            t += 1;
        }
        if t == self.text.len() {
            Found::Match
        } else {
            Found::No
        }
    }

    /// A star, or several. Where matching goes on, or what came of it.
    fn star(&self, start: usize, mut t: usize) -> Result<(usize, usize), Found> {
        let mut p = start + 1;
        while self.at(p) == b'*' {
            p += 1;
        }
        let rest = &self.text[t..];
        let several = p > start + 1;
        let begins_part = start == 0 || self.at(start - 1) == b'/';
        let ends_part =
            matches!(self.at(p), 0 | b'/') || (self.at(p), self.at(p + 1)) == (b'\\', b'/');
        let crosses = !self.how.path || (several && begins_part && ends_part);
        if self.how.path && crosses && self.at(p) == b'/' && self.from(p + 1, t) == Found::Match {
            // "**/" may stand for nothing.
            return Err(Found::Match);
        }
        if p == self.pattern.len() {
            let stops = !crosses && rest.contains(&b'/');
            return Err(if stops {
                Found::NoneBeforeSlash
            } else {
                Found::Match
            });
        }
        if !crosses && self.at(p) == b'/' {
            // One part of the path: on to its slash.
            let slash = rest.iter().position(|byte| *byte == b'/');
            return slash.map_or(Err(Found::NoneAtAll), |slash| Ok((p + 1, t + slash + 1)));
        }
        while t < self.text.len() {
            let next = self.at(p);
            if !matches!(next, b'*' | b'?' | b'[' | b'\\') {
                // Only where the next byte stands can the rest begin.
                let is_here = |byte: &u8| self.folded(*byte) == self.folded(next);
                let within = &self.text[t..];
                let end = within
                    .iter()
                    .position(|byte| is_here(byte) || (!crosses && *byte == b'/'));
                let none = if crosses {
                    Found::NoneAtAll
                } else {
                    Found::NoneBeforeSlash
                };
                let Some(at) = end.filter(|at| is_here(&within[*at])) else {
                    return Err(none);
                };
                t += at;
            }
            match self.from(p, t) {
                Found::No if !crosses && self.text[t] == b'/' => {
                    return Err(Found::NoneBeforeSlash);
                }
                Found::No => {}
                Found::NoneBeforeSlash if crosses => {}
                found => return Err(found),
            }
            t += 1;
        }
        Err(Found::NoneAtAll)
    }

    /// A set in brackets. Where it ends, when it holds the byte.
    fn set(&self, start: usize, byte: u8) -> Result<usize, Found> {
        let mut p = start + 1;
        let negated = matches!(self.at(p), b'!' | b'^');
        p += usize::from(negated);
        let mut matched = false;
        let mut before = 0;
        loop {
            let mut member = self.at(p);
            match member {
                0 => return Err(Found::NoneAtAll),
                b'\\' => {
                    p += 1;
                    member = self.at(p);
                    if member == 0 {
                        return Err(Found::NoneAtAll);
                    }
                    matched |= byte == member;
                }
                b'-' if before != 0 && !matches!(self.at(p + 1), 0 | b']') => {
                    p += 1;
                    p += usize::from(self.at(p) == b'\\');
                    let last = self.at(p);
                    if last == 0 {
                        return Err(Found::NoneAtAll);
                    }
                    let holds = |byte: u8| (before..=last).contains(&byte);
                    let upper = self.how.fold && byte.is_ascii_lowercase();
                    matched |= holds(byte) || (upper && holds(byte.to_ascii_uppercase()));
                    member = 0;
                }
                b'[' if self.at(p + 1) == b':' => {
                    let name = p + 2;
                    let mut end = name;
                    while !matches!(self.at(end), 0 | b']') {
                        end += 1;
                    }
                    if self.at(end) == 0 {
                        return Err(Found::NoneAtAll);
                    }
                    if end > name && self.at(end - 1) == b':' {
                        let is_in = self.class(&self.pattern[name..end - 1], byte);
                        matched |= is_in.ok_or(Found::NoneAtAll)?;
                        p = end;
                        member = 0;
                    } else {
                        matched |= byte == b'[';
                    }
                }
                _ => matched |= byte == member,
            }
            before = member;
            p += 1;
            if self.at(p) == b']' {
                break;
            }
        }
        if matched == negated || (self.how.path && byte == b'/') {
            return Err(Found::No);
        }
        Ok(p)
    }

    /// Whether a named class holds the byte; none for an unknown name.
    fn class(&self, name: &[u8], byte: u8) -> Option<bool> {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let is_print = (0x20..0x7f).contains(&byte);
        Some(match name {
            b"alnum" => byte.is_ascii_alphanumeric(),
            b"alpha" => byte.is_ascii_alphabetic(),
            b"blank" => matches!(byte, b' ' | b'\t'),
            b"cntrl" => byte.is_ascii_control(),
            b"digit" => byte.is_ascii_digit(),
            b"graph" => is_print && !is_space,
            b"lower" => byte.is_ascii_lowercase(),
            b"print" => is_print,
            b"punct" => byte.is_ascii_punctuation(),
            b"space" => is_space,
            b"upper" => byte.is_ascii_uppercase() || (self.how.fold && byte.is_ascii_lowercase()),
            b"xdigit" => byte.is_ascii_hexdigit(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pattern: &str, text: &str) -> bool {
        let how = How {
            path: true,
            fold: false,
        };
        matches(pattern.as_bytes(), text.as_bytes(), how)
    }

    #[test]
    fn stars() {
        assert!(path("a/*/c", "a/b/c") && !path("a/*/c", "a/b/b/c"));
        assert!(path("a/**/c", "a/c") && path("a/**/c", "a/b/b/c"));
        assert!(path("**/c", "c") && path("**/c", "a/b/c") && !path("**/c", "a/bc"));
        assert!(path("a/**", "a/b/c") && !path("a/**", "a"));
        assert!(path("a**c", "abc") && !path("a**c", "a/c"));
        assert!(path("*.rs", "x.rs") && !path("*.rs", "a/x.rs"));
        assert!(!path("a**/**", "a") && path("a**/**", "ab/c"));
    }

    #[test]
    fn sets() {
        assert!(path("[a-c]", "b") && !path("[a-c]", "d") && path("[!a-c]", "d"));
        assert!(path("[]a]", "]") && path("[a-]", "-") && path("[\\]]", "]"));
        assert!(path("[[:digit:]x]", "7") && !path("[[:nonsense:]]", "a"));
        assert!(!path("[a", "a") && !path("a[!b]c", "a/c"));
        let how = How {
            path: true,
            fold: true,
        };
        assert!(matches(b"[A-C]", b"b", how) && !matches(b"[b-a]", b"a", how));
    }
}
