//! The layers, laid over one another from the lowest up.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::edit::{self, EditError};
use super::file::{self, Owner};
use super::settings::{SECTIONS, SETTINGS, Setting};
use super::value::Raw;
use super::{ConfigError, Origin, Settings, nearest};

/// The name of the file at the work tree's root.
pub const PROJECT_FILE: &str = "go-team.toml";

/// The prefix of every variable that is a setting's.
const VARIABLE_PREFIX: &str = "GO_TEAM_";

/// The one file that go-team writes where a setting says, so a project may only name one of its own.
const WRITTEN_BACK: &str = "state.file";

/// Where the files are.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The root of the work tree; none outside a repository.
    pub work_tree: Option<&'a Path>,
    /// The user's own file, as [`user_file`] finds it.
    pub user_file: Option<&'a Path>,
    /// What relative paths in variables and flags are relative to.
    pub current_dir: &'a Path,
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The flag as typed, for messages.
    pub flag: String,
    /// The full key of the setting.
    pub key: String,
    /// The value as typed.
    pub value: OsString,
}

/// The settings in effect, each with its origin.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The values.
    pub settings: Settings,
    pub(super) origins: BTreeMap<String, Origin>,
}

/// One line of a listing.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The full key.
    pub key: String,
    /// The value in effect; null when unset, an object for a workflow.
    pub value: Value,
    /// Where the value comes from.
    pub origin: &'a Origin,
    /// What the setting is for.
    pub doc: &'static str,
}

/// The user's own file: in `$XDG_CONFIG_HOME`, else in `~/.config`.
///
/// As the XDG specification has it, a relative path is no answer.
#[must_use]
pub fn user_file(xdg_config_home: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
    let absolute = |dir: Option<&OsStr>| dir.map(PathBuf::from).filter(|dir| dir.is_absolute());
    let dir =
        absolute(xdg_config_home).or_else(|| absolute(home).map(|home| home.join(".config")))?;
    Some(dir.join("go-team").join("config.toml"))
}

/// Reads every layer.
///
/// Variables that are empty, or are not those of a section, are passed over: the latter belong to other parts of the
/// program.
///
/// # Errors
/// When a file cannot be read or parsed, a key is not known, or a value is not what its setting takes.
pub fn load(
    sources: Sources<'_>,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    flags: &[Flag],
) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    if let Some(path) = sources.user_file {
        let base = path.parent().unwrap_or(Path::new(""));
        file::apply(&mut config, path, Owner::User, base)?;
    }
    if let Some(root) = sources.work_tree {
        file::apply(&mut config, &root.join(PROJECT_FILE), Owner::Project, root)?;
    }
    for (name, value) in environment {
        let Some(name) = name.to_str().filter(|_| !value.is_empty()) else {
            continue;
        };
        if let Some(key) = key_of_variable(name)? {
            let variable = name.to_owned();
            let at = Origin::Environment { variable };
            config.assign(key, Raw::Text(&value), sources.current_dir, at)?;
        }
    }
    for Flag { flag, key, value } in flags {
        let at = Origin::Flag { flag: flag.clone() };
        config.assign(key, Raw::Text(value), sources.current_dir, at)?;
    }
    Ok(config)
}

impl Config {
    /// Where a value comes from; `key` is a setting's, or `workflow.NAME`.
    #[must_use]
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::BuiltIn)
    }

    /// Every setting and every workflow of the user's, in the table's order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let settings = SETTINGS.iter().map(|setting| Entry {
            key: setting.key.to_owned(),
            value: setting.show(&self.settings),
            origin: self.origin(setting.key),
            doc: setting.doc,
        });
        let workflows = self.settings.workflows.iter().map(|workflow| {
            let key = format!("{}.{}", super::workflow::SECTION, workflow.name());
            Entry {
                origin: self.origin(&key),
                key,
                value: super::workflow::show(workflow),
                doc: "A workflow of your own.",
            }
        });
        settings.chain(workflows)
    }

    /// The value in effect at a key: a setting's, a workflow's, or a field's of a workflow.
    ///
    /// # Errors
    /// When there is no such setting, and no such workflow.
    pub fn find(&self, key: &str) -> Result<Entry<'_>, EditError> {
        if let Some(entry) = self.entries().find(|entry| entry.key == key) {
            return Ok(entry);
        }
        if let Some((workflow, field)) = key.rsplit_once('.')
            && let Some(entry) = self.entries().find(|entry| entry.key == workflow)
            && let Some(value) = entry.value.get(field)
        {
            return Ok(Entry {
                key: key.to_owned(),
                value: value.clone(),
                ..entry
            });
        }
        let sections = SECTIONS.iter().map(|(section, _)| *section);
        let entries: Vec<String> = self.entries().map(|entry| entry.key).collect();
        let known = entries.iter().map(String::as_str).chain(sections);
        Err(match edit::unknown(key) {
            EditError::UnknownKey { key, nearest: None } => EditError::UnknownKey {
                nearest: nearest::nearest(&key, known).map(str::to_owned),
                key,
            },
            error => error,
        })
    }

    /// Sets one value.
    pub(super) fn assign(
        &mut self,
        key: &str,
        raw: Raw<'_>,
        base: &Path,
        at: Origin,
    ) -> Result<(), ConfigError> {
        let Some(setting) = Setting::find(key) else {
            let known = SETTINGS.iter().map(|setting| setting.key);
            return Err(ConfigError::UnknownKey {
                at,
                key: key.to_owned(),
                nearest: nearest::nearest(key, known).map(str::to_owned),
            });
        };
        if (setting.assign)(&mut self.settings, raw, base).is_none() {
            return Err(ConfigError::WrongValue {
                at,
                key: key.to_owned(),
                expected: setting.kind,
                found: raw.describe(),
            });
        }
        if let (Origin::Project { .. }, WRITTEN_BACK, Some(path)) =
            (&at, setting.key, &self.settings.state.file)
            && !is_own_file(path, base)
        {
            return Err(ConfigError::OutsideWorkTree {
                at,
                key: WRITTEN_BACK,
                path: path.clone(),
            });
        }
        self.origins.insert(key.to_owned(), at);
        Ok(())
    }
}

/// The key that a variable sets; none when it is not one of a section's.
fn key_of_variable(name: &str) -> Result<Option<&'static str>, ConfigError> {
    let Some(rest) = name.strip_prefix(VARIABLE_PREFIX) else {
        return Ok(None);
    };
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.variable() == name) {
        return Ok(Some(setting.key));
    }
    let in_section = |section: &str| {
        let rest = rest.to_ascii_lowercase();
        rest.strip_prefix(section)
            .is_some_and(|rest| rest.starts_with('_'))
    };
    if !SECTIONS.iter().any(|(section, _)| in_section(section)) {
        return Ok(None);
    }
    let variables: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    Err(ConfigError::UnknownVariable {
        variable: name.to_owned(),
        nearest: nearest::nearest(name, variables.iter().map(String::as_str)).map(str::to_owned),
    })
}

/// Whether a path, by its words alone, is inside the work tree and not inside git's own directory.
fn is_own_file(path: &Path, root: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(root) else {
        return false;
    };
    let names_file = inside.file_name().is_some();
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        Component::CurDir => true,
        _ => false,
    };
    names_file && inside.components().all(plain)
}
