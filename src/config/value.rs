//! How a value is read, from TOML or from plain text, and shown.

use std::ffi::OsStr;
use std::fmt;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use toml::de::DeValue;

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Yes or no.
    Switch,
    /// 0 or more.
    Count,
    /// 1 or more.
    Amount,
    /// A length of time.
    Seconds,
    /// Part of a git identity.
    Identity,
    /// A file or directory.
    Path,
    /// Any number of texts.
    List,
    /// A part of a file that holds keys.
    Table,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Switch => "true or false",
            Self::Count => "a whole number of at least 0",
            Self::Amount => "a whole number of at least 1",
            Self::Seconds => "a number of seconds",
            Self::Identity => "one line of text without < and >",
            Self::Path => "a path",
            Self::List => "a list of texts",
            Self::Table => "a table",
        })
    }
}

/// A value as a layer has it.
#[derive(Debug, Clone, Copy)]
pub enum Raw<'a> {
    /// From a file.
    Toml(&'a DeValue<'a>),
    /// From a variable or a flag.
    Text(&'a OsStr),
}

impl<'a> Raw<'a> {
    /// The text that it is, if it is one.
    fn text(self) -> Option<&'a str> {
        match self {
            Self::Toml(value) => value.as_str(),
            Self::Text(text) => text.to_str(),
        }
    }

    /// What to call it in a message; long texts are cut.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Toml(DeValue::Integer(number)) => number.to_string(),
            Self::Toml(DeValue::Float(number)) => number.to_string(),
            Self::Toml(DeValue::Boolean(switch)) => switch.to_string(),
            Self::Toml(DeValue::Datetime(_)) => "a date".to_owned(),
            Self::Toml(DeValue::Array(list)) => {
                let stranger = list.iter().find(|item| !item.get_ref().is_str());
                stranger.map_or("a list".to_owned(), |item| {
                    format!("a list with {} in it", Raw::Toml(item.get_ref()).describe())
                })
            }
            Self::Toml(DeValue::Table(_)) => "a table".to_owned(),
            Self::Toml(DeValue::String(text)) => quote(text),
            Self::Text(text) => quote(&text.to_string_lossy()),
        }
    }
}

fn quote(text: &str) -> String {
    format!("{:?}", text.chars().take(60).collect::<String>())
}

/// A type that settings have. `base` is what relative paths are relative to.
pub(super) trait SettingValue: Sized {
    /// What it takes.
    const KIND: Kind;
    /// Whether it can be left unset.
    const OPTIONAL: bool = false;
    /// Reads it; none when the value is of another kind.
    fn read(raw: Raw<'_>, base: &Path) -> Option<Self>;
    /// Shows it; null when it is unset.
    fn show(&self) -> Value;
}

impl SettingValue for bool {
    const KIND: Kind = Kind::Switch;

    fn read(raw: Raw<'_>, _: &Path) -> Option<Self> {
        match raw {
            Raw::Toml(value) => value.as_bool(),
            Raw::Text(_) => match raw.text()?.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
        }
    }

    fn show(&self) -> Value {
        json!(self)
    }
}

impl SettingValue for u64 {
    const KIND: Kind = Kind::Count;

    fn read(raw: Raw<'_>, _: &Path) -> Option<Self> {
        match raw {
            Raw::Toml(value) => {
                let number = value.as_integer()?;
                Self::from_str_radix(number.as_str(), number.radix()).ok()
            }
            Raw::Text(_) => raw.text()?.parse().ok(),
        }
    }

    fn show(&self) -> Value {
        json!(self)
    }
}

impl SettingValue for NonZeroU64 {
    const KIND: Kind = Kind::Amount;

    fn read(raw: Raw<'_>, base: &Path) -> Option<Self> {
        Self::new(u64::read(raw, base)?)
    }

    fn show(&self) -> Value {
        json!(self)
    }
}

impl SettingValue for Duration {
    const KIND: Kind = Kind::Seconds;

    fn read(raw: Raw<'_>, base: &Path) -> Option<Self> {
        if let Some(whole) = u64::read(raw, base) {
            return Some(Self::from_secs(whole));
        }
        let seconds: f64 = match raw {
            Raw::Toml(value) => value.as_float()?.as_str().parse().ok()?,
            Raw::Text(_) => raw.text()?.parse().ok()?,
        };
        Self::try_from_secs_f64(seconds).ok()
    }

    fn show(&self) -> Value {
        if self.subsec_nanos() == 0 {
            return json!(self.as_secs());
        }
        json!(self.as_secs_f64())
    }
}

impl SettingValue for String {
    const KIND: Kind = Kind::Identity;

    fn read(raw: Raw<'_>, _: &Path) -> Option<Self> {
        let text = raw.text()?.trim();
        let unfit = |c: char| c.is_control() || c == '<' || c == '>';
        (!text.is_empty() && !text.contains(unfit)).then(|| text.to_owned())
    }

    fn show(&self) -> Value {
        json!(self)
    }
}

impl SettingValue for PathBuf {
    const KIND: Kind = Kind::Path;

    fn read(raw: Raw<'_>, base: &Path) -> Option<Self> {
        let path = match raw {
            Raw::Toml(value) => OsStr::new(value.as_str()?),
            Raw::Text(text) => text,
        };
        (!path.is_empty()).then(|| base.join(path))
    }

    fn show(&self) -> Value {
        json!(self.to_string_lossy())
    }
}

impl SettingValue for Vec<String> {
    const KIND: Kind = Kind::List;

    /// A variable holds either TOML, `["a", "b"]`, or words between commas, `a, b`.
    fn read(raw: Raw<'_>, _: &Path) -> Option<Self> {
        let Raw::Text(_) = raw else {
            return texts(raw);
        };
        let text = raw.text()?.trim();
        if text.starts_with('[') {
            let parsed = DeValue::parse(text).ok()?;
            return texts(Raw::Toml(parsed.get_ref()));
        }
        let words = text.split(',').map(str::trim);
        Some(
            words
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
        )
    }

    fn show(&self) -> Value {
        json!(self)
    }
}

/// The texts of a TOML list that holds nothing else.
fn texts(raw: Raw<'_>) -> Option<Vec<String>> {
    let Raw::Toml(DeValue::Array(list)) = raw else {
        return None;
    };
    list.iter()
        .map(|item| item.get_ref().as_str().map(str::to_owned))
        .collect()
}

/// `"none"` unsets what a lower layer set.
impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn read(raw: Raw<'_>, base: &Path) -> Option<Self> {
        match raw.text() {
            Some("none") => Some(None),
            _ => T::read(raw, base).map(Some),
        }
    }

    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::show)
    }
}
