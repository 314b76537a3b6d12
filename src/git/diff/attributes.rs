//! What the attribute `diff` says of a path: whether it is compared as text.

use crate::git::Error;
use crate::git::attributes::{self, State};
use crate::git::open::Repo;
use crate::git::tree::Mode;

/// git looks at the beginning of a content for a byte that no text has.
const LOOKED_AT: usize = 8000;
/// Contents from this size on are never compared as text.
const BIG: usize = 512 << 20;

/// How a path is compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Driver {
    /// As its content suggests.
    #[default]
    Auto,
    /// As text.
    Text,
    /// As a whole.
    Binary,
    /// As its content suggests, with the headings of a language.
    Named(Vec<u8>),
}

impl Driver {
    /// Whether such a content is compared as a whole.
    #[must_use]
    pub fn is_binary(&self, content: &[u8]) -> bool {
        match self {
            Self::Text => false,
            Self::Binary => true,
            Self::Auto | Self::Named(_) => {
                content.len() > BIG || content[..content.len().min(LOOKED_AT)].contains(&0)
            }
        }
    }
}

/// The attribute files of a work tree, which git goes by also when it compares two trees.
pub struct Attributes(attributes::Attributes);

impl Attributes {
    /// Reads those that hold for the whole work tree; others when a path needs them.
    ///
    /// # Errors
    /// When an attribute file cannot be read.
    pub fn new(repo: &Repo) -> Result<Self, Error> {
        attributes::Attributes::new(repo).map(Self)
    }

    /// How a path is compared. What is no file goes by its content alone.
    pub fn of(&mut self, path: &[u8], mode: Mode) -> Driver {
        if !mode.is_regular() {
            return Driver::Auto;
        }
        let [state] = self.0.of(path, ["diff"], &|_| None);
        match state {
            State::Set => Driver::Text,
            State::Unset => Driver::Binary,
            State::Value(name) => Driver::Named(name.to_vec()),
            State::Unspecified => Driver::Auto,
        }
    }
}
