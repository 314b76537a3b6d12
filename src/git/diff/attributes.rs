//! What the attribute `diff` says of a path: whether it is compared as text.

use std::path::Path;

use gix_attributes::StateRef;
use gix_attributes::search::{MetadataCollection, Outcome};
use gix_worktree::Stack;
use gix_worktree::glob::pattern::Case;
use gix_worktree::index::entry::Mode as EntryMode;
use gix_worktree::stack::State;
use gix_worktree::stack::state::{Attributes as Files, attributes::Source};

use crate::git::open::Repo;
use crate::git::rules::{as_path, bstr};
use crate::git::tree::Mode;
use crate::git::{Error, IoContext as _};

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
pub struct Attributes {
    stack: Stack,
    fresh: Stack,
    outcome: Outcome,
}

impl Attributes {
    /// Reads those that hold for the whole work tree; others when a path needs them.
    ///
    /// # Errors
    /// When an attribute file cannot be read.
    pub fn new(repo: &Repo) -> Result<Self, Error> {
        let settings = &repo.settings;
        let case = if settings.ignore_case {
            Case::Fold
        } else {
            Case::Sensitive
        };
        let system = Path::new("/etc/gitattributes").to_owned();
        let own = settings.attributes_file.as_ref();
        let own = own.map(|file| repo.work_dir.join(file));
        let files = std::iter::once(system).chain(own);
        let files = files.filter(|file| file.is_file());
        let mut collection = MetadataCollection::default();
        let globals = gix_attributes::Search::new_globals(files, &mut Vec::new(), &mut collection)
            .at("read attribute files of", &repo.git_dir)?;
        let mut outcome = Outcome::default();
        outcome.initialize_with_selection(&MetadataCollection::default(), ["diff"]);
        let info = repo.common_dir.join("info/attributes");
        let source = Source::WorktreeThenIdMapping;
        let state = State::AttributesStack(Files::new(globals, Some(info), source, collection));
        let stack = Stack::new(&repo.work_dir, state, case, Vec::new(), Vec::new());
        Ok(Self {
            fresh: stack.clone(),
            stack,
            outcome,
        })
    }

    /// How a path is compared. What is no file goes by its content alone.
    ///
    /// # Errors
    /// When an attribute file cannot be read; one that may not be read counts as empty.
    pub fn of(&mut self, path: &[u8], mode: Mode) -> Result<Driver, Error> {
        if !mode.is_regular() {
            return Ok(Driver::Auto);
        }
        let nothing = &gix_worktree::object::find::Never;
        match self
            .stack
            .at_entry(bstr(path), Some(EntryMode::FILE), nothing)
        {
            Ok(platform) => {
                platform.matching_attributes(&mut self.outcome);
            }
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                self.stack = self.fresh.clone();
                return Ok(Driver::Auto);
            }
            Err(error) => return Err(error).at("read attribute files for", as_path(path)),
        }
        let found = self.outcome.iter_selected().next();
        Ok(match found.map(|found| found.assignment.state) {
            Some(StateRef::Set) => Driver::Text,
            Some(StateRef::Unset) => Driver::Binary,
            Some(StateRef::Value(name)) => Driver::Named(name.as_bstr().to_vec()),
            Some(StateRef::Unspecified) | None => Driver::Auto,
        })
    }
}
