//! Opening a repository, and one typed answer to whether go-team can be exact in it.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Error;
use super::backend::{Backend, Head};
use super::libgit2::Libgit2;
use super::settings::Settings;
use crate::model::object_id::ObjectId;

/// Why a repository is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is none here.
    NotARepository {
        /// Where the search began.
        start: PathBuf,
    },
    /// It has no work tree.
    Bare {
        /// The repository.
        path: PathBuf,
    },
    /// Another user owns it.
    Ownership {
        /// The repository.
        path: PathBuf,
    },
    /// Objects are named by a hash that libgit2 does not read.
    ObjectFormat {
        /// The value of `extensions.objectFormat`.
        format: String,
    },
    /// Refs are stored in a way that libgit2 does not read.
    RefStorage {
        /// The value of `extensions.refStorage`.
        storage: String,
    },
    /// An extension that libgit2 does not know.
    Extension {
        /// libgit2's words.
        message: String,
    },
    /// The work tree is the home directory or the root of the file system.
    TooWide {
        /// The work tree.
        path: PathBuf,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARepository { start } => write!(
                f,
                "there is no git repository at {} or above",
                start.display()
            ),
            Self::Bare { path } => write!(
                f,
                "{} is a bare repository: it has no work tree",
                path.display()
            ),
            Self::Ownership { path } => write!(f, "{} is owned by another user", path.display()),
            Self::ObjectFormat { format } => {
                write!(f, "the repository names its objects by {format}")
            }
            Self::RefStorage { storage } => {
                write!(f, "the repository stores its refs as {storage}")
            }
            Self::Extension { message } => {
                write!(f, "the repository needs something unknown: {message}")
            }
            Self::TooWide { path } => write!(
                f,
                "the work tree is {}, which holds far more than a project",
                path.display()
            ),
        }
    }
}

/// What is special here, though supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// HEAD's branch has no commit yet.
    Unborn,
    /// HEAD is no branch.
    Detached,
    /// One of several work trees.
    LinkedWorktree {
        /// Its name in the repository.
        name: String,
    },
    /// Only some files are checked out.
    SparseCheckout,
    /// The index is split in two files.
    SplitIndex,
    /// Filter programs are configured.
    Filters {
        /// Their names.
        names: Vec<String>,
    },
    /// History is cut off.
    Shallow,
    /// Some objects are elsewhere.
    PartialClone,
    /// A merge, rebase or the like is under way.
    InProgress {
        /// What is under way.
        what: &'static str,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unborn => f.write_str("the branch has no commit yet"),
            Self::Detached => f.write_str("HEAD is detached"),
            Self::LinkedWorktree { name } => write!(f, "linked work tree {name}"),
            Self::SparseCheckout => f.write_str("sparse checkout"),
            Self::SplitIndex => f.write_str("split index"),
            Self::Filters { names } => write!(f, "filter programs: {}", names.join(", ")),
            Self::Shallow => f.write_str("shallow clone"),
            Self::PartialClone => f.write_str("partial clone"),
            Self::InProgress { what } => write!(f, "a {what} is in progress"),
        }
    }
}

/// How to open.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Where to look; parents are searched.
    pub start: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config: Option<PathBuf>,
    /// Accept a home directory or `/` as a work tree.
    pub allow_wide: bool,
}

/// A repository with one work tree.
pub struct Repo {
    /// HEAD, refs and objects.
    pub backend: std::sync::Arc<dyn Backend>,
    /// The work tree's root.
    pub work_dir: PathBuf,
    /// This work tree's own git directory.
    pub git_dir: PathBuf,
    /// The git directory all work trees share.
    pub common_dir: PathBuf,
    /// git's settings.
    pub settings: Settings,
    /// The linked work tree's name; none for the main one.
    pub worktree_name: Option<String>,
}

