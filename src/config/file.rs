//! One configuration file: read with a limit, parsed, and walked key by key.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use toml::de::{DeTable, DeValue};

use super::settings::{SECTIONS, SETTINGS};
use super::value::Raw;
use super::{Config, ConfigError, Kind, Origin, nearest, workflow};

/// No configuration is larger; what is, is not read.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The user's: trusted.
    User,
    /// The project's: comes with a clone, so not trusted.
    Project,
}

/// A file's place and text, to name lines in.
pub(super) struct Document<'a> {
    pub path: &'a Path,
    pub owner: Owner,
    /// What relative paths in it are relative to.
    pub base: &'a Path,
    text: &'a str,
}

impl<'a> Document<'a> {
    /// A text as the content of a file.
    pub(super) fn new(target: super::edit::Target<'a>, text: &'a str) -> Self {
        Self {
            path: target.path,
            owner: target.owner,
            base: target.base,
            text,
        }
    }

    /// Where a byte of the text is.
    pub(super) fn at(&self, offset: usize) -> Origin {
        let path = self.path.to_owned();
        let line = self.line(offset);
        match self.owner {
            Owner::User => Origin::User { path, line },
            Owner::Project => Origin::Project { path, line },
        }
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        before.filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// Lays a file over the settings; a file that is not there changes nothing.
pub(super) fn apply(
    config: &mut Config,
    path: &Path,
    owner: Owner,
    base: &Path,
) -> Result<(), ConfigError> {
    let Some(text) = read_text(path)? else {
        return Ok(());
    };
    let document = Document {
        path,
        owner,
        base,
        text: &text,
    };
    apply_text(config, &document)
}

/// Lays a file whose text is known over the settings.
pub(super) fn apply_text(config: &mut Config, document: &Document<'_>) -> Result<(), ConfigError> {
    let Document { path, text, .. } = *document;
    if text.len() as u64 > MAX_BYTES {
        return Err(ConfigError::TooLarge {
            path: path.to_owned(),
            limit: MAX_BYTES,
        });
    }
    let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        line: document.line(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    apply_sections(config, document, table.get_ref())
}

/// The text of a file; none when there is no such file.
///
/// # Errors
/// When it cannot be read, or is larger than any configuration.
pub fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    let text = read(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    match text {
        Some(text) if text.len() as u64 > MAX_BYTES => Err(ConfigError::TooLarge {
            path: path.to_owned(),
            limit: MAX_BYTES,
        }),
        text => Ok(text),
    }
}

/// Reads at most one byte more than is allowed, and only from a regular file: a pipe would block.
fn read(path: &Path) -> io::Result<Option<String>> {
    let metadata = match fs::metadata(path) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        other => other?,
    };
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    fs::File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)?;
    Ok(Some(text))
}

fn apply_sections(
    config: &mut Config,
    document: &Document<'_>,
    table: &DeTable<'_>,
) -> Result<(), ConfigError> {
    for (section, keys) in table {
        let name: &str = section.get_ref();
        let at = || document.at(section.span().start);
        if !SECTIONS.iter().any(|(known, _)| *known == name) {
            let sections = SECTIONS.iter().map(|(known, _)| *known);
            let known = sections.chain(SETTINGS.iter().map(|setting| setting.key));
            return Err(ConfigError::UnknownKey {
                at: at(),
                key: name.to_owned(),
                nearest: nearest::nearest(name, known).map(str::to_owned),
            });
        }
        let keys = expect_table(keys.get_ref(), name, at)?;
        if name == workflow::SECTION {
            workflow::apply(config, document, keys)?;
            continue;
        }
        for (key, value) in keys {
            let full = format!("{name}.{}", key.get_ref());
            let at = document.at(key.span().start);
            config.assign(&full, Raw::Toml(value.get_ref()), document.base, at)?;
        }
    }
    Ok(())
}

/// The keys in a value, which must be a table.
pub(super) fn expect_table<'t, 'i>(
    value: &'t DeValue<'i>,
    key: &str,
    at: impl Fn() -> Origin,
) -> Result<&'t DeTable<'i>, ConfigError> {
    value.as_table().ok_or_else(|| ConfigError::WrongValue {
        at: at(),
        key: key.to_owned(),
        expected: Kind::Table,
        found: Raw::Toml(value).describe(),
    })
}
