//! What the observer types: `*rollback:2`, `*cp-diff:2:4`, `*sessions`.
//!
//! A star, a name, and, after a colon or a space, what it is about; what separates the name from the first argument
//! separates the arguments from each other. The star is what tells a command from talk, so it is never left out; letters
//! may be of either case. No argument begins with `-`, so none can be taken for an option of a command.

use std::fmt;

use super::ids::{IdError, SessionId};
use super::nearest::nearest;
use super::selector::{Selector, SelectorError};

/// The longest line that is looked at, in bytes.
pub const LONGEST: usize = 4096;

/// A command of the observer's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StarCommand {
    /// The table of checkpoints.
    List,
    /// Everything about one checkpoint, or one file of it: `2`, `2:main.go`.
    Show {
        /// The checkpoint, and after a colon the path.
        what: String,
    },
    /// What happened between two checkpoints, or since one.
    Diff {
        /// From here.
        from: Selector,
        /// To here; to the work tree as it is when absent.
        to: Option<Selector>,
    },
    /// Back to a checkpoint.
    Rollback(Selector),
    /// The last rollback reversed.
    Undo,
    /// The last undo reversed.
    Redo,
    /// Whether checkpoints can be relied on; all when none is named.
    Validate(Option<Selector>),
    /// The session as one file.
    Export,
    /// A damaged record made anew.
    Rebuild(Selector),
    /// The sessions there are.
    Sessions,
    /// Everything about a session; the work tree's own when none is named.
    SessionInfo(Option<SessionId>),
    /// A session taken up again; the newest that can be when none is named.
    Resume(Option<SessionId>),
    /// A session given up.
    Abandon(SessionId),
    /// What is old put away.
    Cleanup,
    /// Where one is.
    Status,
    /// The commands there are.
    Help,
    /// The end of the prompt, or of what is read.
    Quit,
}

/// A star command as it is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct StarForm {
    /// Its name, without the star.
    pub name: &'static str,
    /// How it is typed.
    pub form: &'static str,
    /// What it does.
    pub about: &'static str,
}

const fn form(name: &'static str, form: &'static str, about: &'static str) -> StarForm {
    StarForm { name, form, about }
}

/// Every star command, in the order in which they are listed.
pub const FORMS: [StarForm; 19] = [
    form("checkpoints", "*checkpoints", "lists the checkpoints"),
    form("cp-list", "*cp-list", "the same"),
    form("cp-show", "*cp-show:N", "shows everything about one"),
    form(
        "cp-diff",
        "*cp-diff:A[:B]",
        "shows what happened between two, or since one",
    ),
    form(
        "rollback",
        "*rollback:N",
        "goes back to one, after a typed yes",
    ),
    form(
        "undo",
        "*undo",
        "reverses the last rollback, after a typed yes",
    ),
    form("redo", "*redo", "reverses the last undo, after a typed yes"),
    form(
        "cp-validate",
        "*cp-validate[:N]",
        "checks whether they can be relied on",
    ),
    form("cp-export", "*cp-export", "writes the session to one file"),
    form("cp-rebuild", "*cp-rebuild:N", "makes a damaged record anew"),
    form("sessions", "*sessions", "lists the sessions"),
    form(
        "session-info",
        "*session-info[:ID]",
        "shows everything about a session",
    ),
    form("resume", "*resume[:ID]", "takes a session up again"),
    form("abandon", "*abandon:ID", "gives a session up"),
    form("cleanup", "*cleanup", "puts away what is old"),
    form("status", "*status", "shows where you are"),
    form("help", "*help", "lists these"),
    form("quit", "*quit", "leaves"),
    form("exit", "*exit", "the same"),
];

/// Why text is no star command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StarError {
    /// It is not UTF-8.
    #[error("a star command is text, and this is not UTF-8")]
    NotText,
    /// It is longer than any command.
    #[error("a star command has at most {LONGEST} bytes, and this has more")]
    TooLong,
    /// It does not begin with a star.
    #[error("a star command begins with *, and {text:?} does not")]
    NoStar {
        /// The beginning of the text.
        text: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
    },
    /// There is no such command.
    #[error("there is no star command *{name}")]
    Unknown {
        /// The beginning of its name.
        name: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
    },
    /// It does not say what it is about, or says too much.
    #[error("*{name} is typed as {form}", name = .0.name, form = .0.form)]
    Arguments(StarForm),
    /// An argument that looks like an option.
    #[error("{text:?} begins with -, which no name of a star command does")]
    Dash {
        /// The beginning of the argument.
        text: String,
    },
    /// A checkpoint cannot be called so.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// A session cannot be called so.
    #[error(transparent)]
    Session(#[from] IdError),
}

impl StarCommand {
    /// Parses a line as it was typed.
    ///
    /// # Errors
    /// When it is no star command.
    pub fn parse(line: &[u8]) -> Result<Self, StarError> {
        if line.len() > LONGEST {
            return Err(StarError::TooLong);
        }
        let text = std::str::from_utf8(line).map_err(|_| StarError::NotText)?;
        let text = text.trim();
        let Some(rest) = text.strip_prefix('*') else {
            let word = text.split([':', ' ']).next().unwrap_or_default();
            return Err(StarError::NoStar {
                text: beginning(text),
                nearest: near(word),
            });
        };
        let rest = rest.trim_start();
        let is_separator = |letter: char| letter == ':' || letter.is_whitespace();
        let (name, said) = match rest.find(is_separator) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let known = FORMS
            .iter()
            .find(|form| form.name.eq_ignore_ascii_case(name));
        let Some(form) = known else {
            return Err(StarError::Unknown {
                name: beginning(name),
                nearest: near(name),
            });
        };
        Self::of(*form, &Arguments::parse(said)?)
    }