impl Repo {
    /// Opens and probes.
    ///
    /// # Errors
    /// [`Error::Refused`] when go-team cannot be exact here.
    pub fn open(options: &OpenOptions) -> Result<Self, Error> {
        let refuse = |refusal| Err(Error::Refused(refusal));
        // Not `discover`: it forgets the `.git` file it came by, and with it where the work tree is.
        let flags = git2::RepositoryOpenFlags::empty();
        let repo = match git2::Repository::open_ext(&options.start, flags, &[] as &[&Path]) {
            Ok(repo) => repo,
            Err(error) => return refuse(explain(options, &error)),
        };
        let Some(work_dir) = repo.workdir().map(Path::to_owned) else {
            return refuse(Refusal::Bare {
                path: repo.path().to_owned(),
            });
        };
        let wide = work_dir.parent().is_none()
            || options
                .home
                .as_deref()
                .is_some_and(|home| same_dir(home, &work_dir));
        if wide && !options.allow_wide {
            return refuse(Refusal::TooWide { path: work_dir });
        }
        let config = repo.config().and_then(|mut config| config.snapshot());
        let config = config.map_err(|error| Error::git("read git's configuration", &error))?;
        let mut settings =
            Settings::read(&config, options.home.clone(), options.xdg_config.clone())?;
        settings.attribute_tree = attribute_tree(&repo, &config);
        let git_dir = repo.path().to_owned();
        let common_dir = repo.commondir().to_owned();
        let worktree_name = repo.is_worktree().then(|| {
            git_dir.file_name().map_or_else(
                || "unnamed".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            )
        });
        let backend = std::sync::Arc::new(Libgit2::new(repo, common_dir.join("go-team")));
        Ok(Self {
            backend,
            work_dir,
            git_dir,
            common_dir,
            settings,
            worktree_name,
        })
    }

    /// What is special about the repository as it is now.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn notes(&self) -> Result<Vec<Note>, Error> {
        let mut notes = Vec::new();
        match self.backend.head()? {
            Head::Branch { commit: None, .. } => notes.push(Note::Unborn),
            Head::Branch { .. } => {}
            Head::Detached { .. } => notes.push(Note::Detached),
        }
        if let Some(name) = &self.worktree_name {
            notes.push(Note::LinkedWorktree { name: name.clone() });
        }
        if self.settings.sparse_checkout {
            notes.push(Note::SparseCheckout);
        }
        if has_shared_index(&self.git_dir) {
            notes.push(Note::SplitIndex);
        }
        if !self.settings.filters.is_empty() {
            notes.push(Note::Filters {
                names: self
                    .settings
                    .filters
                    .iter()
                    .map(|f| f.name.clone())
                    .collect(),
            });
        }
        if self.common_dir.join("shallow").exists() {
            notes.push(Note::Shallow);
        }
        if self.settings.partial_clone {
            notes.push(Note::PartialClone);
        }
        notes.extend(self.in_progress().map(|what| Note::InProgress { what }));
        Ok(notes)
    }

    /// The operation of git's that waits for the user, if there is one.
    #[must_use]
    pub fn in_progress(&self) -> Option<&'static str> {
        const SIGNS: [(&str, &str); 6] = [
            ("MERGE_HEAD", "merge"),
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
            ("BISECT_LOG", "bisect"),
        ];
        SIGNS
            .iter()
            .find(|(file, _)| self.git_dir.join(file).exists())
            .map(|(_, what)| *what)
    }

    /// `objects/pack`.
    #[must_use]
    pub fn pack_dir(&self) -> PathBuf {
        self.common_dir.join("objects/pack")
    }
}

fn has_shared_index(git_dir: &Path) -> bool {
    std::fs::read_dir(git_dir).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(b"sharedindex.")
        })
    })
}

/// The tree that `attr.tree` names. As to git, what is not there is passed over, and what is no tree is an empty one.
fn attribute_tree(repo: &git2::Repository, config: &git2::Config) -> Option<ObjectId> {
    let name = config.get_string("attr.tree").ok()?;
    let object = repo.revparse_single(&name).ok()?;
    let tree = object.peel_to_tree().map(|tree| tree.id());
    ObjectId::from_bytes(tree.unwrap_or(object.id()).as_bytes()).ok()
}

fn same_dir(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Turns libgit2's refusal into a typed one.
fn explain(options: &OpenOptions, error: &git2::Error) -> Refusal {
    let Ok(path) = git2::Repository::discover_path(&options.start, &[] as &[&Path]) else {
        return Refusal::NotARepository {
            start: options.start.clone(),
        };
    };
    if error.code() == git2::ErrorCode::Owner {
        return Refusal::Ownership { path };
    }
    let extension = |key: &str| {
        let config = git2::Config::open(&path.join("config")).ok()?;
        config.get_string(&format!("extensions.{key}")).ok()
    };
    if let Some(storage) = extension("refstorage").filter(|storage| storage != "files") {
        return Refusal::RefStorage { storage };
    }
    if let Some(format) = extension("objectformat").filter(|format| format != "sha1") {
        return Refusal::ObjectFormat { format };
    }
    Refusal::Extension {
        message: error.message().to_owned(),
    }
}
