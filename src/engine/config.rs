//! Settings looked at and changed: what is in effect and why, and one key of a file at a time.
//!
//! Nothing here needs settings that can be used: a file that is broken can be mended with the same commands.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::Error;
use super::failure::error_chain;
use super::open::{OpenOptions, WideWorkTree};
use crate::config::edit::{self, Edited, Target};
use crate::config::{self, Config, Origin, Owner, PROJECT_FILE, Settings, Sources};
use crate::git;
use crate::git::open::{OpenOptions as RepoOptions, Refusal, Repo};
use crate::store::{self, Durability, Holder, IoError, Lock, Store, Wait, durable};

/// The file that is looked at or changed.
#[derive(Debug, Clone, Serialize)]
pub struct ConfigFile {
    /// Whose it is.
    pub layer: Owner,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

/// One setting with the value in effect.
#[derive(Debug, Clone, Serialize)]
pub struct SettingView {
    /// Its full key, or `workflow.NAME`.
    pub key: String,
    /// The value in effect; null when unset.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
    /// What it is for.
    pub about: &'static str,
}

/// Which settings are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// Those that somebody has set.
    Changed,
}

/// The settings in effect.
#[derive(Debug, Clone, Serialize)]
pub struct ListReport {
    /// Each with its origin.
    pub settings: Vec<SettingView>,
    /// The files that were looked for, the one that goes first at the top.
    pub files: Vec<ConfigFile>,
}

/// One setting in effect.
#[derive(Debug, Clone, Serialize)]
pub struct GetReport {
    /// The setting.
    #[serde(flatten)]
    pub setting: SettingView,
}

/// What an edit of a file did.
#[derive(Debug, Clone, Serialize)]
pub struct EditReport {
    /// The key.
    pub key: String,
    /// What the file says of it now; null when it was unset.
    pub value: Value,
    /// The file.
    #[serde(flatten)]
    pub file: ConfigFile,
    /// Whether the file was written.
    pub changed: bool,
    /// What is in effect now, where that can be told.
    pub effective: Option<SettingView>,
    /// What else should be known.
    pub warnings: Vec<String>,
}

/// A file that was generated.
#[derive(Debug, Clone, Serialize)]
pub struct InitReport {
    /// The file.
    #[serde(flatten)]
    pub file: ConfigFile,
}

/// Where settings come from, seen from where a command was called.
struct Places {
    work_tree: Option<PathBuf>,
    /// Where go-team's files of the repository are, if nothing says otherwise.
    store: Option<PathBuf>,
    user_file: Option<PathBuf>,
    options: OpenOptions,
}

