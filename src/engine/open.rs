//! Opening the place that a command was called in: repository, settings, go-team's files.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Clock, Error, Workspace};
use crate::config::{self, Sources};
use crate::git::open::{OpenOptions as RepoOptions, Repo};

pub use crate::git::libgit2::read_without_hashing;

/// What to do about a work tree that is the home directory or `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WideWorkTree {
    /// Refuse it: it holds far more than a project.
    #[default]
    Refuse,
    /// Work in it all the same.
    Accept,
}

/// Where a command was called, and in which surroundings.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Where to look for the repository; parents are searched.
    pub start: PathBuf,
    /// The user's home.
    pub home: Option<OsString>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<OsString>,
    /// The environment's variables, of which those of settings are read.
    pub environment: Vec<(OsString, OsString)>,
    /// What to do about a very wide work tree.
    pub wide: WideWorkTree,
    /// The time.
    pub clock: Clock,
}

/// Opens a workspace.
///
/// # Errors
/// When there is no repository, it is refused, or the configuration cannot be used.
pub fn open(options: OpenOptions) -> Result<Workspace, Error> {
    let repo = Repo::open(&RepoOptions {
        start: options.start.clone(),
        home: options.home.as_ref().map(PathBuf::from),
        xdg_config: options.xdg_config_home.as_ref().map(PathBuf::from),
        allow_wide: options.wide == WideWorkTree::Accept,
    })?;
    let user_file = config::user_file(options.xdg_config_home.as_deref(), options.home.as_deref());
    let sources = Sources {
        work_tree: Some(&repo.work_dir),
        user_file: user_file.as_deref(),
        current_dir: &options.start,
    };
    let config = config::load(sources, options.environment, &[])?;
    Ok(Workspace::new(repo, config, options.clock))
}
