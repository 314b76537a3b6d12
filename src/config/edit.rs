//! One key of a configuration file set or unset, with everything else of the file left as it is.
//!
//! Pure: the text of the file in, its new text out. The value is checked before it is written, and so is what it makes of
//! the file: an edit never breaks a file that was whole. One that was broken before may be edited, so that it can be mended
//! key by key.

mod lines;

use std::path::Path;

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::file::{self, Document, Owner};
use super::settings::{SETTINGS, Setting};
use super::value::{Raw, SettingValue as _};
use super::workflow::{FIELDS, SECTION};
use super::{Config, ConfigError, Kind, Origin, nearest};
use lines::{beside_its_description, find, in_a_new_table, lines_of};

/// A file that is edited.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The file.
    pub path: &'a Path,
    /// Whose it is.
    pub owner: Owner,
    /// What relative paths in it are relative to.
    pub base: &'a Path,
}

/// A file after an edit.
#[derive(Debug)]
pub struct Edited {
    /// The new text; as it was when nothing had to change.
    pub text: String,
    /// What the file says of the key now.
    pub value: Option<Json>,
    /// What was wrong with the file before, and still is.
    pub remaining: Option<ConfigError>,
}

/// Why a key cannot be set or unset.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// No setting has this key.
    #[error("there is no setting {key:?}")]
    UnknownKey {
        /// What was asked for.
        key: String,
        /// The known key that is most like it, if any is.
        nearest: Option<String>,
    },
    /// A value that the setting cannot take.
    #[error("{key} takes {expected}{}, not {found}", if *optional { ", or \"none\"" } else { "" })]
    WrongValue {
        /// The setting.
        key: String,
        /// What it takes.
        expected: Kind,
        /// Whether it can be unset by a value.
        optional: bool,
        /// What was given.
        found: String,
    },
    /// More than one value for a setting that takes one.
    #[error("{key} takes {expected}, not {count} values")]
    TooMany {
        /// The setting.
        key: String,
        /// What it takes.
        expected: Kind,
        /// How many were given.
        count: usize,
    },
    /// Nothing to unset.
    #[error("{} does not set {key}", path.display())]
    NotSet {
        /// The setting.
        key: String,
        /// The file.
        path: std::path::PathBuf,
    },
    /// The file would not be valid any more.
    #[error("nothing was written, because the file would not be valid: {source}")]
    Breaks {
        /// What would be wrong with it.
        source: ConfigError,
    },
    /// The file is no TOML, so nothing can be changed in it.
    #[error(transparent)]
    Unreadable(ConfigError),
}

/// A key, taken apart.
struct Key<'k> {
    full: &'k str,
    /// The tables it is in.
    tables: Vec<&'k str>,
    name: &'k str,
    kind: Kind,
    optional: bool,
}

impl<'k> Key<'k> {
    fn parse(full: &'k str) -> Result<Self, EditError> {
        if let Some(setting) = Setting::find(full) {
            let name = &full[setting.section.len() + 1..];
            return Ok(Self {
                full,
                tables: vec![setting.section],
                name,
                kind: setting.kind,
                optional: setting.optional,
            });
        }
        let parts: Vec<&str> = full.split('.').collect();
        if let [SECTION, workflow, field] = parts[..]
            && let Some(field) = FIELDS.iter().find(|known| known.name == field)
        {
            return Ok(Self {
                full,
                tables: vec![SECTION, workflow],
                name: field.name,
                kind: field.kind,
                optional: false,
            });
        }
        Err(unknown(full))
    }

    /// The value as a file has it.
    fn value(&self, words: &[String]) -> Result<Value, EditError> {
        let wrong = |found: String| EditError::WrongValue {
            key: self.full.to_owned(),
            expected: self.kind,
            optional: self.optional,
            found,
        };
        let [word] = words else {
            if self.kind == Kind::List {
                return Ok(list(words.iter().map(String::as_str)));
            }
            return Err(EditError::TooMany {
                key: self.full.to_owned(),
                expected: self.kind,
                count: words.len(),
            });
        };
        let raw = Raw::Text(word.as_ref());
        if self.optional && word == "none" {
            return Ok(Value::from("none"));
        }
        let value = match self.kind {
            Kind::List => <Vec<String>>::read(raw, Path::new(""))
                .map(|words| list(words.iter().map(String::as_str))),
            // What is relative stays so: it is relative to the file.
            Kind::Path => (!word.is_empty()).then(|| Value::from(word.as_str())),
            _ => Setting::find(self.full).and_then(|setting| {
                let mut settings = super::Settings::default();
                (setting.assign)(&mut settings, raw, Path::new(""))?;
                scalar(&setting.show(&settings))
            }),
        };
        value.ok_or_else(|| wrong(raw.describe()))
    }
}

/// Says that there is no such setting, and which one may have been meant.
#[must_use]
pub(super) fn unknown(key: &str) -> EditError {
    let mut known: Vec<String> = SETTINGS.iter().map(|one| one.key.to_owned()).collect();
    let parts: Vec<&str> = key.split('.').collect();
    if let [SECTION, workflow, ..] = parts[..] {
        let fields = FIELDS.iter();
        known.extend(fields.map(|field| format!("{SECTION}.{workflow}.{}", field.name)));
    }
    let near = nearest::nearest(key, known.iter().map(String::as_str)).map(str::to_owned);
    EditError::UnknownKey {
        key: key.chars().take(80).collect(),
        nearest: near,
    }
}

