//! How settings are shown.

use serde_json::Value;

use super::Render;
use super::escape::escape;
use super::json;
use super::layout::commands;
use super::note::Note;
use super::style::{Mark, Reader, Role, Style, Verbosity};
use super::table::{Cell, Column, table};
use crate::config::{Origin, Owner};
use crate::engine::config::{
    ConfigFile, EditReport, GetReport, InitReport, ListReport, SettingView,
};

const COLUMNS: [Column; 3] = [
    Column {
        title: "Setting",
        roomy: 0,
        least: 10,
        rank: 2,
    },
    Column {
        title: "Value",
        roomy: 0,
        least: 8,
        rank: 1,
    },
    Column {
        title: "Origin",
        roomy: 0,
        least: 8,
        rank: 0,
    },
];

impl Render for ListReport {
    fn text(&self, style: &Style) -> String {
        match style.verbosity {
            Verbosity::Quiet => self.settings.iter().map(assignment).collect(),
            Verbosity::Normal if self.settings.is_empty() => String::new(),
            Verbosity::Normal => {
                let rows: Vec<_> = self.settings.iter().map(row).collect();
                table(&COLUMNS, &rows, style)
            }
            Verbosity::Verbose => {
                let about = |one: &SettingView| {
                    let origin = origin_text(&one.origin);
                    format!("# {} ({origin})\n{}", one.about, assignment(one))
                };
                self.settings.iter().map(about).collect()
            }
        }
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.settings.is_empty() {
            notes.push(Note::info("Nothing is set: all is as it is built in."));
        }
        for file in &self.files {
            let state = if file.exists { "" } else { ", not there" };
            notes.push(Note::info(format!(
                "{}: {}{state}",
                owner(file),
                shown(file)
            )));
        }
        notes
    }
}

fn row(setting: &SettingView) -> Vec<Cell> {
    let cell = |text: String| match setting.origin {
        Origin::BuiltIn => Cell::plain(text),
        _ => Cell::with(Role::Here, text),
    };
    vec![
        cell(escape(&setting.key)),
        cell(value_text(&setting.value)),
        cell(origin_text(&setting.origin)),
    ]
}

fn assignment(setting: &SettingView) -> String {
    format!(
        "{} = {}\n",
        escape(&setting.key),
        value_text(&setting.value)
    )
}

/// As it would be typed after `config set`, but for texts, which are quoted.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        value => json::compact(value),
    }
}

/// The project's file is named from the work tree's root, where everybody knows it is.
fn origin_text(origin: &Origin) -> String {
    match origin {
        Origin::Project { path, line } => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            format!("{}:{line}", escape(&name))
        }
        origin => escape(&origin.to_string()),
    }
}

fn owner(file: &ConfigFile) -> &'static str {
    match file.layer {
        Owner::Project => "Project's file",
        Owner::User => "Your own file",
    }
}

fn shown(file: &ConfigFile) -> String {
    escape(&file.path.to_string_lossy())
}

impl Render for GetReport {
    /// A text stands for itself, so that a script can use it; a list of texts has one in each line.
    fn text(&self, style: &Style) -> String {
        let setting = &self.setting;
        let line = |text: &str| match style.reader {
            Reader::Program => format!("{text}\n"),
            Reader::Terminal => format!("{}\n", escape(text)),
        };
        match &setting.value {
            Value::Null => "none\n".to_owned(),
            Value::String(text) => line(text),
            Value::Array(items) => items.iter().filter_map(Value::as_str).map(line).collect(),
            value => format!("{}\n", json::pretty(value)),
        }
    }

    fn notes(&self, style: &Style) -> Vec<Note> {
        if style.verbosity < Verbosity::Verbose {
            return Vec::new();
        }
        let setting = &self.setting;
        vec![
            Note::info(setting.about),
            Note::info(format!("origin: {}", origin_text(&setting.origin))),
        ]
    }
}

impl Render for ConfigFile {
    fn text(&self, style: &Style) -> String {
        match style.reader {
            Reader::Program => format!("{}\n", self.path.display()),
            Reader::Terminal => format!("{}\n", shown(self)),
        }
    }

    fn notes(&self, style: &Style) -> Vec<Note> {
        if self.exists || style.reader == Reader::Program {
            return Vec::new();
        }
        vec![Note::info(
            "It is not there yet: go-team config init makes it.",
        )]
    }
}

impl Render for EditReport {
    fn text(&self, style: &Style) -> String {
        if style.verbosity == Verbosity::Quiet {
            return String::new();
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let key = escape(&self.key);
        let path = shown(&self.file);
        match (&self.value, self.changed) {
            (Value::Null, _) => format!("{tick} Unset in {path}: {key}\n"),
            (value, true) => format!(
                "{tick} Set in {path}:\n  {key} = {}\n",
                json::compact(value)
            ),
            (value, false) => format!(
                "{tick} Already so in {path}:\n  {key} = {}\n",
                json::compact(value)
            ),
        }
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        let mut notes: Vec<Note> = self
            .warnings
            .iter()
            .map(|text| Note::warning(escape(text)))
            .collect();
        let Some(effective) = &self.effective else {
            return notes;
        };
        let is_from_here = match (&effective.origin, self.file.layer) {
            (Origin::Project { .. }, Owner::Project) | (Origin::User { .. }, Owner::User) => true,
            (Origin::BuiltIn, _) => self.value.is_null(),
            _ => false,
        };
        if !is_from_here {
            let origin = origin_text(&effective.origin);
            let value = value_text(&effective.value);
            notes.push(Note::warning(if self.value.is_null() {
                format!(
                    "{} is {value} all the same, because of {origin}",
                    escape(&self.key)
                )
            } else {
                format!("it has no effect here: {origin} goes first and says {value}")
            }));
        }
        notes
    }
}

impl Render for InitReport {
    fn text(&self, style: &Style) -> String {
        if style.verbosity == Verbosity::Quiet {
            return format!("{}\n", shown(&self.file));
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let user = match self.file.layer {
            Owner::Project => "",
            Owner::User => " --user",
        };
        let set = format!("config set{user} KEY VALUE");
        format!(
            "{tick} Written: {}\n  It describes every setting and sets none.\n{}",
            shown(&self.file),
            commands(&["config list", &set], style)
        )
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}