impl Places {
    /// Finds them. A directory that is in no repository has settings too.
    fn find(options: OpenOptions) -> Result<Self, Error> {
        let opened = Repo::open(&RepoOptions {
            start: options.start.clone(),
            home: options.home.as_ref().map(PathBuf::from),
            xdg_config: options.xdg_config_home.as_ref().map(PathBuf::from),
            allow_wide: options.wide == WideWorkTree::Accept,
        });
        let mut places = Self::of_user(options);
        match opened {
            Ok(repo) => {
                places.store = Some(repo.common_dir.join("go-team"));
                places.work_tree = Some(repo.work_dir);
            }
            Err(git::Error::Refused(Refusal::NotARepository { .. })) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(places)
    }

    /// The user's own file alone, wherever one is.
    fn of_user(options: OpenOptions) -> Self {
        let user_file =
            config::user_file(options.xdg_config_home.as_deref(), options.home.as_deref());
        Self {
            work_tree: None,
            store: None,
            user_file,
            options,
        }
    }

    fn load(&self) -> Result<Config, Error> {
        let sources = Sources {
            work_tree: self.work_tree.as_deref(),
            user_file: self.user_file.as_deref(),
            current_dir: &self.options.start,
        };
        let environment = self.options.environment.clone();
        Ok(config::load(sources, environment, &[])?)
    }

    /// The file of a layer.
    fn file(&self, layer: Owner) -> Result<ConfigFile, Error> {
        let path = match layer {
            Owner::Project => {
                let root = self.work_tree.as_ref().ok_or_else(|| {
                    let start = self.options.start.clone();
                    git::Error::Refused(Refusal::NotARepository { start })
                })?;
                root.join(PROJECT_FILE)
            }
            Owner::User => self.user_file.clone().ok_or(Error::NoUserConfig)?,
        };
        Ok(ConfigFile {
            layer,
            exists: path.symlink_metadata().is_ok(),
            path,
        })
    }

    fn files(&self) -> Vec<ConfigFile> {
        let layers = [Owner::Project, Owner::User];
        let files = layers.into_iter().filter_map(|layer| self.file(layer).ok());
        files.collect()
    }

    /// Keeps others from writing at the same time: of a project's file, whoever makes checkpoints too.
    fn lock(&self, layer: Owner, path: &Path) -> Result<Writing, Error> {
        let loaded = self.load().map(|config| config.settings);
        let settings = loaded.unwrap_or_else(|_| Settings::default());
        let wait = Wait::Timeout(settings.lock.timeout_seconds);
        let holder = Holder::this_process("config", self.options.clock.now());
        let dir = path.parent().unwrap_or(Path::new("."));
        let (lock, aside) = if let (Owner::Project, Some(store)) = (layer, &self.store) {
            let root = settings.storage.path.unwrap_or_else(|| store.clone());
            let store = Store::new(root.clone(), Durability::Full);
            store.prepare()?;
            (store.lock(wait, &holder)?, root)
        } else {
            durable::create_dir_all(dir, Durability::Full).map_err(store::Error::from)?;
            (
                Lock::acquire(&dir.join("lock"), wait, &holder)?,
                dir.to_owned(),
            )
        };
        durable::clean_temps(&aside).map_err(store::Error::from)?;
        Ok(Writing { _lock: lock, aside })
    }
}

/// The right to write a file.
struct Writing {
    _lock: Lock,
    /// Where it is made ready. Nobody else leaves anything there, so what killed processes left is gone.
    aside: PathBuf,
}

impl Writing {
    /// Writes a file of the user's for good, with the permissions that it has, or that a new file gets.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let permissions = match fs::metadata(path) {
            Ok(found) => Some(found.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => {
                let (op, path) = ("look at", path.to_owned());
                return Err(store::Error::from(IoError { op, path, source }).into());
            }
        };
        let aside = Some(self.aside.as_path());
        let written = durable::write_shared(path, bytes, permissions, Durability::Full, aside);
        Ok(written.map_err(store::Error::from)?)
    }
}

/// Finds the places that an edit of a layer needs.
fn places_for(options: OpenOptions, layer: Owner) -> Result<Places, Error> {
    match layer {
        Owner::Project => Places::find(options),
        // Whatever is wrong with a repository is no reason not to change the user's own file.
        Owner::User => Ok(Places::find(options.clone()).unwrap_or(Places::of_user(options))),
    }
}

/// Lists the settings in effect.
///
/// # Errors
/// When the repository is refused, or a layer cannot be used.
pub fn list(options: OpenOptions, which: Which) -> Result<ListReport, Error> {
    let places = Places::find(options)?;
    let config = places.load()?;
    let entries = config.entries();
    let entries = entries.filter(|entry| which == Which::All || *entry.origin != Origin::BuiltIn);
    Ok(ListReport {
        settings: entries.map(view).collect(),
        files: places.files(),
    })
}

/// Shows one setting in effect.
///
/// # Errors
/// When there is no such setting, or as [`list`].
pub fn get(options: OpenOptions, key: &str) -> Result<GetReport, Error> {
    let config = Places::find(options)?.load()?;
    let setting = view(config.find(key)?);
    Ok(GetReport { setting })
}

