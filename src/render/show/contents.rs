//! How the state and the files of a checkpoint are shown.

use std::fmt::Write as _;

use super::super::Render;
use super::super::escape::escape;
use super::super::json;
use super::super::note::Note;
use super::super::style::Style;
use crate::engine::show::contents::{FileReport, ShowStateReport, TreeReport};

impl Render for ShowStateReport {
    fn text(&self, _: &Style) -> String {
        format!("{}\n", json::pretty(&self.state))
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}

impl Render for TreeReport {
    fn text(&self, _: &Style) -> String {
        let size = |size: Option<u64>| size.map_or("-".to_owned(), |size| size.to_string());
        let sizes = self.files.iter().map(|file| size(file.size).len());
        let width = sizes.max().unwrap_or(0);
        let mut out = String::new();
        for file in &self.files {
            let raw = if file.raw { "  (exact bytes kept)" } else { "" };
            let _ = writeln!(
                out,
                "{} {:>width$} {}{raw}",
                file.item.mode,
                size(file.size),
                escape(&file.path)
            );
        }
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        vec![Note::info(format!(
            "{} files, {} bytes in {}",
            self.files.len(),
            self.total_bytes,
            self.id
        ))]
    }
}

impl Render for FileReport {
    /// Only for those who cannot take bytes; the program prints the bytes themselves.
    fn text(&self, _: &Style) -> String {
        String::from_utf8_lossy(self.content.as_bytes()).into_owned()
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}
