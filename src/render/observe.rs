//! How the star commands are listed.

use std::fmt::Write as _;

use serde::Serialize;

use super::Render;
use super::note::Note;
use super::style::Style;
use crate::model::star::{FORMS, StarForm};

/// The star commands there are.
#[derive(Debug, Serialize)]
pub struct StarHelp {
    commands: &'static [StarForm],
}

impl Default for StarHelp {
    fn default() -> Self {
        Self { commands: &FORMS }
    }
}

impl Render for StarHelp {
    fn text(&self, _: &Style) -> String {
        let longest = self.commands.iter().map(|form| form.form.len()).max();
        let width = longest.unwrap_or(0);
        let mut out = String::new();
        for form in self.commands {
            let _ = writeln!(out, "  {:width$}  {}", form.form, form.about);
        }
        out.push_str(
            "N, A and B are checkpoints as cp-list numbers them, a step's name, an id, latest or current.\n",
        );
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}