/// The file that an edit would change.
///
/// # Errors
/// When there is none: outside a repository, or without a home.
pub fn path(options: OpenOptions, layer: Owner) -> Result<ConfigFile, Error> {
    places_for(options, layer)?.file(layer)
}

/// Sets a key in a file, which is made if it is not there.
///
/// # Errors
/// When the setting does not take the value, or the file cannot be changed; it is then as it was.
pub fn set(
    options: OpenOptions,
    layer: Owner,
    key: &str,
    words: &[String],
) -> Result<EditReport, Error> {
    change(options, layer, key, |text, target| {
        edit::set(text, key, words, target)
    })
}

/// Unsets a key in a file.
///
/// # Errors
/// When the file does not set it, or cannot be changed; it is then as it was.
pub fn unset(options: OpenOptions, layer: Owner, key: &str) -> Result<EditReport, Error> {
    change(options, layer, key, |text, target| {
        edit::unset(text, key, target)
    })
}

/// Writes a file that describes every setting and sets none.
///
/// # Errors
/// When there is one already, or it cannot be written.
pub fn init(options: OpenOptions, layer: Owner) -> Result<InitReport, Error> {
    let places = places_for(options, layer)?;
    let mut file = places.file(layer)?;
    let writing = places.lock(layer, &file.path)?;
    if file.path.symlink_metadata().is_ok() {
        let path = file.path;
        return Err(store::Error::Exists { path }.into());
    }
    let text = config::generated();
    writing.write(&file.path, text.as_bytes())?;
    file.exists = true;
    Ok(InitReport { file })
}

fn change(
    options: OpenOptions,
    layer: Owner,
    key: &str,
    edit: impl Fn(&str, Target<'_>) -> Result<Edited, edit::EditError>,
) -> Result<EditReport, Error> {
    let places = places_for(options, layer)?;
    let mut file = places.file(layer)?;
    let base = file.path.parent().unwrap_or(Path::new("")).to_owned();
    let place = file.path.clone();
    let target = Target {
        path: &place,
        owner: layer,
        base: &base,
    };
    // A mistake is said before anything is made, a lock included.
    edit(&config::read_text(&place)?.unwrap_or_default(), target)?;
    let real = real_file(&file)?;
    let writing = places.lock(layer, &file.path)?;
    let text = config::read_text(&place)?;
    let edited = edit(text.as_deref().unwrap_or_default(), target)?;
    let changed = text.as_ref() != Some(&edited.text);
    if changed {
        writing.write(&real, edited.text.as_bytes())?;
    }
    file.exists = true;
    let mut warnings = Vec::new();
    if let Some(error) = edited.remaining {
        warnings.push(format!("the file is still not valid: {error}"));
    }
    let effective = match places.load() {
        Ok(config) => config.find(key).ok().map(view),
        Err(error) => {
            if warnings.is_empty() {
                warnings.push(error_chain(&error));
            }
            None
        }
    };
    Ok(EditReport {
        key: key.to_owned(),
        value: edited.value.unwrap_or(Value::Null),
        file,
        changed,
        effective,
        warnings,
    })
}

fn view(entry: config::Entry<'_>) -> SettingView {
    SettingView {
        key: entry.key,
        value: entry.value,
        origin: entry.origin.clone(),
        about: entry.doc,
    }
}

/// Where the bytes of a file are. The user's own may be a link, to where its owner keeps such files; a project's comes
/// with a clone, and would lead who knows where.
fn real_file(file: &ConfigFile) -> Result<PathBuf, Error> {
    match file.path.symlink_metadata() {
        Ok(found) if found.is_symlink() => match file.layer {
            Owner::Project => Err(Error::LinkedConfig {
                path: file.path.clone(),
            }),
            Owner::User => file.path.canonicalize().map_err(|source| {
                let (op, path) = ("follow", file.path.clone());
                store::Error::from(IoError { op, path, source }).into()
            }),
        },
        _ => Ok(file.path.clone()),
    }
}