    fn of(form: StarForm, arguments: &Arguments) -> Result<Self, StarError> {
        let wrong = StarError::Arguments(form);
        let words: Vec<&str> = arguments.words.iter().map(String::as_str).collect();
        let session = |words: &[&str]| words.first().map(|id| SessionId::parse(id)).transpose();
        Ok(match (form.name, words.as_slice()) {
            ("checkpoints" | "cp-list", []) => Self::List,
            ("cp-show", [_, ..]) => Self::Show {
                what: arguments.whole.clone(),
            },
            ("cp-diff", [from]) => Self::Diff {
                from: Selector::parse(from)?,
                to: None,
            },
            ("cp-diff", [from, to]) => Self::Diff {
                from: Selector::parse(from)?,
                to: Some(Selector::parse(to)?),
            },
            ("rollback", [target]) => Self::Rollback(Selector::parse(target)?),
            ("undo", []) => Self::Undo,
            ("redo", []) => Self::Redo,
            ("cp-validate", []) => Self::Validate(None),
            ("cp-validate", [name]) => Self::Validate(Some(Selector::parse(name)?)),
            ("cp-export", []) => Self::Export,
            ("cp-rebuild", [name]) => Self::Rebuild(Selector::parse(name)?),
            ("sessions", []) => Self::Sessions,
            ("session-info", [] | [_]) => Self::SessionInfo(session(&words)?),
            ("resume", [] | [_]) => Self::Resume(session(&words)?),
            ("abandon", [id]) => Self::Abandon(SessionId::parse(id)?),
            ("cleanup", []) => Self::Cleanup,
            ("status", []) => Self::Status,
            ("help", []) => Self::Help,
            ("quit" | "exit", []) => Self::Quit,
            _ => return Err(wrong),
        })
    }

    /// The words of the command line that do the same; none for what only an observer has.
    #[must_use]
    pub fn words(&self) -> Option<Vec<String>> {
        let name = |selector: &Selector| Some(selector.to_string());
        let session = |id: &Option<SessionId>| id.as_ref().map(ToString::to_string);
        let (command, first, second) = match self {
            Self::List => ("cp-list", None, None),
            Self::Show { what } => ("cp-show", Some(what.clone()), None),
            Self::Diff { from, to } => ("cp-diff", name(from), to.as_ref().and_then(name)),
            Self::Rollback(target) => ("rollback", name(target), None),
            Self::Undo => ("undo", None, None),
            Self::Redo => ("redo", None, None),
            Self::Validate(which) => ("cp-validate", which.as_ref().and_then(name), None),
            Self::Export => ("cp-export", None, None),
            Self::Rebuild(which) => ("cp-rebuild", name(which), None),
            Self::Sessions => ("sessions", None, None),
            Self::SessionInfo(id) => ("session-info", session(id), None),
            Self::Resume(id) => ("resume", session(id), None),
            Self::Abandon(id) => ("abandon", Some(id.to_string()), None),
            Self::Cleanup => ("cleanup", None, None),
            Self::Status => ("status", None, None),
            Self::Help | Self::Quit => return None,
        };
        let words = [Some(command.to_owned()), first, second];
        Some(words.into_iter().flatten().collect())
    }

    /// The flag that says beforehand what it would ask, where it asks.
    #[must_use]
    pub const fn agreed(&self) -> Option<&'static str> {
        match self {
            Self::Rollback(_) | Self::Undo | Self::Redo | Self::Cleanup => Some("--yes"),
            Self::Resume(_) => Some("--resume"),
            _ => None,
        }
    }
}

/// What stands after the name.
struct Arguments {
    /// All of it.
    whole: String,
    /// Each of them.
    words: Vec<String>,
}

impl Arguments {
    fn parse(said: &str) -> Result<Self, StarError> {
        let words: Vec<String> = match said.trim_start().strip_prefix(':') {
            Some(rest) if rest.trim().is_empty() => Vec::new(),
            Some(rest) => rest.split(':').map(|word| word.trim().to_owned()).collect(),
            None => said.split_whitespace().map(str::to_owned).collect(),
        };
        if let Some(word) = words.iter().find(|word| word.starts_with('-')) {
            let text = beginning(word);
            return Err(StarError::Dash { text });
        }
        let whole = said.trim_start();
        let whole = whole.strip_prefix(':').unwrap_or(whole).trim();
        Ok(Self {
            whole: whole.to_owned(),
            words,
        })
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(80).collect()
}

/// How the command is typed whose name is most like this word.
fn near(word: &str) -> Option<&'static str> {
    let word = beginning(word).to_ascii_lowercase();
    let names = FORMS.iter().map(|form| form.name);
    let found = nearest(&word, names).filter(|_| !word.is_empty())?;
    let form = FORMS.iter().find(|form| form.name == found)?;
    Some(form.form)
}

impl fmt::Display for StarCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => {
                // A name with a colon in it was typed after a space, and one with a space in it after a colon.
                let has_colon = words.iter().any(|word| word.contains(':'));
                let is_whole = matches!(self, Self::Show { .. });
                let separator = if has_colon && !is_whole { " " } else { ":" };
                write!(f, "*{}", words.join(separator))
            }
            None if *self == Self::Help => f.write_str("*help"),
            None => f.write_str("*quit"),
        }
    }
}

#[cfg(test)]
mod tests;
