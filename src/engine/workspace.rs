//! A repository, go-team's files for it, and the settings in force: what every operation works on.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::recover::Recovered;
use super::{Clock, Error};
use crate::config::Config;
use crate::git::backend::Sync;
use crate::git::open::Repo;
use crate::git::rules::Capture;
use crate::git::snapshot::Signature;
use crate::store::{Durability, Holder, Lock, Store, Wait, WorktreeKey};

/// The place an operation works in.
pub struct Workspace {
    /// The repository.
    pub repo: Repo,
    /// go-team's own files.
    pub store: Store,
    /// The settings, with their origins.
    pub config: Config,
    /// The time.
    pub clock: Clock,
    /// The key of this work tree in the store.
    pub worktree: WorktreeKey,
    /// What was finished when the lock was taken, until a report tells of it.
    recovered: Mutex<Vec<Recovered>>,
}

impl Workspace {
    /// Joins the parts.
    #[must_use]
    pub fn new(repo: Repo, config: Config, clock: Clock) -> Self {
        let durability = if config.settings.durability.sync {
            Durability::Full
        } else {
            Durability::None
        };
        let root = config
            .settings
            .storage
            .path
            .clone()
            .unwrap_or_else(|| repo.common_dir.join("go-team"));
        let worktree = match &repo.worktree_name {
            Some(name) => WorktreeKey::linked(name.as_bytes()),
            None => WorktreeKey::main(),
        };
        Self {
            store: Store::new(root, durability),
            repo,
            config,
            clock,
            worktree,
            recovered: Mutex::default(),
        }
    }

    /// Takes the writers' lock, waiting as long as the settings say, and finishes what an earlier holder had begun with
    /// a session as a whole.
    ///
    /// # Errors
    /// When another process holds it for longer, or finishing fails.
    pub fn lock(&self, command: &str) -> Result<Lock, Error> {
        self.store.prepare()?;
        let wait = Wait::Timeout(self.config.settings.lock.timeout_seconds);
        let holder = Holder::this_process(command, self.clock.now());
        let lock = self.store.lock(wait, &holder)?;
        let recovered = self.recover_life()?;
        self.recovered_now().extend(recovered);
        Ok(lock)
    }

    /// What was finished when the lock was taken, once.
    pub(super) fn take_recovered(&self) -> Vec<Recovered> {
        std::mem::take(&mut self.recovered_now())
    }

    fn recovered_now(&self) -> MutexGuard<'_, Vec<Recovered>> {
        let recovered = self.recovered.lock();
        recovered.unwrap_or_else(PoisonError::into_inner)
    }

    /// What go-team's settings say about capturing files. Its own files are not the user's, wherever they lie.
    #[must_use]
    pub fn capture(&self) -> Capture {
        let capture = &self.config.settings.capture;
        let mut exclude = capture.exclude.clone();
        let root = self.store.layout().root();
        if let Ok(inside) = root.strip_prefix(&self.repo.work_dir)
            && let Some(inside) = inside.to_str()
        {
            exclude.push(format!("/{}/", escape_pattern(inside)));
        }
        Capture {
            include: capture.include.clone(),
            exclude,
            max_file_bytes: capture.max_file_bytes(),
        }
    }

    /// Who checkpoint commits say made them.
    #[must_use]
    pub fn signature(&self) -> Signature {
        let git = &self.config.settings.git;
        Signature {
            name: git.author_name.clone(),
            email: git.author_email.clone(),
        }
    }

    /// How hard writes to the repository try to reach the disk.
    #[must_use]
    pub fn sync(&self) -> Sync {
        if self.config.settings.durability.sync {
            Sync::Durable
        } else {
            Sync::Lazy
        }
    }

    /// Where the scanner remembers this work tree.
    #[must_use]
    pub fn stat_cache(&self) -> PathBuf {
        self.store.layout().stat_cache(&self.worktree)
    }
}

/// A path as a pattern that matches it alone.
pub(super) fn escape_pattern(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for letter in path.chars() {
        if matches!(letter, '*' | '?' | '[' | '\\' | ' ') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