fn list<'w>(words: impl Iterator<Item = &'w str>) -> Value {
    Value::Array(words.collect::<Array>())
}

fn scalar(value: &Json) -> Option<Value> {
    match value {
        Json::Bool(switch) => Some((*switch).into()),
        Json::String(text) => Some(text.as_str().into()),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Some(whole.into()),
            None if number.is_u64() => None,
            None => number.as_f64().map(Value::from),
        },
        _ => None,
    }
}

/// Sets a key.
///
/// # Errors
/// When there is no such setting, it does not take the value, or the file would not be valid any more.
pub fn set(
    text: &str,
    key: &str,
    words: &[String],
    target: Target<'_>,
) -> Result<Edited, EditError> {
    let key = Key::parse(key)?;
    let value = key.value(words)?;
    let mut document = parse(text, target)?;
    let in_lines = beside_its_description(text, &key, &value);
    let in_lines = in_lines.or_else(|| in_a_new_table(text, &key, &value));
    let edited = if let Some(edited) = in_lines {
        edited
    } else {
        insert(&mut document, &key, value).map_err(|found| EditError::Breaks {
            source: ConfigError::WrongValue {
                at: whole(target),
                key: found,
                expected: Kind::Table,
                found: "a value".to_owned(),
            },
        })?;
        document.to_string()
    };
    finish(text, edited, key.full, target)
}

/// Unsets a key. A key that no setting has is removed too, where it is in the file.
///
/// # Errors
/// When the file does not have it, or would not be valid any more.
pub fn unset(text: &str, key: &str, target: Target<'_>) -> Result<Edited, EditError> {
    let mut document = parse(text, target)?;
    let parts: Vec<&str> = key.split('.').collect();
    let edited = match lines_of(text, &parts) {
        Some(lines) => format!("{}{}", &text[..lines.start], &text[lines.end..]),
        None if remove(document.as_table_mut(), &parts) => document.to_string(),
        None if find(text, &parts).is_none() && is_known(key) => {
            return Err(EditError::NotSet {
                key: key.to_owned(),
                path: target.path.to_owned(),
            });
        }
        None => return Err(unknown(key)),
    };
    finish(text, edited, key, target)
}

fn is_known(key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    Key::parse(key).is_ok() || matches!(parts[..], [SECTION, _])
}

fn finish(before: &str, after: String, key: &str, target: Target<'_>) -> Result<Edited, EditError> {
    let was = check(before, target);
    let remaining = match (was, check(&after, target)) {
        (_, Ok(())) => None,
        (Ok(()), Err(source)) => return Err(EditError::Breaks { source }),
        (Err(_), Err(error)) => Some(error),
    };
    let parts: Vec<&str> = key.split('.').collect();
    let value = find(&after, &parts).map(|(_, value)| value);
    Ok(Edited {
        text: after,
        value,
        remaining,
    })
}

/// Whether a text would do as the file.
fn check(text: &str, target: Target<'_>) -> Result<(), ConfigError> {
    file::apply_text(&mut Config::default(), &Document::new(target, text))
}

/// Where the file as a whole is.
fn whole(target: Target<'_>) -> Origin {
    Document::new(target, "").at(0)
}

fn parse(text: &str, target: Target<'_>) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let before = &text[..error.span().map_or(0, |span| span.start)];
        EditError::Unreadable(ConfigError::Syntax {
            path: target.path.to_owned(),
            line: before.matches('\n').count() + 1,
            message: error.message().to_owned(),
        })
    })
}

/// Sets a value; says which table is none.
fn insert(document: &mut DocumentMut, key: &Key<'_>, value: Value) -> Result<(), String> {
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let mut way = Vec::new();
    let mut is_inline = false;
    for (depth, name) in key.tables.iter().enumerate() {
        way.push(*name);
        let is_last = depth + 1 == key.tables.len();
        let item = table.entry(name).or_insert_with(|| {
            if is_inline {
                return Item::Value(Value::InlineTable(InlineTable::new()));
            }
            let mut new = Table::new();
            new.set_implicit(!is_last);
            Item::Table(new)
        });
        is_inline |= item.is_inline_table();
        table = item.as_table_like_mut().ok_or_else(|| way.join("."))?;
    }
    match table.get_mut(key.name) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        Some(item) => *item = Item::Value(value),
        None => {
            table.insert(key.name, Item::Value(value));
        }
    }
    Ok(())
}

/// Removes a key wherever it is.
fn remove(table: &mut dyn toml_edit::TableLike, parts: &[&str]) -> bool {
    match parts {
        [] => false,
        [name] => table.remove(name).is_some(),
        [name, rest @ ..] => {
            let inner = table.get_mut(name).and_then(Item::as_table_like_mut);
            inner.is_some_and(|inner| remove(inner, rest))
        }
    }
}
